"""What ends a command with a sentence: the card's fault (exit status 1), or the caller's (`UserError`, status 2)."""

from vermilion.values.fields import UserError

__all__ = ["Busy", "DeviceError", "UserError"]


class DeviceError(Exception):
    """The card, the way to it, or what this host keeps of it fails; also what went wrong behind the first write."""


class Busy(DeviceError):
    """The kernel cannot do it now: the card is being reset, or somebody else has what was meant."""
