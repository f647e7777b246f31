"""The configuration file: what is read, and the sentence for every fault."""

import subprocess
import sys
from pathlib import Path

import pytest

from vermilion.configuration import config, config_file
from vermilion.profile import quantise
from vermilion.toolchain.build import ROOT
from vermilion.values import units
from vermilion.values.fields import UserError

PORT = '[port]\nrate = "1Gbit"\n'
QUEUE = PORT + '[[queue]]\nname = "a"\n'


def curve(text):
    return QUEUE + f"green = {{ {text} }}\n"


# What is wrong, and the words that the sentence must hold.
FAULTS = {
    "typo in a key": (QUEUE + 'limmit = "3KB"', ['queue "a"', "limmit", 'did you mean "limit"']),
    "typo at the top": ("prot = 1\n" + PORT, ["prot", 'did you mean "port"']),
    "typo in a curve": (curve('curve = "red", min = 1, maxx = 2, p = 0.1'), ["green.maxx", 'did you mean "max"']),
    "typo in an average": (QUEUE + "average = { wieght = 0.1 }", ["average.wieght", 'did you mean "weight"']),
    "no port": ("seed = 1", ["port is missing"]),
    "no port rate": ("[port]", ["port.rate is missing"]),
    "empty queue name": (QUEUE.replace('"a"', '" "'), ["queue", "name is ' '", "1 to 64 printable"]),
    "queue name of two lines": (QUEUE.replace('"a"', '"a\\nb"'), ["name is 'a\\nb'", "1 to 64 printable"]),
    "two lines in a value": (QUEUE + 'limit = "1\\n2"', ['limit is "1?2"']),
    "queue name without end": (QUEUE.replace('"a"', f'"{"a" * 65}"'), ["name is 'aaa", "1 to 64 printable"]),
    "queue name is a list": (PORT + "[[queue]]\nname = [1]", ["name is a list", "text in quotes"]),
    "port is a list": ("port = []", ["port is a list", "legal is a table"]),
    "nested without end": ("a = " + "[" * 5000 + "]" * 5000, ["nested too deeply"]),
    "a date": (QUEUE + "limit = 2020-01-01", ["limit is 2020-01-01"]),
    "rate as a float": ("[port]\nrate = 1e9", ["port.rate is 1000000000.0", '"10Gbit"']),
    "no queue name": (PORT + "[[queue]]\nlimit = 100", ["queue number 1", "name is missing"]),
    "rate of 0": ("[port]\nrate = 0", ["port.rate is 0", "64kbit to 200Gbit"]),
    "rate too high": ('[port]\nrate = "201Gbit"', ["port.rate", "201Gbit", "64kbit to 200Gbit"]),
    "rate too low": ('[port]\nrate = "63kbit"', ["63kbit", "64kbit to 200Gbit"]),
    "rate unreadable": ('[port]\nrate = "fast"', ['port.rate is "fast"', "10Gbit"]),
    "rate with a fraction of a bit": ('[port]\nrate = "64000.5"', ["no whole number"]),
    "rate is true": ("[port]\nrate = true", ["port.rate is true"]),
    "min above max": (
        curve('curve = "red", min = "50KB", max = "25KB", p = 0.1'),
        ["green", "min 50KB above max 25KB"],
    ),
    "p of 1.5": (curve('curve = "red", min = 1, max = 2, p = 1.5'), ["green.p is 1.5", "0 to 1"]),
    "p below 0": (curve('curve = "red", min = 1, max = 2, p = -0.1'), ["green.p is -0.1", "0 to 1"]),
    "p not a number": (curve('curve = "red", min = 1, max = 2, p = nan'), ["green.p is nan", "0 to 1"]),
    "p left out": (curve('curve = "red", min = 1, max = 2'), ["green has no p"]),
    "unknown curve": (
        curve('curve = "reed", min = 1, max = 2, p = 0.1'),
        ['green.curve is "reed"', "tail, red, gentle, exred"],
    ),
    "tail with min": (curve('curve = "tail", min = 1'), ["green has min", "tail"]),
    "red with end": (
        curve('curve = "red", min = 1, max = 2, end = 2, p = 0.1'),
        ["green has end 2 and max 2", "above max"],
    ),
    "threshold past the format": (
        curve('curve = "red", min = 1, max = "200MB", p = 0.1'),
        ["green.max", "0 to 134217727"],
    ),
    "threshold below 0": (curve('curve = "red", min = -1, max = 2, p = 0.1'), ["green.min is -1"]),
    "packets where bytes count": (curve('curve = "red", min = "1p", max = "2p", p = 0.1'), ["green.min 1p", '"byte"']),
    "bytes where packets count": (
        QUEUE + 'average = { unit = "packet" }\ngreen = { curve = "red", min = "1KB", max = "2KB", p = 0.1 }',
        ["green.min 1KB", '"packet"'],
    ),
    "gentle past the format": (curve('curve = "gentle", min = 1, max = "100MB", p = 0.1'), ["gentle", "67108863"]),
    "exred without end": (curve('curve = "exred", min = 1, max = 2, p = 0.1'), ["exred", "give end"]),
    "exred end below max": (curve('curve = "exred", min = 1, max = 5, end = 4, p = 0.1'), ["min < max < end"]),
    "exred p too high": (
        curve('curve = "exred", min = 10, max = 30, end = 100, p = 0.3'),
        ["green.p 0.3", "0 to 0.222222"],
    ),
    "ecn curve without ecn": (
        curve('curve = "red", min = 1, max = 2, p = 0.1, ecn = { min = 1, max = 1, p = 1 }'),
        ["green.ecn", "set ecn = true"],
    ),
    "ecn curve wrong": (
        QUEUE + 'ecn = true\ngreen = { curve = "tail", ecn = { min = 3, max = 1, p = 1 } }',
        ["green.ecn has min 3 above max 1"],
    ),
    "weight 0": (QUEUE + "average = { weight = 0 }", ["average.weight is 0", "2^-15"]),
    "weight above 1": (QUEUE + "average = { weight = 1.01 }", ["average.weight is 1.01", "to 1"]),
    "unknown average": (QUEUE + 'average = { kind = "rio" }', ['average.kind is "rio"', "rio-dc"]),
    "unknown spacing": (QUEUE + 'spacing = "even"', ['spacing is "even"', "geometric, uniform, wait"]),
    "ecn as a word": (QUEUE + 'ecn = "yes"', ['ecn is "yes"', "true and false"]),
    "limit 0": (QUEUE + "limit = 0", ["limit is 0", "1B to"]),
    "limit in packets": (QUEUE + 'limit = "10p"', ['limit is "10p"']),
    "amount unreadable": (QUEUE + 'limit = "10 stones"', ['limit is "10 stones"', '"200KB"']),
    "unknown DSCP": (QUEUE + 'dscp = ["AF14"]', ['dscp holds "AF14"', "AF11 to AF43"]),
    "DSCP 64": (QUEUE + "dscp = [64]", ["dscp holds 64", "0 to 63"]),
    "DSCP not a list": (QUEUE + "dscp = 10", ['queue "a", dscp is 10']),
    "DSCP of two queues": (
        QUEUE + 'dscp = ["AF11"]\n[[queue]]\nname = "b"\ndscp = [10]',
        ["DSCP AF11 (10)", 'queues "a" and "b"'],
    ),
    "DSCP twice in a queue": (QUEUE + 'dscp = ["AF11", 10]', ["DSCP AF11 (10)", '"a" twice']),
    "queue number past the build's": (QUEUE + "index = 16", ['queue "a" has number 16', "0 to 15"]),
    "queue number twice": (QUEUE + 'index = 2\n[[queue]]\nname = "b"\nindex = 2', ['"a" and "b"', "index 2"]),
    "queue number below 0": (QUEUE + "index = -1", ["index is -1"]),
    "queue name twice": (QUEUE + '[[queue]]\nname = "a"', ['queue "a" is there twice']),
    "two default queues": (
        QUEUE + 'default = true\n[[queue]]\nname = "b"\ndefault = true',
        ['"a" and "b"', "default = true"],
    ),
    "strict and sharing": (QUEUE + "priority = 1\nquantum = 1500", ["both priority 1 and quantum 1500B"]),
    "priority 8": (QUEUE + "priority = 8", ["priority is 8", "0 to 7"]),
    "quantum 10": (QUEUE + "quantum = 10", ["quantum is 10", "64B to"]),
    "burst without rate": (QUEUE + 'burst = "3KB"', ["has burst 3KB but no rate", "64kbit to 200Gbit"]),
    "seed 0": ("seed = 0\n" + PORT, ["seed is 0", "1 to 4294967295"]),
    "port is a number": ("port = 3", ["port is 3"]),
    "queue is a table": (PORT + '[queue]\nname = "a"', ["queue is a table"]),
    "queue is a list of numbers": ("queue = [1]\n" + PORT, ["queue number 1"]),
    "distance is a number": (QUEUE + "distance = 3", ['queue "a"', "distance is 3", "a table"]),
    "typo in a distance": (QUEUE + "distance = { infar = true }", ["distance.infar", 'did you mean "infer"']),
    "distance as a number": (QUEUE + "distance = { share = 1 }", ["distance.share is 1", "true and false"]),
    "unknown fate of the option": (QUEUE + 'ttl_option = "drop"', ['ttl_option is "drop"', "keep, remove"]),
    "option type 1": (PORT + "[ttl_option]\nip4 = 1", ["ttl_option.ip4 is 1", "2 to 255", "148"]),
    "option type 256": (PORT + "[ttl_option]\nip6 = 256", ["ttl_option.ip6 is 256", "2 to 255"]),
    "router alert": (PORT + "[ttl_option]\nip6 = 5", ["ttl_option.ip6 is 5", "router alert"]),
    "option type as a word": (PORT + '[ttl_option]\nip4 = "9e"', ['ttl_option.ip4 is "9e"', "2 to 255"]),
    "typo in an option type": (PORT + "[ttl_option]\nipv6 = 30", ["ttl_option.ipv6", 'did you mean "ip6"']),
    "pool without a size": ("[pool]\n" + PORT, ["pool.size is missing"]),
    "pool is a number": ("pool = 3\n" + PORT, ["pool is 3", "legal is a table"]),
    "typo in a pool": (PORT + "[pool]\nsize = 640\nsise = 640", ["pool.sise", 'did you mean "size"']),
    "pool below a cell": (PORT + "[pool]\nsize = 63", ["pool.size is 63", "64B to 67108864B"]),
    "pool past the format": (PORT + '[pool]\nsize = "65MiB"', ['pool.size is "65MiB"', "64B to 67108864B"]),
    "pool in packets": (PORT + '[pool]\nsize = "60p"', ['pool.size is "60p"', "64B to 67108864B"]),
    "pool is true": (PORT + "[pool]\nsize = true", ["pool.size is true", '"200KB"']),
    "alpha no power of two": (QUEUE + "alpha = 0.3", ['queue "a", alpha is 0.3', "2^-7 (0.0078125) to 8"]),
    "alpha 0": (QUEUE + "alpha = 0", ["alpha is 0;", "2^-7 (0.0078125) to 8"]),
    "alpha below its range": (QUEUE + "alpha = 0.00390625", ["alpha is 0.00390625", "2^-7 (0.0078125) to 8"]),
    "alpha above its range": (QUEUE + "alpha = 16", ["alpha is 16", "2^-7 (0.0078125) to 8"]),
    "alpha as a word": (QUEUE + 'alpha = "1/2"', ['alpha is "1/2"', "2^-7 (0.0078125) to 8"]),
    "alpha is true": (QUEUE + "alpha = true", ["alpha is true", "2^-7 (0.0078125) to 8"]),
    "alpha not a number": (QUEUE + "alpha = nan", ["alpha is nan", "2^-7 (0.0078125) to 8"]),
    "alpha without a pool": (
        QUEUE + "alpha = 0.5",
        ['queue "a" has alpha 0.5, but there is no pool; give [pool] a size, 64B to 67108864B'],
    ),
    "not TOML": ("port = \n[x]", ["is not TOML", "line 1"]),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_fault_is_refused_with_one_sentence(fault, tmp_path):
    text, words = FAULTS[fault]
    path = tmp_path / "case.toml"
    path.write_text(text)
    with pytest.raises(config.UserError) as caught:
        config_file.load(path)
    sentence = str(caught.value)
    assert sentence.startswith(f"{path}: ") and "\n" not in sentence
    for word in words:
        assert word in sentence, sentence


def test_every_key_cut_short_is_refused_by_its_full_name():
    for name in ("limit_packets", "spacing", "average", "size_weight", "priority", "quantum"):
        with pytest.raises(config.UserError, match=f'did you mean "{name}"'):
            config.parse({"port": {"rate": 10**6}, "queue": [{"name": "a", name[:-1]: 1}]})


def test_a_faulty_file_ends_with_status_2_and_no_traceback(tmp_path):
    path = tmp_path / "case.toml"
    path.write_text(curve('curve = "red", min = 1, max = 2, p = 1.5'))
    for command in (["check", path], ["curves", path, "-o", tmp_path / "out.png"], ["check", tmp_path / "absent.toml"]):
        done = subprocess.run(
            [sys.executable, "-m", "vermilion", *map(str, command)], capture_output=True, text=True, cwd=ROOT / "sim"
        )
        assert done.returncode == 2 and "Traceback" not in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1
    assert not (tmp_path / "out.png").exists()


def test_the_curves_of_a_file_are_drawn(tmp_path):
    command = [
        sys.executable,
        "-m",
        "vermilion",
        "curves",
        ROOT / "sim/configs/default.toml",
        "-o",
        tmp_path / "out.svg",
    ]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT / "sim")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out.svg").stat().st_size > 20_000


