"""For tests of what is refused."""

import pytest

from vermilion.toolchain import build


@pytest.fixture
def nothing_is_built(monkeypatch):
    """What is refused is refused before a build begins."""
    for name in ("simulator", "model_program", "device", "inject", "commits", "model_library"):
        monkeypatch.setattr(build, name, lambda *_, name=name: pytest.fail(f"{name} is built"))
