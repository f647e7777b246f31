"""The simulated PCI device and a client of it."""

import pytest

from support.devices import running


@pytest.fixture
def device(device_program):
    with running(device_program) as made:
        yield made


@pytest.fixture
def client(device):
    with device.client() as made:
        yield made
