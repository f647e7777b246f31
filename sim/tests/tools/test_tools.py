"""vermilionctl on a lane made of a dictionary: what it writes, what it refuses before the first write, and how it ends when the card does."""

import ctypes
import json
import os
import random
import re
import subprocess
import sys
import typing

import click
import pytest

from support.random_settings import random_file
from support.register_file import by_address, lane_map
from support.tool_cards import DEVICE, Bench, Dead, ctl
from vermilion.configuration import config, config_file, markers
from vermilion.hardware.driver_library import C
from vermilion.hardware.profile_fields import BY_NAME
from vermilion.profile import quantise
from vermilion.profile.settings import queue_settings
from vermilion.toolchain import build
from vermilionctl import bus as buses
from vermilionctl import old_names, programming, record, registers, settings

SEED = 71
CONFIG = build.ROOT / "sim/configs/default.toml"
MARKERS = build.ROOT / "sim/configs/markers.toml"


def test_every_register_has_the_name_of_the_register_map():
    names = {at: "_".join(register.path) for at, register in by_address().items()}
    for at, name in names.items():
        assert registers.name_at(at).split("[")[0] == name, hex(at)
    assert len({registers.name_at(at) for at in names}) == len(names) and len(lane_map()) > 100


def test_settings_as_text_are_the_same_settings():
    rng, seen = random.Random(SEED), set()
    for _ in range(60):
        asked = config.parse(random_file(rng))
        markers = {m.queue: m for m in asked.marker}
        for queue in asked.queue:
            held = queue_settings(queue, markers.get(queue.name))
            text = settings.as_dict(held)
            again = settings.from_dict(json.loads(json.dumps(text)))
            port = C.Port(asked.port.rate, 0, 16)
            assert bytes(settings.image(again, port, "x")) == bytes(settings.image(held, port, "x"))
            assert settings.as_dict(again) == text
            seen |= set(text.items())
    changing = {name for name in BY_NAME if len({value for at, value in seen if at == name}) > 1}
    assert len(changing) > 60, set(BY_NAME) - changing


def test_settings_round_trip():
    """Whatever a queue has, `show` prints it as `set` takes it, by the names and words of the configuration file."""
    rng = random.Random(SEED)
    for _ in range(60):
        asked = config.parse(random_file(rng))
        markers = {m.queue: m for m in asked.marker}
        for queue in asked.queue:
            held, again = queue_settings(queue, markers.get(queue.name)), settings.defaults()
            shown = settings.shown(held)
            assert shown["average.unit"] == queue.average.unit and shown["victim"] == queue.victim
            assert shown["priority"] == ("none" if queue.priority is None else str(queue.priority))
            if queue.name in markers:
                assert shown["marker.kind"] == markers[queue.name].kind
            settings.change(again, [pair for pair in shown.items() if pair != ("quantum", "none")])
            port = C.Port(asked.port.rate, 0, 16)
            assert bytes(settings.image(again, port, "x")) == bytes(settings.image(held, port, "x"))
            assert settings.shown(again) == shown


def test_names_are_the_files():
    """Each field of the file has its name here, and no struct member has the name of another field."""

    def fields(model, prefix=""):
        for name, field in model.model_fields.items():
            inner = [
                each for each in (field.annotation, *typing.get_args(field.annotation)) if hasattr(each, "model_fields")
            ]
            yield from fields(inner[0], f"{prefix}{name}.") if inner else [prefix + name]

    of_file = {name for name in fields(config.Queue) if not re.match("name$|index$|default$|dscp\\.", name)}
    of_file |= {f"marker.{name}" for name in fields(markers.Marker) if name != "queue"}
    assert of_file == set(settings.NAMES) and len(of_file) == len(settings.NAMES)
    assert not set(old_names.NAMES) & of_file and set(old_names.NAMES.values()) <= of_file


