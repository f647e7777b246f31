"""Amounts, rates and DSCPs as people write them. Every parser raises ValueError with the legal form in the sentence.

KB, MB, GB are powers of 1000; KiB, MiB, GiB of 1024. Rates are bits per second, as tc writes them: kbit, mbit and gbit are powers of
1000, kibit, mibit and gibit of 1024. Units are read in any case, digits are those of ASCII.
"""

import re
from dataclasses import dataclass
from fractions import Fraction

BYTE_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}
WHOLE_DIGITS = 20  # of a bare whole number, as 2^64 has
SHOWN_MOST = 100  # characters of a value in a sentence
NUMBER_MOST = 100  # characters of a number before its unit; Python itself refuses to read some thousands
RATE_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
RATE_UNITS |= {"KI": 2**10, "MI": 2**20, "GI": 2**30, "TI": 2**40}
TIME_UNITS = {"S": 10**9, "MS": 10**6, "US": 10**3, "NS": 1}
ASCII = re.ASCII | re.IGNORECASE  # \d is 0 to 9, and K is not the sign of kelvin

# RFC 2474, 2597, 3246, 5865, 8622.
DSCP_NAMES = {f"CS{n}": 8 * n for n in range(8)}
DSCP_NAMES |= {f"AF{c}{p}": 8 * c + 2 * p for c in (1, 2, 3, 4) for p in (1, 2, 3)}
DSCP_NAMES |= {"EF": 46, "VA": 44, "LE": 1, "DEFAULT": 0, "BE": 0}
# Drop precedence of the Assured Forwarding code points; every other code point is green.
AF_COLOUR = {8 * c + 2 * p: p - 1 for c in (1, 2, 3, 4) for p in (1, 2, 3)}


@dataclass(frozen=True)
class Amount:
    """A number of bytes or packets; `unit` is None for a bare number, which takes its queue's unit."""

    value: int
    unit: str | None = None

    def __str__(self) -> str:
        if self.unit == "packet":
            return f"{self.value}p"
        if self.unit is None:
            return str(self.value)
        for name, size in (("MB", 10**6), ("KB", 10**3)):
            if self.value and self.value % size == 0:
                return f"{self.value // size}{name}"
        return f"{self.value}B"


def bare(raw: str) -> int | None:
    """A whole number of ASCII digits and nothing else; None where it is none, or longer than any that is legal somewhere."""
    return int(raw) if raw.isascii() and raw.isdecimal() and len(raw) <= WHOLE_DIGITS else None


AMOUNTS = 'are amounts such as "200KB", "64KiB", "1500B" or "60p"'
RATES = 'are rates such as "64kbit", "2Mbit" or "10Gbit"'
TIMES = 'are times such as "100ms", "5us" or "1.5s"'


def _whole(number: str, scale: int, text: object, legal: str) -> int:
    if len(number) > NUMBER_MOST:
        raise ValueError(f"is a number of {len(number)} characters; legal are up to {NUMBER_MOST}")
    exact = Fraction(number) * scale
    if exact.denominator != 1:
        raise ValueError(f"is {shown(text)}, which is no whole number; legal {legal}")
    return int(exact)


def amount(raw: object, legal: str = AMOUNTS) -> Amount:
    """`"200KB"`, `"64KiB"`, `"1000B"`, `"60p"` or a bare whole number; `legal` for the sentence, where there is a narrower range."""
    if isinstance(raw, Amount):
        return raw
    if isinstance(raw, int) and not isinstance(raw, bool) and raw >= 0:
        return Amount(raw)
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([a-z]*)", raw.strip(), ASCII) if isinstance(raw, str) else None
    unit = found[2].upper() if found else ""
    if found and unit in ("P", "PKT", "PACKETS"):
        return Amount(_whole(found[1], 1, raw, legal), "packet")
    if found and unit in BYTE_UNITS:
        return Amount(_whole(found[1], BYTE_UNITS[unit], raw, legal), "byte" if unit else None)
    raise ValueError(f"is {shown(raw)}; legal {legal}")


def rate(raw: object, legal: str = RATES) -> int:
    """`"10Gbit"`, `"700kbit"`, `"2mbit"` or bits per second as a number; `"2Mbps"` is refused, as it is bytes in tc."""
    if isinstance(raw, int) and not isinstance(raw, bool) and raw >= 0:
        return raw
    pattern = r"(\d+(?:\.\d+)?)\s*((?:[kmgt]i?)?)(bit|b|bps)?(/s)?"
    found = re.fullmatch(pattern, raw.strip(), ASCII) if isinstance(raw, str) else None
    if not found:
        raise ValueError(f"is {shown(raw)}; legal {legal}")
    number, prefix, unit = found[1], found[2], found[3] or ""
    if unit == "B" or unit.lower() == "bps":
        means = "which tc reads as bytes per second" if unit != "B" else "which is bytes per second"
        raise ValueError(f'is {shown(raw)}, {means}; legal are bits per second, such as "{number}{prefix}bit"')
    return _whole(number, RATE_UNITS[prefix.upper()], raw, legal)


def duration(raw: object) -> int:
    """`"100ms"`, `"5us"`, `"20ns"` or `"1.5s"`, in ns."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([mun]?s)", raw.strip(), ASCII) if isinstance(raw, str) else None
    if not found:
        raise ValueError(f"is {shown(raw)}; legal {TIMES}")
    ns = _whole(found[1], TIME_UNITS[found[2].upper()], raw, TIMES)
    if ns > 3600 * 10**9:
        raise ValueError(f"is {shown(raw)}; legal is up to 3600s")
    return ns


def dscp(raw: object, verb: str = "holds") -> int:
    """A code point's name or number; `verb` for the sentence: a list "holds" it, a field "is" it."""
    if isinstance(raw, str) and raw.strip().upper() in DSCP_NAMES:
        return DSCP_NAMES[raw.strip().upper()]
    if isinstance(raw, int) and not isinstance(raw, bool) and 0 <= raw <= 63:
        return raw
    raise ValueError(f"{verb} {shown(raw)}; legal are 0 to 63 and names such as AF11 to AF43, EF, CS0 to CS7, default")


def dscp_name(code: int) -> str:
    """The usual name of a code point, or its number."""
    return next((name for name, value in DSCP_NAMES.items() if value == code), str(code))


def shown(raw: object) -> str:
    """A value as its writer would recognise it; a long one cut. Python has no decimal digits for a number of thousands."""
    if isinstance(raw, (dict, list)):
        return "a table" if isinstance(raw, dict) else "a list"
    huge = raw if isinstance(raw, int) and raw.bit_length() > 4 * SHOWN_MOST else None
    text = str(raw).lower() if isinstance(raw, bool) else str(raw) if huge is None else hex(huge)
    text = text if len(text) <= SHOWN_MOST else text[:SHOWN_MOST] + "..."
    return f'"{text}"' if isinstance(raw, str) else text


def rate_text(bits: float) -> str:
    """Bits a second in the largest unit that keeps the number above 1."""
    for name, size in (("Gbit", 10**9), ("Mbit", 10**6), ("kbit", 10**3)):
        if bits >= size:
            return f"{bits / size:.6g}{name}"
    return f"{bits:.6g}bit"


def time_text(ns: float | Fraction) -> str:
    """A time in the largest unit that keeps the number above 1."""
    for name, size in (("s", 10**9), ("ms", 10**6), ("us", 10**3)):
        if ns >= size:
            return f"{float(ns / size):.6g}{name}"
    return f"{float(ns):.6g}ns"
