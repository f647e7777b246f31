"""`vermilion prove`: proofs of the victim search, docs/formal.md, and of single blocks, docs/proofs/blocks.md.

    *Proof.scala --firtool--> SystemVerilog --Yosys--> AIGER --yosys-abc: scorr, dc2, bmc3 (Glucose)--> no property can fail, or which and when

A proof of depth n says: from reset on, whatever legal inputs come, no property fails in the first n clocks in which packets may come. It says
nothing of later clocks. Where a block's proof is said to close, ABC's pdr (IC3) then finds an invariant, and no property fails in any clock.
A fault is a change of the SystemVerilog that the same proof must find.
"""

import importlib.util
import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from vermilion.toolchain import build, chisel
from vermilion.values.fields import UserError

from .block_proofs import PROOFS
from .fault import Fault

WORK = build.BUILD / "proofs"
TOP = "VictimProof"
# Clocks before a packet may come: reset, and the sweep of 32 lists (2 queues x 4 distances x 4 slots), the longest of all.
SWEEP_CLOCKS = 34
VICTIM_DEPTH = 13
# Longest search for an invariant of a block's proof that is said to close.
PDR_SECONDS = 600
FORMS = {
    "red": "one class, two distances, evictions",
    "ecn": "four distances, marks, classes or not",
    "tail": "tail-drop form: the last two packets",
    "mixed": "all forms, packet by packet",
}


FAULTS = {
    "lost-cell": Fault(
        "an evicted packet's cell does not come back",
        "VictimPipeline",
        r"freed_valid_REG <= \w+ \|",
        "freed_valid_REG <=",
    ),
    "doubled-cell": Fault(
        "the winner's cell comes back in place of the loser's",
        "VictimPipeline",
        r"held_cell <= \w+ \? s5Cell : arrivals_2_cell",
        "held_cell <= arrivals_2_cell",
    ),
    "order": Fault(
        "the packet behind is read from the bank that does not count",
        "QueueOrder",
        r"(: _nextCounts_array_readData\)) ==",
        r"\1 !=",
    ),
    "first": Fault(
        "a packet becomes head in the cycle after it went",
        "QueueOrder",
        r"firstGoes = io_unlink & io_unlinksFirst & [^;]*;",
        "firstGoes = 1'h0;",
    ),
    "unlink": Fault(
        "the only packet goes while another comes, which is not linked",
        "QueueOrder",
        r"followsIt = io_enqueue_valid & followsIt_REG",
        "followsIt = 1'h0",
    ),
    "bitmap-pop": Fault(
        "an eviction that empties a list leaves its bit",
        "DistanceLists",
        r"isVictim & ~\(_remaining_T_\d+\[\d+\]\) \? popBit",
        "1'h0 ? popBit",
    ),
    "bitmap-head": Fault(
        "a new head that empties a list leaves its bit",
        "DistanceLists",
        r"\(_remaining_T_\d+\[\d+\] \? 12'h0 : popBit\)",
        "12'h0",
    ),
    "list-head": Fault(
        "a list's head stays when it becomes head of line",
        "DistanceLists",
        r"popsNext = io_candidate_valid_0 \| io_isListed",
        "popsNext = io_candidate_valid_0",
    ),
    "places": Fault(
        "a place is asked for that there is not", "HeadPlaces", r"(enqueuedAsks =[^;]*)!= 2'h2;", r"\1!= 2'h3;"
    ),
}


@dataclass(frozen=True)
class Result:
    """`failed`: the property that can fail, or None; `clock`: the first in which it can, or how many hold; `unbounded`: all do."""

    failed: str | None
    clock: int
    unbounded: bool = False


def sentence(result: Result) -> str:
    """A result in words."""
    if result.failed:
        return f"can fail in clock {result.clock}: {result.failed}"
    if result.unbounded:
        return "every property holds in every clock"
    return f"every property holds in the first {result.clock} clocks"


def system_verilog(form: str, cells: int, say=build.quiet) -> Path:
    """The folder with a proof's SystemVerilog as firtool writes it."""
    folder = WORK / f"{form}-{cells}" / "sv"
    key = chisel.key([*chisel.sources(), *build.files("hw/test/src/vermilion/victim", "*.scala")])

    def action():
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.glob("*.sv"):
            old.unlink()
        words = ["vermilion.victim.EmitProof", form, str(cells), str(folder)]
        chisel.emit(folder, folder.parent / "chisel.log", *words, tests=True)

    with build.locked("proofs.lock"):
        build.step(folder, key, say, f"Chisel to SystemVerilog, proof {form}, {cells} cells", action)
    return folder


