"""The dispatcher: what it keeps of an operation is found again for that operation alone."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import pytest

import promoarray as pa
from promoarray.policies import as_policy


@pytest.mark.parametrize("policy", ["jax", "tensorflow", "paddle@3.3"])
@pytest.mark.parametrize("watched", [False, True])
def test_names_that_rebind_never_write_into_the_target(policy: str, watched: bool) -> None:
    watching: AbstractContextManager[object] = pa.shadow("numpy") if watched else nullcontext()
    with pa.policy(as_policy(policy).derive("nothing decided")), watching:
        for _ in range(3):  # what is kept of the first is not taken for a write into the target
            x = y = pa.asarray([1, 2], dtype=pa.int32)
            x *= 3
            assert (x.tolist(), y.tolist()) == ([3, 6], [1, 2])
