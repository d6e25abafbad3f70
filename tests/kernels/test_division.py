"""Loops of quotients, remainders and powers: their bits and exceptions are those of NumPy's ufuncs
and of the portable kernels, on all pairs of 8-bit integers, and of 16-bit numbers with some.
"""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import numpy as np
import pytest
from cast_cases import same_numbers

from promoarray import dtypes as dt
from promoarray.backends.numpy.loops import BY_SHAPE, loop_name, raised_by
from promoarray.kernels import DEFAULT, NOT_TOLD, combine, dtype_args, loop_of
from promoarray.kernels.portable import variants

Array = np.ndarray[Any, Any]

UFUNCS = {
    "floor_divide": np.floor_divide,
    "remainder": np.remainder,
    "pow": np.power,
    **{f"bitwise_{name}": getattr(np, f"bitwise_{name}") for name in ("and", "or", "xor")},
    "bitwise_left_shift": np.left_shift,
    "bitwise_right_shift": np.right_shift,
}
OF_INTEGERS = [
    *UFUNCS,
    *("checked_floor_divide", "checked_remainder", "truncated_divide"),
    *("xla_divide", "xla_remainder", "xla_floor_divide", "saturating_floor_divide"),
    *("nan_remainder", "reciprocal_pow", "six_bit_pow", "double_pow", "double_reciprocal_pow"),
    *("left_shift_within", "right_shift_within"),
]
OF_FLOATS = [
    *("floor_divide", "remainder", "remainder_keeping_zero", "xla_remainder"),
    *("floor_of_quotient", "remainder_of_quotient", "standard_floor_divide"),
    *("scaled", "scaled_by_reciprocal", *BY_SHAPE),
]
EXCEPTIONS = ("divide", "over", "under", "invalid")
FEW = [0.0, -0.0, 1.0, -1.0, 3.0, -0.75, 1e-40, -3e38, np.inf, -np.inf, np.nan]


def reference(name: str) -> Any:
    return UFUNCS.get(name) or partial(getattr(variants, name, None) or _portable(name), np)


@cache
def _portable(name: str) -> Any:
    return variants.of(np)[name].func


def of_numpy(name: str, *operands: Array) -> tuple[Array, int]:
    """What NumPy makes, and which exceptions that raises; NOT_TOLD where it refuses."""
    met: set[str] = set()
    kinds: Any = {"divide by zero": "divide", "overflow": "over", "underflow": "under"}
    with np.errstate(all="call", call=lambda what, _: met.add(kinds.get(what, "invalid"))):
        made = reference(name)(*operands)
    return made, sum(1 << i for i, kind in enumerate(EXCEPTIONS) if kind in met)


def of_loop(name: str, *operands: Array, dtype: dt.DType) -> tuple[Array, int]:
    found = loop_name(name, operands, {}) if name in BY_SHAPE else name
    assert found is not None
    out = np.empty(np.broadcast_shapes(*(x.shape for x in operands)), operands[0].dtype)
    rows = (dtype_args(dtype),) * 4
    return out, raised_by(combine(found, operands, out, rows, (DEFAULT,) * 3))


def every(dtype: dt.DType) -> Array:
    codes = np.arange(1 << dtype.bits, dtype=f"u{dtype.bits // 8}")
    return codes.view(dtype.storage)


@pytest.mark.parametrize("dtype", [dt.int8, dt.uint8], ids=str)
@pytest.mark.parametrize("name", OF_INTEGERS)
def test_every_pair_of_short_integers(level, name, dtype):
    if loop_of(name, dtype_args(dtype)) is None:
        pytest.skip("not of this kind")
    x, y = every(dtype)[:, None], every(dtype)[None, :]
    got, raised = of_loop(name, x, y, dtype=dtype)
    refused = np.zeros(256, bool)
    if raised & NOT_TOLD:
        refused = (y < 0 if name == "pow" else y == 0)[0]
        with pytest.raises((ValueError, ZeroDivisionError)):
            reference(name)(x, y[:, refused])
    want, met = of_numpy(name, x, y[:, ~refused])
    np.testing.assert_array_equal(got[:, ~refused], want)
    assert raised & ~NOT_TOLD == met


def test_quotients_of_bools(level):
    x, y = np.array([False, True, True]), np.array([True, True, False])
    got, raised = of_loop("checked_divide", x[:2], y[:2], dtype=dt.bool)
    assert (got.tolist(), raised) == ([False, True], 0)
    assert of_loop("checked_divide", x, y, dtype=dt.bool)[1] == NOT_TOLD
    with pytest.raises(ZeroDivisionError):
        reference("checked_divide")(x, y)


@pytest.mark.parametrize("dtype", [dt.int16, dt.uint16, dt.int32, dt.uint32, dt.int64, dt.uint64])
@pytest.mark.parametrize("name", OF_INTEGERS)
def test_wider_integers_at_their_ends(name, dtype):
    ends = np.iinfo(dtype.storage)
    few = [0, 1, 2, 3, 7, 10, 63, 64, 100, ends.max, ends.max - 1, ends.min, ends.min + 1]
    few += [-1, -2, -3, -7, -63] if ends.min else []
    few += [ends.max - (ends.max >> 52)]  # as a float64 below the power of two
    x, y = (np.array(few, dtype.storage)[at] for at in ((..., None), (None, ...)))
    y = y[:, (y != 0)[0]] if name in _REFUSING else y[:, (y >= 0)[0]] if name == "pow" else y
    got, raised = of_loop(name, x, y, dtype=dtype)
    want, met = of_numpy(name, x, y)
    np.testing.assert_array_equal(got, want)
    assert raised == met


