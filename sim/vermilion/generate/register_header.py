"""A register map as a C header for the driver (sw_driver), in the kernel's dialect: macros alone.

`VM_REG_SHADOW_WEIGHT(i)` is a byte address; of a field there are `_SHIFT` and `_MASK`, for `VM_PUT` and `VM_GET`, and `_RESET`
where it reads as a constant. Maps differ in the prefix.
"""

SPDX = "/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */"


def field(prefix: str, register, f) -> list[str]:
    name = f"{prefix}_{register.snake}_{f.name}".upper()
    mask = (1 << (f.high + 1)) - (1 << f.low)
    lines = [f"#define {name}_SHIFT {f.low}", f"#define {name}_MASK 0x{mask:08x}u"]
    return lines + ([f"#define {name}_RESET 0x{f.reset:x}u"] if f.access == "ro" and f.reset else [])


def header(head: str, prefix: str, page: str, registers: list) -> str:
    """`head` says what the file was generated from, `page` of docs/ what the registers mean."""
    guard = f"{prefix}S_H"
    lines = [
        f"/* {head} */",
        SPDX,
        f"/* Byte addresses of the registers and their fields. Meaning: docs/{page}. */",
        f"#ifndef {guard}",
        f"#define {guard}",
        "",
        "#ifndef VM_PUT",
        "#define VM_PUT(field, value) (((u32)(value) << field##_SHIFT) & field##_MASK)",
        "#define VM_GET(field, word) (((word) & field##_MASK) >> field##_SHIFT)",
        "#endif",
        "",
    ]
    for r in registers:
        names = "ijk"[: len(r.dims)]
        sums = "".join(f" + 0x{stride:x}u * (u32)({n})" for n, (_, _, stride) in zip(names, r.dims, strict=False))
        address = f"(0x{r.address:04x}u{sums})" if names else f"0x{r.address:04x}u"
        arguments = f"({', '.join(names)})" if names else ""
        lines.append(f"#define {prefix}_{r.snake.upper()}{arguments} {address}")
        lines += [line for f in r.fields if f.name != "value" for line in field(prefix, r, f)]
    return "\n".join([*lines, "", "#endif", ""])
