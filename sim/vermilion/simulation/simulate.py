"""One run of the simulator's program: its command line, its progress, its outputs put in place only when it succeeded.

The program, `vermilion-sim` (sources in `sim/harness`), is called as

    vermilion-sim --in CAPTURE --config-words FILE --engine rtl|model [--rate BITS_PER_SECOND | --speed FACTOR]
                  --stats-json FILE [--out FILE] [--trace FILE] [--why FILE] [--vcd FILE | --fst FILE]

`--config-words` is the record of `docs/hardware-configuration.md`. On standard output it prints lines:
`progress DONE TOTAL` (bytes of the capture), `warning TEXT`, `error TEXT`. Status 0: done; 2: the user's input is at fault (`error`
says how); 1 with an `error`: the run ended but found a defect of the lane, outputs written; anything else: it broke.
"""

import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Self

from vermilion.profile.record import Record
from vermilion.toolchain.build import BuildError
from vermilion.values.fields import DISK, UserError

# Keys of the results (sim/harness/results.h) that only one engine has, or that describe the machine that simulates. The engines agree in all others.
OF_ONE_ENGINE = {"engine", "replay", "victims", "counters", "stream", "reports", "input_stalled_clocks"}
OF_ONE_ENGINE |= {"wall_seconds", "cpu_seconds", "packets_per_second", "clocks_per_second"}


class Defect(BuildError):
    """The run went to its end and found lane and model, or lane and accounts, apart; its outputs are kept to look at."""


class Outputs:
    """Files that appear under their names all together at the end, or not at all (`keep` puts some in place before). None of `inputs`
    may be one of them. An error that ends the block names the files as the user did, and a disk that is full is such an error.
    """

    def __init__(self, *inputs: str | Path):
        self.pairs: list[tuple[Path, Path]] = []
        self.typed: dict[Path, str] = {}
        self.inputs = {Path(os.path.realpath(name)) for name in inputs}

    def add(self, option: str, target: str | None) -> Path | None:
        """A place to write instead of `target`, in the same folder; refuses what cannot be written."""
        if target is None:
            return None
        if not target:
            raise UserError(f"{option} is empty; give a file's name")
        path = Path(os.path.realpath(target))  # a link stays, what it points to is replaced
        try:
            if path.is_dir():
                raise UserError(f"{option} {path}: is a folder; give a file's name")
            # Putting a file in place of a device (/dev/null, say) would take it from the whole machine.
            if path.exists() and not path.is_file():
                raise UserError(f"{option} {path}: is a device or a pipe; give a file's name")
        except OSError as error:  # a name that is too long, say
            raise UserError(f"{option} {path}: cannot be written: {error.strerror}") from None
        if path in self.inputs:
            raise UserError(f"{option} {path}: is the input of this command; give a name of its own")
        if any(final == path for _, final in self.pairs):
            raise UserError(f"{option} {path}: is already the output of another option; give a name of its own")
        if path.exists() and not os.access(path, os.W_OK):
            raise UserError(f"{option} {path}: cannot be written: Permission denied")
        try:
            handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        except OSError as error:
            raise UserError(f"{option} {path}: cannot be written: {error.strerror}") from None
        os.close(handle)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)
        self.pairs.append((Path(name), path))
        self.typed[Path(name)] = target
        return Path(name)

    def keep(self, but: Path | None = None) -> None:
        """Puts all in place, or all but one, which is still being written."""
        for temporary, final in self.pairs:
            if temporary != but:
                temporary.replace(final)
        self.pairs = [pair for pair in self.pairs if pair[0] == but]

    def final(self, place: Path) -> Path:
        """Where an output will stand that `add` gave a place to."""
        return next(final for temporary, final in self.pairs if temporary == place)

    def drop(self) -> None:
        for temporary, _ in self.pairs:
            temporary.unlink(missing_ok=True)
            Path(f"{temporary}.part").unlink(
                missing_ok=True
            )  # of a program that was stopped (sim/harness/atomic_file.h)
        self.pairs = []

    def __enter__(self) -> Self:
        return self

    def told(self, error: BaseException) -> BaseException:
        """The error with the user's names of the files instead of the temporary ones."""
        if isinstance(error, (UserError, BuildError)):
            text = str(error)
            for temporary, target in self.typed.items():
                text = text.replace(str(temporary), target)
            error.args = (text, *error.args[1:])
        elif isinstance(error, OSError):
            at = [target for temporary, target in self.typed.items() if str(temporary) == str(error.filename)]
            if at or self.typed and error.filename is None and error.errno in DISK:
                where = ", ".join(at or self.typed.values())
                return UserError(f"{where}: cannot be written: {error.strerror or error}")
        return error

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        if kind is None or issubclass(kind, Defect):
            try:
                self.keep()
                return
            except OSError as failed:
                self.drop()
                raise self.told(failed) from None
        self.drop()
        told = self.told(error) if error else None
        if told is not None and told is not error:
            raise told from None


def check_capture(path: Path) -> None:
    """What can be refused before anything is built; the program looks closer."""
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            raise UserError(f"{path}: is a device or a pipe; give a file's name")
        with path.open("rb") as handle:
            magic = handle.read(4)
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from None
    if magic[:2] == b"\x1f\x8b":
        raise UserError(f"{path}: is compressed; unpack it first, with gunzip")
    known = {"a1b2c3d4", "d4c3b2a1", "a1b23c4d", "4d3cb2a1", "0a0d0d0a"}
    if magic.hex() not in known:
        raise UserError(f"{path}: is not a capture; legal are pcap and pcapng files")


Progress = Callable[[int, int], object]  # of bytes done, and of how many
Warn = Callable[[str], object]


def run(program: Path, arguments: Sequence[object], on_progress: Progress, on_warning: Warn) -> None:
    """Runs the program; `on_progress(done, total)` and `on_warning(text)` are called as its lines come."""
    refusal, rest = None, []
    with tempfile.TemporaryFile("w+") as errors:
        with subprocess.Popen(
            [str(a) for a in (program, *arguments)], stdout=subprocess.PIPE, stderr=errors, text=True
        ) as process:
            try:
                for text in process.stdout or ():
                    word, _, tail = text.rstrip("\n").partition(" ")
                    if word == "progress":
                        done, total = map(int, tail.split())
                        on_progress(done, total)
                    elif word == "warning":
                        on_warning(tail)
                    elif word == "error":
                        refusal = tail
                    else:
                        rest.append(text)
            except BaseException:
                process.kill()
                raise
        if process.returncode == 2 and refusal:
            raise UserError(refusal)
        if process.returncode == 1 and refusal:
            raise Defect(f"a defect of Vermilion's: {refusal}")
        if process.returncode:
            errors.seek(0)
            tail = "".join(rest[-10:]) + errors.read()[-3000:]
            raise BuildError(f"{program.name} ended with status {process.returncode}\n{refusal or ''}{tail}")


def write_words(record: Record, path: Path) -> None:
    """The record as `--config-words` takes it."""
    path.write_text(json.dumps(record, separators=(",", ":")) + "\n")
