"""The driver's netlink family by its description, `sw_driver/netlink/vermilion.yaml`: operations, sets of attributes, and pyroute2's classes for them."""

from functools import cache
from pathlib import Path
from typing import Any

from vermilion.hardware.driver_library import CARRIED, SOURCES

from .errors import UserError

NEEDED = "netlink: needs pyroute2 and PyYAML; in its environment: pip install 'pyroute2==0.9.7' 'PyYAML==6.0.3'"
TYPES = {"u32": "uint32", "u64": "uint64", "string": "asciiz", "flag": "flag", "binary": "cdata", "pad": "none"}


@cache
def spec() -> dict:
    try:
        import yaml
    except ImportError:
        raise UserError(NEEDED) from None
    place = CARRIED / "vermilion.yaml" if SOURCES == CARRIED else SOURCES.parent / "netlink" / "vermilion.yaml"
    try:
        return yaml.safe_load(Path(place).read_text())
    except OSError:
        raise UserError("--device netlink: this build of the tools has no description of the driver's family") from None


def attributes(name: str) -> list[dict]:
    return next(each["attributes"] for each in spec()["attribute-sets"] if each["name"] == name)


@cache
def message(name: str, nested: bool = False):
    """pyroute2's class of a set of attributes: a message, or a nest."""
    from pyroute2.netlink import NLA_F_NESTED, genlmsg, nla

    held: dict[str, Any] = {"prefix": ""}
    table = [("unspec", "none")]
    if nested:
        held["nla_flags"] = NLA_F_NESTED  # the kernel refuses a nest without it
    for each in attributes(name):
        kind = TYPES.get(each["type"])
        if kind is None:
            kind = "nest_" + each["nested-attributes"].replace("-", "_")
            held[kind] = message(each["nested-attributes"], True)
        table.append((each["name"], kind))
    held["nla_map"] = tuple((number, *pair) for number, pair in enumerate(table))
    return type(name.replace("-", "_"), (nla if nested else genlmsg,), held)


def operation(name: str) -> tuple[int, str]:
    """Its number and its set of attributes."""
    for number, each in enumerate(spec()["operations"]["list"], 1):
        if each["name"] == name:
            return number, each["attribute-set"]
    raise KeyError(name)


def pairs(fields: dict) -> list:
    """Nests as pyroute2 takes them; a list of dictionaries is a nest for each."""
    out = []
    for name, value in fields.items():
        for one in value if isinstance(value, list) else [value]:
            out.append((name, {"attrs": pairs(one)} if isinstance(one, dict) else one))
    return out


def plain(parsed) -> dict:
    """The other way round; what may come several times is always a list."""
    out: dict[str, Any] = {}
    for name, value in parsed["attrs"]:
        made = plain(value) if isinstance(value, dict) and "attrs" in value else value
        if name in ("lost", "entry"):
            out.setdefault(name, []).append(made)
        elif name != "pad":
            out[name] = made
    return out
