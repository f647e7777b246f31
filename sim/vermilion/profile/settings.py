"""A queue of the configuration file, and its marker, as the driver's library takes them: `struct vm_queue` (docs/profile.md).

Each field is copied by its name, which is the same in both. What the file says in another form is in `DERIVED` and `of_marker`.
"""

import ctypes
from collections.abc import Callable
from typing import Any

from vermilion.configuration.config import Curve, Queue
from vermilion.configuration.markers import DEPTHS, Marker
from vermilion.hardware.driver_library import C, library, number
from vermilion.hardware.formats import exact
from vermilion.hardware.profile_fields import BY_NAME, FIELDS, Field
from vermilion.values.fields import COLOURS

MARKER = "marker."
DEFAULT_QUANTUM, DEFAULT_BURST = (int(BY_NAME[name].default) for name in ("quantum", "burst"))
# Fields that the file has in another form.
DERIVED: dict[str, Callable[[Queue], Any]] = {"strict": lambda queue: queue.priority is not None}


def place(root: Any, field: Field) -> Any:
    """What holds the last member of a field's way."""
    for step in field.path[:-1]:
        root = root[step] if isinstance(step, int) else getattr(root, step)
    return root


def put(root: Any, field: Field, value: Any) -> None:
    """Sets a member; `value` as C has it."""
    at, last = place(root, field), field.path[-1]
    if isinstance(last, int):
        at[last] = value
    else:
        setattr(at, last, value)


def get(root: Any, field: Field) -> Any:
    at, last = place(root, field), field.path[-1]
    return at[last] if isinstance(last, int) else getattr(at, last)


def c_value(field: Field, asked: Any) -> Any:
    """A value of the file, or None where it has none, as C has it."""
    if asked is None:
        asked = field.none if field.none is not None else field.default
        return number(asked) if field.type in ("number", "power") else int(asked)
    if field.words:
        return field.words.index(asked)
    if field.type in ("number", "power"):
        return number(exact(asked))
    if field.type == "colours":
        return sum(1 << COLOURS.index(colour) for colour in asked)
    return int(getattr(asked, "value", asked))


def asked_of(queue: Queue, name: str) -> Any:
    """What the file has under a name such as green.ecn.min; None where it has nothing."""
    found: Any = queue
    for part in name.split("."):
        if found is None:
            return None
        found = getattr(found, part)
    return found


def of_marker(m: Marker, field: Field) -> Any:
    """The C value of a marker's field; the kind reads it."""
    name = field.name.removeprefix(MARKER)
    if name in DEPTHS:
        return m.in_bytes(getattr(m, name))
    if name == "packet":
        return m.packet_bytes
    return c_value(field, m.given(name) if name in m.taken else getattr(m, name))


def marker_settings(m: Marker | None) -> Any:
    """`struct vm_marker`; a field that the kind does not read keeps its default."""
    return queue_of_marker(m).marker


def queue_of_marker(m: Marker | None) -> Any:
    out = C.Queue()
    library().vm_queue_defaults(ctypes.byref(out))
    for field in FIELDS:
        if m is not None and field.name.startswith(MARKER) and m.reads(field.name.removeprefix(MARKER)):
            put(out, field, of_marker(m, field))
    return out


def curve_settings(curve: Curve | None) -> Any:
    """`struct vm_curve`; None is tail drop."""
    out = C.Queue()
    for field in FIELDS:
        if curve is not None and field.name.startswith("green.") and field.name.count(".") == 1:
            put(out, field, c_value(field, getattr(curve, field.name.removeprefix("green."))))
    return out.curve[0][C.VM_DROPS]


def queue_settings(queue: Queue, marker: Marker | None) -> Any:
    """`struct vm_queue`, with its marker."""
    out = queue_of_marker(marker)
    for field in FIELDS:
        if field.name.startswith(MARKER):
            continue
        asked = DERIVED[field.name](queue) if field.name in DERIVED else asked_of(queue, field.name)
        put(out, field, c_value(field, asked))
    return out
