"""The JSON schema of the configuration file, for editors: `docs/configuration.schema.json`.

`python -m vermilion.generate.schema` writes it anew; with `--check` it writes nothing and fails if the file is stale. It comes from the tables that
read the file (`configuration/`), so what it says of a single field is what the program says. Rules between fields are the program's alone.
"""

import json
import sys
from pathlib import Path
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue

from vermilion.configuration.egresses import File
from vermilion.toolchain import build
from vermilion.values.units import Amount

from . import committed, description

PAGE: Path = build.ROOT / "docs" / "configuration.schema.json"


class OfValidators(GenerateJsonSchema):
    """Takes what a validator says of its values (`fields.editors`) in place of the type that it makes of them."""

    def function_before_schema(self, schema: Any) -> JsonSchemaValue:
        said: JsonSchemaValue | None = getattr(schema["function"]["function"], "schema", None)
        return dict(said) if said else super().function_before_schema(schema)


def plain(value: Any) -> Any:
    """As TOML has it: amounts as text, and nothing that is null. Titles go, as they repeat the names."""
    if isinstance(value, list):
        return [plain(each) for each in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {"value", "unit"}:
        return str(Amount(value["value"], value["unit"]))
    if "anyOf" in value:
        forms = [each for each in value["anyOf"] if each != {"type": "null"}]
        value = {name: each for name, each in value.items() if name != "anyOf"}
        value |= forms[0] if len(forms) == 1 else {"anyOf": forms}
    dropped = {"title"} if isinstance(value.get("title"), str) else set()
    return {name: plain(each) for name, each in value.items() if each is not None and name not in dropped}


def schema() -> dict[str, Any]:
    made: dict[str, Any] = plain(File.model_json_schema(schema_generator=OfValidators))
    used = json.dumps(made)
    for name in [name for name in made["$defs"] if f'"#/$defs/{name}"' not in used]:
        del made["$defs"][name]
    for table in description.load().settings.values():
        for name in (table.name.capitalize(), *{"curve": ("DropCurve", "EcnCurve")}.get(table.name, ())):
            for field in table.settings:
                properties = made["$defs"].get(name, {}).get("properties", {})
                if field.name in properties:
                    properties[field.name]["description"] = field.doc
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Vermilion configuration"} | made


def text() -> str:
    return json.dumps(schema(), indent=1) + "\n"


def files() -> committed.Files:
    return {PAGE: text()}


if __name__ == "__main__":
    sys.exit(committed.run("schema", files, sys.argv[1:]))
