"""What the tables of the configuration file are made of: strict tables, and fields that say what would be legal."""

import errno
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict

from . import units
from .units import Amount

T = TypeVar("T")
LEN_MAX = 2**27 - 1
RATE_MIN, RATE_MAX, RATE_TEXT = 64_000, 200_000_000_000, "64kbit to 200Gbit"
DEPTH_MAX, DEPTH_MAX_TEXT = 64 * 2**20, "64MiB"  # bytes
SHORTEST = {"frame": 60, "ip": 20}  # bytes of the shortest packet, by whose length counts; a frame without FCS
COLOURS = ("green", "yellow", "red")
NAME_TEXT = "1 to 64 printable characters"


# What a write, a flush or a close can meet; the system's error then names no file.
DISK = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}


class UserError(Exception):
    """What the user can put right; the command line prints it and ends with status 2."""


TOO_DEEP = "is nested too deeply; nothing of Vermilion's is more than four deep"


def read_toml(path: str | Path) -> dict[str, Any]:
    """The tables of a file; what is no file, no text or no TOML is refused in a sentence that begins with its name."""
    path = Path(path)
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            raise UserError(f"{path}: is a device or a pipe; give a file's name")
        # Not read_text: it takes a carriage return alone for the end of a line, and TOML does not.
        return tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UserError(f"{path}: is not TOML: it is no UTF-8 text") from None
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{path}: is not TOML: {error}") from None
    except ValueError:  # Python's, of a number
        most = sys.get_int_max_str_digits()
        legal = f"legal are up to {units.WHOLE_DIGITS}"
        raise UserError(f"{path}: has a whole number of more than {most} digits; {legal}") from None
    except RecursionError:
        raise UserError(f"{path}: {TOO_DEEP}") from None


def legal_is(text: str) -> Callable[[Callable[[object], T]], Callable[[object], T]]:
    """Gives a validator what a sentence says where a field that it reads is missing (`refusals.py`)."""

    def mark(parse: Callable[[object], T]) -> Callable[[object], T]:
        vars(parse)["legal"] = text
        return parse

    return mark


# What an editor can check of a value before the program does (JSON schema); patterns of ECMA 262, which has no flag for any case.
AMOUNT = r"^\s*\d+(\.\d+)?\s*(([kKmMgG][iI]?)?[bB]|[pP]|[pP][kK][tT]|[pP][aA][cC][kK][eE][tT][sS])?\s*$"
RATE = r"^\s*\d+(\.\d+)?\s*([kKmMgGtT][iI]?)?([bB][iI][tT]|b)?(/[sS])?\s*$"
TIME = r"^\s*\d+(\.\d+)?\s*[mMuUnN]?[sS]\s*$"
CODE = r"^\s*([cC][sS][0-7]|[aA][fF][1-4][1-3]|[eE][fF]|[vV][aA]|[lL][eE]|[dD][eE][fF][aA][uU][lL][tT]|[bB][eE])\s*$"


def whole_or_text(low: int, high: int, pattern: str) -> dict[str, Any]:
    """A whole number within a range, or a text of a form."""
    return {"anyOf": [{"type": "integer", "minimum": low, "maximum": high}, {"type": "string", "pattern": pattern}]}


def editors(schema: dict[str, Any]) -> Callable[[Callable[[object], T]], Callable[[object], T]]:
    """Gives a validator what the file's JSON schema says of its values (`generate/schema.py`)."""

    def mark(parse: Callable[[object], T]) -> Callable[[object], T]:
        vars(parse)["schema"] = schema
        return parse

    return mark


DSCP = whole_or_text(0, 63, CODE)


def dscp_or_table(each: bool) -> dict[str, Any]:
    """A code point, or one for each colour; `each`: lists of them."""
    of = {"type": "array", "items": DSCP} if each else DSCP
    table = {"type": "object", "properties": dict.fromkeys(COLOURS, of), "additionalProperties": False}
    return {"anyOf": [of, table]}


@editors(DSCP)
def code_listed(raw: object) -> int:
    """A code point in a list."""
    return units.dscp(raw)


@editors(DSCP)
def code_alone(raw: object) -> int:
    """A code point that a field is."""
    return units.dscp(raw, "is")


def number(low: float, high: float, text: str, whole: bool = False) -> BeforeValidator:
    """A validator for a bare number; `text` is the range in words."""

    @editors({"type": "integer" if whole else "number", "minimum": low, "maximum": high})
    @legal_is(text)
    def parse(raw: object) -> int | float:
        if not isinstance(raw, (int, float)) or isinstance(raw, bool) or (whole and isinstance(raw, float)):
            raise ValueError(f"is {units.shown(raw)}; legal is {text}")
        if not low <= raw <= high:
            raise ValueError(f"is {units.shown(raw)}; legal is {text}")
        return raw

    return BeforeValidator(parse)


