"""Single blocks are proved, and the faults built into them are found; `./vermilion prove` goes deeper and closes the slow ones."""

import re

import pytest
from click.testing import CliRunner

from support.nightly import nightly
from vermilion.commands.cli import cli
from vermilion.formal import prove
from vermilion.formal.block_proofs import PROOFS
from vermilion.toolchain import build

CLOSE = [
    "axi-lite",
    "counters",
    "reader",
    "serializer-512",
    "serializer-64",
]  # without a bound, in seconds
DEEP = {
    "queues": 9,
    "free-list": 11,
    "scheduler": 7,
    "scheduler-flush": 7,
    "scheduler-verdicts": 11,
    "scheduler-flows": 11,
    "gather-64": 10,
    "ageing": 20,
}  # to a depth; of the scheduler, too short to see a rest

FOUND = {  # a fault of each kind: the property that fails, and the first clock in which it can
    ("queues", "order"): ("the successor is not the next packet", 6),
    ("queues", "never-idle"): ("a queue is idle with packets, or becomes backlogged twice", 5),
    ("queues", "reactivation"): ("a reactivation is missing or wrong", 5),
    ("free-list", "lost"): ("a cell is lost: it is free and is not offered", 11),
    ("free-list", "doubled"): ("a cell is handed out twice", 9),
    ("free-list", "count"): ("the count of free cells is wrong", 6),
    ("reader", "lost"): ("cells out: what is offered changes while it waits", 4),
    ("reader", "freed"): ("a chain does not come back when its last cell is out, or twice", 3),
    ("rewrite", "byte"): ("a byte changes that is not to be edited", 5),
    ("gather-64", "order"): ("a byte of the cell is another one", 4),
    ("gather-64", "bad"): ("a bad frame counts as good, or a good one as bad", 3),
    ("serializer-64", "valid"): ("way out: valid falls before ready", 4),
    ("serializer-64", "lost"): ("way out: what is offered changes while it waits", 4),
    ("serializer-64", "last"): ("a frame ends at another beat than its last", 3),
    ("serializer-64", "keep"): ("way out: keep has a hole", 3),
    ("axi-lite", "lost"): ("a write is lost, done twice, or done while held", 5),
    ("axi-lite", "held"): ("a write is lost, done twice, or done while held", 3),
    ("axi-lite", "answer"): ("write answer: valid falls before ready", 5),
    ("axi-lite", "order"): ("a read looks at another address", 4),
    ("axi-lite", "reset"): ("a write has no answer, or two", 2),
    ("scheduler", "order"): ("a packet of the round is sent that its deficit does not cover", 6),
    ("scheduler", "covered"): ("a packet of the round is sent that its deficit does not cover", 7),
    ("scheduler", "list"): ("a successor is known of a queue that holds one packet", 6),
    ("scheduler-flush", "sent"): ("a packet is discarded that is not flushed, or the reverse", 6),
    ("scheduler-flush", "kept"): ("the cells of a discarded packet do not come back, or come twice", 7),
    ("scheduler-verdicts", "sent"): ("a packet that is not discarded does not go to the reader, or twice", 10),
    ("scheduler-verdicts", "kept"): ("the cells of a discarded packet do not come back, or come twice", 10),
    ("scheduler-verdicts", "lost"): ("a DRR turn ends although the queue may send its packet", 10),
    ("scheduler-verdicts", "early"): ("a DRR turn ends before its verdicts are known", 7),
    ("scheduler-flows", "always-new"): ("a flow is new twice while a queue waits in the DRR list", 8),
    ("scheduler-flows", "second"): ("a queue is inserted into a second list", 9),
    ("scheduler-flows", "lost"): ("a DRR turn ends although the queue may send its packet", 10),
    ("scheduler-flows", "early"): ("a DRR turn ends before its verdicts are known", 7),
    ("scheduler-flows", "shared"): ("a packet of the round is sent beyond what its queue may send", 11),
    ("scheduler-later", "third"): ("another packet is taken as the successor", 8),
    ("ageing", "frozen"): ("a packet's step is lost, or taken twice", 10),
    ("ageing", "pending"): ("a packet's step is lost, or taken twice", 10),
    ("counters", "forwarding"): ("a count is lost or doubled, or a snapshot is not as of one clock", 4),
    ("counters", "snapshot"): ("a count is lost or doubled, or a snapshot is not as of one clock", 4),
    ("counters", "lookup"): ("a count is lost or doubled, or a snapshot is not as of one clock", 5),
}


