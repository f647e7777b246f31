"""Yosys netlists as OpenSTA reads them: its Verilog reader knows no concatenation on the left of an assignment, and no `defparam`."""

import re

NAME = r"\\\S+ |[A-Za-z_][\w$]*"
TERM = re.compile(rf"({NAME})\s*(?:\[(\d+)(?::(\d+))?\])?|(\d+)'([hb])([0-9a-fx]+)")
DECLARED = re.compile(rf"^\s*(?:wire|reg|input|output|inout)\s+(?:\[(\d+):(\d+)\]\s*)?({NAME})\s*;", re.M)
JOINED = re.compile(r"^(\s*)assign (\{.*?\}) = (.*);$", re.M)


def for_sta(text: str) -> str:
    """The same netlist without parameters of cells, each concatenation's assignment taken apart bit by bit; x reads as 0."""
    text = re.sub(r"^  defparam .*;\n", "", text, flags=re.M)
    spans = {name.strip(): (int(high), int(low)) if high else None for high, low, name in DECLARED.findall(text)}

    def bits(expression: str) -> list[str]:
        out = []
        for name, high, low, width, base, digits in TERM.findall(expression):
            if not name:
                value = int(digits.replace("x", "0"), 16 if base == "h" else 2)
                out += [f"1'h{value >> i & 1}" for i in reversed(range(int(width)))]
                continue
            span = (int(high), int(low or high)) if high else spans.get(name.strip())
            out += [name.strip() + " "] if span is None else [f"{name}[{i}]" for i in range(span[0], span[1] - 1, -1)]
        return out

    def apart(match: re.Match) -> str:
        indent, left, right = match.groups()
        pairs = list(zip(bits(left), bits(right), strict=True))
        return "\n".join(f"{indent}assign {to} = {source};" for to, source in pairs)

    return JOINED.sub(apart, text)
