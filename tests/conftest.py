"""What every test starts from: the default policy."""

from __future__ import annotations

from collections.abc import Iterator

import hypothesis
import pytest

import promoarray as pa

pytest_plugins = ["pytester"]  # for the tests of the plugin

# A slow machine is no failure; what a test may take is pytest's business.
hypothesis.settings.register_profile("promoarray", deadline=None)
hypothesis.settings.load_profile("promoarray")


@pytest.fixture(autouse=True)
def _default_policy() -> Iterator[None]:
    pa.set_policy("numpy")
    yield
    pa.set_policy("numpy")
