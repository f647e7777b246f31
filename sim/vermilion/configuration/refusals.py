"""What pydantic finds wrong with a configuration file, as a sentence."""

import difflib
import re
from collections.abc import Mapping
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from vermilion.values import units
from vermilion.values.fields import Strict

from . import rules, tables
from .rules import Rule

SHOWN_FIELDS = 10  # of a table in a sentence
TABLES = ("egress", "queue", "marker", "rule")  # of which a file may have several


def first(errors: list[ErrorDetails]) -> ErrorDetails:
    """The error to tell. A key that is missing is perhaps misspelt, so an unknown key of the same table goes first."""
    found = errors[0]
    if found["type"] != "missing":
        return found
    near = (each for each in errors if each["type"] == "extra_forbidden" and each["loc"][:-1] == found["loc"][:-1])
    return next(near, found)


def legal_of(field: FieldInfo) -> str:
    """What a field that must be there takes."""
    kind = field.annotation
    if get_origin(kind) is Literal:
        return f"are {', '.join(get_args(kind))}"
    if isinstance(kind, type) and issubclass(kind, Strict):
        needed = [f"{name}, {legal_of(each)}" for name, each in kind.model_fields.items() if each.is_required()]
        return f"is a table with {', '.join(needed)}".replace(", is ", ", ").replace(", are ", ", ")
    texts = [each.func.legal for each in field.metadata if hasattr(getattr(each, "func", None), "legal")]
    return f"is {texts[0] if texts else field.description}"


def one_of(kinds: tuple[Any, ...]) -> str:
    """What a list may hold, where that is one of a few names."""
    names = get_args(kinds[0]) if kinds and get_origin(kinds[0]) is Literal else ()
    return f" of {', '.join(names)}" if names else ""


def own_first(model: type[BaseModel]) -> list[str]:
    """Fields of a table: those that name it, which its class has itself, before the settings that it inherits."""
    settings = [
        base for base in model.__mro__[1:] if issubclass(base, BaseModel) and base.__module__ == tables.__name__
    ]
    inherited = {name for base in settings for name in base.model_fields}
    names = [name for name in model.model_fields if name not in inherited]
    return names + [name for name in model.model_fields if name in inherited]


def key(part: str) -> str:
    """A key as it may stand in a sentence."""
    bare = re.fullmatch("[A-Za-z0-9_-]+", part) and len(part) <= units.SHOWN_MOST
    return part if bare else units.shown(part)


def sentence(
    error: ErrorDetails, raw: dict[str, Any], top: type[BaseModel], models: Mapping[str, type[BaseModel]]
) -> str:
    """One pydantic error as a sentence: where, what, what would be right. `top` is the model of the file, `models` those of its tables."""
    loc = list(error["loc"])
    node: Any = raw  # the part of the file at which the walk has come
    names: list[str] = []
    for part in loc:
        if isinstance(part, int):
            node = node[part] if isinstance(node, list) and part < len(node) else {}
            if names and names[-1] in TABLES:
                called = "queue" if names[-1] == "marker" else "name"
                name, of = node.get(called) if isinstance(node, dict) else None, " of" if names[-1] == "marker" else ""
                names[-1] += f"{of} {units.shown(name)}" if isinstance(name, str) else f" number {part + 1}"
            continue
        names.append(key(part))
        node = node.get(part, {}) if isinstance(node, dict) else {}
    parents = [part for part in loc[:-1] if isinstance(part, str)]
    model = models.get(parents[-1], top) if parents else top
    tables = tuple(f"{name} " for name in TABLES)
    where = ", ".join(part for part in names if part.startswith(tables)) or ""
    rest = ".".join(part for part in names if not part.startswith(tables))
    where = ", ".join(part for part in (where, rest) if part) or "the file"
    kind, last = error["type"], str(loc[-1]) if loc else ""
    if kind == "extra_forbidden":
        near = difflib.get_close_matches(last, model.model_fields, 1)
        hint = f'did you mean "{near[0]}"?' if near else f"legal are {', '.join(own_first(model))}"
        hint = model is Rule and rules.hint(last) or hint
        return f"{where} is no key of Vermilion's; {hint}"
    if kind == "missing":
        return f"{where} is missing; legal {legal_of(model.model_fields[last])}"
    if kind == "literal_error":
        legal = error["ctx"]["expected"].replace("'", "").replace(" or ", ", ")
        return f"{where} is {units.shown(error['input'])}; legal are {legal}"
    if kind == "value_error":
        return f"{where} {error['ctx']['error']}"
    legal = {"bool_type": "true and false", "list_type": "a list", "string_type": "text in quotes"}
    inside = "egress." if names[0].startswith("egress ") else ""
    if names[-1] in TABLES and len(names) == 1 + bool(inside):
        legal["list_type"] = f"a list of tables, each headed [[{inside}{names[-1]}]]"
    elif kind == "list_type":
        legal["list_type"] += one_of(get_args(model.model_fields[last].annotation))
    within = [part for part in loc if isinstance(part, str)]
    table = models.get(within[-1]) if within else None
    fields = table.model_fields if table and len(table.model_fields) <= SHOWN_FIELDS else {}
    tabled = f"a table with {', '.join(fields)}" if fields else "a table"
    legal |= {"model_type": tabled, "dict_type": tabled, "model_attributes_type": tabled}
    return f"{where} is {units.shown(error['input'])}; legal is {legal.get(kind, error['msg'])}"