def amounts(low: int, high: int, unit: str | None) -> str:
    """Some that are legal, as a sentence shows them."""

    def fits(each: Amount) -> bool:
        return low <= each.value <= high and unit in (None, each.unit)

    good = [f'"{text}"' for text in ("200KB", "64KiB", "1500B", "60p") if fits(units.amount(text))]
    return " or ".join(part for part in (", ".join(good[:-1]), good[-1]) if part)


def amount(low: int, high: int, unit: str | None = None) -> BeforeValidator:
    """A validator for an amount within a range; with `unit` fixed, or left to the queue."""
    text = f"{Amount(low, unit)} to {Amount(high, unit)}"

    @editors(whole_or_text(low, high, AMOUNT))
    @legal_is(text)
    def parse(raw: object) -> Amount:
        value = units.amount(raw, f"is {text}, such as {amounts(low, high, unit)}")
        if unit and value.unit not in (None, unit):
            raise ValueError(f"is {units.shown(raw)}; legal is {text}")
        if not low <= value.value <= high:
            raise ValueError(f"is {units.shown(raw)}; legal is {text}")
        return Amount(value.value, unit or value.unit)

    return BeforeValidator(parse)


@editors(whole_or_text(0, DEPTH_MAX, AMOUNT))
def depth(raw: object) -> Amount:
    """A bucket's depth or a threshold; whether 0 is legal depends on the kind."""
    legal = f'are amounts up to {DEPTH_MAX_TEXT} such as "10KB" or "60p"'
    value = units.amount(raw, legal)
    if value.value > DEPTH_MAX:
        raise ValueError(f"is {units.shown(raw)}; legal {legal}")
    return value


def duration(low: int, high: int, text: str) -> BeforeValidator:
    """A validator for a time from `low` to `high` ns; `text` is the range in words."""

    @editors({"type": "string", "pattern": TIME})
    def parse(raw: object) -> int:
        ns: int | None
        try:
            ns = units.duration(raw)
        except ValueError:
            ns = None
        if ns is None or not low <= ns <= high:
            raise ValueError(f'is {units.shown(raw)}; legal are times from {text}, such as "100ms"')
        return ns

    return BeforeValidator(parse)


@editors({"enum": [2.0**n for n in range(-7, 4)]})
def power_of_two(raw: object) -> float:
    """`alpha`: what the hardware has a code for."""
    if not isinstance(raw, (int, float)) or isinstance(raw, bool) or raw not in [2.0**n for n in range(-7, 4)]:
        raise ValueError(f"is {units.shown(raw)}; legal is a power of two from 2^-7 (0.0078125) to 8")
    return float(raw)


@editors(whole_or_text(RATE_MIN, RATE_MAX, RATE))
@legal_is(RATE_TEXT)
def rate_in_range(raw: object) -> int:
    value = units.rate(raw, f'is {RATE_TEXT}, such as "2Mbit" or "10Gbit"')
    if not RATE_MIN <= value <= RATE_MAX:
        raise ValueError(f"is {units.shown(raw)}; legal is {RATE_TEXT}")
    return value


Rate = Annotated[int, BeforeValidator(rate_in_range)]
Burst = Annotated[Amount, amount(0, 10**8, "byte")]
Threshold = Annotated[Amount, amount(0, LEN_MAX)]
Depth = Annotated[Amount, BeforeValidator(depth)]
Probability = Annotated[float, number(0, 1, "0 to 1")]


def option_type(reserved: dict[int, str]) -> BeforeValidator:
    """A validator for a type byte of an IP option; 0 and 1 are padding, `reserved` have the TTL option's length."""

    @editors({"type": "integer", "minimum": 2, "maximum": 255})
    def parse(raw: object) -> int:
        if not isinstance(raw, int) or isinstance(raw, bool) or not 2 <= raw <= 255 or raw in reserved:
            other = "".join(f", but {number} ({name})" for number, name in reserved.items())
            raise ValueError(f"is {units.shown(raw)}; legal is 2 to 255{other}")
        return raw

    return BeforeValidator(parse)


@editors({"type": "string", "minLength": 1, "maxLength": 64})
@legal_is(NAME_TEXT)
def one_line(raw: object) -> object:
    """A name for tables and sentences: one line, not too long."""
    if isinstance(raw, str) and not (0 < len(raw.strip()) and len(raw) <= 64 and raw.isprintable()):
        raise ValueError(f"is {ascii(raw[:64])}; legal are {NAME_TEXT}")
    return raw


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)