def test_old_names_are_taken_with_a_hint(bench):
    """Names of `struct vm_queue` still work; a note tells the file's."""
    bench.ctl("apply", CONFIG)
    status, said = bench.ctl("set", "af1", "curve.yellow.drops.min=12KB", "limit=50KB", "strict=1", "unit_packets=0")
    assert status == 0 and said.splitlines() == [
        "vermilionctl: note: curve.yellow.drops.min is called yellow.min in the configuration file",
        "vermilionctl: note: strict is called priority or quantum in the configuration file",
        "vermilionctl: note: unit_packets is called average.unit in the configuration file",
    ]
    shown = json.loads(bench.ctl("show", "af1", "--json")[1])["settings"]
    assert (shown["yellow.min"], shown["limit"], shown["priority"], shown["quantum"]) == ("12000", "50000", "0", "none")
    for words, wanted in (
        ("quantum=2KB", ("none", "2000")),
        ("priority=3", ("3", "none")),
        ("priority=none", ("none", "2000")),
    ):
        assert bench.ctl("set", "af1", words) == (0, "")
        shown = json.loads(bench.ctl("show", "af1", "--json")[1])["settings"]
        assert (shown["priority"], shown["quantum"]) == wanted
    leaf = ("marker.kind=leaf", "marker.rate=2mbit", "marker.burst=9KB", "marker.out=yellow", "marker.drop=yellow")
    assert bench.ctl("set", "af1", *leaf, "green.p=0.5") == (0, "")
    shown = json.loads(bench.ctl("show", "af1", "--json")[1])["settings"]
    assert [shown[word.split("=")[0]] for word in leaf] == ["leaf", "2000000", "9000", "yellow", "yellow"]
    assert shown["green.p"] == "0.5"


def test_every_member_of_a_queues_settings_has_a_name():
    def members(value, path=()):
        """The way to every member that is no struct and no array of structs."""
        if isinstance(value, ctypes.Array):
            for at, each in enumerate(value):
                yield from members(each, (*path, at))
        elif isinstance(value, ctypes.Structure) and not isinstance(value, C.Number):
            for name, _ in value._fields_:
                yield from members(getattr(value, name), (*path, name))
        else:
            yield path

    assert [*members(settings.defaults())] == [field.path for field in BY_NAME.values()]


def test_apply_leaves_in_the_card_what_check_says(bench):
    rng = random.Random(SEED)
    for number in range(12):
        asked = config.parse(random_file(rng))
        wanted = programming.of_config(asked, None)
        with record.locked(DEVICE, 0):
            from vermilionctl import card, session

            with card.lane(DEVICE) as lane:
                session.Registers(DEVICE, lane).write(wanted, True)
        lines = registers.lines(registers.table(programming.of_config(asked, None)))
        status, printed = bench.ctl("dump")
        assert (status, printed.splitlines()) == (0, lines)
        table = json.loads(bench.ctl("dump", "--json")[1])
        for queue in asked.queue:
            held = {registers.name_at(at): word for at, word in bench.lane.committed[queue.index].items()}
            assert table[f"queue {queue.index}"].items() <= held.items() and len(table[f"queue {queue.index}"]) > 100
        classes = {registers.class_name(at): entry for (_, at), entry in bench.lane.classes.items()}
        assert table["class"] == classes and len(classes) == 65
        assert not bench.lane.faults, number


def test_set_is_the_configuration_with_that_change(bench, tmp_path):
    assert bench.ctl("apply", CONFIG)[0] == 0
    text = CONFIG.read_text()
    changed = re.sub(r'(yellow *= \{ curve = "red", *min = )"10KB"', r'\1"12KB"', text, count=1)
    assert changed != text
    (tmp_path / "changed.toml").write_text(changed)
    assert bench.ctl("set", "af1", "yellow.min=12KB") == (0, "")
    commits = [at for at, _ in bench.bus.writes if at == registers.at("commit")]
    assert len(commits) == 1 and {at for at, _ in bench.bus.writes} & {registers.at("class_entry")} == set()
    wanted = registers.lines(registers.table(programming.of_config(config_file.load(tmp_path / "changed.toml"), None)))
    assert bench.ctl("dump")[1].splitlines() == wanted