def test_a_byte_order_mark_is_no_fault(tmp_path):
    path = tmp_path / "case.toml"
    path.write_bytes(b"\xef\xbb\xbf" + PORT.encode())
    assert config_file.load(path).port.rate == 10**9


def test_bytes_that_are_no_text_are_refused(tmp_path):
    path = tmp_path / "case.toml"
    path.write_bytes(b"\0\1\xff")
    with pytest.raises(config.UserError, match="no UTF-8 text"):
        config_file.load(path)


def test_amounts():
    for text, value, unit in (
        ("200KB", 200_000, "byte"),
        ("64KiB", 65536, "byte"),
        ("60p", 60, "packet"),
        ("2.5KB", 2500, "byte"),
        ("64kib", 65536, "byte"),
        ("9 PKT", 9, "packet"),
    ):
        assert units.amount(text) == units.Amount(value, unit)
    assert units.amount(17) == units.Amount(17, None)
    assert units.amount("17") == units.Amount(17, None)


def test_rates():
    for text, value in (
        ("10Gbit", 10**10),
        ("700kbit", 700_000),
        ("2Mbit/s", 2 * 10**6),
        (64000, 64000),
        ("1.5Mbit", 1_500_000),
        ("10mbit", 10**7),
        ("10MBIT", 10**7),
        ("10 Mbit", 10**7),
        ("2gBiT/S", 2 * 10**9),
        ("0.1tbit", 10**11),
        ("64Kibit", 65536),
        ("3mibit", 3 * 2**20),
        ("64k", 64000),
        ("9Mb", 9 * 10**6),
        ("64000bit", 64000),
    ):
        assert units.rate(text) == value


