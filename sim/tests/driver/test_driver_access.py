"""The driver library's register access on a card made of a dictionary: what it writes is what the harness writes, and it never hangs or believes a dead card."""

import ctypes
import functools
import json
import random
import subprocess
from ctypes import byref

import pytest

from support import harness_access
from support.random_settings import random_file
from support.register_file import ALL_ONES, Card, Lane, address, by_address, lane_map
from vermilion.configuration import config, config_file
from vermilion.hardware.driver_library import C, library
from vermilion.profile import quantise
from vermilion.toolchain import build

SEED = 22
RUN = library()


@pytest.fixture(scope="session")
def harness(tmp_path_factory):
    """The harness's own register writes of a record."""
    program = harness_access.program(tmp_path_factory.mktemp("harness"))

    def writes(record):
        text = subprocess.run([program], input=json.dumps(record), capture_output=True, text=True, check=True).stdout
        return [tuple(map(int, line.split())) for line in text.splitlines()]

    return writes


def after(writes, **shape):
    """The lane as the harness leaves it."""
    lane = Lane(**shape)
    for at, value in writes:
        lane.pending["commit"] = 0
        lane.write(at, value)
    assert not lane.faults
    return lane


def program(lane, asked):
    """A whole configuration, as a driver writes it."""
    rate, queues = asked.port.rate, quantise.queue_count(asked) * max(lane.has.egresses, 1)
    markers = {m.queue: m for m in asked.marker}
    for queue in asked.queue:
        words = quantise.queue_image(queue, rate, queues, markers.get(queue.name))
        assert RUN.vm_lane_write_queue(byref(lane), queue.index, byref(words)) == 0
    record = quantise.hardware(asked)
    for code, (queue, colour) in enumerate([*record["dscp"], record["default"]]):
        assert RUN.vm_lane_write_class(byref(lane), code, queue, colour) == 0
    departures = any(queue["update"] for queue in record["queues"])
    assert RUN.vm_lane_write_switches(byref(lane), departures) == 0
    assert RUN.vm_lane_write_option(byref(lane), asked.ttl_option.ip4, asked.ttl_option.ip6) == 0
    assert RUN.vm_lane_write_pool(byref(lane), asked.pool.cells if asked.pool else 0) == 0
    assert RUN.vm_lane_write_port(byref(lane), byref(C.Port(rate, asked.port.burst.value, queues))) == 0
    assert RUN.vm_lane_write_seed(byref(lane), ctypes.c_uint64(asked.seed)) == 0


def configurations():
    rng = random.Random(SEED)
    for path in sorted((build.ROOT / "sim/configs").glob("*.toml")):
        yield config_file.load(path)
    for _ in range(25):
        yield config.parse(random_file(rng))


def test_a_configuration_ends_in_the_registers_as_the_harness_leaves_them(harness):
    pauses = 0
    for number, asked in enumerate(configurations()):
        wanted = after(harness(quantise.hardware(asked)))
        held = Lane(seed=number)
        card = Card(held)
        error, lane = card.open(RUN)
        assert error == 0
        program(lane, asked)
        assert card.faults == []
        pauses += card.pauses
        assert {queue: wanted.committed[queue] for queue in held.committed} == held.committed
        assert held.committed.keys() == {queue.index for queue in asked.queue}
        assert held.classes == wanted.classes and len(held.classes) == 65
        for path in ("control", "ttl_option", "port_cost", "port_burst_low", "port_burst_high", "pool_size"):
            assert held.words[address(path)] == wanted.words[address(path)], path
        for path in ("seed", "mark_seed", "flow_seed"):
            for i in range(4):
                assert held.words[address(path, i)] == wanted.words[address(path, i)] != 0
    assert pauses > 0


