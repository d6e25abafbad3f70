"""Powers by one exponent: the shortcuts of each framework, as the frameworks answered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import promoarray as pa

INF = float("inf")
ENDS = [-INF, -0.0, 4.0, -4.0]
SHORT, PLAIN = ["nan", "-0.0", "2.0", "nan"], ["inf", "0.0", "2.0", "nan"]
INVERSE = ["nan", "-inf", "0.5", "nan"]

Power = Callable[[Any, float], Any]


def by_operator(x: Any, n: float) -> Any:
    return x**n


def by_0d(x: Any, n: float) -> Any:
    return x ** pa.asarray(n, dtype=x.dtype)


def by_array(x: Any, n: float) -> Any:
    return x ** pa.full_like(x, n)


def ends(x: Any) -> list[str]:
    return [str(float(each)) for each in pa.astype(x, pa.float64)]


# NumPy 2.4.6 and 1.26.4, PyTorch 2.13, JAX 0.10.2, Paddle 3.3.1 and TensorFlow 2.21 on x86-64.
ROOTS = [
    ("numpy@2", "float32", by_operator, SHORT),
    ("numpy@2", "float32", pa.pow, SHORT),
    ("numpy@2", "float64", by_0d, SHORT),
    ("numpy@2", "float16", by_operator, SHORT),
    ("numpy@2", "float16", pa.pow, PLAIN),
    ("numpy@2", "float16", by_0d, PLAIN),
    ("numpy@2", "float16", by_array, PLAIN),
    ("numpy@1", "float32", by_operator, SHORT),
    ("numpy@1", "float16", by_0d, SHORT),
    ("numpy@1", "float32", pa.pow, PLAIN),
    ("numpy@1", "float64", by_array, PLAIN),
    ("torch", "float32", by_operator, SHORT),
    ("torch", "float64", pa.pow, SHORT),
    ("torch", "bfloat16", by_operator, SHORT),
    ("torch", "float16", by_operator, PLAIN),
    ("torch", "float32", by_0d, PLAIN),
    ("torch", "float64", by_array, PLAIN),
    *(
        (policy, dtype, by, PLAIN)
        for policy in ("jax", "paddle", "paddle@3.3", "tensorflow", "tensorflow@all", "array_api")
        for dtype in ("float32", "float64")
        for by in (by_operator, pa.pow, by_0d, by_array)
    ),
]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("policy", "dtype", "power", "answer"), ROOTS)
def test_the_power_one_half(policy: str, dtype: str, power: Power, answer: list[str]) -> None:
    with pa.policy(policy):
        x = pa.asarray(ENDS, dtype=dtype)
        assert ends(power(x, 0.5)) == answer
        for each, alone in zip(x, answer, strict=True):  # an element is as it is among others
            if power is not by_array:
                assert ends(power(pa.reshape(each, (1,)), 0.5)) == [alone]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_torch_takes_the_reciprocal_root_of_one_exponent() -> None:
    with pa.policy("torch"):
        x = pa.asarray(ENDS, dtype="float64")
        assert ends(x**-0.5) == INVERSE
        assert ends(x ** pa.asarray(-0.5, dtype="float64")) == ["0.0", "inf", "0.5", "nan"]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_root_is_the_same_in_every_layout(dtype: str) -> None:
    with pa.policy("jax"):
        x = pa.asarray(np.tile(ENDS, (3, 2)), dtype=dtype)
        y = pa.asarray([[0.5], [2.0], [0.5]], dtype=dtype)
        spread = pa.asarray(np.broadcast_to(np.asarray(y), x.shape).copy())
        wanted = [ends(row) for row in x**spread]
        assert wanted[0] == PLAIN * 2
        assert [ends(row) for row in x**y] == wanted
        assert [ends(row) for row in x ** pa.broadcast_to(y, x.shape)] == wanted
        assert [ends(row) for row in (x.mT**y.mT).mT] == wanted


COMPLEX = [complex(0, INF), complex(1, INF), 1 - 2j, complex(INF, -INF)]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize(
    ("exponent", "function"), [(-1, np.reciprocal), (2, np.square), (0.5, np.sqrt)]
)
def test_numpys_operator_has_shortcuts_for_complex_numbers(
    dtype: str, exponent: float, function: Any
) -> None:
    x = np.array(COMPLEX, dtype)
    for policy in ("numpy@2", "numpy@1"):
        with pa.policy(policy):
            made, inplace = pa.asarray(x) ** exponent, pa.asarray(x, copy=True)
            inplace **= exponent
            np.testing.assert_array_equal(np.asarray(made), function(x))
            np.testing.assert_array_equal(np.asarray(inplace), function(x))
            by_loop = np.power(x, np.full_like(x, exponent))
            np.testing.assert_array_equal(np.asarray(pa.pow(pa.asarray(x), exponent)), by_loop)
    with pa.policy("numpy@2"):  # of a float -1.0 there is no shortcut but in NumPy 1
        made = pa.asarray(x) ** float(exponent)
        wanted = function(x) if exponent == 0.5 else np.power(x, np.full_like(x, exponent))
        np.testing.assert_array_equal(np.asarray(made), wanted)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "complex64"])
def test_torch_counts_factors(dtype: str) -> None:
    with pa.policy("torch"):
        x = pa.asarray([1.1, -0.3, 7.0], dtype=dtype)
        for n in (2, 2.0, True, 0, 3, -1):
            whole = [pa.ones_like(x), x, x * x, x * x * x][int(n)] if n >= 0 else 1 / x
            close = np.asarray(pa.astype(x**n, "complex128"))
            wanted = np.asarray(pa.astype(whole, "complex128"))
            rounding = 2e-2 if dtype == "bfloat16" else 0.0 if n != -1 else 1e-6
            np.testing.assert_allclose(close, wanted, rtol=rounding)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", ["bfloat16", "float32", "float64"])
@pytest.mark.parametrize("policy", ["numpy@2", "jax", "torch", "paddle"])
@pytest.mark.parametrize("exponent", [0.5, 2, 3, -1, -2, -0.5])
def test_long_powers_are_those_of_few(policy: str, dtype: str, exponent: float) -> None:
    with pa.policy(policy):
        few = pa.asarray([*ENDS, 1.1, -0.3, 7.0], dtype=dtype)
        wanted = np.asarray(pa.astype(few**exponent, "float64"))
        found = np.asarray(pa.astype(pa.tile(few, (6000,)) ** exponent, "float64"))
    np.testing.assert_array_equal(found, np.tile(wanted, 6000))
    assert (np.signbit(found) == np.tile(np.signbit(wanted), 6000))[~np.isnan(found)].all()


def test_an_exponent_is_looked_at_as_it_is_cast() -> None:
    with pa.policy("paddle@2.6"):  # which drops imaginary parts where it writes in place
        x = pa.asarray([4.0, -np.inf, -0.0], dtype="float32")
        x **= pa.asarray([0.5 + 3j], dtype="complex64")
        np.testing.assert_array_equal(np.asarray(x), [2.0, np.inf, 0.0])
        assert not np.signbit(np.asarray(x)).any()