@pytest.mark.parametrize(
    "text, bits", [("10mbps", "10mbit"), ("1.5 Kibps", "1.5Kibit"), ("9BPS/s", "9bit"), ("10MB", "10Mbit")]
)
def test_bytes_are_no_rate(text, bits):
    """`bps` is bytes per second in tc, and B is bytes: both are refused, and bits are offered."""
    with pytest.raises(
        ValueError, match=f'^is "{text}", which .*bytes per second; legal are bits per second, such as "{bits}"$'
    ):
        units.rate(text)


@pytest.mark.parametrize(
    "digits", ["\u0661\u0660", "\uff11\uff10", "1\u0660", "\u00b9\u2070", "1\u0660.5", "1_0", "+10", "1e1"]
)
def test_other_digits(digits):
    """Numbers have ASCII digits alone."""
    for parse, unit in ((units.rate, "mbit"), (units.amount, "KB"), (units.amount, "p"), (units.duration, "ms")):
        with pytest.raises(ValueError, match="legal are "):
            parse(digits + unit)


@pytest.mark.parametrize(
    "parse, text", [(units.rate, "10\u212abit"), (units.amount, "10\u212aB"), (units.duration, "10m\u017f")]
)
def test_letters_that_fold(parse, text):
    """A letter that only folds to that of a unit is no unit."""
    with pytest.raises(ValueError, match="legal are "):
        parse(text)