def test_set_of_the_port_and_of_classes_writes_what_follows_from_it(bench):
    bench.ctl("apply", CONFIG)
    before = {queue: dict(words) for queue, words in bench.lane.committed.items()}
    assert bench.ctl("set", "port", "rate=4Mbit", "burst=20KB")[0] == 0
    lam = registers.at("shadow_lambda")
    assert all(bench.lane.committed[queue][lam] != words[lam] for queue, words in before.items() if queue not in (0, 4))
    assert bench.lane.words[registers.at("port_burst_low")] == 20_000 * 8 * 10**9 // 4_000_000
    assert bench.ctl("set", "class", "AF11=default,red", "no-ip=af2")[0] == 0
    assert (bench.lane.classes[0, 10], bench.lane.classes[0, 64]) == (5 | 2 << 16, 2)
    assert bench.ctl("dump")[0] == 0
    assert bench.ctl("set", "ef", "average.update=both")[0] == 0
    assert bench.lane.words[registers.at("control")] == 1
    assert bench.ctl("set", "ef", "average.update=arrival")[0] == 0
    assert bench.lane.words[registers.at("control")] == 0


@pytest.mark.parametrize(
    "words, match",
    [
        (
            ("af1", "yelow.min=3"),
            "yelow.min is no field of a queue; did you mean yellow.min or",
        ),
        (
            ("af1", "curve.yelow.drops.min=3"),
            "curve.yelow.drops.min is no field of a queue; did you mean yellow.min or",
        ),
        (("af1", "qwertz=3"), "all names: vermilionctl show QUEUE"),
        (("af9", "ecn=1"), "queue af9 was not written from here; queues are 0 .ef., 1"),
        (("af1", "average.weight=2"), "queue af1: average.weight is 2; legal is 2..15"),
        (("af1", "average.weight=two"), "average.weight is two; legal are numbers such as"),
        (("af1", "weight=1/0"), "weight is 1/0; legal are numbers"),
        (("af1", "green.min=60KB"), "queue af1: green.min is 60000; legal is 0 up to max"),
        (
            ("af1", "green.min=60p"),
            "green.min is 60p; legal are bytes here, as average.unit says",
        ),
        (("af3", "green.min=6KB"), "legal are packets here"),
        (("af1", "green.curve=blue"), "legal are tail, red, gentle, exred"),
        (("af1", "ecn=2"), "ecn is 2; legal are true and false, 1 and 0, on and off"),
        (("af1", "priority=99999999999"), "priority is 99999999999; legal is 0 to 4294967295"),
        (("af1", "priority=8"), "queue af1: priority is 8; legal is 0 to 7"),
        (("af1", "rate=63kbit"), "queue af1: rate is 63000; legal is 64kbit to 200Gbit"),
        (("af1", "remark.green=AF99"), "remark.green is AF99; legal are 0 to 63"),
        (("af1", "average.unit=bytes"), "average.unit is bytes; legal are byte, packet"),
        (("af1", "victim=far"), "victim is far; legal are arriving, nearest"),
        (
            ("af1", "marker.kind=wred"),
            "marker.kind is wred; legal are none, leaf, srtcm, trtcm, redp, nm, 3cpm, wpm, apm",
        ),
        (("af1", "marker.alpha=0.2"), "marker.alpha is 0.2; legal is 0.125 to 1 in steps of 0.125"),
        (("af1", "marker.drop=blue"), "legal are colours with commas"),
        (("af1", "marker.kind=leaf"), "queue af1: marker.rate is 0; legal is 64kbit"),
        (("af1", "ecn"), "ecn is no setting; legal are FIELD=VALUE"),
        (("af1", "ecn="), "ecn= is no setting"),
        (("port", "rate=1"), "port.rate is 1; legal is 64kbit to 200Gbit"),
        (("port", "speed=1"), "speed is no field of the port"),
        (("class", "AF99=ef"), "AF99 is no DSCP"),
        (("class", "AF11=ef,blue"), "AF11 is ef,blue; legal are QUEUE and QUEUE,COLOUR"),
    ],
)
def test_what_set_refuses_touches_nothing(bench, words, match):
    bench.ctl("apply", CONFIG)
    before = bench.ctl("dump")[1]
    status, said = bench.ctl(
        "set",
        words[0],
        "EF=ef" if words[0] == "class" else "burst=9KB",
        *words[1:],
    )
    assert status == 2 and re.search(match, said), said
    assert "\n" not in said and bench.bus.writes == []
    assert bench.ctl("dump")[1] == before


