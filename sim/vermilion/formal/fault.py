"""A fault that a proof must find."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """A change of one module's SystemVerilog; `pattern` must match once."""

    what: str
    module: str
    pattern: str
    instead: str
