"""The command line on what it cannot take: one sentence, status 2, no traceback, and nothing written or overwritten."""

import errno
import gc
import gzip
import os
import sys

import pytest
from vermilion import build, cli, config, show, simulate
from vermilion.experiments import schemes, settings
from vermilion.fields import UserError
from vermilion.sweeps import spec

CONFIG = '[port]\nrate = "1Mbit"\n'


def command(monkeypatch, capfd, *words, program=cli):
    """Status, standard output, standard error of a command line, in this process."""
    monkeypatch.setattr(sys, "argv", [program.__name__.split(".")[0], *map(str, words)])
    with pytest.raises(SystemExit) as end:
        program.main()
    return end.value.code or 0, *capfd.readouterr()


# The folder holds in.pcapng (a copy of the shipped capture), in.toml, short (2 bytes), packed.gz, a pipe, a link to in.pcapng.
REFUSED = {
    "the capture as output": ("run in.pcapng --out in.pcapng", "input of this command"),
    "the capture as output, through a link": ("run in.pcapng --out link", "input of this command"),
    "the output as capture, through a link": ("run link --json in.pcapng", "input of this command"),
    "the configuration as output": ("check in.toml --json in.toml", "input of this command"),
    "the run's configuration as output": ("run in.pcapng --config in.toml --report in.toml", "input of this command"),
    "a pipe as output": ("run in.pcapng --out pipe", "device or a pipe"),
    "a pipe as capture": ("run pipe", "device or a pipe"),
    "a pipe as configuration": ("check pipe", "device or a pipe"),
    "one file for two outputs": ("run in.pcapng --out a --json ./a", "already the output"),
    "an output without a name": ("run in.pcapng --out=", "--out is empty"),
    "a capture without a name": ("run EMPTY", "cannot be read"),
    "a configuration without a name": ("run in.pcapng --config=", "cannot be read"),
    "a folder as capture": ("run .", "Is a directory"),
    "a folder as output": ("run in.pcapng --out .", "is a folder"),
    "a folder that is not there": ("run in.pcapng --out no/out", "No such file"),
    "a compressed capture": ("run packed.gz", "gunzip"),
    "a capture of two bytes": ("run short", "is not a capture"),
    "a capture as configuration": ("run in.pcapng --config in.pcapng", "no UTF-8 text"),
    "two paces": ("run in.pcapng --rate 1Gbit --speed 2", "one sets the pace"),
    "no pace": ("run in.pcapng --speed nan", "--speed is nan"),
    "two waveforms": ("run in.pcapng --vcd a --fst b", "one waveform"),
    "a waveform of the model": ("run in.pcapng --engine model --vcd a", "no waveform"),
    "a picture of no kind": ("curves in.toml -o a.bmp", ".png, .svg and .pdf"),
    "an unknown option": ("run in.pcapng --otu a", "vermilion run --help"),
    "a missing argument": ("check", "vermilion check --help"),
    "an unknown command": ("rnu", "rnu"),
    "more victim queues than queues": ("check in.toml --victims 17", "--victims is 17; legal is 0 to 16, the queues"),
    "more of them than few queues": ("check in.toml --queues 4 --victims 5", "--victims is 5; legal is 0 to 4"),
    "a socket's path of 108 bytes": (f"device {'s' * 108}", "SOCKET has a path of 108 bytes; legal are 1 to 107"),
    "a socket's path of 108 bytes in 54 letters": (f"device {'é' * 54}", "SOCKET has a path of 108 bytes"),
    "a socket without a name": ("device EMPTY", "SOCKET has a path of 0 bytes"),
    "a socket in no folder": ("device no/s", "SOCKET no/s: the folder no does not exist"),
    "a socket below a file": ("device in.toml/s", "the folder in.toml does not exist"),
    "a folder as socket": ("device .", "SOCKET .: is a folder"),
    "a file as socket": ("device in.toml", "SOCKET in.toml: exists and is no socket"),
    "a pipe as control socket": ("device s --control pipe", "--control pipe: exists and is no socket"),
    "frames from no folder": ("device s --frames-from no/s", "--frames-from no/s: the folder no does not exist"),
    "frames to a file": ("device s --frames-to short", "--frames-to short: exists and is no socket"),
    "one capture too many": ("run in.pcapng in.pcapng", "unexpected extra argument"),
}


@pytest.fixture(autouse=True)
def nothing_is_built(monkeypatch):
    """What is refused is refused before a build begins."""
    for name in ("simulator", "model_program", "device", "inject", "commits", "model_library"):
        monkeypatch.setattr(build, name, lambda *_, name=name: pytest.fail(f"{name} is built"))


@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_one_sentence_and_nothing_changes(tmp_path, monkeypatch, capfd, name):
    (tmp_path / "in.pcapng").write_bytes(cli.DEFAULT_CAPTURE.read_bytes())
    (tmp_path / "in.toml").write_text(CONFIG)
    (tmp_path / "short").write_bytes(b"\x0a\x0d")
    (tmp_path / "packed.gz").write_bytes(gzip.compress(b"capture"))
    (tmp_path / "link").symlink_to("in.pcapng")
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.chdir(tmp_path)
    look = lambda: {p.name: p.lstat()[:2] + p.lstat()[6:9:2] for p in tmp_path.iterdir()}
    before = look()
    words, sentence = REFUSED[name]
    status, out, err = command(monkeypatch, capfd, *("" if word == "EMPTY" else word for word in words.split()))
    assert status == 2 and sentence in err, err
    assert err.count("\n") == 1 and err.startswith("vermilion: ") and not out
    assert look() == before


