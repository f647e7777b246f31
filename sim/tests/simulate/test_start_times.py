"""Both engines from any start of lane time: just before it wraps at 2^48 ns, around half of that, and where flow ages wrap."""

import random
import tomllib

import pytest

from support import random_lanes
from support.captures import pcap
from support.engine_outputs import run, same, write_words
from support.frames import ip4
from vermilion.configuration import config
from vermilion.toolchain import build

pytestmark = pytest.mark.slow

WRAP = 2**48
TICK_WRAP = 2**16 << 22  # of the flow table's ages
DAY = 24 * 3600 * 10**9  # the longest silence of a capture
BURST_NS = 8 * 40_000 * 1000 // 10  # of the port below

# No averages, of which idle ageing may differ across a wrap (docs/limits/policy.md).
SHAPED = """
[port]
rate = "10Mbit"
burst = "40KB"

[[queue]]
name = "shaped"
dscp = ["AF11", "AF12"]
limit = "200KB"
rate = "3Mbit"
burst = "3KB"

[[queue]]
name = "rest"
default = true
limit = "200KB"
"""


def both(program, folder, words, capture, *options):
    """The RTL's outputs, which the model's equal."""
    rtl = run(program, folder, words, capture, *options)
    rtl.check()
    same(rtl, run(program, folder, words, capture, "--engine", "model", *options))
    return rtl


def starts(rng):
    """Times before wraps, in reach of a short capture, and at the wrap."""
    near = [wrap - rng.randrange(1, 2_000_000) for wrap in (WRAP, WRAP, 5 * WRAP, WRAP // 2, TICK_WRAP)]
    return [*near, WRAP - 4, WRAP, WRAP + 1]


@pytest.mark.parametrize("seed", range(1, 6))
def test_random_lanes_at_wraps(tmp_path, seed):
    """Random configurations and captures: captures and statistics are equal from each start."""
    print("seed", seed)
    rng, program = random.Random(seed), build.simulator("lab")
    words = write_words(tmp_path / "words.json", random_lanes.configuration(rng, build.shape("lab")))
    capture = random_lanes.capture(tmp_path / "in.pcap", rng, 200)
    for start in starts(rng):
        print("start", start)
        both(program, tmp_path, words, capture, "--start-ns", start)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_first_burst_at_any_start(tmp_path, seed):
    """The port's first burst is whole from each start: the captures that come out are one."""
    print("seed", seed)
    rng, program = random.Random(seed), build.simulator("lab")
    words = write_words(tmp_path / "words.json", config.parse(tomllib.loads(SHAPED), 16))
    frames = [(n * 100_000, ip4(rng.randrange(46, 1400)), 0) for n in range(100)]
    capture = pcap(tmp_path / "in.pcap", [(time, data, len(data)) for time, data, _ in frames])
    within = [WRAP - rng.randrange(1, BURST_NS) // 4 * 4 for _ in range(3)]
    outputs = {
        start: both(program, tmp_path, words, capture, "--start-ns", start).capture
        for start in (10**6, *within, WRAP - 4 * 10**9, WRAP // 2, WRAP)
    }
    assert len(set(outputs.values())) == 1, [start for start in outputs if outputs[start] != outputs[10**6]]


def test_first_burst_after_half_the_range(tmp_path):
    """A port that has sent nothing for 2^47 ns less its burst begins without one: at the same ns in both engines."""
    program = build.simulator("lab")
    words = write_words(tmp_path / "words.json", config.parse(tomllib.loads(SHAPED), 16))
    too_long = ip4(46) + bytes(9800)

    def later(clocks):
        late = WRAP // 2 - BURST_NS + 4 * clocks
        times = [(0, too_long), (DAY, too_long), *((late + n, ip4(1000)) for n in range(20))]
        return pcap(tmp_path / "in.pcap", [(time, data, len(data)) for time, data in times])

    def has_burst(clocks):
        model = run(program, tmp_path, words, later(clocks), "--engine", "model")
        return model.stats["seconds"] * 10**9 < WRAP // 2 - BURST_NS + 5_000_000  # else 16 ms at the port's rate

    burst, none = -1000, 0
    assert has_burst(burst) and not has_burst(none)
    while none - burst > 1:
        middle = (burst + none) // 2
        burst, none = (middle, none) if has_burst(middle) else (burst, middle)
    print("the burst is lost", none, "clocks from the limit")
    for clocks in (burst, none):
        both(program, tmp_path, words, later(clocks))
