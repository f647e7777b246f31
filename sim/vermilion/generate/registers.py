"""Register maps, each from its one source in `hw/regs`: a lane's, `vermilion.rdl`, and a NIC's app block's, `app.rdl`.

They become constants for Scala, C++ and C, as far as a program of this project reads them, Markdown and HTML.
`python -m vermilion.generate.registers` writes the committed files anew; with `--check` it writes nothing and fails if one is stale.
A register is named by its path, array indices left out: `shadow.colour[].curve[].min_th` is ShadowColourCurveMinTh.
"""

import re
import sys
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from vermilion.toolchain import build
from vermilion.values.fields import UserError

from . import committed
from .register_header import header


@dataclass
class Map:
    """A register map: its source in hw/regs, the name of its addrmap, and the names of its Scala object and its page."""

    source: str
    addrmap: str
    package: str
    scala: str
    page: str
    title: str

    @property
    def path(self) -> Path:
        return build.ROOT / "hw" / "regs" / self.source

    @property
    def head(self) -> str:
        return f"Generated from hw/regs/{self.source} by sim/vermilion/generate/registers.py. Do not edit."


LANE = Map("vermilion.rdl", "vermilion", "control", "RegisterMap", "registers.md", "Registers")
APP = Map("app.rdl", "vermilion_app", "nic", "AppRegisterMap", "app-registers.md", "Registers of the app block")

