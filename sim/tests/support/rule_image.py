"""The words of a rule, as hw/src/vermilion/classify/RuleBundles.scala describes them, from a rule of plain comparisons."""

from dataclasses import dataclass, field

from support.plain_rules import Rule, View

RULES, SIDE = 64, 8  # rules; ranges of source ports, and of destination ports
WORDS, MASKS, MARKER = 11, 16, 27
SOURCE, DESTINATION = 0, 128
DESTINATION_PORT, SOURCE_PORT = 256, 272
VLAN, PCP, TAG, PROTOCOL, DSCP, ECN = 288, 300, 303, 304, 312, 318
INPUT, VERSION4, VERSION6, HAS_PORTS, IP, RANGES = 320, 324, 325, 326, 327, 328


def prefix(low: int, high: int) -> tuple[int, int] | None:
    """(value, mask) of a range of ports that is a prefix."""
    size = high - low + 1
    return (low, 0x10000 - size) if size > 0 and not size & (size - 1) and low % size == 0 else None


class Ranges:
    """The ranges that are used by the rules of a table."""

    def __init__(self, *of: list[tuple[int, int]]):
        self.of = [list(each) for each in of] or [[], []]

    def index(self, side: int, ends: tuple[int, int]) -> int:
        if ends not in self.of[side]:
            assert len(self.of[side]) < SIDE, "more ranges than the table has"
            self.of[side].append(ends)
        return self.of[side].index(ends)


@dataclass(slots=True)
class Exact(Rule):
    """A rule by the bits of the key itself."""

    value: int = 0
    mask: int = 0
    ranges: Ranges = field(default_factory=Ranges)

    def fits(self, view: View, ingress: int) -> bool:
        return self.on and key(view, ingress, self.ranges) & self.mask == self.value


def key(view: View, ingress: int, ranges: Ranges) -> int:
    tag, (source, destination) = view.tag or 0, view.ports or (0, 0)
    out = (
        view.source << SOURCE
        | view.destination << DESTINATION
        | source << SOURCE_PORT
        | destination << DESTINATION_PORT
    )
    out |= (tag & 0xFFF) << VLAN | tag >> 13 << PCP | (view.tag is not None) << TAG | ingress << INPUT
    out |= view.protocol << PROTOCOL | view.traffic >> 2 << DSCP | (view.traffic & 3) << ECN
    out |= (view.version == 4) << VERSION4 | (view.version == 6) << VERSION6 | (view.version > 0) << IP
    out |= (view.ports is not None) << HAS_PORTS
    for side, port in enumerate((source, destination)):
        for i, (low, high) in enumerate(ranges.of[side]):
            out |= (low <= port <= high) << RANGES + SIDE * side + i
    return out


class Image:
    """Value and mask of a rule's key."""

    BITS = 344
    forced = False  # prefixes take a range, too

    def __init__(self, rule: Rule, ranges: Ranges):
        self.rule, self.value, self.mask = rule, 0, 0
        if isinstance(rule, Exact):
            self.put(0, rule.value, rule.mask)
            return
        plain = ((INPUT, rule.ingress, 15), (PROTOCOL, rule.protocol, 255), (DSCP, rule.dscp, 63), (ECN, rule.ecn, 3))
        for at, wanted, mask in (*plain, (VLAN, rule.vlan, 0xFFF), (PCP, rule.pcp, 7)):
            if wanted is not None:
                self.put(at, wanted, mask)
        if rule.vlan is not None or rule.pcp is not None:
            self.put(TAG, 1, 1)
        if any(wanted is not None for wanted in (rule.protocol, rule.dscp, rule.ecn)):
            self.put(IP, 1, 1)
        if rule.version is not None:
            self.put(VERSION4, {4: 1, 6: 2, 0: 0}[rule.version], 3)
        for at, network in ((SOURCE, rule.source), (DESTINATION, rule.destination)):
            if network is not None:
                self.network(at, network)
        for side, at, ends in ((0, SOURCE_PORT, rule.source_port), (1, DESTINATION_PORT, rule.destination_port)):
            if ends is not None:
                self.put(HAS_PORTS, 1, 1)
                if (one := prefix(*ends)) and not self.forced:
                    self.put(at, *one)
                else:
                    self.put(RANGES + SIDE * side + ranges.index(side, ends), 1, 1)
        if rule.never:
            free = next(bit for bit in range(self.BITS) if not self.mask >> bit & 1)
            self.value |= 1 << free

    def put(self, at: int, value: int, mask: int):
        self.value |= value << at
        self.mask |= mask << at

    def network(self, at: int, network):
        if isinstance(network, tuple):
            version, value, mask = network
        else:
            version, value, mask = network.version, int(network.network_address), int(network.netmask)
        self.put(VERSION4 if version == 4 else VERSION6, 1, 1)
        self.put(at, value, mask)

    def words(self) -> dict[int, int]:
        """By their numbers; the one that turns the rule on or off is the first."""
        action = self.rule.action
        first = int(self.rule.on) << 31 | bool(action.get("drop")) << 27
        for bit, at, name in ((24, 0, "queue"), (25, 12, "colour"), (26, 16, "dscp")):
            if name in action:
                first |= 1 << bit | action[name] << at
        marker = 1 << 31 | action["marker"] if "marker" in action else 0
        out = {WORDS: first, MARKER: marker}
        for i in range(WORDS):
            out[i], out[MASKS + i] = self.value >> 32 * i & 0xFFFFFFFF, self.mask >> 32 * i & 0xFFFFFFFF
        return out