def test_smaller_and_other_builds_are_refused_before_the_first_write(monkeypatch):
    for shape, file, match in (
        ({"queues": 4}, CONFIG, "has number 4; this build has queues 0 to 3"),
        ({"victims": 0}, None, "can only drop the arriving packet"),
        ({"version": 0x20000}, CONFIG, "another major version"),
        ({"queues": 5000}, CONFIG, "the registers of lane 0 say that queues is 5000; legal is 1 to 4096"),
    ):
        small = Bench(monkeypatch, **shape)
        status, said = small.ctl("apply", file or nearest(monkeypatch))
        assert status in (1, 2) and match in said, said
        assert small.bus.writes == []
    small = Bench(monkeypatch)
    small.lane.words[registers.at("flows")] = 0
    status, said = small.ctl("apply", MARKERS)
    assert status == 2 and "is 3cpm, by flow; this build keeps no flows" in said and small.bus.writes == []


def nearest(_monkeypatch):
    path = build.BUILD / "nearest.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text('port.rate = "1Gbit"\n[[queue]]\nname = "a"\ndefault = true\nvictim = "nearest"\n')
    return path


def test_a_card_that_others_wrote_to_or_that_was_reset_is_not_believed(bench):
    assert bench.ctl("show")[0] == 2 and "nothing whole was written" in bench.ctl("dump")[1]
    bench.ctl("apply", CONFIG)
    for name in ("port_cost", "seed", "ttl_option", "shadow_limit", "control"):
        at = registers.at(name) if name != "seed" else registers.at("seed", 2)
        bench.lane.words[at] ^= 1
        for command in (("dump",), ("show",), ("set", "af1", "ecn=0")):
            status, said = bench.ctl(*command)
            assert status == 1 and "was reset, or somebody else" in said and name in said and bench.bus.writes == []
        bench.lane.words[at] ^= 1
    assert bench.ctl("dump")[0] == 0