@pytest.mark.parametrize("dtype", [dt.int16, dt.uint16, dt.int32, dt.uint32])
@pytest.mark.parametrize("name", ["floor_divide", "remainder"])
def test_quotients_beside_whole_ones(level, name, dtype):
    """Floats divide integers of 32 bits and fewer, and must not round up to the next one."""
    rng, ends = np.random.default_rng(level), np.iinfo(dtype.storage)
    y = rng.integers(ends.min, ends.max, 20_000, dtype.storage, endpoint=True)
    y >>= rng.integers(0, ends.bits, y.size).astype(dtype.storage)
    y[y == 0] = 1
    x = rng.integers(ends.min, ends.max, y.size, dtype.storage, endpoint=True) // y * y
    x = np.concatenate([x - 1, x, x + 1])
    got, _ = of_loop(name, x, np.tile(y, 3), dtype=dtype)
    want, _ = of_numpy(name, x, np.tile(y, 3))
    np.testing.assert_array_equal(got, want)


_REFUSING = ("checked_floor_divide", "checked_remainder", "truncated_divide")


@pytest.mark.parametrize("name", OF_FLOATS)
def test_every_number_of_16_bits_with_a_few(level, name):
    for held, dtype in ((dt.bfloat16, dt.float32), (dt.float16, dt.float64)):
        with np.errstate(all="ignore"):
            x = every(held).astype(dtype.storage)
            few = np.array(FEW, np.float32).astype(dtype.storage)
        for i, y in enumerate(np.array_split(np.tile(few, -(-65536 // len(few)))[:65536], 4)):
            part = x[i::4]
            for operands in ((part, y), (y, part)):
                _agree(name, dtype, *operands)
            if name in BY_SHAPE:
                _agree(name, dtype, part, few[i : i + 1])
                _agree(name, dtype, few[i : i + 1], part)
                _agree(name, dtype, part[:64, None], few)


@pytest.mark.parametrize("name", [*BY_SHAPE, "divide", "scaled", "scaled_by_reciprocal"])
def test_what_is_computed_in_float32_is_rounded_once(level, name):
    x, row = every(dt.float16), dtype_args(dt.float16)
    y = np.random.default_rng(0).permutation(x)
    rows = row, row, dtype_args(dt.float32), row
    for loop in {*BY_SHAPE.get(name, (name,))}:
        got, wide = np.empty_like(x), np.empty(x.shape, np.float32)
        combine(loop, (x, y), got, rows, (DEFAULT,) * 3)
        with np.errstate(invalid="ignore"):  # a signalling NaN, of which Arm tells
            operands = x.astype(np.float32), y.astype(np.float32)
        combine(loop, operands, wide, (dtype_args(dt.float32),) * 4, (DEFAULT,) * 3)
        with np.errstate(all="ignore"):
            assert same_numbers(got, wide.astype(np.float16), dt.float16), loop


@pytest.mark.parametrize("dtype", [dt.float32, dt.float64])
def test_remainders_of_quotients_of_every_length_are_exact(level, dtype):
    """Quotients that are nearly whole, of a few bits, of all that a float has, and of many more."""
    rng, word = np.random.default_rng(level), f"u{dtype.bits // 8}"
    codes = rng.integers(0, np.iinfo(word).max, (2, 20_000), word, endpoint=True)
    x, y = codes.view(dtype.storage)
    assert dtype.format is not None
    mantissa = dtype.format.mantissa
    with np.errstate(all="ignore"):
        y = np.where(np.isfinite(y), y, 1)
        near = np.ldexp(rng.random(y.size), rng.integers(-2, mantissa + 3, y.size))
        for quotients in (np.rint(near), near, np.floor(near) + 0.5):
            whole = (quotients.astype(dtype.storage) * y).astype(dtype.storage)
            for beside in (np.nextafter(whole, 0), whole, np.nextafter(whole, np.inf * y)):
                for name in ("xla_remainder", "remainder", "floor_divide"):
                    _agree(name, dtype, beside, y)
    for name in ("xla_remainder", "remainder", "floor_divide"):
        _agree(name, dtype, x, y)
        _agree(name, dtype, x[:511].copy(), y[:1].copy())


def test_remainders_written_over_an_operand(level):
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((2, 3000), np.float32) * 1000
    y[::70] *= np.float32(1e-9)  # whose quotients are long
    for operands in ((x.copy(), y), (x, y.copy())):
        want = np.remainder(*operands)
        out = operands[0] if operands[0] is not x else operands[1]
        combine("remainder", operands, out, (dtype_args(dt.float32),) * 4, (DEFAULT,) * 3)
        np.testing.assert_array_equal(out, want)


def _agree(name: str, dtype: dt.DType, *operands: Array) -> None:
    got, raised = of_loop(name, *operands, dtype=dtype)
    want, met = of_numpy(name, *operands)
    assert same_numbers(got, want, dtype), name
    assert raised & met == met, "an exception is not told"
