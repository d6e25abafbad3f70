"""Loops of complex numbers: their bits are those of the portable kernels, in every layout."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest

from promoarray import dtypes as dt
from promoarray.kernels import DEFAULT, cast, combine, dtype_args, loop_of
from promoarray.kernels.portable import complex_arithmetic, variants, xla

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

Array = np.ndarray[Any, Any]

PORTABLE = variants.of(np) | {
    "standard_multiply": partial(complex_arithmetic.standard_multiply, np),
    "polar_ends": lambda power, x, y: xla.polar_ends(np, power.copy(), x, y),
}
LEXICAL = ("greater", "greater_equal", "less", "less_equal", "maximum", "minimum")
NAMES = [kernel.__name__ for kernel in complex_arithmetic.KERNELS]
NAMES += [f"lexical_{name}" for name in LEXICAL] + ["scaled_negative", "sign_of_order"]
NAMES += ["standard_multiply"]
LOGICAL = {name: getattr(np, name) for name in ("logical_and", "logical_or", "logical_xor")}
LOGICAL["logical_not"] = np.logical_not
PARTS = [0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan, 1e30, 3.3, -1e-30]


def numbers(dtype: dt.DType, count: int) -> tuple[Array, Array]:
    """Every pair of special numbers, and others."""
    special = np.array([complex(*parts) for parts in product(PARTS, PARTS)], dtype.storage)
    rng = np.random.default_rng(7)
    pairs = np.meshgrid(special, special)
    others = rng.standard_normal((2, count, 2)).astype(dtype.part.storage).view(dtype.storage)
    return tuple(  # type: ignore[return-value]
        np.concatenate([x.ravel(), y.ravel()]) for x, y in zip(pairs, others, strict=True)
    )


def of_loop(name: str, dtype: dt.DType, *operands: Array) -> Array:
    count, _, tests = loop_of(name, dtype_args(dtype))
    assert count == len(operands)
    row, made = dtype_args(dtype), dt.bool if tests else dtype
    out = np.empty(np.broadcast_shapes(*(x.shape for x in operands)), made.storage)
    combine(
        name, operands, out, (row,) * (count + 1) + (dtype_args(made),), (DEFAULT,) * (count + 1)
    )
    return out


def assert_same(got: Array, want: Array) -> None:
    """The same bits, but for those of NaN."""
    assert got.dtype == want.dtype
    if got.dtype.kind == "c":
        got, want = (x.view(x.real.dtype) for x in map(np.ascontiguousarray, (got, want)))
    np.testing.assert_array_equal(got, want)
    if got.dtype.kind == "f":
        known = ~np.isnan(want)
        np.testing.assert_array_equal(np.signbit(got)[known], np.signbit(want)[known])


@pytest.mark.parametrize("dtype", [dt.complex64, dt.complex128], ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_loops_give_what_portable_kernels_give(level, name, dtype):
    count = loop_of(name, dtype_args(dtype))[0]
    operands = numbers(dtype, 3000)[:count]
    assert_same(of_loop(name, dtype, *operands), PORTABLE[name](*operands))


@pytest.mark.parametrize("dtype", [dt.complex64, dt.complex128], ids=str)
def test_ends_of_powers_are_those_of_the_portable_kernel(level, dtype):
    x, y = numbers(dtype, 3000)
    power = np.roll(y, 7)
    assert_same(of_loop("polar_ends", dtype, power, x, y), PORTABLE["polar_ends"](power, x, y))


@pytest.mark.parametrize("dtype", [dt.complex64, dt.complex128], ids=str)
@pytest.mark.parametrize("name", LOGICAL)
def test_logic_of_both_parts_and_of_real_ones(level, name, dtype):
    count = loop_of(name, dtype_args(dtype))[0]
    operands = numbers(dtype, 10)[:count]
    assert_same(of_loop(name, dtype, *operands), LOGICAL[name](*operands))
    parts = [x.real for x in operands]
    assert_same(of_loop(f"real_{name}", dtype, *operands), LOGICAL[name](*parts))


@pytest.mark.parametrize("dtype", [dt.complex64, dt.complex128], ids=str)
@pytest.mark.parametrize("exponent", [-7, -3, -2, -1, 0, 1, 2, 3, 4, 5, 12, 31])
def test_powers_of_one_integer(level, exponent, dtype):
    x, _ = numbers(dtype, 1000)
    y = np.full((), exponent, dtype.storage)
    assert_same(of_loop("integer_pow", dtype, x, y), PORTABLE["integer_pow"](x, y))
    if exponent == 3:
        square = PORTABLE["plain_multiply"](x, x)
        assert_same(of_loop("plain_cube", dtype, x), PORTABLE["plain_multiply"](square, x))


@pytest.mark.parametrize("dtype", [dt.complex64, dt.complex128], ids=str)
@pytest.mark.parametrize("name", ["plain_multiply", "lexical_less", "xla_complex_divide"])
def test_every_layout_has_the_same_bits(level, name, dtype):
    x, y = (z[:6000].reshape(60, 100) for z in numbers(dtype, 0))
    want = of_loop(name, dtype, x, y)
    assert_same(of_loop(name, dtype, x.T, y.T).T, want)
    assert_same(of_loop(name, dtype, x[::-2, 1::3], y[::-2, 1::3]), want[::-2, 1::3])
    assert_same(of_loop(name, dtype, x, y[3]), of_loop(name, dtype, x, np.tile(y[3], (60, 1))))
    assert_same(of_loop(name, dtype, x, y[3, 4]), of_loop(name, dtype, x, np.full_like(x, y[3, 4])))
    bytes_ = np.zeros(x.nbytes + 1, np.uint8)
    apart = bytes_[1:].view(x.dtype).reshape(x.shape)  # aligned to nothing
    apart[...] = x
    assert_same(of_loop(name, dtype, apart, y), want)
    if want.dtype == x.dtype:
        over = x.copy()
        row = dtype_args(dtype)
        combine(name, (over, y), over, (row,) * 4, (DEFAULT,) * 3)
        assert_same(over, want)


def test_several_threads_have_the_same_bits(level):
    x, y = numbers(dt.complex64, 1 << 20)
    assert_same(of_loop("plain_multiply", dt.complex64, x, y), PORTABLE["plain_multiply"](x, y))


@pytest.mark.parametrize("held", [dt.complex32, dt.float16, dt.int8, dt.float64], ids=str)
def test_operands_are_cast_on_the_way(level, held):
    rng = np.random.default_rng(level)
    part = held.part
    given = rng.integers(-9, 9, 5000).astype(part.storage)
    x = given.view(held.storage) if held.kind is dt.Kind.COMPLEX else given
    y = numbers(dt.complex64, x.size)[1][-x.size :]
    wide, out = np.empty(x.shape, "c8"), np.empty(x.shape, "c8")
    rows = dtype_args(held), dtype_args(dt.complex64)
    cast(x, wide, *rows, DEFAULT)
    combine("plain_multiply", (x, y), out, (*rows, rows[1], rows[1]), (DEFAULT,) * 3)
    assert_same(out, PORTABLE["plain_multiply"](wide, y))
    tested = np.empty(x.shape, bool)
    logic = (*rows, rows[1], dtype_args(dt.bool))
    combine("logical_and", (x, y), tested, logic, (DEFAULT,) * 3)
    assert_same(tested, np.logical_and(wide, y))


def test_a_part_alone_is_not_taken_on_the_way():
    row, real = dtype_args(dt.complex64), dtype_args(dt.float32)
    with pytest.raises(ValueError, match="is not cast to a real one"):
        combine(
            "plain_multiply",
            (np.ones(2, "c8"),) * 2,
            np.empty(2, "f4"),
            (row, row, row, real),
            (DEFAULT,) * 3,
        )