def unkind(ram: str) -> str:
    """A RAM that gives anything where it is read in the clock of a write to the same place."""
    if not (word := re.search(r"^module (?:Block|Ultra)Ram_\d+x(\d+)", ram, re.M)):
        return ram
    return ram.replace(
        "assign readData = held;",
        f"(* anyseq *) wire [{int(word[1]) - 1}:0] anything;\n"
        "  reg collides;\n"
        "  always @(posedge clock) collides <= write & writeAddress == readAddress;\n"
        "  assign readData = collides ? anything : held;",
    )


def label(folder: Path, out: Path, fault: Fault | None, change=lambda text: text) -> list[str]:
    """Copies the files with every assertion named property_N, and the fault; the messages by N. Open Yosys knows no messages."""
    out.mkdir(parents=True, exist_ok=True)
    for old in out.glob("*"):
        old.unlink()
    messages = []

    def name(found):
        messages.append(found[2])
        return f"property_{len(messages) - 1}: {found[1]};"

    # The properties of the whole first: each that holds in a clock helps with those behind it.
    for path in sorted(folder.glob("*.sv"), key=lambda path: (not path.stem.endswith("Checks"), path.stem)):
        text = path.read_text()
        if fault and path.stem == fault.module:
            text, places = re.subn(fault.pattern, fault.instead, text)
            if places != 1:
                raise build.BuildError(f"the fault of {fault.module} fits {places} places of {path}")
        text = re.sub(
            r'\w+:\s*(assert\([^;]*?\))\s*else \$error\("Assertion failed: ([^;]*?)\\n"\);', name, text, flags=re.S
        )
        if "$error" in text or "assert__" in text:
            raise build.BuildError(
                f"an assertion of {path} is written in a way that vermilion/formal/prove.py does not know"
            )
        (out / path.name).write_text(change(text))
    return messages


def outputs(aiger: Path) -> list[int]:
    """Property number of each output; the circuit's symbols must say that they stand in this order."""
    numbers = json.loads(aiger.with_suffix(".json").read_text())
    symbols = dict(re.findall(rb"^o(\d+) (\S+)$", aiger.read_bytes(), re.M))
    bits = [b"fails[%d]" % i for i in range(len(numbers))] if len(numbers) != 1 else [b"fails"]
    if not numbers or symbols != {b"%d" % i: bit for i, bit in enumerate(bits)}:
        raise build.BuildError(f"the outputs of {aiger} are not in the order of the properties")
    return numbers


def abc() -> Path:
    """The program yosys-abc, which comes with pyosys."""
    found = importlib.util.find_spec("pyosys")
    if not found or not found.submodule_search_locations:
        raise build.BuildError("prove needs Yosys as a Python package: pip install pyosys")
    return Path(list(found.submodule_search_locations)[0]) / "yosys-abc"


def prove(
    form: str, cells: int, depth: int, fault: str = "", rams: str = "zeros", say=build.quiet, progress=None
) -> Result:
    """Proves a form to a depth, with a fault or without; `progress` is told the clocks that hold."""
    if form not in FORMS:
        raise UserError(f"prove {form}: is no proof; legal are {', '.join(FORMS)}")
    folder = system_verilog(form, cells, say)
    work = WORK / f"{form}-{cells}" / "-".join(filter(None, (fault or "as-it-is", rams)))
    aiger, properties = translate(folder, work, TOP, FAULTS[fault] if fault else None, rams)
    return solve(bounded(aiger, SWEEP_CLOCKS + depth), properties, depth, progress)


def translate(folder: Path, work: Path, top: str, fault: Fault | None, rams: str, change=lambda text: text):
    """A proof as AIGER, with the property of each of its outputs."""
    messages = label(folder, work, fault, change)
    aiger = work / "proof.aig"
    build.run([sys.executable, "-m", "vermilion.formal.aiger", work, top, aiger, rams], work / "yosys.log")
    numbers = outputs(aiger)
    if set(numbers) != set(range(len(messages))):
        raise build.BuildError(f"{len(messages)} properties were written and {len(set(numbers))} came through Yosys")
    return aiger, [messages[number] for number in numbers]


