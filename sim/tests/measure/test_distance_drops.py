"""What distance drops save: the nearest's loss wastes fewer hops than the arriving packet's, or neither wastes any, and the published table says what the model does.

Claimed for captures that lose 100 packets or more, once the average has settled, and in the tail-drop form; not for an average of weight
0.002 in one pass of a capture, which the page shows and explains.
"""

import io
import json

import pytest
from rich.cells import cell_len
from rich.console import Console

from support.captures import pcap
from support.microsecond_captures import FRAME
from support.runs import CAPTURES, vermilion
from vermilion.measure import distance_drops
from vermilion.toolchain import build

PUBLISHED = json.loads(distance_drops.PAGE.with_suffix(".json").read_text())
FAR = ("netflix", "teams", "reddit", "wechat")  # whose packets have come any way
NAMES = list(dict.fromkeys(row["capture"] for row in PUBLISHED))


def test_what_is_claimed_and_published_is_every_form_of_every_capture():
    assert {"RED, weight 0.02", "RED, weight 0.002", "tail drop"} == set(distance_drops.CLAIMED)
    pairs = [(row["form"], row["capture"]) for row in PUBLISHED]
    assert sorted(pairs) == sorted((form, name) for form in distance_drops.FORMS for name in NAMES)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_wasted_hops_are_below_reds_and_as_published(name):
    capture = distance_drops.SHIPPED if name == "default" else CAPTURES / f"{name}.pcap"
    if not capture.exists():
        pytest.skip(f"{capture.name} of the shared captures is not here")
    for row in distance_drops.compare(build.simulator("lab"), [capture], distance_drops.CLAIMED):
        assert row in PUBLISHED, f"{row}: `./vermilion distance-drops --publish` was not run after the last change"
        arriving, nearest = (row[victim] for victim in distance_drops.VICTIMS)
        assert distance_drops.lost_enough(row) and nearest["evicted"] > 0.8 * nearest["lost"]
        if name in FAR:
            assert arriving["wasted_hops"] > 500
        if name in FAR or arriving["wasted_hops"]:
            assert nearest["wasted_hops"] < arriving["wasted_hops"]
        assert nearest["wasted_hops"] <= arriving["wasted_hops"]


def test_an_average_has_settled_where_its_figures_are_claimed():
    for row in PUBLISHED:
        if row["form"] in distance_drops.CLAIMED:
            weight = distance_drops.FORMS[row["form"]][0].get("average", {}).get("weight", 1)
            assert row["arriving"]["packets"] == row["nearest"]["packets"] >= distance_drops.SETTLED / weight


def test_the_page_is_that_of_its_data():
    assert distance_drops.PAGE.read_text() == distance_drops.page(PUBLISHED)


def few(capture, lost):
    return {"form": "tail drop", "capture": capture, "passes": 64} | {
        victim: {
            "packets": 1000,
            "lost": lost,
            "evicted": 0,
            "lost_bytes": 0,
            "lost_without_distance": 0,
            "wasted_hops": 77777,
        }
        for victim in distance_drops.VICTIMS
    }


def test_captures_that_lose_too_little_are_counted_and_named():
    rows = [few("enough", 100), few("little", 99), few("nothing", 0)]
    assert distance_drops.left_out(rows[:1]) == ""
    said = distance_drops.left_out(rows)
    assert "100 packets lost: 2: little (tail drop, 64 passes, 99 lost), nothing" in said and "enough" not in said
    text = distance_drops.page(rows)
    assert said in text and "| enough |" in text and "| little |" not in text


def test_the_terminals_tables_fit_80_columns_and_hold_every_figure():
    """Of what is published, and of captures with a long name, large counts and nothing that was pushed out."""
    large = few("a-capture-with-a-name-of-thirty", 123_456_789) | {"form": distance_drops.ONE_PASS}
    for form in distance_drops.FORMS:
        rows = [row for row in [*PUBLISHED, large] if row["form"] == form and distance_drops.lost_enough(row)]
        for shown in (rows, rows[-1:]):
            screen = Console(width=80, file=io.StringIO())
            for made in distance_drops.tables(shown, form):
                screen.print(made)
            text = screen.file.getvalue()
            assert max(map(cell_len, text.splitlines())) <= 80
            for row in shown:
                assert all(cell in text for cell in distance_drops.cells(row) if cell != "0"), row["capture"]
            assert shown != [large] or "nearest: pushed out" in " ".join(text.split()).rpartition(" none: ")[2]


def test_a_capture_is_sent_again_with_all_its_frames(tmp_path):
    capture = pcap(tmp_path / "in.pcap", [(n * 10, FRAME + bytes(n), len(FRAME) + 2 * n) for n in range(3)])
    again = distance_drops.repeated(capture, 700, tmp_path / "again.pcap")
    link, once = distance_drops.frames(capture)
    assert distance_drops.frames(again) == (link, once * 700) and len(once) == 3


@pytest.mark.slow
def test_the_command_prints_and_writes_what_it_measured_and_who_was_left_out(tmp_path):
    out = tmp_path / "rows.json"
    capture = pcap(tmp_path / "tiny.pcap", [(0, FRAME, len(FRAME))] * 2)
    status, printed, err = vermilion("distance-drops", capture, "--json", out)
    assert status == 0, err
    rows = json.loads(out.read_text())
    assert {row["form"] for row in rows} == set(distance_drops.FORMS) and {row["capture"] for row in rows} == {"tiny"}
    assert "Left out, with fewer than 100 packets lost: 4: tiny" in printed
    assert max(row["passes"] for row in rows) == distance_drops.PASSES
    status, printed, err = vermilion("distance-drops", out)
    assert status == 2 and "is not a capture" in err, err
