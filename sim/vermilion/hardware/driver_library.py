"""The driver's library (`sw_driver/lib`) in Python: the very code that the kernel module has, so that `check` and the card agree.

Structs and constants are read from its headers: `C.Queue` is `struct vm_queue`, `C.QueueImage` is `struct vm_queue_image`, and
`C.VM_LEN_MAX` or `C.VM_REDP` a #define or a name of an enum. The library is built at the first call (`build.py`); the tools' package
(`sw_driver/tools`) has headers and library with it, in the folder `driver`.
"""

import ctypes
import re
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

CARRIED = Path(__file__).parent / "driver"
SOURCES = CARRIED if CARRIED.exists() else Path(__file__).resolve().parents[3] / "sw_driver" / "lib"
HEADERS = [
    SOURCES / name
    for name in ("vm_types.h", "vm_units.h", "vm_profile_types.h", "vm_profile.h", "vm_rule.h", "vm_access.h")
]
BASIC = {
    "u32": ctypes.c_uint32,
    "u64": ctypes.c_uint64,
    "bool": ctypes.c_bool,
    "int": ctypes.c_int,
    "unsigned int": ctypes.c_uint,
    "void": None,
}


def constants(text: str) -> dict[str, int]:
    """Whole numbers of #defines and enums."""
    found = {name: int(value, 0) for name, value in re.findall(r"#define (VM_\w+) (\d\w*?)(?:u|ull)?\s*$", text, re.M)}
    for body in re.findall(r"enum\s*\w*\s*\{(.*?)\}", text, re.S):
        number = 0
        for name, value in re.findall(r"(VM_\w+)(?:\s*=\s*(\w+))?", body):
            number = (int(value) if value.isdecimal() else found[value]) if value else number
            found[name] = number
            number += 1
    return found


def class_name(struct: str) -> str:
    return "".join(word.capitalize() for word in struct.removeprefix("vm_").split("_"))


def plain_type(words: str) -> Any:
    """A type without its arrays; pointers to anything but characters are bare addresses."""
    words = words.replace("const ", "").strip()
    if words.endswith("*"):
        return ctypes.c_char_p if words.startswith("char") else ctypes.c_void_p
    return getattr(C, class_name(words.split()[1])) if words.startswith("struct ") else BASIC[words]


def members(body: str) -> Iterator[tuple[str, Any]]:
    """(name, type) of every member, in order."""
    for declaration in filter(None, (part.strip() for part in body.split(";"))):
        pointer = re.fullmatch(r"(\w+) \(\*(\w+)\)\((.*)\)", declaration, re.S)
        if pointer:
            taken = [plain_type(re.sub(r"\w+$", "", argument)) for argument in pointer[3].split(",")]
            yield pointer[2], ctypes.CFUNCTYPE(plain_type(pointer[1]), *taken)
            continue
        first, *more = declaration.split(",")
        declared = re.fullmatch(r"(.*?[\s*])(\w+(?:\[\w+\])*)", first, re.S)
        if declared is None:
            raise ValueError(f"the driver's headers have a member that is not understood: {first}")
        base, name = declared.groups()
        for declarator in (name, *(each.strip() for each in more)):
            made = plain_type(base)
            for size in reversed(re.findall(r"\[(\w+)\]", declarator)):
                made = made * (getattr(C, size) if size.startswith("VM_") else int(size))
            yield declarator.split("[")[0], made