def bounded(aiger: Path, frames: int) -> list:
    return [abc(), "-c", f"read_aiger {aiger}; scorr; dc2; scorr; bmc3 -g -v -F {frames}"]


def block_system_verilog(say=build.quiet) -> Path:
    """The folder with a folder for each block's proof."""
    folder = WORK / "blocks" / "sv"
    sources = [path for path in build.files("hw/test/src", "*Proof*.scala") if path.parent.name != "victim"]
    key = chisel.key([*chisel.sources(), *sources])

    def action():
        for old in folder.glob("*/*.sv"):
            old.unlink()
        words = ["vermilion.formal.EmitBlockProofs", str(folder)]
        chisel.emit(folder, folder.parent / "chisel.log", *words, tests=True)

    with build.locked("proofs.lock"):
        build.step(folder, key, say, "Chisel to SystemVerilog, proofs of blocks", action)
    return folder


def prove_block(
    name: str,
    depth: int | None = None,
    fault: str = "",
    rams: str = "zeros",
    say=build.quiet,
    progress=None,
    closing: bool = True,
) -> Result:
    """Proves a block to a depth, by default its own, and without a bound where its proof closes; not `closing`: to the depth only."""
    if name not in PROOFS:
        raise UserError(f"prove {name}: is no proof; legal are {', '.join(PROOFS)}")
    proof = PROOFS[name]
    depth = depth or proof.depth
    folder = block_system_verilog(say) / name
    work = WORK / "blocks" / name / "-".join((fault or "as-it-is", rams))
    aiger, properties = translate(folder, work, "Proof", proof.faults[fault] if fault else None, rams, unkind)
    result = solve(bounded(aiger, proof.start + depth), properties, depth, progress, proof.start)
    if result.failed or not (proof.closes and closing):
        return result
    script = f"read_aiger {aiger}; scorr; dc2; scorr; orpos; pdr -T {PDR_SECONDS}"
    build.run([abc(), "-c", script], work / "pdr.log")
    said = (work / "pdr.log").read_text()
    found = re.search(r"Output 0 of miter .* was asserted in frame (\d+)", said)
    if found:
        return Result("a property that the bounded run does not reach", int(found[1]) + 1 - proof.start)
    if "Property proved." not in said:
        raise build.BuildError(f"the proof of {name} without a bound did not end in {PDR_SECONDS} s")
    return Result(None, depth, True)


def listed() -> list[tuple[str, str]]:
    """Every proof's name, and what it is about: the victim search's forms, then the blocks."""
    return [(form, f"victim search, {what}") for form, what in FORMS.items()] + [(n, p.what) for n, p in PROOFS.items()]


def faults_of(name: str) -> dict[str, Fault]:
    return FAULTS if name in FORMS else PROOFS[name].faults


def depth_of(name: str) -> int:
    return VICTIM_DEPTH if name in FORMS else PROOFS[name].depth


def run(name: str, depth: int, fault: str, rams: str, cells: int, say, progress) -> Result:
    """Any proof by its name."""
    if name in FORMS:
        return prove(name, cells, depth, fault, rams, say, progress)
    return prove_block(name, depth, fault, rams, say, progress)


def solve(command: list, properties: list[str], depth: int, progress, start: int = SWEEP_CLOCKS) -> Result:
    """Runs the solver to its end and reads what it says."""
    lines = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as solver:
        try:
            for line in solver.stdout or ():
                lines.append(line)
                frame = re.match(r"\s*(\d+) \+ :", line)
                if frame and progress:
                    progress(max(0, int(frame[1]) + 1 - start))
        except BaseException:
            solver.kill()
            raise
    return verdict("".join(lines), properties, depth, start)


def verdict(text: str, properties: list[str], depth: int, start: int = SWEEP_CLOCKS) -> Result:
    """What the solver's output says; anything else than a plain yes or no is an error."""
    found = re.search(r"Output (\d+) of miter .* was asserted in frame (\d+)", text)
    if found:
        return Result(properties[int(found[1])], int(found[2]) + 1 - start)
    done = re.search(r"No output asserted in (\d+) frames", text)
    if not done or int(done[1]) != start + depth:
        raise build.BuildError(f"the solver ended without a result:\n{text[-2000:]}")
    return Result(None, depth)
