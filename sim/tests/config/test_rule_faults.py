"""Bad rules, `--spread` and `--split`: each is refused with a sentence that names the place, the value and what is legal."""

import itertools
import random

import pytest

from support import plain_rules
from support.command_lines import command, furnish
from vermilion.configuration import config_file, rules
from vermilion.experiments import settings
from vermilion.profile import quantise
from vermilion.values.fields import UserError
from vermilionctl import programming

pytestmark = pytest.mark.usefixtures("nothing_is_built")

HEAD = '[port]\nrate = "1Gbit"\n[[queue]]\nname = "af1"\ndscp = ["AF11", "AF12"]\n[[queue]]\nname = "none"\n'
TO = 'queue = "af1"'


def rule(match: str = "", action: str = TO) -> str:
    return f"{HEAD}[[rule]]\n{f'match = {{ {match} }}' if match else ''}\n{action}\n"


FAULTS = {
    "no action": (rule(action=""), ["rule number 1", "has no action", "queue, colour, dscp and marker, or drop"]),
    "drop and a queue": (rule(action=f"{TO}\ndrop = true"), ["rule number 1", "has both drop and queue", "drop alone"]),
    "no drop": (rule(action="drop = false"), ["rule number 1", "has no action"]),
    "drop as a number": (rule(action="drop = 1"), ["rule number 1, drop is 1", "true and false"]),
    "marker of no queue": (rule(action='marker = "afl"'), ['marker is "afl"', 'did you mean "af1"?']),
    "queue without a marker": (rule(action='marker = "af1"'), ['marker is "af1", a queue that has no marker']),
    "ECN 4": (rule("ecn = 4"), ["match.ecn is 4", "0 to 3"]),
    "named": (rule(action='name = "x y"'), ['rule "x y" has no action']),
    "a name of two lines": (rule(action=f'{TO}\nname = "a\\nb"'), ["rule", "name is 'a\\nb'", "1 to 64 printable"]),
    "second rule": (rule() + "[[rule]]\ndscp = 64", ["rule number 2, dscp is 64", "0 to 63"]),
    "unknown queue": (rule(action='queue = "fa1"'), ['rule number 1, queue is "fa1"', 'did you mean "af1"?']),
    "unlike any queue": (rule(action='queue = "xyz"'), ['queue is "xyz"', '"af1", "none", "default"']),
    "unknown colour": (rule(action=f'{TO}\ncolour = "blue"'), ['colour is "blue"', "green, yellow, red"]),
    "queue as a number": (rule(action="queue = 1"), ["queue is 1", "text in quotes"]),
    "match beside the rule": (rule(action=f'{TO}\nprotocol = "tcp"'), ["protocol is no key", "match = { protocol"]),
    "misspelt beside": (rule(action=f"{TO}\nsorce_port = 1"), ["sorce_port is no key", "match = { source_port"]),
    "misspelt key": (rule(action='qeue = "af1"'), ["qeue is no key", 'did you mean "queue"?']),
    "misspelt match": (rule('sorce = "10.0.0.1"'), ["match.sorce is no key", 'did you mean "source"?']),
    "match is text": (rule(action=f'match = "all"\n{TO}'), ['match is "all"', "a table"]),
    "match is a list": (rule(action=f"match = []\n{TO}"), ["match is a list", "a table"]),
    "one table": (HEAD + "[rule]\ndscp = 1", ["rule is a table", "a list of tables, each headed [[rule]]"]),
    "input below 0": (rule("ingress = -1"), ["match.ingress is -1", "0 to 15"]),
    "input by name": (rule('ingress = "eth0"'), ['match.ingress is "eth0"', "0 to 15"]),
    "VLAN 4095": (rule("vlan = 4095"), ["match.vlan is 4095", "0 to 4094"]),
    "VLAN is true": (rule("vlan = true"), ["match.vlan is true", "0 to 4094"]),
    "PCP 8": (rule("pcp = 8"), ["match.pcp is 8", "0 to 7"]),
    "DSCP of no name": (rule('dscp = "AF14"'), ['match.dscp is "AF14"', "AF11 to AF43"]),
    "DSCP 1.5": (rule("dscp = 1.5"), ["match.dscp is 1.5", "0 to 63"]),
    "address of five bytes": (rule('source = "10.0.0.0.1"'), ['match.source is "10.0.0.0.1"', '"10.0.0.0/8"']),
    "address past 255": (rule('source = "10.0.0.256"'), ['"10.0.0.256"', "IPv4 or IPv6 address or prefix"]),
    "prefix past 32": (rule('source = "10.0.0.0/33"'), ['"10.0.0.0/33"', "legal are"]),
    "prefix past 128": (rule('destination = "::/129"'), ['match.destination is "::/129"', "legal are"]),
    "bits after a prefix": (rule('source = "10.1.2.3/8"'), ['is "10.1.2.3/8"', 'did you mean "10.0.0.0/8"?']),
    "and of IPv6": (rule('source = "fd00::1/64"'), ['did you mean "fd00::/64"?']),
    "mask as an address": (rule('source = "10.0.0.0/255.0.0.0"'), ["255.0.0.0", '"10.0.0.0/8"']),
    "zone": (rule('source = "fe80::1%eth0"'), ["fe80::1%eth0", "legal are"]),
    "host name": (rule('source = "localhost"'), ['"localhost"', "legal are"]),
    "address as a number": (rule("source = 167772161"), ["match.source is 167772161", "legal are"]),
    "list of addresses": (rule('source = ["10.0.0.1"]'), ["match.source is", "legal are"]),
    "Arabic digits": (rule('source = "١٠.0.0.1"'), ["match.source is", "legal are"]),
    "two families": (rule('source = "10.0.0.1", destination = "::1"'), ["which no packet has", "two of IPv4"]),
    "unknown protocol": (rule('protocol = "tpc"'), ['match.protocol is "tpc"', 'did you mean "tcp"?']),
    "protocol unlike any": (rule('protocol = "quic!"'), ["0 to 255 and icmp, igmp, tcp"]),
    "protocol 256": (rule("protocol = 256"), ["match.protocol is 256", "0 to 255"]),
    "port 65536": (rule("source_port = 65536"), ["match.source_port is 65536", "0 to 65535"]),
    "port below 0": (rule("destination_port = -1"), ["match.destination_port is -1", "0 to 65535"]),
    "range past 65535": (rule('source_port = "80-65536"'), ['"80-65536"', "0 to 65535"]),
    "empty range": (rule('source_port = "90-80"'), ['"90-80", which is empty', 'did you mean "80-90"?']),
    "open range": (rule('source_port = "80-"'), ['is "80-"', '"5000-5010"']),
    "service": (rule('destination_port = "http"'), ['is "http"', "0 to 65535"]),
    "ports of ICMP": (rule('protocol = "icmp", source_port = 1'), ["source_port and protocol 1", "tcp (6)"]),
    "a date": (rule("vlan = 2020-01-01"), ["match.vlan is 2020-01-01", "0 to 4094"]),
    "a long value": (rule(f'protocol = "{"x" * 5000}"'), ["match.protocol is", "..."]),
}


