"""Keras: what conformance/golden/keras_torch.txt does not say. Recorded with Keras 3.15.1."""

from __future__ import annotations

import pytest

import promoarray as pa


def test_a_function_is_keras_and_an_operator_the_back_ends():
    with pa.policy("keras@torch"):
        b = pa.asarray([True, False])
        assert (b + 1).dtype is pa.int64
        assert pa.add(b, 1).dtype is pa.int32


def test_many_functions_make_32_bits_of_64():
    with pa.policy("keras@torch"):
        x = pa.ones(2, dtype=pa.float64)
        assert pa.maximum(x, x).dtype is pa.float32
        assert pa.add(x, x).dtype is pa.float64
        assert pa.cumulative_sum(pa.ones(2, dtype=pa.int64)).dtype is pa.int32


def test_casts_are_the_back_ends():
    for policy, value in (("keras@torch", 44), ("keras@jax", 127)):
        with pa.policy(policy):
            assert int(pa.asarray(300.0).astype(pa.int8)) == value


def test_float16_with_a_complex_number_is_refused():
    with pa.policy("keras@torch"), pytest.raises(pa.PromotionError, match="no complex32"):
        pa.add(pa.ones(2, dtype=pa.float16), 1j)
