"""Functions as they are called and operators as they are written give what was recorded of each."""

from __future__ import annotations

from pathlib import Path

import called
import check
import pytest
from sampled import WHOLE as EVERY_CELL

import promoarray as pa

RECORDED = sorted(g for g in check.POLICY_OF if Path(check.GOLDEN / f"{g}.txt").exists())


@pytest.mark.parametrize("golden", RECORDED)
def test_a_sample_of_what_was_recorded_is_computed(golden: str) -> None:
    different = [*map(str, check.unexplained(golden, called.compare(golden, every=53)))]
    assert not different, f"{len(different)} cells differ:\n" + "\n".join(different[:40])


@pytest.mark.slow
@pytest.mark.parametrize("golden", RECORDED)
def test_more_that_was_recorded_is_computed(golden: str) -> None:
    """Of every cell test_golden.py asks for the dtype, which computing takes from the same plan."""
    found = called.compare(golden, every=1 if EVERY_CELL else 7)
    different = [*map(str, check.unexplained(golden, found))]
    assert not different, f"{len(different)} cells differ:\n" + "\n".join(different[:40])


HALF, WHOLE, WIDE = (pa.ones(2, dtype=d) for d in (pa.float16, pa.int32, pa.complex128))
SINGLE, PAIRS, BYTES = (pa.ones(2, dtype=d) for d in (pa.float32, pa.complex64, pa.uint8))
TRUTH = pa.asarray([True, False])


def test_paddle_3_3_makes_a_tensor_of_a_scalar_in_where() -> None:
    with pa.policy("paddle@3.3"):
        assert pa.where(TRUTH, 1.0, HALF).dtype is pa.float32
        with pytest.raises(pa.PromotionError, match=r"where\(int32, Python int\)"):
            pa.where(TRUTH, WHOLE, 2)
    with pa.policy("paddle"):  # the document lets a scalar be one
        assert pa.where(TRUTH, 1.0, HALF).dtype is pa.float16
        assert pa.where(TRUTH, WHOLE, 2).dtype is pa.int32


def test_paddle_3_3_casts_what_meets_a_complex_tensor() -> None:
    with pa.policy("paddle@3.3"):
        assert pa.stack([PAIRS, SINGLE]).dtype is pa.complex64
        with pytest.raises(pa.PromotionError):
            pa.stack([SINGLE, PAIRS])
        assert pa.matmul(HALF, WIDE).dtype is pa.complex128
        with pytest.raises(pa.PromotionError, match="float16 @ complex128"):
            HALF @ WIDE


def test_paddle_truncates_a_scalar_in_a_function_and_not_in_its_operator() -> None:
    with pa.policy("paddle@3.3"):
        for _ in range(2):  # the second time by the fast path
            assert pa.remainder(WHOLE, 1.5).dtype is pa.int32
            assert (WHOLE % 1.5).dtype is pa.float32
            assert pa.remainder(1.5, WHOLE).dtype is pa.float32  # which paddle.remainder refuses


@pytest.mark.parametrize("policy", ["numpy@1", "numpy@2"])
def test_numpy_makes_an_array_of_a_scalar_where_its_functions_do(policy: str) -> None:
    point = pa.asarray(1, dtype=pa.float32)
    with pa.policy(policy):
        assert pa.tensordot(BYTES, 2, axes=0).dtype is pa.int64
        assert pa.tensordot(SINGLE, 1.5, axes=0).dtype is pa.float64
        assert pa.tensordot(BYTES, True, axes=0).dtype is pa.uint8
        assert pa.stack([point, 1.5]).dtype is pa.float64
        assert pa.explain("outer", SINGLE, 1.5).dtype == "float64"
        assert pa.where(TRUTH, SINGLE, 1.5).dtype is pa.float32
        assert pa.maximum(SINGLE, 1.5).dtype is pa.float32


def test_a_function_that_takes_no_scalar_takes_one_here() -> None:
    with pa.policy("torch"):
        assert pa.maximum(SINGLE, 1.5).dtype is pa.float32
    with pa.policy("paddle@2.6"):
        assert pa.add(WHOLE, 1.5).dtype is pa.float32
        with pytest.raises(pa.PromotionError, match=r"add\(int32, float32\)"):
            pa.add(WHOLE, SINGLE)
        assert (WHOLE + SINGLE).dtype is pa.int32


def test_a_numpy_array_comes_in_as_an_operator() -> None:
    import numpy as np

    with pa.policy("tensorflow"):
        assert (TRUTH * TRUTH).dtype is pa.bool  # logical_and, as the operator has it
        assert (np.asarray([True, True]) * TRUTH).dtype is pa.bool
        assert (TRUTH * np.asarray([True, True])).dtype is pa.bool
        with pytest.raises(pa.PromotionError, match=r"multiply\(bool, bool\)"):
            pa.multiply(TRUTH, TRUTH)


def test_changed_cells_hold_for_functions_too() -> None:
    mine = pa.policies.as_policy("paddle@3.3").derive("mine", {("int32", "float32"): "float32"})
    with pa.policy(mine):
        assert (WHOLE + SINGLE).dtype is pa.float32
        assert pa.add(WHOLE, SINGLE).dtype is pa.float32
        assert pa.where(TRUTH, WHOLE, SINGLE).dtype is pa.float32
        assert pa.matmul(WHOLE, SINGLE).dtype is pa.float32