def test_socket_in_a_folder_of_others(tmp_path, monkeypatch, capfd):
    """A folder that cannot be written to is refused; root may write anywhere, so the system's answer is replaced."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    status, _, err = command(monkeypatch, capfd, "device", "s")
    assert (status, err) == (2, "vermilion: SOCKET s: the folder . cannot be written to\n")


@pytest.fixture
def full_disk(monkeypatch):
    """Every output of a command meets a full disk."""
    add = simulate.Outputs.add

    def full(self, option, target):
        place = add(self, option, target)
        if place:
            place.unlink()
            place.symlink_to("/dev/full")
        return place

    monkeypatch.setattr(simulate.Outputs, "add", full)


@pytest.mark.parametrize(
    "words, name",
    [
        ("curves in.toml -o out.png", "out.png"),
        ("curves in.toml -o out.svg", "out.svg"),
        ("curves in.toml -o out.pdf", "out.pdf"),
        ("ttl-option in.pcapng out.pcap", "out.pcap"),
        ("check in.toml --json out.json", "out.json"),
    ],
)
def test_full_disk(tmp_path, monkeypatch, capfd, full_disk, words, name):
    """A full disk is one sentence that names the user's file; nothing is left behind and no progress bar is shown."""
    (tmp_path / "in.pcapng").write_bytes(cli.DEFAULT_CAPTURE.read_bytes())
    (tmp_path / "in.toml").write_text(CONFIG)
    (tmp_path / name).write_text("an earlier file")
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    status, out, err = command(monkeypatch, capfd, *words.split())
    gc.collect()  # a file that is closed late would tell of it now
    assert (status, out, err) == (2, "", f"vermilion: {name}: cannot be written: No space left on device\n")
    assert not capfd.readouterr().err
    assert sorted(tmp_path.iterdir()) == before and (tmp_path / name).read_text() == "an earlier file"


def test_names_in_errors(tmp_path, monkeypatch):
    """Errors that end a command name the user's files, not the temporary ones; other system errors stay as they are."""
    monkeypatch.chdir(tmp_path)
    for kind in (UserError, build.BuildError):
        with pytest.raises(kind, match=r"^out: cannot be written to its end; is the disk full\?$"):
            with simulate.Outputs() as outputs:
                place = outputs.add("--out", "out")
                raise kind(f"{place}: cannot be written to its end; is the disk full?")
    with pytest.raises(UserError, match="^a, b: cannot be written: No space left on device$"):
        with simulate.Outputs() as outputs:
            outputs.add("--out", "a"), outputs.add("--json", "b")
            raise OSError(errno.ENOSPC, "No space left on device")
    for error in (OSError(errno.ENOENT, "gone", "else"), OSError(errno.ECHILD, "no child"), ValueError("x")):
        with pytest.raises(type(error)) as raised:
            with simulate.Outputs() as outputs:
                outputs.add("--out", "a")
                raise error
        assert raised.value is error
    with pytest.raises(UserError, match="^a: cannot be written: "):
        with simulate.Outputs() as outputs:
            outputs.add("--out", "a")
            (tmp_path / "a").mkdir()
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


@pytest.mark.parametrize("reports", [0, 3])
def test_no_bar_before_a_refusal(capfd, monkeypatch, reports):
    """A refusal leaves no progress bar on the screen; work that goes well shows one."""
    monkeypatch.setenv("FORCE_COLOR", "1")

    def action(progress, _warn):
        for i in range(reports):
            progress(i, reports)
        raise UserError("no")

    with pytest.raises(UserError):
        show.with_progress(action, [], "adding")
    shown = capfd.readouterr().err
    assert shown.endswith("\x1b[1A\x1b[2K") if reports else shown == ""  # the bar's line is taken away again
    monkeypatch.delenv("FORCE_COLOR")
    with pytest.raises(UserError):
        show.with_progress(action, [], "adding")
    assert capfd.readouterr().err == ""
    show.with_progress(lambda progress, _: progress(1, 1), [], "adding")
    shown = capfd.readouterr().err
    assert shown.startswith("adding ") and "100%" in shown and shown.endswith("\n")


def test_an_output_through_a_link_is_written_where_it_points(tmp_path, monkeypatch, capfd):
    (tmp_path / "in.toml").write_text(CONFIG)
    (tmp_path / "link").symlink_to("words.json")
    assert command(monkeypatch, capfd, "check", tmp_path / "in.toml", "--json", tmp_path / "link")[0] == 0
    assert (tmp_path / "link").is_symlink() and (tmp_path / "words.json").read_text().startswith("{")


def test_no_command_at_all_shows_the_help(monkeypatch, capfd):
    status, out, err = command(monkeypatch, capfd)
    assert status == 0 and "Commands:" in out and len(out.splitlines()) > 10 and not err


@pytest.mark.parametrize(
    "load", [config.load, settings.load, schemes.load, spec.load], ids=lambda load: load.__module__
)
def test_what_is_no_toml_file_is_refused_in_one_line_whoever_reads_it(tmp_path, load):
    files = {name: tmp_path / name for name in ("gone", "folder", "pipe", "bytes", "half", "deep")}
    files["folder"].mkdir()
    os.mkfifo(files["pipe"])
    files["bytes"].write_bytes(b'kind = "\xff"')
    files["half"].write_text('kind = "pois')
    files["deep"].write_text("a = " + "[" * 20_000)
    words = {
        "gone": "cannot be read: No such file or directory",
        "folder": "cannot be read: Is a directory",
        "pipe": "is a device or a pipe; give a file's name",
        "bytes": "is not TOML: it is no UTF-8 text",
        "half": "is not TOML: ",
        "deep": "is nested too deeply",
    }
    for name, path in files.items():
        with pytest.raises(UserError) as refused:
            load(path)
        assert str(refused.value).startswith(f"{path}: {words[name]}") and "\n" not in str(refused.value)
