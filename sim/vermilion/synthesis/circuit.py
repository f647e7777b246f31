"""A digest of a design's circuit that does not depend on names.

A measured figure belongs to a circuit. If signals or modules are only renamed, the circuit is the same, and so is its figure. This digest is
taken over the SystemVerilog with each name replaced by a number: a module by its place in the hierarchy, a port by its place in the module, any
other name by the order in which the module uses it. Comments and layout do not count. Two circuits that differ have different digests; equal
circuits whose statements are in another order have different ones, too.
"""

import hashlib
import re
from pathlib import Path

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|\(\*\s.*?\*\)", re.S)
TOKEN = re.compile(r"\(\*\s.*?\*\)|\"[^\"]*\"|[`$.]?[A-Za-z_][\w$]*|\d*'s?[bdh][0-9a-fA-FxXzZ_]+|\d+|[^\s\w]", re.S)
NAME = re.compile(r"\.?[A-Za-z_][\w$]*")
KEYWORDS = frozenset(
    "always always_comb always_ff always_latch and assign automatic begin bit case casez default else end endcase endfunction endgenerate"
    " endmodule for function generate genvar if initial inout input int integer localparam logic module negedge nor not or output parameter"
    " posedge reg signed string unsigned while wire xnor xor".split()
)


def tokens(text: str) -> list[str]:
    """Tokens of a file, attributes included; comments are left out."""
    return TOKEN.findall(COMMENT.sub(lambda m: m[0] if m[0].startswith("(*") else " ", text))


def is_name(token: str) -> bool:
    return bool(NAME.fullmatch(token)) and token not in KEYWORDS and not token.startswith(".")


def names(of: list[str]) -> list[str]:
    """The names of a module's head, that is its ports in their order."""
    head = of[: of.index(";")]
    return [token for token in head[2:] if is_name(token)]


def digest(folder: Path, top: str) -> str:
    """12 hexadecimal digits: the circuit of module `top`, with the modules of `folder` (one per `.sv` file) that it uses.

    A module without a file, such as a primitive of the device, counts by its name.
    """
    modules = {}
    for path in sorted(folder.glob("*.sv")):
        if "module" in (of := tokens(path.read_text())):
            of = of[of.index("module") :]
            modules[of[1]] = of
    ports = {name: {port: i for i, port in enumerate(names(of))} for name, of in modules.items()}
    order = {top: 0}
    sha = hashlib.sha256()
    waiting = [top]
    while waiting:
        for token in numbered(modules[waiting.pop(0)], ports, order, waiting):
            sha.update(token.encode() + b"\0")
    return sha.hexdigest()[:12]


def numbered(of: list[str], ports: dict, order: dict, waiting: list[str]):
    """The tokens of a module with numbers in place of names. Modules that it uses first are added to `order` and `waiting`."""
    local: dict[str, int] = {}
    instance: dict[str, int] | None = None  # ports of the module whose instance is connected
    for token, following in zip(of, [*of[1:], ""], strict=True):
        if token in ports:
            if token not in order:
                order[token] = len(order)
                waiting.append(token)
            instance = ports[token]
            yield f"module {order[token]}"
        elif token.startswith(".") and instance is not None:
            yield f"port {instance.get(token[1:], token)}"
        elif is_name(token) and (following == "#" or is_name(following)):  # an instance of a module without a file
            yield token
        elif is_name(token):
            yield f"name {local.setdefault(token, len(local))}"
        else:
            instance = None if token == ";" else instance
            yield token
