"""The victim search is proved to a small depth, and each kind of fault is found; `./vermilion prove` goes deeper."""

import re

import pytest

from support.nightly import nightly
from vermilion.formal import prove
from vermilion.toolchain import build

FOUND = {  # property and clock, the first in which the fault can show
    "lost-cell": ("a cell is lost, or used by nobody", 12),
    "doubled-cell": ("a cell comes back while its packet is queued", 12),
    "order": ("the packet that becomes head is not its body's oldest", 11),
    "first": ("two writers write one record at once", 10),
    "unlink": ("a newest packet is unlinked, and others stay", 11),
    "bitmap-pop": ("the bitmap is not that of the body", 12),
    "bitmap-head": ("the bitmap is not that of the body", 10),
    "list-head": ("two writers write one record at once", 11),
    "places": ("more packets than places", 9),
}


@pytest.mark.proof
@pytest.mark.parametrize(
    "form, depth", [nightly("red", 13), nightly("red", 16), nightly("tail", 13), ("mixed", 11), nightly("mixed", 12)]
)  # a packet can be evicted in clock 11, told in 12
def test_no_cell_is_lost_or_doubled_and_order_lists_and_bitmap_are_kept(form, depth):
    assert prove.prove(form, 4, depth) == prove.Result(None, depth)


# The bench of the search puts 36 more faults into it, 11 of them in every run: cocotb_tests/blocks/victim.
EVERY_RUN = ("lost-cell", "order", "bitmap-pop", "places")


@pytest.mark.proof
def test_every_fault_fits_one_place_of_the_search(tmp_path):
    for fault in prove.FAULTS.values():
        assert prove.label(prove.system_verilog("red", 4), tmp_path / "labelled", fault)


@pytest.mark.proof
@pytest.mark.parametrize("fault", [fault if fault in EVERY_RUN else nightly(fault) for fault in prove.FAULTS])
def test_every_kind_of_fault_is_found(fault):
    assert set(FOUND) == set(prove.FAULTS)
    assert prove.prove("red", 4, 13, fault) == prove.Result(*FOUND[fault])


def test_a_solver_without_a_plain_answer_proves_nothing():
    done = f"No output asserted in {prove.SWEEP_CLOCKS + 3} frames. Resource limit reached"
    assert prove.verdict(done, ["a"], 3) == prove.Result(None, 3)
    failed = f'Output 1 of miter "proof" was asserted in frame {prove.SWEEP_CLOCKS}.'
    assert prove.verdict(failed, ["a", "b"], 3) == prove.Result("b", 1)
    for text in ("", "Networks are equivalent", done.replace("37", "36")):
        with pytest.raises(prove.build.BuildError, match="without a result"):
            prove.verdict(text, ["a"], 3)


def test_the_page_says_what_finds_each_fault():
    page = (build.ROOT / "docs" / "formal.md").read_text()
    rows = re.findall(r"^\| `([\w-]+)` \| (.*) \| (\d+) \| (.*) \|$", page, re.M)
    told = {fault: (what, found, int(clock)) for fault, what, clock, found in rows if fault in prove.FAULTS}
    assert told == {fault: (prove.FAULTS[fault].what, *FOUND[fault]) for fault in FOUND}


def test_properties_that_stand_in_another_order_are_an_error(tmp_path):
    proof = tmp_path / "proof.aig"
    proof.with_suffix(".json").write_text("[0, 1, 1]")
    proof.write_bytes(b"\no0 fails[0]\no2 fails[2]\no1 fails[1]\nc\n")
    assert prove.outputs(proof) == [0, 1, 1]
    right = b"\no0 fails[0]\no1 fails[1]\no2 fails[2]\n"
    for symbols in (right.replace(b"o0 fails[0]", b"o0 fails[2]"), right + b"o3 out\n", right[:-12], b""):
        proof.write_bytes(symbols)
        with pytest.raises(prove.build.BuildError, match="not in the order"):
            prove.outputs(proof)
    proof.write_bytes(b"\no0 fails\n")
    proof.with_suffix(".json").write_text("[4]")
    assert prove.outputs(proof) == [4]
    proof.with_suffix(".json").write_text("[]")
    with pytest.raises(prove.build.BuildError, match="not in the order"):
        prove.outputs(proof)
