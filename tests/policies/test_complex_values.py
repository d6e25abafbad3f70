"""Arithmetic on complex numbers, as the frameworks answered, and signs of zeros."""

from __future__ import annotations

import numpy as np
import pytest
from check import GOLDEN

import promoarray as pa

ANSWERS = (GOLDEN / "complex.txt").read_text(encoding="utf-8").splitlines()
ROWS = [line.replace("  ->", "").split("  ") for line in ANSWERS if line[0] != "#"]


def same(got: object, wanted: complex) -> bool:
    """The same bits of both parts; NaN is NaN."""
    found = np.asarray(got)
    parts = (found.real, wanted.real), (found.imag, wanted.imag)
    alike = (np.array_equal(a, b, equal_nan=True) for a, b in parts)
    return all(alike) and all(a != a or np.signbit(a) == np.signbit(b) for a, b in parts)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("length", [1, 5, 70_000])
def test_answers_of_the_frameworks(length: int) -> None:
    wrong = []
    for where, expression, first, second, answer in ROWS:
        policy, bits = where.split()
        dtype = f"complex{bits}"
        with pa.policy(policy):
            x, y = (pa.full(length, complex(each), dtype=dtype) for each in (first, second))
            got = eval(
                expression,
                {
                    "complex": complex,
                    "x": x,
                    "y": y,
                    **{name: getattr(pa, name) for name in pa.__all__},
                },
            )
        wanted = np.array(complex(answer), dtype)[()]
        if got.dtype != dtype or not (same(got[0], wanted) and same(got[-1], wanted)):
            wrong.append((where, expression, first, second, answer, got[0], got[-1]))
    assert not wrong


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("length", [1, 3, 40_000])
def test_jax_orders_zeros_and_keeps_their_signs(dtype: str, length: int) -> None:
    with pa.policy("jax"):
        above, below = pa.zeros(length, dtype=dtype), -pa.zeros(length, dtype=dtype)
        for one, other in ((above, below), (below, above)):
            assert not pa.any(pa.signbit(pa.maximum(one, other)))
            assert pa.all(pa.signbit(pa.minimum(one, other)))
        assert pa.all(pa.signbit(pa.sign(below)))
        assert not pa.any(pa.signbit(pa.sign(above)))
        signs = pa.sign(pa.asarray([-2.0, 3.0, -np.inf], dtype=dtype))
        assert pa.all(signs == pa.asarray([-1, 1, -1], dtype=dtype))
        assert pa.all(pa.isnan(pa.maximum(above, pa.asarray(np.nan, dtype=dtype))))
        assert pa.all(pa.isnan(pa.minimum(pa.asarray(np.nan, dtype=dtype), above)))


@pytest.mark.parametrize(("dtype", "within"), [("complex64", 4e-6), ("complex128", 4e-15)])
def test_paddle_takes_complex_powers_by_logarithms(dtype: str, within: float) -> None:
    """Paddle 3.3.1's ``x ** 3`` of -2 is -8 - 2.9e-15j: the angle's error, three times."""
    with pa.policy("paddle@3.3"):
        x = pa.full(9, -2.0 - 0.0j, dtype=dtype)
        for cube in (x**3, pa.pow(x, 3.0), x ** pa.full(9, 3.0, dtype=dtype)):
            assert cube.dtype == dtype
            assert 0 < abs(complex(cube[0]) + 8) < within


def test_paddles_function_makes_a_divisor_float32() -> None:
    with pa.policy("paddle@3.3"):
        x = pa.asarray([0.3, 7.7, 1e300], dtype="float64")
        whole = pa.floor_divide(x, 0.1)
        assert whole.dtype == "float64"
        np.testing.assert_array_equal(
            np.asarray(whole), np.asarray(x) // np.float64(np.float32(0.1))
        )
        assert np.asarray(x // 0.1)[-1] != np.asarray(whole)[-1]
