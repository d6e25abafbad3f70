"""What every test starts from: the default policy, and the conformance tools on the path."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

import promoarray as pa

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "conformance"))


# A slow machine is no failure; what a test may take is pytest's business.
hypothesis.settings.register_profile("promoarray", deadline=None)
hypothesis.settings.load_profile("promoarray")


@pytest.fixture(autouse=True)
def _default_policy() -> Iterator[None]:
    pa.set_policy("numpy")
    yield
    pa.set_policy("numpy")
