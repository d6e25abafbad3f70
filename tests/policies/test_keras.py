"""Keras: what conformance/golden/keras_*.txt do not say. Recorded with Keras 3.15.1."""

from __future__ import annotations

import numpy as np
import pytest

import promoarray as pa


def test_a_function_is_keras_and_an_operator_the_back_ends():
    with pa.policy("keras@torch"):
        b = pa.asarray([True, False])
        assert (b + 1).dtype is pa.int64
        assert pa.add(b, 1).dtype is pa.int32


def test_an_int_beyond_int32_is_an_int64_where_a_tensor_is_made_of_it_first():
    x, wide = [1, 2], 2**40 + 1
    with pa.policy("keras@tensorflow"):
        assert pa.bitwise_xor(pa.asarray(x, dtype=pa.int8), wide).tolist() == [2**40, 2**40 + 3]
        assert pa.less(pa.asarray(x, dtype=pa.int32), wide).tolist() == [True, True]
        assert pa.add(pa.asarray(x, dtype=pa.int32), wide).tolist() == [2, 3]
    with pa.policy("keras@torch"):
        assert pa.add(pa.asarray([True]), wide).tolist() == [2**40 + 2]
        assert pa.add(pa.asarray(x, dtype=pa.int32), wide).tolist() == [2, 3]


def test_numpys_scalars_are_tensors_to_functions_and_the_back_ends_to_operators():
    with pa.policy("keras@torch"):
        x = pa.ones(2, dtype=pa.int8)
        assert pa.multiply(x, np.float32(1.5)).dtype is pa.float32
        assert (x * np.int64(2)).dtype is pa.int8


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


def test_next_numbers_are_of_float64():
    for policy in ("keras@torch", "keras@tensorflow"):
        with pa.policy(policy):
            found = pa.nextafter(pa.asarray([1.0]), 2.0)
            assert (float(found[0]), found.dtype) == (1.0, pa.float32)


def test_a_mean_of_float64_is_of_float32_on_pytorch():
    for policy, mean in (("keras@torch", float("inf")), ("keras@tensorflow", 1e39)):
        with pa.policy(policy):
            assert float(pa.mean(pa.asarray([1e39], dtype=pa.float64))) == mean


def test_bounds_and_choices_are_int32_first_on_pytorch():
    with pa.policy("keras@torch"):
        i8, chosen = pa.asarray([1, 2], dtype=pa.int8), pa.asarray([True, False])
        assert pa.clip(i8, 50, 1000).tolist() == [-24, -24]
        assert pa.where(chosen, i8, 300).tolist() == [1, 44]
        with pytest.raises(OverflowError, match="int32"):
            pa.where(chosen, i8, 2**40)


def test_unsigned_integers_go_through_int32_on_tensorflow():
    with pa.policy("keras@tensorflow"):
        large = pa.asarray([2**31 + 5], dtype=pa.uint32)
        assert pa.sign(large).tolist() == [2**32 - 1]
        wide = pa.asarray([2**40], dtype=pa.uint64)
        assert pa.equal(wide, pa.zeros(1, dtype=pa.uint64)).tolist() == [True]


def test_products_of_integers_are_of_float32_on_tensorflow():
    with pa.policy("keras@tensorflow"):
        x = pa.asarray([[2**24 + 1]], dtype=pa.int32)
        assert pa.matmul(x, pa.ones((1, 1), dtype=pa.int32)).tolist() == [[2**24]]
        assert (x @ pa.ones((1, 1), dtype=pa.int32)).tolist() == [[2**24 + 1]]


def test_on_jax_a_number_of_arctan2_is_float32_and_int8_matrices_multiply_into_int32():
    with pa.policy("keras@jax"):
        half, i8 = pa.ones(2, dtype=pa.bfloat16), pa.ones((2, 2), dtype=pa.int8)
        assert pa.atan2(half, 1.0).dtype is pa.float32
        assert pa.matmul(i8, i8).dtype is pa.int32
        assert (half + 1.0).dtype is pa.bfloat16


def test_a_python_float_is_a_float32_first():
    for policy, added, rest in (
        ("keras@torch", 0.10000000149011612, 0.09999992698431015),
        ("keras@tensorflow", 0.1, 0.09999992698431015),
    ):
        with pa.policy(policy):
            x = pa.zeros(1, dtype=pa.float64)
            assert pa.add(x, 0.1).tolist() == [added]
            assert (x + 0.1).tolist() == [0.1]
            assert pa.remainder(x + 5, 0.1).tolist() == [rest]
            assert pa.equal(x + 0.1, 0.1).tolist() == [False]


def test_on_pytorch_int8_matrices_multiply_into_int32_too():
    with pa.policy("keras@torch"):
        i8 = pa.full((2, 2), 100, dtype=pa.int8)
        assert pa.matmul(i8, i8).tolist() == [[20000, 20000]] * 2


def test_a_tensor_of_pytorch_is_of_no_wide_unsigned_dtype():
    # keras.ops.convert_to_tensor makes int32 of uint16, int64 of uint32, and refuses uint64.
    with pa.policy("keras@torch"), pytest.raises(pa.PromotionError, match="has no uint16"):
        pa.asarray([1], dtype=pa.uint16) + 1
