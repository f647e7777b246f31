"""Known answers for the conversion in a running kernel: queues of the shipped configurations and of some more AQMs, and the register words that this program works out.

`python -m vermilion.generate.driver_vectors` writes `sw_driver/kernel/vm_test_vectors.h` anew; with `--check` it writes nothing and fails if that is
stale. The kernel module compares them in `ethtool -t` and, where the kernel has KUnit, in a suite (vm_test.c). That the words are right is the
business of sim/tests/driver/test_driver_profile.py, which has them from exact fractions.
"""

import ctypes
import sys

from vermilion.configuration import config, config_file, groups
from vermilion.hardware.driver_library import C, library
from vermilion.profile.settings import queue_settings
from vermilion.toolchain import build

from . import committed

TARGET = build.ROOT / "sw_driver" / "kernel" / "vm_test_vectors.h"
CONFIGS = ("default.toml", "markers.toml")
# AQMs that the shipped configurations do not use.
AQMS = {
    "port": {"rate": 10**9},
    "queue": [
        {"name": "codel", "aqm": "codel", "target": "2ms", "interval": "40ms", "ce_threshold": "1ms", "fq": 2},
        {
            "name": "c",
            "aqm": "dualpi2",
            "coupling": 3,
            "overload": "mark",
            "dualpi2_beta": 6,
            "step_threshold": "500us",
        },
        {"name": "l", "aqm": "dualpi2"},
        {
            "name": "late",
            "ecn": True,
            "mark_at": "dequeue",
            "green": {"curve": "red", "min": 9000, "max": 9000, "p": 1},
        },
        {"name": "pie", "aqm": "pie", "target": "20ms", "tupdate": "30ms", "pie_alpha": 0.3, "pie_beta": 2.9},
    ],
}
QUEUES = 16
A_LINE = 10


def written(value) -> str:
    """A C initialiser; members that are 0 are left out."""
    if isinstance(value, ctypes.Structure):
        members = [(field[0], written(getattr(value, field[0]))) for field in value._fields_]
        shown = ", ".join(f".{name} = {part}" for name, part in members if part not in ("0", "{}"))
        return f"{{ {shown} }}" if shown else "{}"
    if isinstance(value, ctypes.Array):
        parts = [written(part) for part in value]
        return "{}" if set(parts) <= {"0", "{}"} else "{ " + ", ".join(parts) + " }"
    return f"{value}ull" if value >= 1 << 31 else str(value)


def words(queue, port) -> list[int]:
    """The values of the shadow record, in the order of vm_queue_visit()."""
    out, held = [], C.QueueImage()
    visit = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32)
    library().vm_queue_convert(ctypes.byref(queue), ctypes.byref(port), ctypes.byref(held))

    def take(_context, _address, word: int) -> int:
        out.append(word)
        return 0

    library().vm_queue_visit(ctypes.byref(held), visit(take), None)
    return out


def vectors():
    """(name, settings, port, words) of every queue."""
    files = {name: config_file.load(build.ROOT / "sim" / "configs" / name) for name in CONFIGS}
    for name, asked in (files | {"aqms": config.parse(AQMS)}).items():
        marker = {each.queue: each for each in asked.marker}
        for queue in groups.heads(asked.queue):
            settings, port = queue_settings(queue, marker.get(queue.name)), C.Port(asked.port.rate, 0, QUEUES)
            yield f"{name}: {queue.name}", settings, port, words(settings, port)


def text() -> str:
    found = [*vectors()]
    lines = [
        "/* Generated from sim/configs by sim/vermilion/generate/driver_vectors.py. Do not edit. */",
        "/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */",
        "/* clang-format off */",
        "#ifndef VM_TEST_VECTORS_H",
        "#define VM_TEST_VECTORS_H",
        "",
        '#include "vm_profile.h"',
        "",
        f"#define VM_TEST_WORDS {len(found[0][3])}",
        "",
        "struct vm_test_vector {",
        "\tconst char *name;",
        "\tstruct vm_port port;",
        "\tstruct vm_queue settings;",
        "\tu32 words[VM_TEST_WORDS]; /* in the order of vm_queue_visit() */",
        "};",
        "",
        "static const struct vm_test_vector vm_test_vectors[] = {",
    ]
    for name, settings, port, values in found:
        lines += [
            "\t{",
            f'\t\t.name = "{name}",',
            f"\t\t.port = {written(port)},",
            f"\t\t.settings = {written(settings)},",
        ]
        lines.append("\t\t.words = {")
        shown = [f"0x{value:x}" for value in values]
        lines += ["\t\t\t" + ", ".join(shown[at : at + A_LINE]) + "," for at in range(0, len(shown), A_LINE)]
        lines += ["\t\t},", "\t},"]
    return "\n".join([*lines, "};", "", "#endif", ""])


def files() -> committed.Files:
    return {TARGET: text()}


if __name__ == "__main__":
    sys.exit(committed.run("driver_vectors", files, sys.argv[1:]))
