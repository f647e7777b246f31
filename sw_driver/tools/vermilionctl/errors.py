"""What ends a command with a sentence: the card's fault (exit status 1), or the caller's (`UserError`, status 2)."""

from vermilion.fields import UserError

__all__ = ["DeviceError", "UserError"]


class DeviceError(Exception):
    """The card, or the way to it, fails."""
