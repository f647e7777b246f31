"""The same with one lane for both ports and directions."""

import pytest

from bench.build import run_app
from corundum.shapes import benches, parameters
from support.nightly import nightly


def test_two_ports_of_10g_by_one_lane():
    run_app(benches("tags", "routes", "registers", "reports"), "card-2x10g-few", parameters(2, 1, 64))
    run_app(benches("tags"), "card-2x10g-few", parameters(2, 1, 64), EVICTS="1")


@pytest.mark.parametrize("bench", [nightly(benches("line"))])
def test_line_rate_by_one_lane(bench):
    run_app(bench, "card-2x10g-few", parameters(2, 1, 64), optimise="-O0")
