"""TensorFlow 2.21: values, numbers that are stored, and weak tensors, as it answered."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import promoarray as pa

NAN, INF = math.nan, math.inf


def array(values: Any, dtype: str) -> pa.PArray:
    with pa.policy("numpy"):
        return pa.astype(pa.asarray(np.asarray(values)), dtype)


def told(x: pa.PArray) -> str:
    return x.dtype.name + "*" * x.weak_type


@pytest.mark.parametrize(
    ("dtype", "values", "product"),
    [
        ("float32", [0.37, -0.5, 2.5, NAN, 1e10, 0.0], [False, False, True, True, True, False]),
        ("complex128", [0.5 + 3j, 2 + 0j, 1j], [False, True, False]),
        ("int64", [2**32, -1, 0], [False, True, False]),
        ("bool", [True, False], [True, False]),
    ],
)
@pytest.mark.parametrize("policy", ["tensorflow", "tensorflow@all", "tensorflow@safe"])
def test_products_with_bools_are_of_int32(
    policy: str, dtype: str, values: list[Any], product: list[bool]
) -> None:
    x, trues = array(values, dtype), array([True] * len(values), "bool")
    with pa.policy(policy):
        assert (x * trues).tolist() == (trues * x).tolist() == product
        assert told(x * trues) == "bool"
        assert (trues[:1] * 0.99).tolist() == [False]


def test_only_the_operator_multiplies_bools() -> None:
    x, trues = array([0.5], "float32"), array([True], "bool")
    with pa.policy("tensorflow"), pytest.raises(pa.PromotionError):
        pa.multiply(x, trues)
    with pa.policy("tensorflow@all"):
        assert told(pa.multiply(x, trues)) == "float32"


@pytest.mark.parametrize(
    ("dtype", "scalar", "quotient"),
    [("uint8", -3, 253.0), ("uint16", -3, 65533.0), ("int8", 300, 44.0), ("int64", -3, -3.0)],
)
@pytest.mark.parametrize("policy", ["tensorflow", "tensorflow@all"])
def test_scalars_become_integers_before_they_divide(
    policy: str, dtype: str, scalar: int, quotient: float
) -> None:
    with pa.policy(policy):
        assert (scalar / array([1], dtype)).tolist() == [quotient]


@pytest.mark.parametrize(
    ("call", "dtype", "values"),
    [
        (lambda: pa.asarray(2**53 + 1), "int64", 2**53 + 1),
        (lambda: pa.asarray([1, -(2**31) - 1]), "int64", [1, -(2**31) - 1]),
        (lambda: pa.asarray([1, True, 2.5]), "float32", [1.0, 1.0, 2.5]),
        (lambda: pa.asarray([1j, 1e39]), "complex128", [1j, 1e39]),
        (lambda: pa.full(1, 2**31), "int64", [2**31]),
        (lambda: pa.full(1, -129, dtype=pa.uint16), "uint16", [65407]),
        (lambda: pa.asarray([300], dtype=pa.int8), "int8", [44]),
        (lambda: pa.asarray(1e39, dtype=pa.float32), "float32", INF),
        (lambda: pa.arange(0, 2**31, 2**30), "int64", [0, 2**30]),
        (lambda: pa.arange(0.5, 2), "float32", [0.5, 1.5]),
        (lambda: pa.linspace(0, 300, 4), "float64", [0.0, 100.0, 200.0, 300.0]),
        (lambda: pa.linspace(0.5, 5, 3), "float32", [0.5, 2.75, 5.0]),
        (lambda: pa.eye(1, dtype=pa.uint8), "uint8", [[1]]),
    ],
)
def test_numbers_are_stored(call: Callable[[], pa.PArray], dtype: str, values: Any) -> None:
    with pa.policy("tensorflow"):
        assert (told(call()), call().tolist()) == (dtype, values)


@pytest.mark.parametrize(
    "call",
    [
        lambda: pa.asarray([1.0], dtype=pa.int32),
        lambda: pa.asarray(True, dtype=pa.uint8),
        lambda: pa.asarray(2, dtype=pa.bool),
        lambda: pa.asarray([True, 1]),
        lambda: pa.asarray([1.5, 1j]),
        lambda: pa.asarray(1e39),
        lambda: pa.asarray([2**63, 1.5]),
        lambda: pa.full(1, 2.5, dtype=pa.int64),
        lambda: pa.full(1, -1, dtype=pa.uint64),
        lambda: pa.arange(0.5, dtype=pa.int32),
        lambda: pa.arange(0, -2, -1.0, dtype=pa.int32),
        lambda: pa.arange(True, 5),
        lambda: pa.arange(3, dtype=pa.uint8),
        lambda: pa.arange(1, dtype=pa.complex128),
        lambda: pa.arange(5, 0),
        lambda: pa.linspace(5, 2.5, 3),
        lambda: pa.linspace(True, True, 3),
    ],
)
def test_numbers_that_do_not_convert_are_refused(call: Callable[[], pa.PArray]) -> None:
    with pa.policy("tensorflow"), pytest.raises((TypeError, ValueError, OverflowError)):
        call()


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: pa.asarray([1, 2]), "int32*"),
        (lambda: pa.asarray([True]), "bool"),
        (lambda: pa.asarray([1, 2], dtype=pa.int64), "int64"),
        (lambda: pa.asarray(1j), "complex128*"),
        (lambda: pa.full(2, 3), "int32"),
        (lambda: pa.full(2, 2.5), "float32"),
        (lambda: pa.zeros(2), "float32"),
        (lambda: pa.ones(2), "float32"),
        (lambda: pa.eye(2), "float32"),
        (lambda: pa.arange(0.5, 2), "float32"),
        (lambda: pa.linspace(0, 1, 2), "float64"),
    ],
)
def test_lists_and_numbers_are_weak_in_the_modes(call: Callable[[], pa.PArray], said: str) -> None:
    with pa.policy("tensorflow@all"):
        assert told(call()) == said


def test_ints_fit_int32_where_the_modes_rule() -> None:
    x = array([1], "int64")
    with pa.policy("tensorflow@all"):
        for call in (lambda: x == 2**31, lambda: x + 2**31, lambda: pa.asarray(2**31)):
            with pytest.raises(OverflowError):
                call()
        assert (x < 2**31).tolist() == [True]
        assert (x ^ -(2**31) - 1).tolist() == [-(2**31) - 2]


def test_comparisons_take_a_weak_tensor_for_what_it_holds() -> None:
    with pa.policy("tensorflow@all"):
        x = array([1, 2, 3], "int8") + 0.5
        assert told(x < array([1.0, 2, 3], "float64")) == "bool"
        assert told(x < 1.0) == "bool"
        with pytest.raises(pa.PromotionError):
            x < array([1.0, 2, 3], "float32")  # noqa: B015 - refused


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [("float32", 3.7, "float64"), ("bfloat16", 0.0, "float64"), ("float32", 2, "float32")],
)
def test_modes_clip_by_the_upper_bound_first(low: str, high: float, said: str) -> None:
    with pa.policy("tensorflow@all"):
        clipped = pa.clip(array([1, 2], "uint32"), array(1, low), high)
        assert told(clipped) == said


@pytest.mark.parametrize(
    ("function", "values", "dtype", "found"),
    [
        ("max", [], "float32", -INF),
        ("max", [], "int8", -128),
        ("min", [], "bfloat16", INF),
        ("min", [], "uint16", 65535),
        ("max", [1.0, NAN], "float32", NAN),
        ("mean", [], "int8", 0),
        ("mean", [], "complex64", 0),
        ("mean", [100, 100, 100], "int8", 100),
        ("mean", [-7, -2, -2], "int64", -3),
        ("mean", [2**62, 2**62, 2**62], "int64", -1537228672809129301),
        ("mean", [2**64 - 1], "uint64", 2**64 - 1),
        ("argmax", [NAN, 1.0, 2.0], "float32", 2),
        ("argmax", [NAN, NAN], "float16", 0),
        ("argmin", [NAN, INF, 1.0], "float64", 2),
    ],
)
def test_reductions(function: str, values: list[Any], dtype: str, found: float) -> None:
    x = array(values, dtype)
    with pa.policy("tensorflow"):
        assert getattr(pa, function)(x).item() == pytest.approx(found, abs=0, nan_ok=True)


@pytest.mark.parametrize(
    ("x", "y", "signs"),
    [([-1.0, -7.0, 7.0, -0.0], [1.0, 7.0, -7.0, -3.0], [True, True, False, True])],
)
def test_a_zero_remainder_has_the_sign_of_the_dividend(
    x: list[float], y: list[float], signs: list[bool]
) -> None:
    with pa.policy("tensorflow"):
        assert pa.signbit(array(x, "float32") % array(y, "float32")).tolist() == signs


def test_positions_and_counts() -> None:
    x = array([0, 3], "int8")
    with pa.policy("tensorflow"):
        assert told(pa.count_nonzero(x)) == told(pa.nonzero(x)[0]) == told(pa.argmax(x)) == "int64"
        assert told(pa.searchsorted(x, x)) == told(pa.argsort(x)) == "int32"
