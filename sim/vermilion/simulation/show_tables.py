"""Tables of a configuration: what queues take a packet's distance from, and rules."""

from rich.table import Table

from vermilion.configuration import rules
from vermilion.configuration.config import Config
from vermilion.configuration.rules import Rule
from vermilion.console.tables import table


def distance_table(config: Config) -> Table:
    """What each queue takes a packet's distance from, and what becomes of the TTL option."""
    types = config.ttl_option
    title = f"Distance; TTL option: IPv4 type {types.ip4} (0x{types.ip4:02x}), IPv6 type 0x{types.ip6:02x}"
    made = table(title, ["queue", "initial TTL from", "distance", "TTL option", "who is dropped"], [])
    for q in config.queue:
        sources = [name for name, on in (("option", q.distance.option), ("inference", q.distance.infer)) if on]
        scale = "share of the path, 64ths" if q.distance.share else "hops"
        victim = "the nearest" if q.victim == "nearest" else "who arrives"
        victim += f" of the last {q.victim_window}, at the limit" if q.victim_window else ""
        victim += ", of its colour or worse" if q.victim_by_colour else ""
        made.add_row(q.name, ", then ".join(sources) or "nothing", scale if sources else "63", q.ttl_option, victim)
    return made


def rule_table(given: list[Rule]) -> Table:
    """What each rule matches, and what it does."""
    made = table("Rules, first match wins", ["rule", "matches", "does"], [])
    for number, rule in enumerate(given, 1):
        made.add_row(f"{number} {rule.name or ''}".strip(), rules.text(rule.match), rules.does(rule))
    return made
