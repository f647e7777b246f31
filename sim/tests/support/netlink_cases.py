"""What is said to the driver's netlink family in a guest: settings one by one, and messages that must be refused."""

from support.netlink_guest import MESSAGES, Talk, attributes
from vermilion.generate.netlink_messages import framed

QUEUES, CELLS = 16, 4096
# Settings from which each single one may go to another value and stay legal.
CURVE = {"curve": "exred", "min": 1000, "max": 2000, "p": {"num": 1, "den": 128, "tens": 1}, "end": 90000}
TAIL = {"curve": "tail", "min": 1, "max": 2, "p": {"num": 1, "den": 3, "tens": 2}, "end": 0}
PLAIN = {
    "average-weight": {"num": 2, "den": 1, "tens": 3},
    "size-weight": 1000,
    "ecn": 1,
    "limit": 80000,
    "limit-packets": 500,
    "alpha": {"num": 1, "den": 2, "tens": 0},
    "rate": 10**9,
    "remark-green": 10,
    "victim": "nearest",
    "green": CURVE | {"ecn": TAIL},
    "yellow": CURVE | {"ecn": TAIL},
    "red": CURVE | {"ecn": TAIL},
    "marker": {
        "kind": "none", "rate": 10**6, "cir": 10**6, "pir": 2 * 10**6, "burst": 9000, "cbs": 9000, "ebs": 9000, "pbs": 9000,
        "bucket": 9000, "low": 1000, "high": 2000,
    },
}  # fmt: skip

# The same for the settings of CoDel, PIE and DualPI2, whose curves are tail. aqm may change only without them. LATE: of mark-at.
JUDGED = {"aqm": "codel", "ce-threshold": 2**20, "ce-mask": 3} | dict.fromkeys(
    ("green", "yellow", "red"), {"curve": "tail"}
)
LATE = {"victim": "arriving", "size-weight": 0} | dict.fromkeys(("green", "yellow", "red"), {"curve": "tail"})
TIMES = {"target": 10**6, "interval": 10**7}
DEPARTURE = ("aqm", "target", "interval", "mtu", "ce-threshold", "ce-mask", "ce-selector")
DUALPI2 = ("coupling", "step-threshold", "dualpi2-alpha", "dualpi2-beta", "overload", "l4s-mask")
PIE = ("tupdate", "pie-alpha", "pie-beta", "burst-allowance", "bytemode")


def singles(plain: dict) -> list[tuple[tuple, object, dict]]:
    """Each setting with another value, and the settings that it is put on."""
    out = []
    for path, _, each in leaves("queue", plain):
        base = plain
        if path[0] in DEPARTURE:
            base = merged(plain, JUDGED if path[0] == "aqm" else JUDGED | TIMES)
        if path[0] in PIE:
            base = merged(plain, JUDGED | {"aqm": "pie", "tupdate": 10**7, "victim-window": 4})
        if path[0] in DUALPI2:
            base = merged(plain, JUDGED | {"aqm": "dualpi2", "l4s-mask": 2})
        if path[0] == "mark-at":
            base = merged(plain, LATE)
        if path[0] == "fq":  # a power of two, in a queue that shares
            out.append((path, 2, merged(plain, {"rate": 0})))
            continue
        held = base
        for name in path:
            held = held[name]
        out.append((path, another(held, each), base))
    return out


def leaves(of: str, values: dict, path=()):
    """Each setting: its path of names, its value, what the specification says of it. Numbers are settings whole."""
    for name, value in values.items():
        _, each = MESSAGES.sets[of][name]
        nested = each.get("nested-attributes")
        if nested and nested != "number":
            yield from leaves(nested, value, (*path, name))
        else:
            yield (*path, name), value, each


def another(value, each: dict):
    """A value next to this one."""
    if isinstance(value, dict):
        return value | {"num": value["num"] + 1}
    if "enum" in each:
        names = MESSAGES.enums[each["enum"]]
        at = names.index(value)
        return names[at - 1 if at else 1]
    return value - 1 if value else 1


def nest(path, value) -> dict:
    for name in reversed(path):
        value = {name: value}
    return value


def merged(values: dict, change: dict) -> dict:
    """`values` with a change in place."""
    out = dict(values)
    for name, value in change.items():
        inner = isinstance(value, dict) and "num" not in value
        out[name] = merged(out[name], value) if inner else value
    return out


def number(num, den=1, tens=0) -> dict:
    return {"num": num, "den": den, "tens": tens}


