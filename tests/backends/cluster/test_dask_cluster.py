"""A small part of ``conformance/on_dask.py``, on a real cluster of two worker processes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("distributed")
pytest.importorskip("zarr")

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "conformance"))

from dask_proof import bits, sums, workers
from dask_proof.cluster import running

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("dask-cluster"),
    pytest.mark.filterwarnings("ignore"),  # of what distributed, tornado and asyncio deprecate
]

VALUES = np.random.default_rng(5).normal(size=(30, 21)).astype(np.float32)


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with running(2) as found:
        yield found


@pytest.mark.parametrize("policy", ["numpy@2", "torch@2.13"])
def test_operations_and_refusals(client: Any, policy: str) -> None:
    tally = bits.tallied(bits.elementwise(np.random.default_rng(1), 40), policy)
    assert not tally.differing
    assert tally.equal > 5


def test_casts(client: Any) -> None:
    some = (case for i, case in enumerate(bits.casts(np.random.default_rng(2))) if i % 20 == 0)
    tally = bits.tallied(some, "torch")
    assert not tally.differing
    assert tally.equal > 20


def test_extended_dtypes_over_wire_and_zarr(client: Any, tmp_path: Path) -> None:
    assert not workers.wire(client)
    assert not workers.zarr(client, str(tmp_path))


def test_a_policy_and_a_version_that_workers_do_not_know(client: Any) -> None:
    assert not workers.policy_of_client(client)
    assert not workers.other_version(client)


def test_float_sums_are_within_the_bound(client: Any) -> None:
    tally = sums.rounded(np.random.default_rng(3))
    assert not tally.differing
    assert tally.equal


def test_a_killed_worker_changes_no_bit(client: Any) -> None:
    before = workers.same_sums(VALUES)
    after, held = workers.killed(client, VALUES, 0.02)
    assert held
    assert after == before