@pytest.mark.parametrize("name", FAULTS)
def test_rule(tmp_path, name):
    text, words = FAULTS[name]
    file = tmp_path / "c.toml"
    file.write_text(text)
    with pytest.raises(UserError) as refused:
        config_file.load(file)
    sentence = str(refused.value)
    assert sentence.startswith(f"{file}: ") and "\n" not in sentence and len(sentence) < 500, sentence
    assert all(word in sentence for word in words), sentence


LEGAL = [
    "",
    "ingress = 0, vlan = 0, pcp = 7, dscp = 63",
    'source = "0.0.0.0/0", destination = "255.255.255.255", protocol = "TCP"',
    'source = "::/0", destination = "::ffff:1.2.3.4", protocol = 17, source_port = "0-65535", destination_port = "53"',
]


@pytest.mark.parametrize("match", LEGAL)
def test_legal(tmp_path, match):
    file = tmp_path / "c.toml"
    file.write_text(rule(match))
    assert len(quantise.hardware(config_file.load(file))["rules"]) == 1


HIDDEN = {
    "a second rule for every frame": (["", ""], ["rule number 2 matches no frame: rule number 1 comes first"]),
    "a prefix in a prefix": (
        ['source = "10.0.0.0/8"', 'source = "10.1.0.0/16", protocol = 6'],
        ["rule number 2 matches"],
    ),
    "ports in a range": (['source_port = "5-9"', "source_port = 7"], ["rule number 2 matches no frame: rule number 1"]),
    "the first of two": (
        ["pcp = 1", "vlan = 1", "vlan = 1, pcp = 1"],
        ["rule number 3 matches no frame: rule number 1"],
    ),
    "the other version": (['source = "::/0"', 'source = "0.0.0.0/0"'], []),
    "the narrow one first": (['source = "10.1.0.0/16"', 'source = "10.0.0.0/8"'], []),
    "a range that is wider": (['source_port = "5-9"', 'source_port = "5-10"'], []),
    "0 is a value": (["ingress = 0", ""], []),
}


@pytest.mark.parametrize("name", HIDDEN)
def test_hidden_rule(tmp_path, monkeypatch, capfd, name):
    """A rule that another one hides is legal, and `check` says so."""
    matches, notes = HIDDEN[name]
    file = tmp_path / "c.toml"
    tables = "".join(f"[[rule]]\nmatch = {{ {match} }}\n{TO}\n" for match in matches)
    file.write_text(HEAD + tables)
    found = rules.notes(config_file.load(file).rule)
    assert len(found) == len(notes) and all(map(str.startswith, found, notes)), found
    status, out, _ = command(monkeypatch, capfd, "check", str(file))
    assert status == 0 and all(f"Note: {note}." in " ".join(out.split()) for note in found)