@pytest.mark.proof
@pytest.mark.parametrize("name", [nightly(name) if name in ("axi-lite", "counters") else name for name in CLOSE])
def test_the_properties_of_a_block_hold_in_every_clock(name):
    assert prove.prove_block(name) == prove.Result(None, PROOFS[name].depth, True)


@pytest.mark.proof
@pytest.mark.parametrize(
    "name", [nightly(name) if name in ("scheduler-verdicts", "scheduler-flows") else name for name in DEEP]
)
def test_the_properties_of_a_block_hold_to_a_depth(name):
    assert prove.prove_block(name, DEEP[name], closing=False) == prove.Result(None, DEEP[name])


# Each takes a minute or two of a processor; another fault of the scheduler is sought in every run.
LONGEST = [
    ("scheduler", "covered"),
    ("scheduler", "list"),
    ("scheduler", "order"),
    ("scheduler-flush", "sent"),
    ("scheduler-later", "third"),
    *((name, fault) for name, fault in FOUND if name == "scheduler-verdicts"),
    *(("scheduler-flows", fault) for fault in ("lost", "early", "shared")),
]


@pytest.mark.proof
@pytest.mark.parametrize("name, fault", [nightly(*each) if each in LONGEST else each for each in FOUND])
def test_a_fault_is_found(name, fault):
    assert prove.prove_block(name, fault=fault) == prove.Result(*FOUND[name, fault])


@pytest.mark.proof
def test_every_fault_fits_one_place_of_its_block(tmp_path):
    """Also those whose proofs run at night, or by hand alone: a renamed signal must not leave one behind."""
    folder = prove.block_system_verilog()
    for name, proof in PROOFS.items():
        for fault in proof.faults.values():
            assert prove.label(folder / name, tmp_path / "labelled", fault, prove.unkind)


def test_the_page_has_a_row_for_every_fault_and_says_what_finds_it():
    page = (build.ROOT / "docs" / "proofs" / "blocks.md").read_text()
    rows = re.findall(r"^\| `([\w-]+)` \| `([\w-]+)` \| (.*) \| (\d+) \| (.*) \|$", page, re.M)
    faults = {(name, fault): each.what for name, proof in PROOFS.items() for fault, each in proof.faults.items()}
    told = {(name, fault): (found, int(clock)) for name, fault, _, clock, found in rows}
    assert {(name, fault): what for name, fault, what, *_ in rows}.items() <= faults.items()
    assert told.items() >= FOUND.items()
    assert faults.keys() == told.keys()


def test_a_ram_that_is_read_and_written_at_once_gives_anything():
    ram = "module BlockRam_4x93(\n  always @(posedge clock) held <= memory[readAddress];\n  assign readData = held;\n"
    changed = prove.unkind(ram)
    assert "wire [92:0] anything" in changed and "collides <= write & writeAddress == readAddress" in changed
    assert "assign readData = collides ? anything : held;" in changed
    luts = "module LutRam_4x93(\n  assign readData = memory[held];\n"  # the newest word
    assert prove.unkind(luts) == luts


@pytest.mark.proof
def test_every_ram_with_a_clock_is_one_of_the_form_that_is_changed():
    for path in prove.block_system_verilog().glob("*/*.sv"):
        text = path.read_text()
        assert "_R0_addr_d0" not in text, path
        assert ("held <= memory[readAddress]" in text) == (prove.unkind(text) != text), path


def test_the_command_lists_proofs_with_their_faults_and_refuses_others():
    listed = CliRunner().invoke(cli, ["prove", "--list"])
    assert listed.exit_code == 0
    for name, proof in PROOFS.items():
        assert f"{name}: {proof.what}" in listed.output
        assert all(fault in listed.output for fault in proof.faults)
    for arguments, said in (
        (["prove", "nothing"], "is no proof"),
        (["prove", "--fault", "lost"], "needs the proof"),
        (["prove", "reader", "--fault", "bitmap-pop"], "legal for reader are lost, valid, order, freed"),
    ):
        with pytest.raises(prove.UserError, match=said):
            CliRunner().invoke(cli, arguments, catch_exceptions=False)


def test_both_sides_name_the_same_proofs():
    scala = (prove.build.ROOT / "hw/test/src/vermilion/formal/EmitBlockProofs.scala").read_text()
    assert set(PROOFS) == set(re.findall(r'^ +"([a-z0-9-]+)" ->', scala, re.M))
