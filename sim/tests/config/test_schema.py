"""The JSON schema of the configuration file: it takes what the program takes, and refuses much of what the program refuses."""

import json
import tomllib

import fastjsonschema
import pytest

from support import hostile_files
from vermilion.generate import committed, schema
from vermilion.toolchain import build

SHIPPED = sorted((build.ROOT / "sim" / "configs").rglob("*.toml"))


@pytest.fixture(scope="module")
def validate():
    return fastjsonschema.compile(json.loads(schema.PAGE.read_text()))


def refused(validate, tables: dict) -> bool:
    try:
        validate(tables)
    except fastjsonschema.JsonSchemaException:
        return True
    return False


def test_the_schema_is_up_to_date():
    assert committed.stale(schema.files()) == []


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.name)
def test_a_shipped_configuration_fits(validate, path):
    assert not refused(validate, tomllib.loads(path.read_text()))


def test_hostile_files(validate):
    """The program refuses each of these files. The schema may take one whose fault lies between fields."""
    found = []
    for case in hostile_files.cases():
        try:
            found.append(refused(validate, tomllib.loads(case.content.decode())))
        except (ValueError, RecursionError):
            continue
    print(f"{sum(found)} of {len(found)} files that are TOML")
    assert len(found) > 500 and sum(found) > len(found) // 2


LEGAL = {
    "limit": ["200KB", "64KiB", "1500B", 1500, " 3 kb "],
    "limit_packets": ["60p", "60 packets", 60],
    "rate": ["10Gbit", "700kbit", "2mbit", 64000, "1.5Mbit/s", "1Mibit"],
    "size_weight": ["1KB"],
    "dscp": [["AF11", 46, "ef"], {"green": ["CS1"]}],
    "remark": ["AF11", 0, {"red": "LE"}],
    "alpha": [0.5, 8],
    "victim_window": [16],
}
ILLEGAL = {
    "limit": ["200XB", -1, 1.5, True],
    "rate": ["10Gbps?", 1],
    "dscp": ["AF11", [64], {"blue": []}],
    "remark": [["AF11"], 64, "AF99"],
    "alpha": [0.3],
    "victim_window": [17, 0],
    "spacing": ["even"],
    "colour": ["green"],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in LEGAL.items() for value in values])
def test_a_legal_value_fits(validate, name, value):
    assert not refused(validate, {"port": {"rate": "1Gbit"}, "queue": [{"name": "a", name: value}]})


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in ILLEGAL.items() for value in values])
def test_an_illegal_value_does_not(validate, name, value):
    assert refused(validate, {"port": {"rate": "1Gbit"}, "queue": [{"name": "a", name: value}]})
