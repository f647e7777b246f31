"""Messages of the driver's netlink family to bytes and back, by its specification (netlink_spec.py): attributes alone, without headers.

{"ifindex": 2, "queue": 3, "weight": {"num": 2, "tens": 3}, "green": {"drops": {"kind": "red"}}} are the attributes of a `queue-set`.
Enums are names or numbers; an attribute that may be repeated is a list; of `binary` a list of its numbers.
"""

import struct

from . import netlink_spec

NESTED = 0x8000
WIDTHS = {"u32": "<I", "u64": "<Q"}


class Messages:
    """Encodes and decodes by one specification, by default the committed one."""

    def __init__(self, spec: dict | None = None):
        self.spec = spec or netlink_spec.load()
        self.enums = {each["name"]: each["entries"] for each in self.spec["definitions"]}
        self.sets = {
            of: {each["name"]: (number, each) for number, each in enumerate(attributes, 1)}
            for of, attributes in netlink_spec.sets(self.spec).items()
        }
        self.commands = {each["name"]: number for number, each in enumerate(self.spec["operations"]["list"], 1)}
        self.set_of = {each["name"]: each["attribute-set"] for each in self.spec["operations"]["list"]}

    def encode(self, of: str, values: dict) -> bytes:
        """Attributes of a set, in the order of `values`."""
        out = b""
        for name, value in values.items():
            number, each = self.sets[of][name]
            for one in value if each.get("multi-attr") else [value]:
                out += self.attribute(number, each, one)
        return out

    def attribute(self, number: int, each: dict, value) -> bytes:
        if each["type"] == "nest":
            return framed(number | NESTED, self.encode(each["nested-attributes"], value))
        if each["type"] == "flag":
            return framed(number, b"") if value else b""
        if isinstance(value, str):
            value = self.enums[each["enum"]].index(value)
        return framed(number, struct.pack(WIDTHS[each["type"]], value))

    def decode(self, of: str, data: bytes) -> dict:
        by_number = {number: each for number, each in self.sets[of].values()}
        out: dict = {}
        while data:
            length, number = struct.unpack_from("<HH", data)
            each, payload = by_number[number & 0x3FFF], data[4:length]
            data = data[(length + 3) & ~3 :]
            if each["type"] == "pad":
                continue
            value = self.value(each, payload)
            if each.get("multi-attr"):
                out.setdefault(each["name"], []).append(value)
            else:
                out[each["name"]] = value
        return out

    def value(self, each: dict, payload: bytes):
        if each["type"] == "nest":
            return self.decode(each["nested-attributes"], payload)
        if each["type"] == "string":
            return payload.rstrip(b"\0").decode()
        if each["type"] == "flag":
            return True
        if each["type"] == "binary":
            return [number for (number,) in struct.iter_unpack(WIDTHS[each["sub-type"]], payload)]
        (number,) = struct.unpack(WIDTHS[each["type"]], payload)
        names = self.enums.get(each.get("enum"), [])
        return names[number] if number < len(names) else number


def framed(kind: int, payload: bytes) -> bytes:
    """An attribute: length, type, payload, zeros up to a multiple of four bytes."""
    return struct.pack("<HH", 4 + len(payload), kind) + payload + bytes(-len(payload) % 4)