@pytest.mark.parametrize("egresses", [2, 4, 8])
def test_every_egress_ends_in_the_registers_as_the_harness_leaves_it(harness, egresses):
    """The harness writes a whole lane from one record; the library one egress behind the other, in any order."""
    rng, share = random.Random(SEED + egresses), 16
    files = [asked for asked in configurations() if not asked.pool]
    shape = {"queues": share * egresses, "victims": share * egresses, "egresses": egresses}
    for number in range(6):
        asked = rng.sample(files, egresses)
        wanted = after(harness(quantise.card(asked, [0, 1], share)), **shape)
        held = Lane(seed=number, **shape)
        card, cells = Card(held), [(rng.randrange(99), rng.choice((0, rng.randrange(99, 999)))) for _ in asked]
        for egress in rng.sample(range(egresses), egresses):
            error, lane = card.open(RUN, egress=egress)
            assert error == 0
            assert (lane.has.queues, lane.has.victims, lane.has.egresses) == (share, share, egresses)
            program(lane, asked[egress])
            assert RUN.vm_lane_write_share(byref(lane), *cells[egress]) == 0
        first = card.open(RUN)[1]
        program(first, asked[0])  # what is of the whole lane comes with the first
        assert RUN.vm_lane_write_routes(byref(first), 0x10, 0) == 0
        assert all(held.words[at] == wanted.words[at] for at in (address("routes", word) for word in range(2)))
        assert card.faults == []
        assert {queue: wanted.committed[queue] for queue in held.committed} == held.committed
        assert held.committed.keys() == {
            e * share + queue.index for e, each in enumerate(asked) for queue in each.queue
        }
        assert held.classes == wanted.classes and len(held.classes) == 65 * egresses
        assert held.ports == wanted.ports and len(held.ports) == egresses
        departs = any(queue["update"] for each in asked for queue in quantise.hardware(each)["queues"])
        assert held.words[address("control")] == departs
        for path in ("seed", "mark_seed", "flow_seed"):
            assert [held.words[address(path, i)] for i in range(4)] == [
                wanted.words[address(path, i)] for i in range(4)
            ]
        assert held.words[address("ttl_option")] == wanted.words[address("ttl_option")]
        for egress, pair in enumerate(cells):
            assert tuple(held.words[address(name, egress)] for name in ("pool_reserve", "pool_cap")) == pair


def test_counters_are_those_of_the_egresss_own_queue():
    held = Lane(queues=64, victims=0, egresses=4)
    held.statistics[2 * 16 + 5] = {address("window.backlog_bytes"): 77}
    got, card = C.Statistics(), Card(held)
    assert RUN.vm_lane_statistics(byref(card.open(RUN, egress=2)[1]), 5, byref(got)) == 0 and got.backlog_bytes == 77
    for egress, queue in ((2, 16), (0, 16), (3, 63)):
        lane = card.open(RUN, egress=egress)[1]
        assert RUN.vm_lane_statistics(byref(lane), queue, byref(got)) == C.VM_ERROR_QUEUE
        assert RUN.vm_lane_write_class(byref(lane), 0, queue, 0) == C.VM_ERROR_QUEUE
        assert RUN.vm_lane_write_queue(byref(lane), queue, byref(some_words())) == C.VM_ERROR_QUEUE
    assert RUN.vm_lane_write_queue(byref(card.open(RUN, egress=1)[1]), 0, byref(some_words(victim=1))) == (
        C.VM_ERROR_VICTIMS
    )


def some_words(victim=0):
    asked = config_file.load(build.ROOT / "sim/configs/default.toml")
    words = quantise.queue_image(asked.queue[3], asked.port.rate, 6, None)
    words.victim = victim
    return words


def test_every_register_of_the_shadow_record_is_written_once():
    seen = []
    visit = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32)
    assert RUN.vm_queue_visit(byref(some_words()), visit(lambda _, at, word: seen.append(at) or 0), None) == 0
    first, behind = address("shadow.flags"), address("pool_size")
    shadow = [at for at in Lane().words if first <= at < behind]
    assert sorted(seen) == sorted(shadow) and len(shadow) > 100
    assert RUN.vm_queue_visit(byref(some_words()), visit(lambda *_: 7), None) == 7


def test_queues_that_a_build_lacks_are_refused_before_anything_is_written():
    held = Lane(queues=8, victims=4)
    _, lane = Card(held).open(RUN)
    before = dict(held.words)
    assert RUN.vm_lane_write_queue(byref(lane), 8, byref(some_words())) == C.VM_ERROR_QUEUE
    assert RUN.vm_lane_write_queue(byref(lane), 4, byref(some_words(victim=1))) == C.VM_ERROR_VICTIMS
    held.words[address("codel")] = lane.has.codel = held.words[address("pie")] = lane.has.pie = 0
    judged, delayed, before = some_words(), some_words(), dict(held.words)
    judged.codel.on, judged.pie.on, delayed.codel.on, delayed.pie.on = 1, 0, 0, 1
    assert RUN.vm_lane_write_queue(byref(lane), 2, byref(judged)) == C.VM_ERROR_CODEL
    assert RUN.vm_lane_write_queue(byref(lane), 2, byref(delayed)) == C.VM_ERROR_PIE
    assert RUN.vm_lane_write_class(byref(lane), 65, 0, 0) == C.VM_ERROR_QUEUE
    assert RUN.vm_lane_write_class(byref(lane), 0, 8, 0) == C.VM_ERROR_QUEUE
    assert RUN.vm_lane_statistics(byref(lane), 8, byref(C.Statistics())) == C.VM_ERROR_QUEUE
    assert held.words == before and not held.committed
    assert RUN.vm_lane_write_queue(byref(lane), 3, byref(some_words(victim=1))) == 0 and [*held.committed] == [3]


