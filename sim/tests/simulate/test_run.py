"""`vermilion run` as its user meets it: captures through the RTL, every decision agreed, every byte accounted for; bad input refused."""

import pytest

from support.microsecond_captures import FRAME, pcap
from support.runs import CAPTURES, REAL, check, run, vermilion
from vermilion.toolchain import build

pytestmark = pytest.mark.slow


def test_the_shipped_capture_runs_without_arguments(tmp_path):
    stats = run(tmp_path)
    check(stats)
    colours = [colour for queue in stats["queues"] for colour in queue["colours"]]
    for name in ("early", "forced", "tail", "marked", "ce_written"):
        assert sum(colour[name]["packets"] for colour in colours) > 0, f"the shipped capture shows no {name}"


@pytest.mark.parametrize("speed", [1, 20])
@pytest.mark.parametrize("name", REAL)
def test_every_decision_on_real_traffic_is_the_models(tmp_path, name, speed):
    capture = CAPTURES / f"{name}.pcap"
    if not capture.exists():
        pytest.skip(f"VERMILION_CAPTURES names no folder with {capture.name}")
    check(run(tmp_path, capture, "--speed", speed, "--out", tmp_path / "out.pcapng"))


REFUSED = {
    "not-a-capture": b"this is no capture at all, just text",
    "unknown-link-type": pcap((1, FRAME, 60), link=147),
}
ODD = {
    "cut-off": pcap((1, FRAME, 60), (2, FRAME, 60))[:-20],
    "snapped": pcap((1, FRAME, 1500), (2, FRAME, 60)),
    "backwards": pcap((5, FRAME, 60), (3, FRAME, 60), (4, FRAME, 60)),
    "years": pcap((5, FRAME, 60), (500000000, FRAME, 60)),
    "runt": pcap((1, FRAME[:14], 14), (2, FRAME[:10], 10), (3, FRAME, 60)),
    "giant": pcap((1, FRAME + bytes(9540), 9600), (2, FRAME, 60)),
    "raw-ip": pcap((1, FRAME[14:], 46), link=101),
    "lying-lengths": pcap(
        (1, FRAME[:16] + b"\xff\xff" + FRAME[18:], 60),
        (2, FRAME[:14] + b"\x4f" + FRAME[15:], 60),
        (3, FRAME[:14] + b"\x41" + FRAME[15:], 60),
        (4, FRAME[:20], 20),
        (5, FRAME[:12] + b"\x81\x00", 14),
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_capture_is_refused_with_a_sentence(tmp_path, name):
    capture, out = tmp_path / "in.pcap", tmp_path / "out.pcapng"
    capture.write_bytes(REFUSED[name])
    status, stdout, err = vermilion("run", capture, "--out", out)
    assert status == 2 and err.startswith(f"vermilion: {capture}: ") and err.count("\n") == 1, err
    assert not out.exists()


@pytest.mark.parametrize("name", ODD)
def test_odd_captures_run_and_every_frame_has_its_verdict(tmp_path, name):
    capture = tmp_path / "in.pcap"
    capture.write_bytes(ODD[name])
    stats = run(tmp_path, capture)
    check(stats)
    if name in ("cut-off", "snapped", "backwards", "years", "runt"):
        assert stats["warnings"], "nobody was warned"


def test_a_pool_larger_than_the_buffer_is_refused(tmp_path):
    capture, asked = tmp_path / "in.pcap", tmp_path / "c.toml"
    capture.write_bytes(pcap((1, FRAME, 60)))
    asked.write_text('pool = { size = "1MB" }\nport = { rate = "1Gbit" }\n')
    status, stdout, err = vermilion("run", capture, "--config", asked)
    most = build.PRESETS["lab"].cells
    assert (status, err) == (
        2,
        f"vermilion: {asked}: pool.size is 1MB; legal is 64B to {64 * most}B, the {most} cells of this build\n",
    )


def test_an_empty_capture_is_a_run_with_a_warning(tmp_path):
    capture = tmp_path / "in.pcap"
    capture.write_bytes(pcap())
    stats = run(tmp_path, capture)
    assert stats["packets"] == 0 and stats["warnings"]


def test_an_output_that_cannot_be_written_is_refused(tmp_path):
    status, _, err = vermilion("run", "--out", tmp_path / "missing" / "out.pcapng")
    assert status == 2 and "Traceback" not in err, err
