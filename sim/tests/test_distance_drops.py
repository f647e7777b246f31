"""What distance drops save: on every capture the hops travelled for nothing are fewer than those with the arriving packet lost, and the published table says what the model does."""

import json

import pytest
from test_run import CAPTURES
from vermilion import build, distance_drops

PUBLISHED = json.loads(distance_drops.PAGE.with_suffix(".json").read_text())
NAMES = list(dict.fromkeys(row["capture"] for row in PUBLISHED))


@pytest.mark.parametrize("name", NAMES)
def test_consumed_slots_are_below_reds_and_as_published(name):
    capture = distance_drops.SHIPPED if name == "default" else CAPTURES / f"{name}.pcap"
    if not capture.exists():
        pytest.skip(f"{capture.name} of the shared captures is not here")
    for row in distance_drops.compare(build.simulator("lab"), [capture], distance_drops.SETTLED):
        assert row in PUBLISHED, f"{row}: `./vermilion distance-drops --publish` was not run after the last change"
        arriving, nearest = (row[victim] for victim in distance_drops.VICTIMS)
        assert min(arriving["lost"], nearest["lost"]) >= 100 and nearest["evicted"] > 0.8 * nearest["lost"]
        assert nearest["consumed_slots"] < arriving["consumed_slots"]


def test_the_page_shows_every_row_of_its_data():
    text = distance_drops.PAGE.read_text()
    for row in PUBLISHED:
        assert (
            f"| {row['capture']} | {row['arriving']['packets']:,} | {' | '.join(distance_drops.cells(row))} |" in text
        )
