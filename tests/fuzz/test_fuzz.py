"""Every generator finds nothing in a while; `python tests/fuzz` runs them longer."""

from __future__ import annotations

import pytest

from fuzz import session

FIRST = 1
"""The first seed: always the same, so that a change alone decides whether a test passes."""

SECONDS = 40 / len(session.generators())
"""Of 40 seconds that all of them take together, however many there are."""

LEAST, MOST = 6, 1000
"""How often they run on a busy machine, and on a fast one, which must not meet other seeds."""

NEEDED = {"lazily": "dask"}
"""What a generator needs besides the extra test."""


@pytest.mark.slow
@pytest.mark.parametrize("name", session.generators())
def test_a_generator_finds_nothing(name: str) -> None:
    if name in NEEDED:
        pytest.importorskip(NEEDED[name])
    found = session.run(name, seconds=SECONDS, seed=FIRST, least=LEAST, most=MOST)
    assert found.seed is None, f"python tests/fuzz {name} --again {found.seed}\n{found.why}"
    assert found.iterations >= LEAST
