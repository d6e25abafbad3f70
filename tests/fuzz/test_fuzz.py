"""Every generator finds nothing in a while; `python tests/fuzz` runs them longer."""

from __future__ import annotations

import time

import pytest

from fuzz import session


@pytest.mark.slow
@pytest.mark.parametrize("name", session.generators())
def test_a_generator_finds_nothing(name: str) -> None:
    found = session.run(name, seconds=20, seed=int(time.time()) * 1000)
    assert found.seed is None, f"python tests/fuzz {name} --again {found.seed}\n{found.why}"
    assert found.iterations > 5
