"""Cards and a kernel's side for the tools' tests; each test has a folder of its own for the host's records."""

import pytest

from support.netlink_stand_in import StandIn
from support.tool_cards import Bench
from vermilionctl import netlink


@pytest.fixture(autouse=True)
def own_records(state):
    """Each test has the host's records in its own folder."""


@pytest.fixture
def bench(monkeypatch):
    return Bench(monkeypatch)


@pytest.fixture
def kernel(monkeypatch):
    from contextlib import contextmanager

    stand_in = StandIn()

    @contextmanager
    def opened(name):
        yield netlink.Kernel(name, 3, stand_in.ask)

    monkeypatch.setattr(netlink, "opened", opened)
    return stand_in
