"""Where the queues of a file's rules are in a lane, and for which of its inputs there are rules."""

from collections.abc import Sequence

from vermilion.values.fields import UserError

from . import rules
from .config import Config
from .rules import Placed, Rule


def check_inputs(given: Sequence[Rule], inputs: int | None) -> None:
    """Refuses rules for inputs that the build does not have. `inputs`: None if they are not known."""
    for number_, rule in enumerate(given, 1):
        if inputs and rule.match.ingress is not None and rule.match.ingress >= inputs:
            legal = f"0 to {inputs - 1}" if inputs > 1 else "0"
            where = f"{rules.label(number_, rule)}, match.ingress is {rule.match.ingress}"
            raise UserError(f"{where}; this build has inputs {legal}")


def placed(
    given: Sequence[Rule], configs: Sequence[Config], ways: Sequence[int], called: Sequence[str]
) -> list[Placed]:
    """Where each rule's queues are, the same in every egress to which the rule's packets can go. `ways`: the egress of each input."""
    found = []
    for number_, rule in enumerate(given, 1):
        ingress = rule.match.ingress
        reached = sorted(set(ways) if ingress is None or ingress >= len(ways) else {ways[ingress]})
        of = [configs[e] for e in reached]
        owners = [{marker.queue for marker in each.marker} for each in of]
        found.append(rules.place(number_, rule, [each.queue for each in of], [called[e] for e in reached], owners))
    return found