def refusals(talk: Talk) -> dict[str, tuple[int, str]]:
    """Adds messages that must be refused, all to queue 0; {word: (errno, part of the sentence)}."""
    expected = {}

    def refuse(error: int, sentence: str, command="queue-set", how="do", raw=None, **values):
        word = f"bad{len(expected)}"
        if command in ("queue-set", "queue-get", "statistics-get") and how == "do" and raw is None:
            values = {"queue": 0} | values
        talk.say(word, command, how, raw, **values)
        expected[word] = error, sentence

    out_of_range = [
        ({"average_weight": number(3, 2)}, "average.weight is 3/2; legal is 2^-15 (0.0000306) to 1"),
        ({"average_weight": number(1, 1, 9)}, "average.weight is 0.000000001"),
        ({"average_kind": 5}, "average.kind is 5; legal is red, wred, rio-c, rio-2, rio-dc (0 to 4)"),
        ({"average_unit": 2}, "average.unit is 2; legal is byte, packet (0 to 1)"),
        ({"average_update": 2**32 - 1}, "average.update is 4294967295"),
        ({"average_idle_packet": 63}, "average.idle_packet is 63; legal is 64B to 9600B"),
        ({"spacing": 3}, "spacing is 3"),
        ({"size_weight": 63}, "size_weight is 63"),
        ({"ecn": 2}, "ecn is 2; legal is 0 and 1"),
        ({"limit": 2**27}, "limit is 134217728"),
        ({"limit_packets": 2**27}, "limit_packets is 134217728"),
        ({"alpha": number(3, 1, 1)}, "alpha is 0.3; legal is a power of two from 2^-7 (0.0078125) to 8"),
        ({"alpha": number(1, 256)}, "alpha is 1/256; legal is a power of two from 2^-7 (0.0078125) to 8"),
        ({"alpha": number(16)}, "alpha is 16; legal is a power of two from 2^-7 (0.0078125) to 8"),
        ({"strict": 2}, "strict is 2"),
        ({"priority": 8}, "priority is 8; legal is 0 to 7, higher goes first"),
        ({"quantum": 63}, "quantum is 63"),
        ({"rate": 63999}, "rate is 63999; legal is 64kbit to 200Gbit"),
        ({"burst": 100_000_001}, "burst is 100000001"),
        ({"remark_green": 65}, "remark.green is 65; legal is 0 to 63, or 64 to keep the packet's"),
        ({"victim_window": 17, "victim": "nearest", "limit": 9000}, "victim_window is 17"),
        ({"victim_by_colour": 1}, "victim_by_colour is 1; legal is 0 where the arriving packet is dropped"),
        ({"red": {"curve": 4}}, "red.curve is 4"),
        ({"red": {"curve": "red", "min": 9, "max": 8}}, "red.min is 9; legal is 0 up to max"),
        ({"green": {"curve": "red", "p": number(11, 1, 1)}}, "green.p is 1.1; legal is 0 to 1"),
        ({"yellow": {"ecn": {"curve": "red"}}}, "yellow.ecn.curve is 1; legal is tail (0) where ecn is 0"),
        ({"aqm": 4}, "aqm is 4; legal is curve, codel, pie, dualpi2 (0 to 3)"),
        ({"target": 5_000_000}, "target is 5000000; legal is 0 where aqm is curve"),
        ({"interval": 5_000_000}, "interval is 5000000; legal is 0 where aqm is not codel"),
        ({"aqm": "codel", "target": 1023}, "target is 1023; legal is 1024ns to 60s"),
        ({"aqm": "codel", "mtu": 63}, "mtu is 63; legal is 64B to 16384B"),
        ({"aqm": "codel", "green": {"curve": "red"}}, "green.curve is 1; legal is tail (0) where aqm is not curve"),
        ({"aqm": "pie", "target": 5 * 10**9}, "target is 5000000000; legal is up to 4s where aqm is pie or dualpi2"),
        ({"aqm": "dualpi2", "coupling": 0}, "coupling is 0; legal is 1 to 255"),
        ({"aqm": "pie", "overload": "mark"}, "overload is 1; legal is drop (0) where aqm is not dualpi2"),
        ({"aqm": "codel", "tupdate": 10**7}, "tupdate is 10000000; legal is 0 where aqm is not pie or dualpi2"),
        ({"bytemode": 1}, "bytemode is 1; legal is 0 where aqm is not pie"),
        ({"aqm": "pie", "pie_alpha": number(31, 1, 1)}, "pie_alpha is 3.1; legal is 0 to 3"),
        ({"mark_at": 2}, "mark_at is 2; legal is enqueue, dequeue (0 to 1)"),
        ({"mark_at": 1}, "mark_at is 1; legal is enqueue (0) where ecn is 0"),
        ({"mark_at": 1, "aqm": "codel"}, "mark_at is 1; legal is enqueue (0) where aqm is not curve"),
        ({"mark_at": 1, "ecn": 1, "spacing": 1}, "spacing is 1; legal is geometric (0) where mark_at is dequeue"),
        ({"mark_at": 1, "ecn": 1, "size_weight": 500}, "size_weight is 500; legal is 0 where mark_at is dequeue"),
        ({"mark_at": 1, "ecn": 1, "victim": "nearest"}, "victim is 1; legal is arriving (0) where mark_at is dequeue"),
        ({"fq": 1025}, "fq is 1025; legal is 2 to 1024, a power of two"),
        ({"fq": 12}, "fq is 12; legal is 2 to 1024, a power of two"),
        ({"fq": 4, "strict": 1}, "fq is 4; legal is 0 where the queue is strict"),
        ({"fq": 4, "rate": 10**6}, "fq is 4; legal is 0 where the queue has a rate"),
        ({"fq": 4, "aqm": "dualpi2"}, "fq is 4; legal is 0 where aqm is dualpi2"),
        ({"ce_threshold": 1}, "ce_threshold is 1; legal is 1024ns to 60s"),
        ({"ce_mask": 3}, "ce_mask is 3; legal is 0 where the queue has no ce_threshold"),
        ({"ce_threshold": 2000, "ce_selector": 1}, "ce_selector is 1; legal is only bits that ce_mask has"),
        ({"marker": {"kind": 9}}, "marker.kind is 9"),
        ({"marker": {"kind": "leaf", "rate": 1}}, "marker.rate is 1; legal is 64kbit to 200Gbit"),
        (
            {"marker": {"kind": "apm", "alpha": number(9, 8)}},
            "marker.alpha is 9/8; legal is 0.125 to 1 in steps of 0.125",
        ),
    ]
    for values, sentence in out_of_range:
        refuse(22, sentence, defaults=True, **values)
    refuse(2, "queue is 16; legal is 0 to 15", queue=QUEUES, ecn=1)
    refuse(2, "queue is 4294967295; legal is 0 to 15", "queue-get", queue=2**32 - 1)
    refuse(2, "queue is 16", "statistics-get", queue=QUEUES)
    refuse(34, "den of a number is 0; legal is 1 up", average_weight={"num": 1, "den": 0})
    refuse(22, "num of a number is missing", average_weight={"den": 5})
    # Missing, repeated and foreign attributes, and such of another shape.
    here = attributes("queue", {"queue": 0})
    ecn, weight = MESSAGES.sets["queue"]["ecn"][0], MESSAGES.sets["queue"]["average-weight"][0]
    for command in ("queue-get", "queue-set", "queue-reset", "lane-set", "class-set", "statistics-clear"):
        refuse(22, "ifindex is missing", command, raw="")
    refuse(22, "queue is missing", raw=attributes("queue", {"ecn": 1}))
    refuse(22, "the attribute is given twice", raw=here + attributes("queue", {})[:])
    refuse(22, "the attribute is given twice", raw=here + MESSAGES.encode("queue", {"ecn": 1}).hex() * 2)
    twice = MESSAGES.encode("number", {"num": 1}) * 2
    refuse(22, "the attribute is given twice", raw=here + framed(weight | 0x8000, twice).hex())
    refuse(22, "NLA_F_NESTED is missing", raw=here + framed(weight, MESSAGES.encode("number", {"num": 1})).hex())
    refuse(22, "Unknown attribute type", raw=here + framed(99, bytes(4)).hex())
    refuse(22, "invalid attribute length", raw=here + framed(ecn, bytes(2)).hex())
    refuse(22, "invalid attribute length", raw=here + framed(ecn, bytes(8)).hex())
    refuse(22, "Unsupported attribute", raw=here + framed(MESSAGES.sets["queue"]["owner"][0], bytes(4)).hex())
    refuse(22, "bytes leftover", raw=here + "010000")
    refuse(22, "queue names one queue; a dump gives all", "queue-get", "dump", queue=3)
    refuse(19, "ifindex is 1; legal is a lane's netdev", raw=here.replace("@", "01000000") + "")
    refuse(19, "ifindex is 4294967295", raw=here.replace("@", "ffffffff"))
    # Lanes and class tables.
    refuse(22, "rate is 5; legal is 64kbit to 200Gbit", "lane-set", rate=5)
    refuse(22, "burst is 100000001", "lane-set", rate=10**9, burst=100_000_001)
    refuse(22, "queues is 17; legal is 0 to 16", "lane-set", queues=QUEUES + 1)
    refuse(34, "option-ip4 is 148; legal is 0 for none, or 2 to 255 but 148 (router alert)", "lane-set", option_ip4=148)
    refuse(34, "option-ip6 is 256", "lane-set", option_ip6=256)
    for size in (1, 63, 64 * CELLS + 1, 2**32 - 1):
        sentence = f"pool.size is {size}; legal is 0 for none, or 64 to {64 * CELLS}, the cells of this build"
        refuse(22, sentence, "lane-set", rate=10**9, pool_bytes=size)
    refuse(22, "rate is 5; legal is 64kbit to 200Gbit", "lane-set", rate=5, pool_bytes=6400)
    good = {"dscp": 5, "queue": 3, "colour": "red"}
    refuse(22, "entry is missing", "class-set")
    refuse(22, "entry.colour is missing", "class-set", entry=[{"dscp": 5, "queue": 3}])
    refuse(34, "entry.dscp is 65; legal is 0 to 64", "class-set", entry=[good, good | {"dscp": 65}])
    refuse(34, "entry.queue is 16; legal is 0 to 15", "class-set", entry=[good, good | {"dscp": 6, "queue": 16}])
    refuse(34, "entry.colour is 3; legal is 0 to 2", "class-set", entry=[good, good | {"dscp": 6, "colour": 3}])
    refuse(22, "entry.dscp is 5 twice", "class-set", entry=[good, good])
    return expected
