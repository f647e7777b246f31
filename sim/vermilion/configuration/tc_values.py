"""Values of `tc`'s options, as iproute2 reads them: sizes count in 1,024s, times without a unit are microseconds."""

import re
from fractions import Fraction

from vermilion.values.fields import UserError

SIZES = {"": 1, "b": 1, "k": 2**10, "kb": 2**10, "m": 2**20, "mb": 2**20, "g": 2**30, "gb": 2**30}
SIZES |= {"kbit": 2**7, "mbit": 2**17, "gbit": 2**27}
TIMES = {"": 10**3, "us": 10**3, "usec": 10**3, "usecs": 10**3, "ms": 10**6, "msec": 10**6, "msecs": 10**6}
TIMES |= {"s": 10**9, "sec": 10**9, "secs": 10**9, "ns": 1, "nsec": 1, "nsecs": 1}
RATES = {
    f"{prefix}{unit}": factor * bits
    for prefix, factor in {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}.items()
    for unit, bits in (("bit", 1), ("bps", 8))
}
RATES |= {
    f"{prefix}i{unit}": factor * bits
    for prefix, factor in {"k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}.items()
    for unit, bits in (("bit", 1), ("bps", 8))
}
RATES |= {"": 1}


def refuse(kind: str, text: str) -> UserError:
    return UserError(f"tc {kind}: {text}")


def number(kind: str, option: str, raw: str, scales: dict[str, int], legal: str) -> Fraction:
    """A number with a unit, in the units of `scales`."""
    found = re.fullmatch(r"([0-9]{1,20}(?:\.[0-9]{0,20})?|\.[0-9]{1,20})([a-z]*)", raw.lower())
    if not found or found[2] not in scales:
        raise refuse(kind, f'{option} is "{raw}"; legal {legal}')
    return Fraction(found[1]) * scales[found[2]]


def size(kind: str, option: str, raw: str) -> int:
    return int(number(kind, option, raw, SIZES, 'are bytes, such as "1500", "64kb" or "1mb"'))


def time(kind: str, option: str, raw: str) -> int:
    """ns"""
    return int(number(kind, option, raw, TIMES, 'are times, such as "5ms" or "100us"'))


def rate(kind: str, option: str, raw: str) -> int:
    """bit/s"""
    return int(number(kind, option, raw, RATES, 'are rates, such as "10mbit"'))


def count(kind: str, option: str, raw: str) -> int:
    if not re.fullmatch("[0-9]{1,20}", raw) or int(raw) >= 2**32:
        raise refuse(kind, f'{option} is "{raw}"; legal are whole numbers from 0 to 4294967295')
    return int(raw)


def masked(kind: str, option: str, raw: str) -> tuple[int, int]:
    """A value of the DS field and its mask."""
    found = re.fullmatch("(0x[0-9a-fA-F]{1,2}|[0-9]{1,3})/(0x[0-9a-fA-F]{1,2}|[0-9]{1,3})", raw)
    value, mask = (int(each, 0) for each in found.groups()) if found else (256, 256)
    if value > 255 or mask > 255:
        raise refuse(kind, f'{option} is "{raw}"; legal is a value and a mask from 0 to 255, such as "0x1/0x3"')
    return value, mask


def gain(kind: str, option: str, raw: str) -> int:
    if not re.fullmatch("[0-9]{1,9}", raw) or int(raw) > 32:
        raise refuse(kind, f'{option} is "{raw}"; legal are whole numbers from 0 to 32')
    return int(raw)


def step(kind: str, option: str, raw: str) -> int:
    if re.fullmatch(r"[0-9]+(p|pkts?|packets?)", raw.lower()):
        raise refuse(kind, f'{option} is "{raw}"; legal is a time, such as "1ms"')
    return time(kind, option, raw)


def hertz(kind: str, option: str, raw: str) -> float:
    if not re.fullmatch(r"[0-9]{1,3}(\.[0-9]{1,9})?", raw) or float(raw) > 255:
        raise refuse(kind, f'{option} is "{raw}"; legal is 0 to 255')
    return float(raw)


def percent(kind: str, option: str, raw: str) -> int:
    """The share of C, percent."""
    found = raw.removesuffix("%")
    if not re.fullmatch("[0-9]{1,3}", found) or not 3 <= int(found) <= 97:
        raise refuse(kind, f'{option} is "{raw}"; legal is 3 to 97, as a quantum has at most 65535 bytes')
    return int(found)


def chance(kind: str, option: str, raw: str) -> float:
    try:
        found = float(raw)
    except ValueError:
        found = -1.0
    if not 0 <= found <= 1:
        raise refuse(kind, f'{option} is "{raw}"; legal is 0 to 1')
    return found
