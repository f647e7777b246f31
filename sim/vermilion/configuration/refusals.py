"""What pydantic finds wrong with a configuration file, as a sentence."""

import difflib

from vermilion.values import units

from . import rules
from .rules import Rule

TABLES = ("egress", "queue", "marker", "rule")  # of which a file may have several


def sentence(error: dict, raw: dict, top: type, models: dict[str, type]) -> str:
    """One pydantic error as a sentence: where, what, what would be right. `top` is the model of the file, `models` those of its tables."""
    loc, node, names = list(error["loc"]), raw, []
    for part in loc:
        if isinstance(part, int):
            node = node[part] if isinstance(node, list) and part < len(node) else {}
            if names and names[-1] in TABLES:
                key = "queue" if names[-1] == "marker" else "name"
                name, of = node.get(key) if isinstance(node, dict) else None, " of" if names[-1] == "marker" else ""
                names[-1] += f"{of} {units.shown(name)}" if isinstance(name, str) else f" number {part + 1}"
            continue
        names.append(part if len(part) <= units.SHOWN_MOST else part[: units.SHOWN_MOST] + "...")
        node = node.get(part, {}) if isinstance(node, dict) else {}
    parents = [part for part in loc[:-1] if isinstance(part, str)]
    model = models.get(parents[-1], top) if parents else top
    tables = tuple(f"{name} " for name in TABLES)
    where = ", ".join(part for part in names if part.startswith(tables)) or ""
    rest = ".".join(part for part in names if not part.startswith(tables))
    where = ", ".join(part for part in (where, rest) if part) or "the file"
    kind = error["type"]
    if kind == "extra_forbidden":
        near = difflib.get_close_matches(names[-1], model.model_fields, 1)
        hint = f'did you mean "{near[0]}"?' if near else f"legal are {', '.join(model.model_fields)}"
        hint = model is Rule and rules.hint(names[-1]) or hint
        return f"{where} is no key of Vermilion's; {hint}"
    if kind == "missing":
        return f"{where} is missing"
    if kind == "literal_error":
        near = difflib.get_close_matches(str(error["input"]), error["ctx"]["expected"].replace("'", "").split(", "), 1)
        legal = error["ctx"]["expected"].replace("'", "").replace(" or ", ", ")
        return f"{where} is {units.shown(error['input'])}; legal are {legal}"
    if kind == "value_error":
        return f"{where} {error['ctx']['error']}"
    legal = {"bool_type": "true and false", "list_type": "a list", "string_type": "text in quotes"}
    inside = "egress." if names[0].startswith("egress ") else ""
    if names[-1] in TABLES and len(names) == 1 + bool(inside):
        legal["list_type"] = f"a list of tables, each headed [[{inside}{names[-1]}]]"
    legal |= {"model_type": "a table", "dict_type": "a table", "model_attributes_type": "a table"}
    shown = {dict: "a table", list: "a list"}.get(type(error["input"])) or units.shown(error["input"])
    return f"{where} is {shown}; legal is {legal.get(kind, error['msg'])}"