class Struct(ctypes.Structure):
    """A struct that refuses a member it does not have; ctypes would keep it beside the struct and say nothing."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in (member for member, *_ in self._fields_):
            raise AttributeError(f"{type(self).__name__} has no member {name}")
        super().__setattr__(name, value)


def read_headers() -> None:
    """Everything the headers name."""
    text = "\n".join(re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S) for path in HEADERS)
    vars(C).update(constants(text))
    for name, body in re.findall(r"^struct (\w+) \{(.*?)^\};", text, re.S | re.M):
        setattr(C, class_name(name), type(class_name(name), (Struct,), {"_fields_": [*members(body)]}))


C = SimpleNamespace()
read_headers()


def pair(scaled: Any) -> tuple[int, int]:
    return scaled.mant, scaled.shift


def plain(value: Any) -> Any:
    """A struct, an array or a number as JSON has it: members by their names, a scaled number as [mantissa, shift]."""
    if isinstance(value, C.Scaled):
        return list(pair(value))
    if isinstance(value, ctypes.Structure):
        return {field[0]: plain(getattr(value, field[0])) for field in value._fields_}
    return [plain(each) for each in value] if isinstance(value, ctypes.Array) else value


def number(x: Fraction | int) -> Any:
    """An exact fraction for the library; every decimal of up to 19 digits can be one."""
    x = Fraction(x)
    twos = (x.denominator & -x.denominator).bit_length() - 1
    fives, rest = 0, x.denominator >> twos
    while rest % 5 == 0:
        fives, rest = fives + 1, rest // 5
    tens = max(twos, fives)
    digits = x * 10**tens
    if rest == 1 and digits < 2**64:
        return C.Number(int(digits), 1, tens)
    if x.numerator < 2**64 and x.denominator < 2**64:
        return C.Number(x.numerator, x.denominator, 0)
    raise ValueError(f"{x} has no exact form of 64-bit numbers and a power of ten")


@cache
def library() -> ctypes.CDLL:
    """The library, built if need be, or the one that the tools' package carries."""
    if SOURCES == CARRIED:
        return load(CARRIED / "libvermilion_driver.so")
    from vermilion.toolchain import build

    return load(build.driver_library())


def load(path: str | Path) -> ctypes.CDLL:
    """The library with the types of its functions set, as far as they give something else than an int."""
    made = ctypes.CDLL(str(path))
    scaled, exact, address = C.Scaled, C.Number, ctypes.c_void_p
    u32, u64 = ctypes.c_uint32, ctypes.c_uint64
    for name, result, *taken in (
        ("weight", scaled, exact, u32),
        ("idle_decay", scaled, exact, u32, u64),
        ("idle_step", u64, exact, scaled),
        ("inverse", scaled, u32),
        ("probability", u64, exact, u32),
        ("cost", scaled, u64),
        ("size_weight", scaled, u32),
        ("least_burst_ns", u32, u32),
        ("burst_ns", u64, u64, u64, u32),
        ("depth_ns", u64, u64, u64),
        ("span", scaled, u64, exact),
        ("flow_average", u32, exact),
        ("flow_age", u32, u64),
        ("alpha", u32, exact),
        ("pool_cells", u32, u32),
        ("lane_has_pool", ctypes.c_bool, address),
        ("seed_words", None, u64, u32, address),
        ("queue_defaults", None, address),
        ("queue_check", ctypes.c_bool, address, address, address),
        ("queue_convert", None, address, address, address),
        ("shape_check", ctypes.c_bool, address, address),
        ("marker_convert", None, address, address),
        ("curve_convert", None, address, u32, address),
        ("port_ranges_clear", None, address),
        ("rule_convert", ctypes.c_bool, address, address, address),
        ("refusal_text", u32, address, ctypes.c_char_p, u32),
        ("error_text", ctypes.c_char_p, ctypes.c_int),
    ):
        function = getattr(made, f"vm_{name}")
        function.restype, function.argtypes = result, taken
    return made


def fault_of(queue: ctypes.Structure, port: ctypes.Structure) -> str | None:
    """What the library finds wrong with a queue's settings, a sentence, or None."""
    fault, text = C.Refusal(), ctypes.create_string_buffer(256)
    if library().vm_queue_check(ctypes.byref(queue), ctypes.byref(port), ctypes.byref(fault)):
        return None
    library().vm_refusal_text(ctypes.byref(fault), text, len(text))
    return text.value.decode()
