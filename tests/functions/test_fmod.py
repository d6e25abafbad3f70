"""C's remainder, by what NumPy 2.4, JAX 0.10, PyTorch 2.13 and TensorFlow 2.21 answered."""

from __future__ import annotations

import numpy as np
import pytest

import promoarray as pa

INF, NAN = float("inf"), float("nan")


@pytest.mark.parametrize("policy", ["numpy", "jax", "torch", "tensorflow", "onnx@10"])
def test_the_sign_is_that_of_the_dividend(policy: str) -> None:
    with pa.policy(policy), np.errstate(invalid="ignore"):
        x = pa.asarray([-7.5, 7.5, -0.0, INF, 5.0, -6.0], dtype=pa.float32)
        y = pa.asarray([2.0, -2.0, 3.0, 2.0, INF, 0.0], dtype=pa.float32)
        made = pa.fmod(x, y)
        whole = pa.fmod(pa.asarray([-7, 7], dtype=pa.int32), 3)
    wanted = np.float32([-1.5, 1.5, -0.0, NAN, 5.0, NAN])
    np.testing.assert_array_equal(np.asarray(made), wanted)
    assert np.signbit(np.asarray(made)[2])
    assert (np.asarray(whole).tolist(), whole.dtype) == ([-1, 1], pa.int32)


def test_integers_by_zero() -> None:
    for policy in ("numpy", "jax"):
        with pa.policy(policy), np.errstate(divide="ignore"):
            assert np.asarray(pa.fmod(pa.asarray([7, -7]), 0)).tolist() == [0, 0]
    for policy in ("torch", "tensorflow"):
        with pa.policy(policy), pytest.raises(ZeroDivisionError):
            pa.fmod(pa.asarray([7, -7]), 0)


def test_who_has_none_says_so() -> None:
    with pa.policy("paddle"), pytest.raises(pa.PromotionError, match="Paddle has no fmod"):
        pa.fmod(pa.asarray([7.0]), 2.0)
    with pa.policy("onnx@9"), pytest.raises(pa.PromotionError, match="Mod for this from opset 10"):
        pa.fmod(pa.asarray([7.0]), 2.0)


def test_numpys_function_of_our_arrays_is_ours() -> None:
    assert np.fmod(pa.asarray([-7], dtype=pa.int8), 3).dtype is pa.int8