def test_a_build_without_a_pool():
    """Minor version 2 of the registers: neither a pool nor alpha is written; all else is."""
    held = Lane(version=0x10002)
    _, lane = Card(held).open(RUN)
    before, words = dict(held.words), some_words()
    words.alpha = 8
    assert RUN.vm_lane_write_queue(byref(lane), 1, byref(words)) == C.VM_ERROR_POOL
    assert RUN.vm_lane_write_pool(byref(lane), 100) == C.VM_ERROR_POOL
    assert (
        RUN.vm_lane_write_pool(byref(lane), 0) == 0 and held.words == before and not RUN.vm_lane_has_pool(byref(lane))
    )
    words.alpha = 0
    assert RUN.vm_lane_write_queue(byref(lane), 1, byref(words)) == 0
    held = Lane(version=0x10003)
    _, lane = Card(held).open(RUN)
    words.alpha = 11
    assert RUN.vm_lane_has_pool(byref(lane)) and RUN.vm_lane_write_pool(byref(lane), 4096) == 0
    assert RUN.vm_lane_write_queue(byref(lane), 1, byref(words)) == 0
    assert held.words[address("pool_size")] == 4096
    assert held.committed[1][address("shadow.flags")] >> 12 & 15 == 11
    held.stuck = address("pool_size")
    assert RUN.vm_lane_write_pool(byref(lane), 0) == C.VM_ERROR_READBACK and lane.at == held.stuck


def test_a_lost_write_is_found_before_the_commit():
    for path, index in (("shadow.weight", (2,)), ("shadow.colour.curve.slope1", (1, 0)), ("queue_select", ())):
        held = Lane()
        _, lane = Card(held).open(RUN)
        held.stuck = address(path, *index)
        held.words[held.stuck] ^= 1
        assert RUN.vm_lane_write_queue(byref(lane), 4, byref(some_words())) == C.VM_ERROR_READBACK
        assert lane.at == held.stuck and not held.committed


def test_a_commit_or_snapshot_without_end_is_given_up_after_the_polls_allowed():
    for call in (
        lambda lane: RUN.vm_lane_write_queue(byref(lane), 1, byref(some_words())),
        lambda lane: RUN.vm_lane_statistics(byref(lane), 1, byref(C.Statistics())),
    ):
        held = Lane()
        card = Card(held, polls=17)
        _, lane = card.open(RUN)
        held.hangs = True
        assert call(lane) == C.VM_ERROR_TIMEOUT and card.pauses == 17


def test_a_failed_memory_is_told():
    held = Lane()
    _, lane = Card(held).open(RUN)
    held.words[address("status")] |= 1 << 9
    assert RUN.vm_lane_write_queue(byref(lane), 1, byref(some_words())) == C.VM_ERROR_MEMORY


def fill_window(held, queue, rng):
    """Counters of a queue, all ones among them; returns what a 64-bit count of a path and its indices must be."""
    words = held.statistics[queue] = {}
    for path, register in lane_map().items():
        if path.startswith("window") and path != "window.queue":
            for at in (at for at, r in register_addresses(path)):
                words[at] = rng.choice([rng.getrandbits(32), ALL_ONES, 0]) & register.mask
    return lambda low, high, *index: words[address(low, *index)] | words[address(high, *index)] << 32


@functools.cache
def register_addresses(path):
    return [(at, register) for at, register in by_address().items() if ".".join(register.path) == path]


EVENTS = (
    "arrived enqueued early forced tail nobuf bad ce_chosen ce_written sent policed evicted flushed "
    "departure_dropped departure_marked"
).split()


