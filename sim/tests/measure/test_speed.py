"""What `vermilion speed` makes of the figures of its three ways, and what it writes."""

import json

from vermilion.measure import speed

FIGURES = {"clocks": 8000, "cpu_seconds": 0.5, "packets": 1000}


def test_rates_are_of_processor_time():
    row = speed.row("nic10g", 64, "rtl", FIGURES)
    assert (row["clocks_per_second"], row["packets_per_second"]) == (16000, 2000)
    assert speed.row("nic10g", 64, "rtl", FIGURES | {"cpu_seconds": 0})["clocks_per_second"] > 0


def test_the_page_has_a_line_for_each_row_the_targets_and_the_rows_as_json(tmp_path, monkeypatch):
    monkeypatch.setattr(speed, "PAGE", tmp_path / "speed.md")
    rows = [speed.row(preset, 64, way, FIGURES) for preset in speed.PRESETS for way in ("rtl", "model", "cocotb")]
    speed.publish(rows, 1000)
    text = speed.PAGE.read_text()
    assert text.count("| 1,000 | 8,000 | 16,000 | 2,000 |") == len(rows) == 6
    assert "nic10g 1,000,000 clocks a second and 100,000 packets" in text and "--packets 1000 " in text
    assert json.loads(speed.PAGE.with_suffix(".json").read_text()) == rows
