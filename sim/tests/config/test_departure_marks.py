"""`mark_at`: what `check` says of it, the record, and what a build without `codel` refuses."""

import pytest

from support.runs import vermilion
from vermilion.configuration import config
from vermilion.profile import quantise
from vermilion.values.fields import UserError

STEP = """
[port]
rate = "1Gbit"

[[queue]]
name    = "dctcp"
ecn     = true
mark_at = "dequeue"
average = { weight = 1, unit = "packet" }
green   = { curve = "tail", ecn = { min = 65, max = 65, p = 1 } }

[[queue]]
name    = "both"
dscp    = ["AF11"]
ecn     = true
mark_at = "dequeue"
yellow  = { curve = "gentle", min = "5KB", max = "9KB", p = 0.5 }
"""


def test_check_says_from_which_level_on_packets_are_marked(tmp_path):
    file = tmp_path / "x.toml"
    file.write_text(STEP)
    status, out, err = vermilion("check", file)
    assert status == 0, err
    table = out.split("Marks at departure")[1].split("Distance")[0]
    rows = [line.split() for line in table.splitlines() if line.startswith((" dctcp", " both"))]
    assert rows == [
        ["dctcp", "green.ecn", "packets", "behind", "the", "packet", "65", "65"],
        ["both", "yellow", "average,", "bytes", "5,000", "18,000"],
    ]


def test_check_tells_of_drops_before_marks(tmp_path):
    """Only of a curve that drops: ECN-capable packets are dropped on arrival from its end on."""
    file = tmp_path / "x.toml"
    file.write_text(STEP)
    out = vermilion("check", file)[1]
    assert 'Note: queue "both" marks packets as they leave. While the average on arrival is at or above 18000' in out
    assert 'Note: queue "dctcp"' not in out


def test_only_the_bit_of_the_register_differs():
    late = {"name": "a", "ecn": True, "mark_at": "dequeue"}
    records = [quantise.hardware(config.parse({"port": {"rate": 10**9}, "queue": [queue]})) for queue in (late, late | {"mark_at": "enqueue"})]  # fmt: skip
    one, other = (record["queues"][0] for record in records)
    assert one["mark_late"] == 1 and other["mark_late"] == 0 and one | {"mark_late": 0} == other


def test_a_build_without_codel_refuses_it():
    asked = {"port": {"rate": 10**9}, "queue": [{"name": "a", "ecn": True, "mark_at": "dequeue"}]}
    with pytest.raises(UserError, match='queue "a" has mark_at = "dequeue"; this build marks .* codel is needed'):
        config.parse(asked, build_aqms=frozenset())
    assert config.parse(asked, build_aqms=frozenset({"codel"}))