def test_a_card_that_goes_at_any_access_ends_in_one_sentence_and_claims_nothing(bench):
    bench.ctl("apply", MARKERS)
    whole = bench.fresh()
    assert bench.ctl("apply", CONFIG)[0] == 0
    total = whole.accesses
    assert total > 1500
    for lives in (0, 1, 2, 12, 13, 60, 150, 400, total // 2, total - 20, total - 1):
        bench.fresh(lives)
        status, said = bench.ctl("apply", CONFIG)
        assert status == 1 and said == f"{DEVICE}: the card is gone: pulled out", (lives, said)
        assert bench.bus.accesses <= lives + 1
        bench.fresh()
        bench.lane.pending = dict.fromkeys(bench.lane.pending, 0)
        status, said = bench.ctl("dump")
        if lives > 20:  # writes had begun
            assert status == 2 and "nothing whole was written" in said
        assert bench.ctl("apply", MARKERS)[0] == 0 and bench.ctl("dump")[0] == 0


def test_all_ones_without_a_reason_are_a_card_that_is_gone(monkeypatch):
    monkeypatch.setattr(buses, "opened", lambda device: Dead())
    for command in (("show",), ("stats",), ("dump",), ("apply", CONFIG), ("set", "a", "ecn=1")):
        status, said = ctl(DEVICE, *command)
        assert status == 1 and "the card does not answer: reads give all ones" in said


def test_an_interrupt_amid_an_access_ends_the_command(bench, monkeypatch):
    bench.ctl("apply", CONFIG)

    def pressed(offset):
        raise KeyboardInterrupt

    monkeypatch.setattr(bench.bus, "read", pressed)
    with pytest.raises(click.exceptions.Abort):
        bench.ctl("stats")


def test_two_programs_at_once_wait_for_each_other_and_one_that_waits_too_long_says_for_whom(bench, monkeypatch):
    monkeypatch.setattr(record, "PATIENCE_S", 0.1)
    with record.locked(DEVICE, 0):
        status, said = bench.ctl("stats")
        assert status == 1 and f"process {os.getpid()} has been using it" in said
    assert bench.ctl("stats")[0] == 0


def test_a_damaged_record_is_refused_and_apply_mends_it(bench, state):
    bench.ctl("apply", CONFIG)
    (path,) = state.glob("*.json")
    good = path.read_text()
    for text in (
        "",
        "{",
        "[]",
        '{"form": 2}',
        good.replace('"average.weight"', '"wait"', 1),
        good.replace("0.02", "x", 1),
    ):
        path.write_text(text)
        status, said = bench.ctl("show")
        assert status == 2 and "is damaged" in said, text[:40]
    assert bench.ctl("apply", CONFIG)[0] == 0 and bench.ctl("show")[0] == 0


def test_a_folder_of_somebody_elses_is_not_believed(bench, state, monkeypatch):
    bench.ctl("apply", CONFIG)
    monkeypatch.setattr(os, "geteuid", lambda: 4711)
    os.chown(state, 4712, -1) if os.getuid() == 0 else pytest.skip("not root: cannot give a folder away")
    status, said = bench.ctl("show")
    assert status == 2 and "belongs to somebody else" in said


def test_bash_completes_commands_and_fields():
    environment = os.environ | {"_VERMILIONCTL_COMPLETE": "bash_complete"}

    def complete(words):
        environment.update(COMP_WORDS=words, COMP_CWORD=str(len(words.split(" ")) - 1))
        run = subprocess.run(
            [sys.executable, "-c", "from vermilionctl.cli import cli; cli(prog_name='vermilionctl')"],
            env=environment | {"PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
        )
        return [line.split(",")[1] for line in run.stdout.splitlines()]

    assert {"show", "set", "stats", "watch", "dump", "apply", "export"} <= set(complete("vermilionctl "))
    assert complete("vermilionctl set af1 yellow.m") == ["yellow.min=", "yellow.max="]
    script = ctl(DEVICE, "completion", "bash")[1]
    assert subprocess.run(["bash", "-n"], input=script, text=True).returncode == 0 and "complete -o" in script


def test_what_hardware_makes_of_settings_is_shown(bench):
    bench.ctl("apply", CONFIG)
    shown = json.loads(bench.ctl("show", "af1", "--json")[1])
    line = next(
        each
        for each in quantise.report(config_file.load(CONFIG))
        if (each.queue, each.field) == ("af1", "average.weight")
    )
    assert shown["hardware"]["average.weight"] == line.real and shown["settings"]["average.weight"] == "0.02"
    assert shown["hardware"]["green.end"] == "50000"
    whole = json.loads(bench.ctl("show", "--json")[1])
    assert whole["class"]["AF12"] == {"queue": "af1", "colour": "yellow"} and whole["capabilities"]["queues"] == 16
    for command in (("show",), ("show", "af3"), ("stats",)):
        status, printed = bench.ctl(*command)
        assert status == 0 and "af" in printed or command == ("stats",)
