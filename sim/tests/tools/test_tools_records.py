"""What a host keeps of a card: one file a card however it is called, none that claims what a killed program left; and numbers that are none."""

import os
from pathlib import Path

import pytest

from support.tool_cards import DEVICE, ctl
from vermilion.toolchain import build
from vermilionctl import bus as buses
from vermilionctl import export, record
from vermilionctl.errors import DeviceError, UserError

CONFIG = build.ROOT / "sim/configs/default.toml"
MARKERS = build.ROOT / "sim/configs/markers.toml"
DIGITS = "9" * 5000


def test_a_card_has_one_record_by_whatever_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link").symlink_to(tmp_path)
    same = (
        ("pci:0000:0a:00.0", "pci:0a:00.0", "pci:0000:0A:00.0"),
        (f"unix:{tmp_path}/lane", "unix:lane", f"unix:{tmp_path}/link/./lane"),
    )
    for names in same:
        assert len({record.place(name, 0) for name in names}) == 1, names
    others = "unix:/a/b unix:/a_b unix:/a%2Fb unix:/a%b unix:/a%25b unix:/A/b pci:0a:00.0 pci:0a:00.1 pci:0001:0a:00.0"
    assert len({record.place(name, 0) for name in others.split()}) == 9
    assert record.place(DEVICE, 0) != record.place(DEVICE, 1)
    name = "unix:/" + os.fsdecode(b"\xff") + "ü/" * 40
    assert len(os.fsencode(record.place(name, 63).name)) < 240 and record.place(name, 0) != record.place(name + "a", 0)


@pytest.mark.parametrize("name", ["pci:", "pci:3:0.0", "pci:0000:0a:00.0/", "pci:../../0a:00.0", "unix:", "unix:a\0b", "usb:1", ""])  # fmt: skip
def test_what_names_no_card_is_refused_before_a_file_is_made(state, name):
    status, said = ctl(name, "show")
    assert status == 2 and "legal are pci:0000:03:00.0, unix:SOCKET" in said and not state.exists()


def test_links_in_a_ring_are_refused(tmp_path):
    (tmp_path / "ring").symlink_to(tmp_path / "ring")
    status, said = ctl(f"unix:{tmp_path}/ring", "show")
    assert status in (1, 2) and "ring" in said and "\n" not in said


@pytest.mark.parametrize("words", [("apply", MARKERS), ("set", "af1", "limit=90KB"), ("set", "class", "EF=af1")])
def test_a_program_that_is_killed_amid_its_writes_leaves_a_record_that_claims_nothing(bench, state, words, monkeypatch):  # fmt: skip
    assert bench.ctl("apply", CONFIG)[0] == 0
    (path,) = state.glob("*.json")
    found, write = set(), bench.bus.write

    def looked_at(offset, value):  # what a kill at this moment leaves is what lies on the disk
        found.add(record.load(DEVICE, 0).port is None)
        write(offset, value)

    monkeypatch.setattr(bench.bus, "write", looked_at)
    assert bench.ctl(*words)[0] == 0
    assert found == {True} and record.load(DEVICE, 0).port is not None
    monkeypatch.undo()
    monkeypatch.setenv("VERMILION_STATE", str(state))
    monkeypatch.setattr(buses, "opened", lambda device: bench.bus)
    assert bench.ctl("dump")[0] == 0
    record_ = record.load(DEVICE, 0)
    record_.unclaim()
    assert "nothing whole was written" in bench.ctl("show")[1] and list(state.glob(".record-*")) == []


def full(*_words, **_names):
    raise OSError(28, "No space left on device")


def test_a_record_that_cannot_be_written_stops_before_the_card_is_touched(bench, monkeypatch):
    monkeypatch.setattr(record.tempfile, "mkstemp", full)
    status, said = bench.ctl("apply", CONFIG)
    assert status == 2 and "No space left on device; the card is not written to without it" in said
    assert bench.bus.writes == []


def test_a_record_that_fails_behind_the_card_is_no_fault_of_the_callers(bench, state, monkeypatch):
    replaced, real = [], os.replace

    def second_fails(*words):
        replaced.append(words)
        real(*words) if len(replaced) == 1 else full()

    monkeypatch.setattr(record.os, "replace", second_fails)
    status, said = bench.ctl("apply", CONFIG)
    assert status == 1 and "No space left on device; apply the configuration again" in said and bench.bus.writes
    assert list(state.glob(".record-*")) == []
    assert record.load(DEVICE, 0).port is None


def test_a_card_that_goes_is_told_also_where_the_record_cannot_be_written(bench, monkeypatch):
    bench.fresh(500)
    replaced, real = [], os.replace
    monkeypatch.setattr(record.os, "replace", lambda *words: replaced.append(words) or (real(*words) if len(replaced) == 1 else full()))  # fmt: skip
    status, said = bench.ctl("apply", CONFIG)
    assert status == 1 and said == f"{DEVICE}: the card is gone: pulled out"


NUMBERS = ["²", "٣", DIGITS, "1" + "0" * 20, "-1", "1_0", " 1"]


@pytest.mark.parametrize("raw", NUMBERS)
def test_numbers_that_are_none_are_refused_in_a_sentence(bench, raw):
    bench.ctl("apply", CONFIG)
    for words in (
        ("set", "--", "af1", f"priority={raw}"),
        ("set", "--", "af1", f"marker.idle={raw}x"),
        ("set", "--", "af1", f"remark.green={raw}"),
        ("set", "--", "port", f"rate={raw}x"),
        ("set", "--", "class", f"{raw}=af1"),
        ("set", "--", "class", f"EF={raw}"),
        ("set", "--", raw, "ecn=1"),
        ("show", "--", raw),
        ("stats", "--", raw),
    ):
        status, said = bench.ctl(*words)
        assert status == 2 and ("legal" in said or "queues are 0" in said), (words[1:], said[:200])
        assert bench.bus.writes == []
    for words in (("set", "port", f"rate={DIGITS}"), ("set", "port", f"burst={DIGITS}"), ("set", "af1", f"rate={DIGITS}"), ("set", "af1", f"limit={DIGITS}")):  # fmt: skip
        status, said = bench.ctl(*words)
        assert status == 2 and "legal are values of up to 100 characters" in said


@pytest.mark.parametrize("raw", ["²", DIGITS, "65536", "", "-1", "٣"])
def test_ports_that_are_none_are_refused(raw):
    with pytest.raises(UserError, match="legal are PORT, :PORT and ADDRESS:PORT"):
        export.serve(None, f"127.0.0.1:{raw}")


def test_failures_of_the_record_and_of_the_card_are_one_kind(tmp_path):
    with pytest.raises(DeviceError, match="cannot be written: No such file or directory"):
        record.Record(Path(tmp_path / "none" / "x.json")).save()
