"""Elaborations in a JVM that stays with this process: `EmitServer` of hw/src/vermilion/lane/Emitter.scala.

A JVM takes seconds to start, and the first elaboration in it as long as several later ones.
"""

import atexit
import subprocess
import tempfile
import threading
from pathlib import Path

from . import steps

SERVER = "vermilion.lane.EmitServer"
# Without the second compiler, for a JVM that does not live long: one lane takes 10 s of processor time so, 15 s with it.
BRIEF = ["-XX:TieredStopAtLevel=1"]
# Five lanes take 10 s of processor time and 390 MB so, 15 s and 760 MB with the JVM's own choice.
JVM = ["-XX:+UseSerialGC", "-XX:MinHeapFreeRatio=10", "-XX:MaxHeapFreeRatio=30"]


class Server:
    """One JVM, started by `command`. Its end is that of this process at the latest, as it ends with its input. `about`: more for Popen."""

    def __init__(self, command: list[str], **about):
        self.busy = threading.Lock()  # from a request to its answer
        self.errors = tempfile.TemporaryFile("w+")  # of the JVM itself
        pipe = subprocess.PIPE
        try:
            self.process = subprocess.Popen(
                command, stdin=pipe, stdout=pipe, stderr=self.errors, encoding="utf-8", **about
            )
        except OSError as error:
            raise steps.BuildError(f"{command[0]} cannot be started: {error.strerror}") from None
        if self.process.stdin is None or self.process.stdout is None:
            raise steps.BuildError(f"{command[0]} has no pipes")
        self.asks, self.answers = self.process.stdin, self.process.stdout
        atexit.register(self.close)

    def run(self, log: Path, main: str, *words: str):
        """Runs an emitter with all it prints in `log`; raises BuildError with the log's end where it fails."""
        request = [str(log), main, *words]
        if any(set(word) & set("\t\r\n") for word in request):
            raise steps.BuildError(f"a folder with a tab or a line end in its name cannot be used: {request}")
        log.parent.mkdir(parents=True, exist_ok=True)
        with self.busy:
            try:
                self.asks.write("\t".join(request) + "\n")
                self.asks.flush()
                answer = self.answers.readline().strip()
            except (OSError, ValueError):  # it has ended, or was closed
                answer = ""
            except BaseException:  # a signal: the next request must not get this one's answer
                self.end(kill=True)
                raise
            if answer not in ("done", "failed"):
                self.end()
        if answer in ("failed", "failed for good"):
            raise steps.BuildError(f"{main} failed, {steps.end_of(log)}")
        if answer != "done":
            raise steps.BuildError(f"java ended (status {self.process.poll()}) in {main}:\n{self.said()}")

    def said(self) -> str:
        """The last lines that the JVM wrote to its standard error."""
        self.errors.seek(0)
        return "\n".join(self.errors.read().splitlines()[-30:])

    def lives(self) -> bool:
        return self.process.poll() is None and not self.asks.closed

    def close(self):
        """Ends the JVM, after the request that it serves."""
        with self.busy:
            self.end()

    def end(self, kill: bool = False):
        atexit.unregister(self.close)
        if kill:
            self.process.kill()
        try:
            self.asks.close()
        except OSError:
            pass
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.answers.close()