def test_statistics_are_the_windows_words_in_their_places():
    rng = random.Random(SEED)
    held = Lane()
    card = Card(held)
    _, lane = card.open(RUN)
    for queue in (0, 5, 15):
        wide, got = fill_window(held, queue, rng), C.Statistics()
        both = lambda path, *index: wide(f"window.{path}low", f"window.{path}high", *index)
        assert RUN.vm_lane_statistics(byref(lane), queue, byref(got)) == 0
        for c in range(3):
            for i, event in enumerate(EVENTS):
                assert got.count[c][i].packets == both(f"colour.{event}.packets_", c)
                assert got.count[c][i].bytes == both(f"colour.{event}.bytes_", c)
            assert got.average[c] == both("average.", c)
        assert len(EVENTS) == C.VM_EVENTS
        assert list(got.latency) == [both("latency.", i) for i in range(32)]
        assert list(got.marked) == [both("marked.", i) for i in range(12)]
        assert list(got.lost_distance) == [both("lost_distance.", i) for i in range(64)]
        assert list(got.victim_distance) == [both("victim_distance.", i) for i in range(64)]
        assert (got.push_outs, got.stale, got.time_ns) == (both("push_outs."), both("stale."), both("time_"))
        for name in ("backlog_bytes", "backlog_packets", "max_bytes", "max_packets"):
            assert getattr(got, name) == held.statistics[queue][address(f"window.{name}")]
    assert card.faults == []


def test_the_window_of_another_queue_is_not_taken_for_ones_own():
    held = Lane()
    _, lane = Card(held).open(RUN)
    held.statistics[2] = {}
    held.selected = lambda: 9
    assert RUN.vm_lane_statistics(byref(lane), 2, byref(C.Statistics())) == C.VM_ERROR_MIXED


def test_lost_frames_of_an_input():
    held, got = Lane(), C.Count()
    _, lane = Card(held).open(RUN)
    for i, name in enumerate(("frames_low", "frames_high", "bytes_low", "bytes_high")):
        held.words[address(f"lost.{name}", 1)] = i + 7
    assert RUN.vm_lane_lost(byref(lane), 1, byref(got)) == 0
    assert (got.packets, got.bytes) == (7 | 8 << 32, 9 | 10 << 32)
    assert RUN.vm_lane_lost(byref(lane), 2, byref(got)) == C.VM_ERROR_QUEUE


def whole_session(card):
    error, lane = card.open(RUN)
    error = error or RUN.vm_lane_write_queue(byref(lane), 1, byref(some_words()))
    error = error or RUN.vm_lane_write_class(byref(lane), 10, 1, 0)
    error = error or RUN.vm_lane_write_seed(byref(lane), ctypes.c_uint64(3))
    error = error or RUN.vm_lane_clear_statistics(byref(lane))
    error = error or RUN.vm_lane_statistics(byref(lane), 1, byref(C.Statistics()))
    return error or RUN.vm_lane_lost(byref(lane), 0, byref(C.Count()))


def test_a_card_that_vanishes_at_any_access_is_found_gone_at_once():
    whole = Card(Lane())
    assert whole_session(whole) == 0 and whole.accesses > 600
    for accesses in [*range(60), *range(60, whole.accesses, 7), whole.accesses - 1]:
        card = Card(Lane(), gone_after=accesses)
        assert whole_session(card) == C.VM_ERROR_GONE, accesses
        assert card.accesses < accesses + 150  # a record of writes is posted blindly, then the first read shows it


def test_a_chain_of_blocks_is_walked_to_its_end_past_those_of_others():
    lanes = [Lane(0x10000, 0x28000), Lane(0x30000, 0x40000), Lane(0x40000, 0)]
    others = {0x0: 0x564D0002, 0x4: 0x10000, 0x8: 0x10000, 0x28000: 0xC0010001, 0x28004: 1, 0x28008: 0x30000}
    card, found, blocks = Card(*lanes, others=others), ctypes.c_uint32(), (C.Block * 3)()
    assert RUN.vm_blocks(byref(card.bus), 0, blocks, 3, byref(found)) == 0
    assert found.value == 4 and [block.offset for block in blocks] == [0, 0x10000, 0x30000]
    assert [hex(block.type) for block in blocks] == ["0x564d0002", "0x564d0001", "0x564d0001"]
    error, lane = card.open(RUN, 0)
    assert error == C.VM_ERROR_TYPE  # the card's own block, no lane
    error, lane = card.open(RUN, 2)
    assert error == 0 and RUN.vm_lane_write_class(byref(lane), 46, 3, 1) == 0
    assert [lane.classes for lane in lanes] == [{}, {(0, 46): 3 | 1 << 16}, {}]
    has = lane.has
    assert (has.queues, has.cells, has.data_bits, has.inputs, has.stages, has.flows) == (16, 4096, 64, 2, 6, 4096)


