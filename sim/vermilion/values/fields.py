"""What the tables of the configuration file are made of: strict tables, and fields that say what would be legal."""

import errno
import tomllib
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict

from . import units
from .units import Amount

LEN_MAX = 2**27 - 1
RATE_MIN, RATE_MAX = 64_000, 200_000_000_000
COLOURS = ("green", "yellow", "red")


# What a write, a flush or a close can meet; the system's error then names no file.
DISK = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}


class UserError(Exception):
    """What the user can put right; the command line prints it and ends with status 2."""


TOO_DEEP = "is nested too deeply; nothing of Vermilion's is more than four deep"


def read_toml(path: str | Path) -> dict:
    """The tables of a file; what is no file, no text or no TOML is refused in a sentence that begins with its name."""
    path = Path(path)
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            raise UserError(f"{path}: is a device or a pipe; give a file's name")
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UserError(f"{path}: is not TOML: it is no UTF-8 text") from None
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{path}: is not TOML: {error}") from None
    except RecursionError:
        raise UserError(f"{path}: {TOO_DEEP}") from None


def number(low, high, text, whole=False):
    """A validator for a bare number; `text` is the range in words."""

    def parse(raw):
        good = isinstance(raw, int if whole else (int, float)) and not isinstance(raw, bool)
        if not good or not low <= raw <= high:
            raise ValueError(f"is {units.shown(raw)}; legal is {text}")
        return raw

    return BeforeValidator(parse)


def amount(low, high, unit=None):
    """A validator for an amount within a range; with `unit` fixed, or left to the queue."""
    text = f"{Amount(low, unit)} to {Amount(high, unit)}"

    def parse(raw):
        value = units.amount(raw)
        if unit and value.unit not in (None, unit):
            raise ValueError(f"is {units.shown(raw)}; legal is {text}")
        if not low <= value.value <= high:
            raise ValueError(f"is {units.shown(raw)}; legal is {text}")
        return Amount(value.value, unit or value.unit)

    return BeforeValidator(parse)


def rate_in_range(raw):
    value = units.rate(raw)
    if not RATE_MIN <= value <= RATE_MAX:
        raise ValueError(f"is {units.shown(raw)}; legal is 64kbit to 200Gbit")
    return value


Rate = Annotated[int, BeforeValidator(rate_in_range)]
Burst = Annotated[Amount, amount(0, 10**8, "byte")]
Threshold = Annotated[Amount, amount(0, LEN_MAX)]
Probability = Annotated[float, number(0, 1, "0 to 1")]


def option_type(reserved: dict[int, str]):
    """A validator for a type byte of an IP option; 0 and 1 are padding, `reserved` have the TTL option's length."""

    def parse(raw):
        whole = isinstance(raw, int) and not isinstance(raw, bool)
        if not whole or not 2 <= raw <= 255 or raw in reserved:
            other = "".join(f", but {number} ({name})" for number, name in reserved.items())
            raise ValueError(f"is {units.shown(raw)}; legal is 2 to 255{other}")
        return raw

    return BeforeValidator(parse)


def one_line(raw):
    """A name for tables and sentences: one line, not too long."""
    if isinstance(raw, str) and not (0 < len(raw.strip()) and len(raw) <= 64 and raw.isprintable()):
        raise ValueError(f"is {ascii(raw[:64])}; legal are 1 to 64 printable characters")
    return raw


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)
