"""Numbers that stand in two places, and the machinery of builds, outputs and tests."""

import re

import pytest

from vermilion.configuration import config
from vermilion.hardware import formats
from vermilion.simulation import simulate
from vermilion.testing import suite
from vermilion.toolchain import build


def scala(name):
    return (build.ROOT / "hw/src/vermilion" / name).read_text()


def test_formats_are_those_of_the_rtl():
    held = dict(re.findall(r"val (\w+) = (\d+)\b", scala("fixed/Formats.scala")))
    for name, number in {
        "AvgFrac": formats.AVG_FRAC,
        "ProbFrac": formats.PROB_FRAC,
        "PosFrac": formats.POS_FRAC,
        "WeightMantBits": formats.WEIGHT_MANT,
        "EwmaStages": formats.STAGES,
        "LambdaMantBits": formats.LAMBDA_MANT,
        "InvMantBits": formats.INV_MANT,
        "SizeMantBits": formats.SIZE_MANT,
        "CostMantBits": formats.COST_MANT,
        "IdleFrac": formats.IDLE_FRAC,
        "RatioFrac": formats.RATIO_FRAC,
        "ShaperFrac": formats.SHAPER_FRAC,
        "MarkDrawBits": formats.MARK_DRAW,
        "SpanShift": formats.MARK_SPAN_SHIFT,
    }.items():
        assert int(held[name]) == number, name
    assert 2 ** int(held["LenBits"]) - 1 == config.LEN_MAX
    assert 2 ** int(held["ShiftBits"]) - 1 == formats.SHIFT_MAX
    assert 2 ** int(held["WeightExpBits"]) - 1 == formats.WEIGHT_EXP_MAX


def test_presets_are_those_of_the_rtl():
    text = scala("lane/LaneParams.scala")
    words = {"dataBits": "data_bits", "maxFrameBytes": "max_frame_bytes"}

    def fields(inside):
        inside = re.sub(r"(userBits: Int|nextBlock: BigInt) = 0", "", inside)  # only a NIC's block sets these
        numbers = {words.get(n, n): int(v) for n, v in re.findall(r"(\w+)(?:: Int)? = (\d+)", inside)}
        numbers |= {
            n: v == "true"
            for n, v in re.findall(r"\b(codel|pie|dualpi2|reports|fq)(?:: Boolean)? = (true|false)", inside)
        }
        flags = re.search(r"stallable(?:: Seq\[Boolean\])? = Seq\((.*?)\)", inside)
        if flags:
            numbers["stallable"] = sum((flag == "true") << i for i, flag in enumerate(flags[1].split(", ")))
        return numbers

    default = fields(re.search(r"case class LaneParams\((.*?)\n\)", text, re.S)[1])
    aqms = fields(re.search(r"def withAqms: LaneParams = copy\((.*)\)", text)[1])
    lanes = re.findall(r"val (\w+): LaneParams = LaneParams\((.*?)\)(\.withAqms)?\n", text)
    presets = {name: fields(inside) | (aqms if all_aqms else {}) for name, inside, all_aqms in lanes}
    assert presets.keys() == build.PRESETS.keys()
    for name, inside in presets.items():
        assert vars(build.PRESETS[name]) == default | inside, name


def test_a_step_runs_again_only_when_its_key_changes(tmp_path):
    out, runs = tmp_path / "out", []
    action = lambda: (runs.append(1), out.write_text("x"))
    for key in ("a", "a", "b", "b", "a"):
        build.step(out, key, build.quiet, "", action)
    assert len(runs) == 3
    out.unlink()
    build.step(out, "a", build.quiet, "", action)
    assert len(runs) == 4


def test_a_step_that_fails_runs_again(tmp_path):
    out = tmp_path / "out"
    build.step(out, "a", build.quiet, "", lambda: out.write_text("x"))

    def fail():
        raise build.BuildError("no")

    with pytest.raises(build.BuildError):
        build.step(out, "b", build.quiet, "", fail)
    runs = []
    build.step(out, "a", build.quiet, "", lambda: runs.append(1))
    assert runs


def test_outputs_appear_whole_or_not_at_all(tmp_path):
    with pytest.raises(RuntimeError):
        with simulate.Outputs() as outputs:
            outputs.add("--out", str(tmp_path / "a")).write_text("half")
            raise RuntimeError
    assert list(tmp_path.iterdir()) == []
    with simulate.Outputs() as outputs:
        outputs.add("--out", str(tmp_path / "a")).write_text("whole")
    assert [p.name for p in tmp_path.iterdir()] == ["a"] and (tmp_path / "a").read_text() == "whole"


@pytest.mark.parametrize("target, words", [("no/such/file", "No such file"), (".", "is a folder")])
def test_outputs_that_cannot_be_written_are_refused(tmp_path, target, words):
    with pytest.raises(config.UserError, match=words):
        simulate.Outputs().add("--out", str(tmp_path / target))


def program(tmp_path, text):
    path = tmp_path / "vermilion-sim"
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)
    return path


def test_the_programs_lines_become_progress_warnings_and_refusals(tmp_path):
    seen, warned = [], []
    talk = program(tmp_path, "echo progress 3 10; echo warning cut short; echo progress 10 10")
    simulate.run(talk, [], lambda *pair: seen.append(pair), warned.append)
    assert seen == [(3, 10), (10, 10)] and warned == ["cut short"]
    with pytest.raises(config.UserError, match="^x.pcap: unknown link type$"):
        simulate.run(program(tmp_path, "echo error x.pcap: unknown link type; exit 2"), [], None, None)
    with pytest.raises(build.BuildError, match="status 3"):
        simulate.run(program(tmp_path, "echo oh >&2; exit 3"), [], None, None)


def test_scalatest_output_is_counted():
    text = "\x1b[36mTests: succeeded 4, failed 1, canceled 0\x1b[0m\nSuites: completed 2, aborted 1\nTests: succeeded 2, failed 0,"
    assert suite.scalatest(text) == suite.Count(6, 2)


def test_junit_files_are_counted(tmp_path):
    path = tmp_path / "j.xml"
    path.write_text('<testsuites><testsuite tests="9" failures="1" errors="1" skipped="2"/></testsuites>')
    assert suite.junit(path) == suite.Count(5, 2, 2)


def test_a_run_that_finds_a_defect_keeps_its_outputs(tmp_path):
    with pytest.raises(simulate.Defect, match="disagrees"):
        with simulate.Outputs() as outputs:
            place = outputs.add("--trace", str(tmp_path / "trace"))
            simulate.run(program(tmp_path, f"echo t > {place}; echo error the model disagrees; exit 1"), [], None, None)
    assert (tmp_path / "trace").read_text() == "t\n"
