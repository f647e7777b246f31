"""vermilionctl flush: the register holds what was asked for as long as packets are seen, and then what it held before."""

import json
import os
import signal

import pytest

from support.register_file import Lane, address
from support.tool_cards import Bench

SHARE, EGRESSES = 16, 4
FLUSH = address("flush")
ON = 1 << 31
FILE = '[port]\nrate = "100Mbit"\n[[queue]]\nname = "a"\ndscp = ["AF11"]\n[[queue]]\nname = "b"\ndefault = true\n'


class Holding(Lane):
    """Holds packets of every queue, which go, one at each look, where they are flushed; `fills`: others come as fast."""

    def __init__(self, fills=False, **shape):
        super().__init__(**shape)
        self.fills, self.seen = fills, []
        self.held = {queue: 5 for queue in range(SHARE * EGRESSES)}
        self.flushed = dict.fromkeys(self.held, 0)

    def write(self, at, value):
        super().write(at, value)
        if at == FLUSH:
            self.seen.append(value)

    def discard(self):
        word = self.words[FLUSH]
        for queue in self.held:
            asked = word >> (queue // SHARE) & 1 or (word & ON and word >> 16 & 0xFFF == queue)
            if asked and self.held[queue]:
                self.held[queue] -= not self.fills
                self.flushed[queue] += 1

    def snapshot(self):
        queue = self.words[address("queue_select")]
        self.discard()
        colour = {address("window.colour.flushed.packets_low", 1): self.flushed[queue]}
        colour[address("window.colour.flushed.bytes_low", 1)] = 100 * self.flushed[queue]
        self.statistics[queue] = colour | {address("window.backlog_packets"): self.held[queue]}
        super().snapshot()

    def read(self, at):
        for egress in range(EGRESSES):
            if at == address("pool_used", egress):
                self.discard()
                return sum(held for queue, held in self.held.items() if queue // SHARE == egress)
        return super().read(at)


@pytest.fixture
def bench(monkeypatch, state):
    made = Bench(monkeypatch, queues=SHARE * EGRESSES, victims=SHARE * EGRESSES, egresses=EGRESSES)
    made.lane = Holding(queues=SHARE * EGRESSES, victims=SHARE * EGRESSES, egresses=EGRESSES, version=0x10004)
    made.fresh()
    return made


def on(bench, egress, *words):
    return bench.ctl("--egress", str(egress), *words)


def test_an_egress_is_flushed_and_no_other(bench):
    assert on(bench, 2, "flush") == (0, "80 packets discarded, 8,000 bytes\n")
    assert bench.lane.seen == [1 << 2, 0]
    assert {queue // SHARE for queue, held in bench.lane.held.items() if not held} == {2}
    assert json.loads(on(bench, 1, "flush", "--json")[1]) == {"packets": 80, "bytes": 8000, "empty": True}
    assert not bench.lane.faults


def test_a_queue_is_flushed_alone_by_number_or_name(bench, tmp_path):
    assert on(bench, 3, "flush", "4") == (0, "5 packets discarded, 500 bytes\n")
    assert bench.lane.seen == [ON | (3 * SHARE + 4) << 16, 0]
    file = tmp_path / "queues.toml"
    file.write_text(FILE)
    assert on(bench, 0, "apply", file)[0] == 0
    assert on(bench, 0, "flush", "b") == (0, "5 packets discarded, 500 bytes\n")
    assert bench.lane.seen[2:] == [ON | 1 << 16, 0]
    assert [queue for queue, held in bench.lane.held.items() if not held] == [1, 3 * SHARE + 4]


def test_what_others_flush_stays(bench):
    bench.lane.words[FLUSH] = 1 << 1
    assert on(bench, 0, "flush", "2")[0] == 0 and on(bench, 0, "flush")[0] == 0
    assert bench.lane.seen == [ON | 2 << 16 | 2, 2, 3, 2]
    bench.lane.words[FLUSH] = ON | 7 << 16
    status, said = on(bench, 0, "flush", "2")
    assert status == 1 and said.endswith("another queue of the lane is being flushed")
    assert on(bench, 1, "flush")[0] == 0 and bench.lane.words[FLUSH] == ON | 7 << 16


def test_what_others_begin_or_end_meanwhile_is_as_they_left_it(bench):
    snapshot, other = bench.lane.snapshot, iter([1 << 3, 0])

    def meanwhile():
        if bench.lane.words[FLUSH] & ON:
            bench.lane.words[FLUSH] = bench.lane.words[FLUSH] & ~0xFF | next(other, 0)
        snapshot()

    bench.lane.snapshot = meanwhile
    bench.lane.words[FLUSH] = 1 << 2
    assert on(bench, 0, "flush", "2")[0] == 0
    assert bench.lane.seen == [ON | 2 << 16 | 4, 0]


def test_a_flush_that_was_left_on_is_ended_by_the_next(bench):
    for stale, words in ((1, ["flush"]), (ON | 3 << 16, ["flush", "3"])):
        bench.lane.words[FLUSH] = stale
        assert on(bench, 0, *words)[0] == 0 and bench.lane.words[FLUSH] == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_waits_for_the_end_of_the_flush(bench, number):
    class Stopped(BaseException):
        pass

    def stop(*_):
        raise Stopped

    bench.lane.fills, before = True, signal.signal(number, stop)
    write = bench.lane.write

    def signalled(at, value):
        write(at, value)
        if at == FLUSH and value:
            os.kill(os.getpid(), number)

    bench.lane.write = signalled
    try:
        with pytest.raises(Stopped):
            on(bench, 0, "flush")
    finally:
        signal.signal(number, before)
    assert bench.lane.words[FLUSH] == 0 and bench.lane.seen == [1, 0]


def test_a_queue_that_never_empties_ends_the_flush_with_a_sentence(bench):
    bench.lane.fills = True
    for words in (["flush"], ["flush", "3"]):
        status, said = on(bench, 1, *words)
        assert status == 1 and said.endswith("others go before them, or more come than are discarded")
        assert bench.lane.words[FLUSH] == 0


def test_what_goes_slowly_is_waited_for(bench):
    """More looks than end a flush in which nothing goes."""
    bench.lane.held, looks, discard = {3: 9}, iter(range(10**6)), bench.lane.discard
    bench.lane.flushed = dict.fromkeys(range(SHARE), 0)
    bench.lane.held |= dict.fromkeys((queue for queue in range(SHARE) if queue != 3), 0)
    bench.lane.discard = lambda: discard() if next(looks) % 300 == 0 else None
    assert on(bench, 0, "flush")[0] == 0 and next(looks) > 2000


def test_a_memory_that_has_failed_is_told(bench):
    bench.lane.fills = True
    bench.lane.words[address("status")] |= 1 << 9
    status, said = on(bench, 0, "flush")
    assert status == 1 and "a memory of the card has failed" in said


def test_refusals(bench, monkeypatch, state):
    status, said = on(bench, 0, "flush", "16")
    assert status == 2 and "queue 16 is not there; legal are 0 to 15" in said and not bench.lane.seen
    old = Bench(monkeypatch, version=0x10003)
    status, said = old.ctl("flush")
    assert status == 2 and "flush needs registers 1.4 or newer" in said and not old.lane.faults


def test_a_register_that_keeps_nothing_is_told(bench):
    bench.lane.held = dict.fromkeys(bench.lane.held, 0)
    write = bench.lane.write

    def keeps_bits(at, value):
        write(at, value)
        if at == FLUSH:
            bench.lane.words[FLUSH] = 5

    bench.lane.write = keeps_bits
    status, said = on(bench, 0, "flush")
    assert status == 1 and f"at 0x{FLUSH:04x}; is somebody else writing to this card?" in said
