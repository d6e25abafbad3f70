"""What the tests of kernels share."""

from collections.abc import Iterator

import pytest

from promoarray.kernels import levels, use_level


@pytest.fixture(params=levels(), ids="level {}".format)
def level(request: pytest.FixtureRequest) -> Iterator[int]:
    """Run with the loops for one x86-64 level."""
    before = use_level(request.param)
    yield request.param
    use_level(before)