FIELDS = {
    "ingress": [0, 1], "vlan": [0, 100], "pcp": [0, 5], "protocol": [6, 17], "dscp": [0, 46],
    "source": ["10.0.0.0/8", "10.1.2.0/24", "2001:db8::/32", "::/0"], "destination": ["10.1.0.0/16", "0.0.0.0/0", "2001:db8::/64"],
    "source_port": ["0-1023", "53", "443-5060"], "destination_port": ["1-65535", "443"],
}  # fmt: skip


def test_hidden_rules_never_win():
    """Rules that are called hidden, in random tables, against frames and plain comparisons."""
    rng, hidden = random.Random(5), 0
    seen = [(plain_rules.View(frame), rng.randrange(2)) for frame in itertools.islice(plain_rules.frames(rng), 1500)]
    for _ in range(300):
        given = []
        while len(given) < 6:
            chosen = rng.sample(list(FIELDS), rng.choice([0, 1, 1, 2, 3]))
            try:
                given.append(rules.Rule(dscp=1, match={name: rng.choice(FIELDS[name]) for name in chosen}))
            except ValueError:  # fields that do not fit each other
                continue
        plain = [plain_rules.Rule(**each.match.model_dump()) for each in given]
        winners = {plain_rules.first(plain, view, ingress) for view, ingress in seen}
        for note in rules.notes(given):
            number = int(note.split()[2]) - 1
            assert number not in winners, (note, given)
            hidden += any(plain[number].fits(view, ingress) for view, ingress in seen)
    assert hidden > 100, hidden


COMMANDS = {
    "an input that the build has not": (
        "run in.pcapng --config ingress.toml",
        "match.ingress is 1; this build has inputs 0",
    ),
    "rules and spread": ("run in.pcapng --config rules.toml --spread flows", "--spread and [[rule]] are both given"),
    "spread over one queue": (
        "run in.pcapng --config in.toml --spread flows",
        "leads to 1 of the configuration's queues",
    ),
    "spread over what": ("run in.pcapng --spread packets", "flows"),
    "split to 0": ("run in.pcapng --split 0", "--split is 0; legal are 48 to 9600 bytes of TCP payload, or no number"),
    "split to 47": ("run in.pcapng --split=47", "--split is 47"),
    "split to 9601": ("run in.pcapng --split 9601", "--split is 9601"),
    "split to a word": ("run in.pcapng --split=all", "--split is all"),
    "split below 0": ("run in.pcapng --split=-1", "--split is -1"),
    "split in Arabic digits": ("run in.pcapng --split=١٤٤٨", "legal are 48 to 9600"),
    "a capture of this name": ("run --split 1448 no.pcap", "no.pcap: cannot be read"),
    "no number before the capture": ("run --split no.pcap", "no.pcap: cannot be read"),
    "no number at the end": ("run no.pcap --split", "no.pcap: cannot be read"),
    "rules for a build without": (
        "run in.pcapng --config rules.toml --preset nic10g",
        "this build has no rules, a build with rules is needed, such as the preset lab",
    ),
    "65 rules": ("run in.pcapng --config many.toml", "[[rule]] is given 65 times; legal are up to 64"),
    "nine ranges": (
        "run in.pcapng --config ranges.toml",
        "rule number 9, destination_port needs the ninth range; legal are 8 of destination_port",
    ),
    "a device with rules": (
        "device s --config rules.toml",
        "rules.toml: has [[rule]], which `vermilion run` alone writes to the lane",
    ),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_command(tmp_path, monkeypatch, capfd, name):
    (tmp_path / "rules.toml").write_text(rule())
    (tmp_path / "ingress.toml").write_text(rule("ingress = 1"))
    many = [f"[[rule]]\nmatch = {{ vlan = {n} }}\n{TO}\n" for n in range(65)]
    (tmp_path / "many.toml").write_text(HEAD + "".join(many))
    ports = [f'match = {{ destination_port = "{n}-{n + 100}" }}\n' for n in range(1, 10)]
    (tmp_path / "ranges.toml").write_text(HEAD + "".join(f"[[rule]]\n{each}{TO}\n" for each in ports))
    look = furnish(tmp_path, monkeypatch)
    before, (words, text) = look(), COMMANDS[name]
    status, out, err = command(monkeypatch, capfd, *words.split())
    assert status == 2 and not out and len(err.splitlines()) == 1 and text in err and "Traceback" not in err, out + err
    assert look() == before


def test_card(tmp_path):
    """The tools of a card do not write rules: a file that has some is not loaded, by registers or by netlink."""
    file = tmp_path / "c.toml"
    file.write_text(rule())
    with pytest.raises(UserError, match=r"has \[\[rule\]\], which .* a card does not get them"):
        programming.fits(config_file.load(file), 4096, file)


def test_experiment():
    """Nor has the lane of an experiment any."""
    with pytest.raises(UserError, match="an experiment does not get them"):
        settings.lane({"port": {"rate": 10**6}, "rule": [{"dscp": 1}]})
