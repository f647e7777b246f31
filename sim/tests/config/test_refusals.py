"""The command line on what it cannot take: one sentence, status 2, no traceback, and nothing written or overwritten."""

import errno
import gc
import os
import re
import subprocess

import pytest

from support.command_lines import CONFIG, command, furnish
from vermilion.commands import cli, run_command
from vermilion.configuration import config_file
from vermilion.experiments import schemes, settings
from vermilion.simulation import show, simulate
from vermilion.sweeps import spec
from vermilion.toolchain import build
from vermilion.values.fields import UserError
from vermilionctl import cli as tools

pytestmark = pytest.mark.usefixtures("nothing_is_built")

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
    "a capture without a name": ("run EMPTY", "CAPTURE is empty"),
    "a configuration without a name": ("run in.pcapng --config=", "cannot be read"),
    "a folder as capture": ("run .", ".: cannot be read: Is a directory"),
    "a folder as output": ("run in.pcapng --out .", "is a folder"),
    "a folder that is not there": ("run in.pcapng --out no/out", "No such file"),
    "a compressed capture": ("run packed.gz", "packed.gz: is compressed; unpack it first, with gunzip"),
    "a capture of two bytes": ("run short", "short: is not a capture; legal are pcap and pcapng files"),
    "a capture as configuration": ("run in.pcapng --config in.pcapng", "in.pcapng: is not TOML: it is no UTF-8 text"),
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
    "two that set lane time": (
        "device s --paused --real-time",
        "--paused and --real-time are both given; one sets lane time",
    ),
    "frames from no folder": ("device s --frames-from no/s", "--frames-from no/s: the folder no does not exist"),
    "frames to a file": ("device s --frames-to short", "--frames-to short: exists and is no socket"),
    "one capture too many": ("run in.pcapng in.pcapng", "unexpected extra argument"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_one_sentence_and_nothing_changes(tmp_path, monkeypatch, capfd, name):
    look = furnish(tmp_path, monkeypatch)
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


# LONG is a name of 5,000 characters, BYTE one byte that is no UTF-8, EMPTY no character. The folder is that of REFUSED.
HOSTILE = """
run LONG | run BYTE | run EMPTY | run pipe | run -- --config | run --nothing=[/b] | run in.pcapng --config LONG
run in.pcapng --config BYTE | run in.pcapng --out LONG | run in.pcapng --out in.toml/x | run in.pcapng --json /dev/null
run in.pcapng --trace /proc/nothing | run in.pcapng --rate 10mbps | run in.pcapng --rate -1 | run in.pcapng --rate LONG
run in.pcapng --rate \u0661\u0660mbit | run in.pcapng --rate 1e9 | run in.pcapng --rate EMPTY | run in.pcapng --rate 300gbit
run in.pcapng --speed inf | run in.pcapng --speed -1 | run in.pcapng --speed EMPTY | run in.pcapng --seed 0 | run in.pcapng --seed LONG
run in.pcapng --seed 1.5 | run in.pcapng --preset [/red] | run in.pcapng --engine EMPTY | run in.pcapng --start-ns -5
check LONG | check BYTE | check EMPTY | check short | check in.pcapng | check $HOME | check in.toml more
check in.toml --queues 1 | check in.toml --queues x | check in.toml --victims -1 | check in.toml --victims 17
check in.toml --json BYTE/x | check in.toml --json LONG | check in.toml --json EMPTY | check in.toml --json .
curves in.toml | curves in.toml -o EMPTY | curves in.toml -o .png | curves in.toml -o BYTE | curves in.toml -o LONG.png
curves in.toml -o in.toml/x.png | curves in.toml -o in.toml | curves short -o a.png | regs -o in.toml | regs -o LONG | regs -o EMPTY
test nosuch | test EMPTY | test ../../etc/passwd | test BYTE | format now | help nosuch | help LONG | help run --json
completion tcsh | completion | dask | dask manager | dask --nthreads 2 | --nosuch | [/b] | BYTE | EMPTY | LONG | --version=1
apply in.toml | apply in.toml --device EMPTY | apply in.toml --device pci:x | apply in.toml --device unix:LONG | apply LONG --device unix:s
apply in.toml --device netlink:LONG | apply in.toml --device usb:1 | apply in.toml --device unix:short | apply in.toml --device BYTE
area [/b] | area --json . | battery --seed x | bench --packets 99 | bench --json LONG | commits --changes 0 | fairness more
corundum nosuch | corundum check LONG | corundum check BYTE | corundum check short --preset LONG | corundum overlay [/b] .
corundum overlay app10g-1 in.toml | corundum overlay app10g-1 LONG | device LONG | device BYTE/s | device s --rate 10bps
device s --capture short | device s --config LONG | device s --wait -1 | device s --control LONG | distance-drops LONG | distance-drops short
experiment nosuch | experiment p1 --seeds 0 | experiment p1 --out in.toml | oracle LONG | oracle --publish --quick | place --anchor BYTE
prove LONG | prove --fault nosuch | release LONG | release . --preset [/b] | release . --version \u0661.0 | speed --packets 1 | speed --json .
sweep LONG | sweep in.toml | sweep short --jobs 0 | timing [/b] | timing --anchor none | vivado write LONG | vivado write . --part EMPTY | vivado read LONG
ttl-option in.pcapng | ttl-option LONG out | ttl-option in.pcapng LONG | ttl-option in.pcapng out --initial \u0663 | ttl-option short out
"""
HOSTILE_TOOLS = """
show | LONG | BYTE | [/b] | --lane 64 show | --lane x show | --device EMPTY show | --device LONG show | --device unix:LONG show
--device unix:short show | --device unix:. stats | --device pci:../x dump | --device netlink:[/b] show | --device BYTE apply in.toml
--device unix:s apply LONG | --device unix:s set | --device unix:s set af1 x | --device unix:s set af1 =3 | --device unix:s watch --every 0
--device unix:s watch --count 0 | --device unix:s export --listen LONG | --device unix:s export --listen a:b:c | completion tcsh
"""


def each_of(table: str) -> list[str]:
    return [line.strip() for line in table.replace("\n", "|").split("|") if line.strip()]


def test_hostile_lines(tmp_path, tmp_path_factory, monkeypatch, capfd):
    """Each of many hostile command lines ends in one sentence and status 2 or 1, writes nothing and starts no program."""
    build.driver_library()
    monkeypatch.setenv("VERMILION_STATE", str(tmp_path_factory.mktemp("state")))
    for name in ("execv", "execve"):
        monkeypatch.setattr(os, name, lambda *words: pytest.fail(f"{words} is started"))
    monkeypatch.setattr(subprocess.Popen, "__init__", lambda *words, **_: pytest.fail(f"{words[1:]} is started"))
    look = furnish(tmp_path, monkeypatch)
    before, odd = look(), {"LONG": "x" * 5000, "BYTE": "\udcff", "EMPTY": ""}
    lines = [(cli, line) for line in each_of(HOSTILE)] + [(tools, line) for line in each_of(HOSTILE_TOOLS)]
    assert len(lines) > 150
    for program, line in lines:
        words = [re.sub("|".join(odd), lambda found: odd[found[0]], word) for word in line.split()]
        status, out, err = command(monkeypatch, capfd, *words, program=program)
        assert status in (1, 2) and not out, (line, status, out)
        assert re.match("vermilion(ctl)?: ", err) and err.count("\n") == 1 and len(err) > 20, (line, err)
        assert look() == before, line


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
    (tmp_path / "in.pcapng").write_bytes(run_command.DEFAULT_CAPTURE.read_bytes())
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
    monkeypatch.setenv("TERM", "xterm")  # a dumb terminal cannot take a line away

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
    "load", [config_file.load, settings.load, schemes.load, spec.load], ids=lambda load: load.__module__
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
