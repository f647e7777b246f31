"""The command line in this process, and a folder with files that it can be given."""

import gzip
import os
import sys

import pytest

from vermilion.commands import cli, run_command

CONFIG = '[port]\nrate = "1Mbit"\n'


def command(monkeypatch, capfd, *words, program=cli):
    """Status, standard output, standard error of a command line, in this process."""
    monkeypatch.setattr(sys, "argv", [program.__name__.split(".")[0], *map(str, words)])
    with pytest.raises(SystemExit) as end:
        program.main()
    return end.value.code or 0, *capfd.readouterr()


def furnish(folder, monkeypatch):
    """Makes the folder the current one, with the files of REFUSED; gives what to compare it by."""
    (folder / "in.pcapng").write_bytes(run_command.DEFAULT_CAPTURE.read_bytes())
    (folder / "in.toml").write_text(CONFIG)
    (folder / "short").write_bytes(b"\x0a\x0d")
    (folder / "packed.gz").write_bytes(gzip.compress(b"capture"))
    (folder / "link").symlink_to("in.pcapng")
    os.mkfifo(folder / "pipe")
    monkeypatch.chdir(folder)
    return lambda: {p.name: p.lstat()[:2] + p.lstat()[6:9:2] for p in folder.iterdir()}
