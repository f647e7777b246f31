"""The app block in the shell that Corundum's core instantiates, among models of that core's engines, MACs and host: two ports, a lane for each way.

A port an interface throughout: the shell refuses any `PORTS_PER_IF` but 1 on purpose, as every parameter that does not
fit. What it refuses, and in which words, is tested in sim/tests/fpga/test_corundum_shell.py.
"""

import pytest

from bench.build import run_app
from corundum.shapes import FEW, benches, parameters
from support.nightly import nightly


@pytest.mark.parametrize("modules", [nightly(benches("tags", "registers")), nightly(benches("routes", "line"))])
def test_two_ports_of_10g(modules):
    run_app(modules, "app10g-2-few", parameters(2, 1, 64))


def test_what_the_shell_refuses_is_not_built():
    with pytest.raises(RuntimeError, match="PORTS_PER_IF is 2; legal is 1"):
        run_app(FEW, "app10g-2-few", parameters(1, 2, 64))
