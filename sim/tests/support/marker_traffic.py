"""What the tests of markers in the whole lane share: packets into captures, marker tables into configurations, one run of the RTL."""

import csv
import io
import json
import struct
import subprocess

import pytest

from support.captures import pcap
from support.runs import CAPTURES, check
from support.shipped_capture import describe
from vermilion.commands import run_command
from vermilion.configuration import config_file
from vermilion.profile import quantise

COLOURS = ("green", "yellow", "red")


def real(name):
    """(ns, frame) of a real capture of pcap microseconds, or of the shipped one; a skip where it is not on this machine."""
    if name == "shipped":
        return shipped()
    path = CAPTURES / f"{name}.pcap"
    if not path.exists():
        pytest.skip(f"VERMILION_CAPTURES names no folder with {path.name}")
    data, at, frames = path.read_bytes(), 24, []
    while at + 16 <= len(data):
        seconds, micros, size, _ = struct.unpack_from("<IIII", data, at)
        frames.append((seconds * 10**9 + micros * 1000, data[at + 16 : at + 16 + size]))
        at += 16 + size
    return frames


def shipped():
    """(ns, frame) of the shipped capture."""
    return [(ns, frame) for ns, _, frame in describe.raw(run_command.DEFAULT_CAPTURE)]


def toml(queues, markers, port="100Gbit"):
    """`queues`: (name, dscp table or None); the last is the default one. `markers`: name -> fields of its [[marker]] table."""
    text = f'[port]\nrate = "{port}"\n'
    for name, dscp in queues:
        text += f'\n[[queue]]\nname = "{name}"\n' + (f"dscp = {dscp}\n" if dscp else "")
    text += "default = true\n"
    for name, fields in markers.items():
        text += f'\n[[marker]]\nqueue = "{name}"\n' + "".join(f"{key} = {json.dumps(v)}\n" for key, v in fields.items())
    return text


def lane(program, folder, frames, text, *arguments, engine="rtl", traced=False):
    """One run that must end well: the figures, and the packets' rows of the trace where asked."""
    source, file, words, stats, trace = (folder / name for name in ("in.pcap", "c.toml", "words", "stats", "trace"))
    pcap(source, [(ns, data, len(data)) for ns, data in frames])
    file.write_text(text)
    words.write_text(json.dumps(quantise.hardware(config_file.load(file, 16))))
    command = [program, "--in", source, "--config-words", words, "--engine", engine, "--stats-json", stats, *arguments]
    command += ["--trace", trace] if traced else []
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-1000:]
    figures = json.loads(stats.read_text())
    assert figures["accounting"]["errors"] == 0 and figures["packets"] == len(frames) and "lost" not in figures
    if engine == "rtl":
        check(figures)
    if not traced:
        return figures
    rows = [row for row in csv.DictReader(io.StringIO(trace.read_text())) if row["refresh"] == "0"]
    assert len(rows) == len(frames)
    return figures, rows