HEADS = ("address", "register", "bits", "access", "meaning")
ACCESS = "Access: ro read only, rw read and write, wo write only, rw1c writing 1 clears. i, j: array indices."
STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; max-width: 75em; margin: 1em auto; padding: 0 1em; color: #222; background: #fff }
ul { columns: 16em; padding-left: 1.2em } div { overflow-x: auto } table { border-collapse: collapse; width: 100% }
th, td { text-align: left; vertical-align: top; padding: .25em .6em; border-bottom: 1px solid #ddd }
td:nth-child(-n+4) { white-space: nowrap } tr.register { background: #f4f4f4 } :target { background: #fff3c4 }
"""


@dataclass
class Field:
    name: str
    high: int
    low: int
    access: str
    reset: int | None
    desc: str


@dataclass
class Register:
    path: list[str]
    address: int
    dims: list[tuple[str, int, int]]  # (index name, count, stride)
    desc: str
    fields: list[Field]
    groups: list[tuple[str, str]] = field(default_factory=list)  # (path, description) of what it stands in

    @property
    def words(self) -> list[str]:
        return [word for part in self.path for word in part.split("_")]

    @property
    def title(self) -> str:
        return "".join(word.capitalize() for word in self.words)

    @property
    def snake(self) -> str:
        return "_".join(self.words)

    @property
    def mask(self) -> int:
        return sum((1 << (f.high + 1)) - (1 << f.low) for f in self.fields)

    @property
    def shown_path(self) -> str:
        counts = {name: count for name, count, _ in self.dims}
        return ".".join(part + (f"[{counts[part]}]" if part in counts else "") for part in self.path)


def camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def description(node) -> str:
    return re.sub(r"\s+", " ", node.get_property("desc") or "").strip()


def access(node) -> str:
    if node.get_property("onwrite") is not None:
        return "rw1c"
    return {"rw": "rw", "r": "ro", "w": "wo"}[node.get_property("sw").name]


def read_source(of: Map = LANE) -> tuple[str, list[Register]]:
    """A map's own description, and its registers in the order of addresses; arrays are one register with `dims`."""
    from systemrdl import RDLCompiler
    from systemrdl.node import RegNode

    compiler = RDLCompiler()
    compiler.compile_file(str(of.path))
    top = compiler.elaborate(of.addrmap).top
    found = []

    def visit(node, path, base, dims, groups):
        path = [*path, node.inst_name]
        base += node.raw_address_offset
        if node.is_array:
            dims = [*dims, (node.inst_name, node.array_dimensions[0], node.array_stride)]
        if isinstance(node, RegNode):
            fields = [
                Field(f.inst_name, f.high, f.low, access(f), f.get_property("reset"), description(f))
                for f in node.fields()
            ]
            found.append(Register(path, base, dims, description(node), fields, groups))
        else:
            shown = ".".join(path)
            for child in node.children(unroll=False):
                visit(child, path, base, dims, [*groups, (shown, description(node))])

    for child in top.children(unroll=False):
        visit(child, [], 0, [], [])
    return description(top), sorted(found, key=lambda r: r.address)


def scala(of: Map, _intro: str, registers: list[Register]) -> str:
    """The Scala object: addresses, bits in use and field positions."""
    lines = [
        f"// {of.head}",
        f"package vermilion.{of.package}",
        "",
        "import chisel3._",
        "",
        f"/** Addresses and fields of the registers; what they mean: `docs/{of.page}`. */",
        f"object {of.scala} {{",
        "",
        "  /** Bits `high` to `low` of a register. */",
        "  final case class Field(high: Int, low: Int) {",
        "    def apply(word: UInt): UInt = word(high, low)",
        "  }",
        "",
        "  /** A register, or an array of them: `X()` or `X(i, j)` is the address, `mask` has a 1 for every bit in use. */",
        "  sealed class Register(base: Int, val mask: BigInt, strides: Int*) {",
        "    def apply(index: Int*): Int = {",
        '      require(index.size == strides.size, s"${index.size} indices given, ${strides.size} needed")',
        "      base + index.zip(strides).map { case (i, stride) => i * stride }.sum",
        "    }",
        "  }",
    ]
    for r in registers:
        strides = "".join(f", 0x{stride:x}" for _, _, stride in r.dims)
        head = f'object {r.title} extends Register(0x{r.address:04x}, BigInt("{r.mask:x}", 16){strides})'
        if [f.name for f in r.fields] == ["value"]:
            lines += ["", f"  {head}"]
        else:
            lines += ["", f"  {head} {{"]
            lines += [f"    val {camel(f.name)} = Field({f.high}, {f.low})" for f in r.fields]
            lines += ["  }"]
    return "\n".join([*lines, "}", ""])


def cpp(of: Map, _intro: str, registers: list[Register]) -> str:
    lines = [
        f"// {of.head}",
        f"// Byte addresses of the registers as functions of their indices, and their fields. Meaning: docs/{of.page}.",
        "#pragma once",
        "",
        "#include <cstdint>",
        "",
        "namespace vermilion::registers {",
        "",
        "struct Field {",
        "  unsigned high, low;",
        "  constexpr uint32_t mask() const { return uint32_t(((uint64_t{2} << (high - low)) - 1) << low); }",
        "  constexpr uint32_t put(uint32_t value) const { return (value << low) & mask(); }",
        "  constexpr uint32_t get(uint32_t word) const { return (word & mask()) >> low; }",
        "};",
        "",
    ]
    for r in registers:
        names = "ijk"[: len(r.dims)]
        args = ", ".join(f"uint32_t {n}" for n in names)
        sums = "".join(f" + 0x{stride:x} * {n}" for n, (_, _, stride) in zip(names, r.dims, strict=False))
        lines.append(f"constexpr uint32_t {r.snake}({args}) {{ return 0x{r.address:04x}{sums}; }}")
        lines += [
            f"constexpr Field k{r.title}{camel('_' + f.name)}{{{f.high}, {f.low}}};"
            for f in r.fields
            if f.name != "value"
        ]
    return "\n".join([*lines, "", "}  // namespace vermilion::registers", ""])


def rows(r: Register) -> list[tuple[str, str, str, str, str]]:
    """Address, name, bits, access and meaning: of a register, then of each of its fields, if it has several."""
    address = f"0x{r.address:04X}" + "".join(f" + 0x{s:X} {n}" for n, (_, _, s) in zip("ijk", r.dims, strict=False))
    single = len(r.fields) == 1 and r.fields[0].name in ("value", "go")
    first = r.fields[0]
    if single:
        return [(address, r.shown_path, f"{first.high}:{first.low}", first.access, r.desc)]
    found = [(address, r.shown_path, "", "", r.desc)]
    for f in r.fields:
        bits = f"{f.high}:{f.low}" if f.high != f.low else str(f.low)
        reset = f" Reads 0x{f.reset:X}." if f.reset and f.access == "ro" else ""
        found.append(("", f".{f.name}", bits, f.access, f.desc + reset))
    return found


def sections(registers: list[Register]) -> list[tuple[list[tuple[str, str]], list[tuple]]]:
    """The map in the order of a page: headings, each a (path, description), and the rows of the table after them."""
    found: list[tuple[list[tuple[str, str]], list[tuple]]] = [([], [])]
    shown: set[str] = set()
    for r in registers:
        fresh = [group for group in r.groups if group[0] not in shown]
        if fresh:
            shown |= {path for path, _ in fresh}
            found.append((fresh, []))
        found[-1][1].extend(rows(r))
    return found


def markdown(of: Map, intro: str, registers: list[Register]) -> str:
    lines = [f"# {of.title}", "", f"<!-- {of.head} -->", "", intro, "", ACCESS, ""]
    for headings, table in sections(registers):
        for path, text in headings:
            lines += ["", f"## {path}", text, ""]
        lines += [f"| {' | '.join(HEADS)} |", "| --- | --- | --- | --- | --- |"]
        lines += [
            f"| {at + ' ' if at else ''}| `{name}` | {bits} | {kind} | {text} |" for at, name, bits, kind, text in table
        ]
    return "\n".join([*lines, ""])


def html(of: Map, intro: str, registers: list[Register]) -> str:
    """The page as one file without scripts: a browser opens it from the disk, without a network."""
    parts, contents = [], []
    for headings, table in sections(registers):
        for path, text in headings:
            contents.append(f'<li><a href="#{escape(path)}">{escape(path)}</a></li>')
            parts.append(f'<h2 id="{escape(path)}">{escape(path)}</h2>\n<p>{escape(text)}</p>')
        parts.append(f"<div><table>\n<tr>{''.join(f'<th>{head}</th>' for head in HEADS)}</tr>")
        for at, name, bits, kind, text in table:
            start = f'<tr id="{escape(name)}" class="register">' if at else "<tr>"
            cells = f"<td>{at}</td><td><code>{escape(name)}</code></td><td>{bits}</td><td>{kind}</td><td>{escape(text)}</td>"
            parts.append(f"{start}{cells}</tr>")
        parts.append("</table></div>")
    return "\n".join(
        [
            f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Vermilion: {of.title}</title>',
            '<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">',
            f"<style>{STYLE}</style></head><body>\n<!-- {of.head} -->\n<h1>{of.title}</h1>",
            f"<p>{escape(intro)}</p>\n<p>{escape(ACCESS)}</p>\n<ul>\n{''.join(contents)}\n</ul>",
            *parts,
            "</body></html>\n",
        ]
    )


def scala_path(of: Map) -> Path:
    return build.ROOT / "hw" / "src" / "vermilion" / of.package / f"{of.scala}.scala"


def c_header(of: Map, _intro: str, registers: list[Register]) -> str:
    return header(of.head, "VM_REG" if of is LANE else "VM_APP_REG", of.page, registers)


GENERATED = {
    scala_path(LANE): (LANE, scala),
    build.ROOT / "sim" / "harness" / "register_map.h": (LANE, cpp),
    build.ROOT / "sw_driver" / "lib" / "vm_regs.h": (LANE, c_header),
    build.ROOT / "docs" / LANE.page: (LANE, markdown),
    scala_path(APP): (APP, scala),
    build.ROOT / "sw_driver" / "kernel" / "vm_app_regs.h": (APP, c_header),
    build.ROOT / "docs" / APP.page: (APP, markdown),
}


def files() -> committed.Files:
    """Each committed file, with what its map's source gives for it."""
    sources = {of.source: read_source(of) for of in (LANE, APP)}
    return {path: make(of, *sources[of.source]) for path, (of, make) in GENERATED.items()}


def generate(folder: Path) -> list[Path]:
    """`vermilion regs`: each map in `folder` as one HTML file and one Markdown file."""
    written = []
    try:
        if folder.exists() and not folder.is_dir():
            raise UserError(f"-o {folder}: is a file; give a folder")
        folder.mkdir(parents=True, exist_ok=True)
        for of in (LANE, APP):
            source = read_source(of)
            for path, make in ((folder / of.page).with_suffix(".html"), html), (folder / of.page, markdown):
                path.write_text(make(of, *source))
                written.append(path)
    except OSError as error:
        raise UserError(f"-o {folder}: cannot be written: {error.strerror}") from None
    return written


if __name__ == "__main__":
    sys.exit(committed.run("registers", files, sys.argv[1:]))
