"""The register map as a C header for the driver library (sw_driver/lib), in the kernel's dialect: macros alone.

`VM_REG_SHADOW_WEIGHT(i)` is a byte address; of a field there are `_SHIFT` and `_MASK`, for `VM_PUT` and `VM_GET`, and `_RESET`
where it reads as a constant.
"""

SPDX = "/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */"


def field(register, f) -> list[str]:
    name = f"VM_REG_{register.snake}_{f.name}".upper()
    mask = (1 << (f.high + 1)) - (1 << f.low)
    lines = [f"#define {name}_SHIFT {f.low}", f"#define {name}_MASK 0x{mask:08x}u"]
    return lines + ([f"#define {name}_RESET 0x{f.reset:x}u"] if f.access == "ro" and f.reset else [])


def header(head: str, guard: str, registers: list) -> str:
    """`head` says what the file was generated from; `guard` is the macro that keeps it from being read twice."""
    lines = [
        f"/* {head} */",
        SPDX,
        "/* Byte addresses of the registers and their fields. Meaning: docs/registers.md. */",
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
        sums = "".join(f" + 0x{stride:x}u * (u32)({n})" for n, (_, _, stride) in zip(names, r.dims))
        address = f"(0x{r.address:04x}u{sums})" if names else f"0x{r.address:04x}u"
        arguments = f"({', '.join(names)})" if names else ""
        lines.append(f"#define VM_REG_{r.snake.upper()}{arguments} {address}")
        lines += [line for f in r.fields if f.name != "value" for line in field(r, f)]
    return "\n".join([*lines, "", "#endif", ""])