@pytest.mark.parametrize("next_block", [4, 0x10000, 0x8000, 0x10002, 1 << 20, 0xFFFFFFFC, 0xFFFFFFFF])
def test_a_chain_that_turns_back_or_leaves_the_address_space_is_refused(next_block):
    card, found = Card(Lane(0x10000, next_block), others={0: 0x564D0002, 8: 0x10000}), ctypes.c_uint32()
    assert RUN.vm_blocks(byref(card.bus), 0, (C.Block * 8)(), 8, byref(found)) == C.VM_ERROR_LIST
    assert card.accesses < 10


def test_other_versions_and_shapes_are_refused():
    assert Card(Lane(version=0x0001FFFF)).open(RUN)[0] == 0
    for version in (0x00000009, 0x00020000, 0x01000000):
        assert Card(Lane(version=version)).open(RUN)[0] == C.VM_ERROR_VERSION
    assert Card(Lane(queues=0)).open(RUN)[0] == C.VM_ERROR_SHAPE
    assert Card(Lane(queues=5000)).open(RUN)[0] == C.VM_ERROR_SHAPE
    inputs = lane_map()["lost.frames_low"].dims[0][1]
    assert (C.VM_INPUTS_MAX, C.VM_CELLS_MAX) == (inputs, (2**32 - 1) // 64 // 16)
    for field, legal, wrong, says in (
        ("ewma_stages", [6], [7, ALL_ONES - 1], "0 to 6"),
        ("inputs", [1, inputs], [0, inputs + 1, 0x200000, 1 << 31, ALL_ONES], "1 to 16"),
        ("cells", [1, C.VM_CELLS_MAX], [0, C.VM_CELLS_MAX + 1, 1 << 26, ALL_ONES], "1 to 4194303"),
        ("victims", [0, 16], [17, ALL_ONES], "0 to the number of queues"),
        ("queues", [16, 4096], [0, 4097, ALL_ONES], "1 to 4096"),
        ("egresses", [0, 1], [9, 64, ALL_ONES], "1 to 8"),
    ):
        for value in legal + wrong:
            held = Lane()
            held.words[address(field)] = value
            error, lane = Card(held).open(RUN)
            assert error == (C.VM_ERROR_SHAPE if value in wrong else 0), (field, value)
            if not error:
                continue
            fault, text = C.Refusal(), ctypes.create_string_buffer(96)
            assert not RUN.vm_shape_check(byref(lane.has), byref(fault))
            RUN.vm_refusal_text(byref(fault), text, len(text))
            assert text.value.decode() == f"{field} is {value}; legal is {says}"
    assert Card(Lane(), size=0x1000).open(RUN)[0] == C.VM_ERROR_TYPE


@pytest.mark.parametrize(
    "shape, says",
    [
        ({"queues": 15, "victims": 0, "egresses": 2}, "queues is 15; legal is a multiple of egresses"),
        ({"queues": 16, "victims": 8, "egresses": 2}, "victims is 8; legal is 0 or the number of queues"),
    ],
)
def test_egresses_that_do_not_share_evenly_are_refused(shape, says):
    error, lane = Card(Lane(**shape)).open(RUN)
    fault, text = C.Refusal(), ctypes.create_string_buffer(96)
    assert error == C.VM_ERROR_SHAPE and not RUN.vm_shape_check(byref(lane.has), byref(fault))
    RUN.vm_refusal_text(byref(fault), text, len(text))
    assert text.value.decode() == says


def test_an_egress_that_the_build_lacks_is_refused():
    for egresses, most in ((0, 1), (1, 1), (2, 2), (8, 8)):
        card = Card(Lane(queues=16, victims=0, egresses=egresses))
        assert [card.open(RUN, egress=egress)[0] for egress in (most - 1, most, ALL_ONES)] == [
            0,
            C.VM_ERROR_EGRESS,
            C.VM_ERROR_EGRESS,
        ]


def test_every_error_has_a_sentence_of_its_own():
    texts = [RUN.vm_error_text(error).decode() for error in range(C.VM_ERROR_RULE + 1)]
    assert len(set(texts)) == len(texts) and all(texts)
    assert RUN.vm_error_text(-1) == RUN.vm_error_text(C.VM_ERROR_RULE + 1) == b"unknown error"