def test_durations():
    for text, value in (("100ms", 10**8), ("5US", 5000), ("1.5s", 15 * 10**8), ("20 ns", 20)):
        assert units.duration(text) == value


def test_dscp_names():
    assert [units.dscp(x) for x in ("AF11", "AF12", "AF13", "AF21", "AF43", "EF", "default", "CS6")] == [
        10,
        12,
        14,
        18,
        38,
        46,
        0,
        48,
    ]


def test_named_colours_override_those_of_the_code_point():
    raw = {"port": {"rate": 10**6}, "queue": [{"name": "a", "dscp": {"red": ["CS1", "AF11"]}}]}
    assert config.parse(raw).queue[0].dscp.red == [8, 10]


def test_distance_and_option_reach_the_hardware_and_are_shown(tmp_path):
    text = '[[queue]]\nname = "b"\ndistance = { infer = false, share = true }\nttl_option = "remove"\n'
    file = tmp_path / "c.toml"
    file.write_text(QUEUE + text + "[ttl_option]\nip4 = 222\n")
    record = quantise.hardware(config_file.load(file))
    assert record["ttl_option"] == {"ip4": 222, "ip6": 30}
    shown = [(queue["distance"], queue["ttl_option"]) for queue in record["queues"]]
    either, share = ({"option": 1, "infer": 1, "share": 0}, {"option": 1, "infer": 0, "share": 1})
    assert shown == [(either, 0), (share, 1), (either, 0)]
    done = subprocess.run(
        [sys.executable, "-m", "vermilion", "check", file], capture_output=True, text=True, cwd=ROOT / "sim"
    )
    for words in (
        "IPv4 type 222 (0xde)",
        "IPv6 type 0x1e",
        "option, then inference",
        "share of the path",
        "remove",
        "keep",
    ):
        assert words in done.stdout, words


