"""What distance drops save, as the published page measures it: on the shipped capture, in both forms."""

import pytest
from test_simulator import program  # noqa: F401

from vermilion import losses


@pytest.mark.parametrize("form", losses.FORMS)
def test_the_nearest_costs_fewer_hops_than_the_arriving_packet(program, form):  # noqa: F811
    arriving, nearest = (losses.measure(program, losses.CAPTURES[0], queue) for queue in losses.FORMS[form])
    print(arriving, nearest)
    assert (
        arriving["packets"] == nearest["packets"] and arriving["evicted"] == 0 < nearest["evicted"] <= nearest["lost"]
    )
    assert nearest["slots"] < arriving["slots"] / 2


def test_the_page_holds_the_shipped_capture_as_measured(program):  # noqa: F811
    page = losses.PAGE.read_text()
    for title, queues in losses.FORMS.items():
        assert f"## {title}\n" in page and losses.row(program, losses.CAPTURES[0], *queues) in page
