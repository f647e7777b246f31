"""What `vermilion place` reads in nextpnr's report, and what it writes."""

from vermilion.synthesis import place


def step(kind: str, delay: float, cell: str) -> dict:
    return {"type": kind, "delay": delay, "from": {"cell": cell}, "to": {"cell": cell}}


def report(mhz: float) -> dict:
    inside = [
        step("clk-to-q", 0.5, "lane.core.left_TRELLIS_FF_Q_3"),
        step("routing", 1.25, "x"),
        step("logic", 0.25, "x"),
        step("routing", 1.0, "x"),
        step("logic", 0.25, "y"),
        step("setup", 0.0, "lane.core.ahead_TRELLIS_FF_Q_1"),
    ]
    outside = [step("routing", 50.0, "io_in_TRELLIS_IO_I")]
    return {
        "fmax": {"clock": {"achieved": mhz, "constraint": 250}},
        "critical_paths": [
            {"from": "async", "to": "posedge clock", "path": outside},
            {"from": "posedge clock", "to": "posedge clock", "path": inside},
        ],
        "utilization": {name: {"used": 7, "available": 1000} for name in place.USED},
    }


def test_clock_wires_and_ends_of_the_longest_path_are_read():
    row = place.figures(report(100.0), 3)
    assert (row["mhz"], row["ns"], row["wire_ns"], row["levels"], row["seed"]) == (100.0, 10.0, 2.25, 2, 3)
    assert (row["from"], row["to"]) == ("lane.core.left", "lane.core.ahead")


def test_the_page_holds_the_lane_against_the_anchor_and_keeps_what_was_not_run_now(tmp_path, monkeypatch):
    monkeypatch.setattr(place, "PAGE", tmp_path / "place.md")
    monkeypatch.setattr(place, "version", lambda: "0.11")
    place.publish({"anchor": place.figures(report(200.0), 1)})
    place.publish({"lane": place.figures(report(100.0), 1)})
    text = (tmp_path / "place.md").read_text()
    assert "period is 2.00 times that of the anchor" in text and "nothing of an XCKU3P" in text
    assert text.count("7 of 1,000") == 2 * len(place.USED)
