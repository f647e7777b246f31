"""Elaborations in a JVM that stays: answers, failures, and the end of the JVM."""

import signal
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from vermilion.toolchain import build, chisel, elaborate, steps

# Serves as EmitServer does; the emitter is what it shall do.
FAKE = """
import sys, time
for line in sys.stdin:
    log, main, *words = line.rstrip("\\n").split("\\t")
    if main == "end":
        sys.exit("no memory")
    if main == "wait":
        time.sleep(60)
    with open(log, "w") as out:
        print(main, *words, file=out)
    print({"fail": "failed", "last": "failed for good"}.get(main, "done"), flush=True)
    if main == "last":
        break
"""


@pytest.fixture
def server(tmp_path, monkeypatch):
    monkeypatch.setattr(steps, "BUILD", tmp_path / "build")
    server = elaborate.Server([sys.executable, "-c", FAKE])
    yield server
    server.close()
    assert not server.lives()


def test_requests_are_served_by_one_process(server, tmp_path):
    pid = server.process.pid
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda n: server.run(tmp_path / f"log {n}", "write", str(n)), range(20)))
    assert [(tmp_path / f"log {n}").read_text() for n in range(20)] == [f"write {n}\n" for n in range(20)]
    assert server.process.pid == pid and server.lives()


def test_failure_shows_its_log_and_others_go_on(server, tmp_path):
    with pytest.raises(build.BuildError, match=r"^fail failed, log \S+/a/log:\nfail lab$"):
        server.run(tmp_path / "a/log", "fail", "lab")
    server.run(tmp_path / "a/log", "write")


def test_word_that_is_no_word_is_refused(server, tmp_path):
    with pytest.raises(build.BuildError, match="tab or a line end"):
        server.run(tmp_path / "log", "write", "a\tb")
    server.run(tmp_path / "log", "write", "a b")


def test_end_of_the_jvm_is_told(server, tmp_path):
    with pytest.raises(build.BuildError, match=r"^java ended \(status 1\) in end:\nno memory$"):
        server.run(tmp_path / "log", "end")
    assert not server.lives()


def test_end_of_the_jvm_is_told_to_each_that_waits(server, tmp_path):
    """Requests that wait for their turn when the JVM ends fail with a sentence, too."""

    def ask(number):
        with pytest.raises(build.BuildError, match="^java ended"):
            server.run(tmp_path / f"log {number}", "end")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(ask, range(4)))


def test_last_answer_ends_the_jvm(server, tmp_path):
    with pytest.raises(build.BuildError, match=r"^last failed, log \S+:\nlast$"):
        server.run(tmp_path / "log", "last")
    assert not server.lives()


def test_interrupted_request_leaves_no_answer(server, tmp_path):
    """A signal ends the wait for an answer; no later request gets that answer."""

    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    try:
        with pytest.raises(KeyboardInterrupt):
            server.run(tmp_path / "log", "wait")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert not server.lives()
    with pytest.raises(build.BuildError, match="^java ended"):
        server.run(tmp_path / "log", "write")


def test_jvm_is_another_one_for_other_classes(tmp_path, monkeypatch):
    """A JVM keeps the classes it has loaded, so one that started before Mill compiled is not asked; nor is one that ended."""
    classes = tmp_path / "classes"
    classes.mkdir()
    monkeypatch.setattr(steps, "BUILD", tmp_path / "build")
    monkeypatch.setattr(chisel, "_servers", {})
    monkeypatch.setattr(chisel, "class_path", lambda tests=False: [classes])
    monkeypatch.setattr(chisel, "java", lambda *_, **__: [sys.executable, "-c", FAKE])
    first = chisel.server(False)
    assert chisel.server(False) is first
    assert chisel.server(True) is not first
    (classes / "A.class").write_text("")
    second = chisel.server(False)
    assert second is not first and not first.lives()
    second.close()
    third = chisel.server(False)
    assert third is not second and third.lives()
    for each in (third, chisel.server(True)):
        each.close()


@pytest.mark.slow
def test_emitters_of_this_project_are_served(tmp_path):
    """A word that does not fit and an elaboration that throws are failures with their reason; then the same JVM writes a block."""
    log = tmp_path / "log"
    words = ("vermilion.lane.EmitBlock", "FlowMarker", "lab")
    with pytest.raises(build.BuildError, match="(?s)EmitBlock failed, .*usage: EmitBlock BLOCK PRESET DIRECTORY"):
        chisel.run(log, *words)
    with pytest.raises(build.BuildError, match="(?s)EmitNothing failed, .*ClassNotFoundException"):
        chisel.run(log, "vermilion.lane.EmitNothing")
    (tmp_path / "file").write_text("")
    with pytest.raises(build.BuildError, match="EmitBlock failed, "):
        chisel.run(log, *words, str(tmp_path / "file" / "folder"))
    pid = chisel.server(False).process.pid
    for name in ("a", "b"):
        chisel.emit(tmp_path / name, log, *words, str(tmp_path / name))
    assert chisel.server(False).process.pid == pid
    texts = [{path.name: path.read_text() for path in (tmp_path / name).iterdir()} for name in ("a", "b")]
    assert texts[0] == texts[1] and "FlowMarker.sv" in texts[0]