def test_pool_and_alpha_reach_the_hardware_and_are_shown(tmp_path):
    text = '[[queue]]\nname = "b"\nlimit = "9KB"\nalpha = 0.5\n[[queue]]\nname = "c"\nalpha = 8\n'
    file = tmp_path / "c.toml"
    file.write_text(PORT + '[pool]\nsize = "200KB"\n' + text)
    record = quantise.hardware(config_file.load(file))
    assert record["pool"] == {"size": 3125, "reserve": [0], "cap": [0]}
    assert [queue["alpha"] for queue in record["queues"]] == [7, 11, 0]
    file.write_text(file.read_text().replace("200KB", "200001B"))
    done = subprocess.run(
        [sys.executable, "-m", "vermilion", "check", file], capture_output=True, text=True, cwd=ROOT / "sim"
    )
    words = [line.split() for line in done.stdout.splitlines()]
    assert ["pool", "size,", "cells", "3125.02", "3125", "-0.0005", "%"] in words, done.stdout
    assert "9KB and alpha 0.5" in done.stdout and "alpha 8" in done.stdout


def test_alphas_are_those_of_the_codes():
    pool = {"port": {"rate": 10**6}, "pool": {"size": 640}}
    for code in range(1, 12):
        asked = config.parse(pool | {"queue": [{"name": "a", "alpha": 2.0 ** (code - 8)}]})
        assert quantise.hardware(asked)["queues"][0]["alpha"] == code


def test_updates_of_pie_fit_into_the_time():
    """292 ns each, at most half of the time: 112 queues with the shortest tupdate."""
    queues = [{"name": str(i), "aqm": "pie", "tupdate": "65536ns"} for i in range(113)]
    port = {"port": {"rate": "10Gbit"}}
    config.parse(port | {"queue": queues[1:]}, 1024, 0)
    with pytest.raises(UserError, match=r"tupdate is too short for so many queues: .* 65.536us, 112 queues fit"):
        config.parse(port | {"queue": queues}, 1024, 0)


def test_pool_larger_than_the_buffer(tmp_path):
    """Refused where the build is known, and nowhere else."""
    file = tmp_path / "c.toml"
    file.write_text(PORT + "[pool]\nsize = 262144")
    assert config_file.load(file, build_cells=4096).pool.cells == 4096
    file.write_text(PORT + '[pool]\nsize = "300KB"')
    assert config_file.load(file).pool.cells == 4687
    with pytest.raises(config.UserError) as caught:
        config_file.load(file, build_cells=4096)
    assert str(caught.value) == f"{file}: pool.size is 300KB; legal is 64B to 262144B, the 4096 cells of this build"


def test_tiny_probability():
    """A probability that the hardware holds as 0 is noted, in drop and ECN curves; 0 itself and what is held are not."""
    text = {"curve": "red", "min": 1, "max": 2}
    curves = {"green": text | {"p": 1e-300, "ecn": {"min": 1, "max": 2, "p": 2**-34}}}
    curves |= {"yellow": text | {"p": 0}, "red": text | {"p": 2**-32}}
    asked = config.parse({"port": {"rate": 10**6}, "queue": [{"name": "a", "ecn": True, **curves}]})
    first, second = quantise.notes(asked)
    assert first == 'queue "a" has green.p 1e-300, which the hardware holds as 0; the step of p is 2^-32 (2.3e-10)'
    assert "green.ecn.p 5.82077e-11, which" in second
    held = quantise.hardware(asked)["queues"][0]["colour"]
    assert [held[c]["curve"][0]["slope1"] > 0 for c in range(3)] == [False, False, True]


def test_a_queue_for_the_rest_is_added_only_where_none_is_named():
    names = lambda *queues: [q.name for q in config.parse({"port": {"rate": 10**6}, "queue": list(queues)}).queue]
    assert names() == ["default"]
    assert names({"name": "a"}) == ["a", "default"]
    assert names({"name": "a", "dscp": [0]}) == ["a"]
    assert names({"name": "a", "default": True}) == ["a"]


@pytest.mark.parametrize("path", sorted((ROOT / "sim/configs").glob("*.toml")), ids=lambda p: p.name)
def test_shipped_configurations_are_legal(path: Path):
    config_file.load(path)
