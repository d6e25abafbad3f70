"""Under the policy ``numpy`` every function gives NumPy's dtypes, shapes, bits and warnings.

Of all of NumPy's dtypes but float16, which computes in float32 here and is rounded once, and of
arrays without axes, without elements, reversed, transposed and with gaps.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import promoarray as pa
from promoarray.operations import OPERATIONS

INSTALLED = "numpy@2.5" if np.lib.NumpyVersion(np.__version__) >= "2.5.0" else "numpy@2"
"""The edition of the NumPy that is asked, where editions differ."""

DTYPES = [np.dtype(code) for code in "?bBhHiIqQfdFD"]
SHAPES = [(), (0,), (1,), (5,), (17,), (3, 4), (1, 4), (3, 1), (0, 3), (2, 3, 4)]
SCALARS = [True, 0, 1, -1, 2, 127, -128, 300, 0.0, -0.0, 1.5, float("nan"), float("inf"), 1j]
FLOATS = [0.0, -0.0, 1, -1, 0.5, 2.5, -2.5, 1e-40, 1e30, 3e38, 7, np.inf, -np.inf, np.nan, np.pi]
UNARY = [n for n, row in OPERATIONS.items() if row.arity == 1 and n in pa.elementwise.__all__]
BINARY = [n for n, row in OPERATIONS.items() if row.arity == 2 and n in pa.elementwise.__all__]
REDUCTIONS = ["sum", "prod", "mean", "std", "var", "max", "min", "all", "any", "argmax", "argmin"]
MOVES: dict[str, Callable[[Any, Any], Any]] = {
    "flip": lambda xp, x: xp.flip(x, axis=-1),
    "roll": lambda xp, x: xp.roll(x, (1, -2), axis=(0, -1)),
    "reshape": lambda xp, x: xp.reshape(x, (-1, 1)),
    "repeat": lambda xp, x: xp.repeat(x, 2, axis=-1),
    "tile": lambda xp, x: xp.tile(x, (2, 1)),
    "moveaxis": lambda xp, x: xp.moveaxis(x, 0, -1),
    "expand_dims": lambda xp, x: xp.expand_dims(x, (0, -1)),
    "stack": lambda xp, x: xp.stack([x, x], axis=-1),
    "diff": lambda xp, x: xp.diff(x, n=2),
    "cumulative_sum": lambda xp, x: xp.cumulative_sum(x, axis=0, include_initial=True),
    "cumulative_prod": lambda xp, x: xp.cumulative_prod(x, axis=-1),
    "nonzero": lambda xp, x: xp.nonzero(x),
    "count_nonzero": lambda xp, x: xp.count_nonzero(x, axis=-1),
    "take": lambda xp, x: xp.take(x, xp.asarray([0, -1]), axis=-1),
}


@st.composite
def arrays(draw: st.DrawFn, dtype: np.dtype[Any] | None = None, shape: Any = None) -> Any:
    """An array of a dtype and shape, lying in memory in one of four ways."""
    dtype = dtype or draw(st.sampled_from(DTYPES))
    shape = draw(st.sampled_from(SHAPES)) if shape is None else shape
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    lying = draw(st.sampled_from(["plain", "reversed", "transposed", "gaps"]))
    if lying == "transposed":
        return values(rng, dtype, shape[::-1]).T
    if lying == "gaps" and shape:
        return values(rng, dtype, (*shape[:-1], 2 * shape[-1]))[..., ::2]
    array = values(rng, dtype, shape)
    return array[(slice(None, None, -1),) * len(shape)] if lying == "reversed" else array


def values(rng: np.random.Generator, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Any:
    """Half of them where things go wrong: zeros, ends, infinities."""
    if dtype.kind == "b":
        return np.asarray(rng.integers(0, 2, shape), dtype)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        ends = np.asarray([0, 1, 2, 7, info.max, info.max - 1, info.min, info.min + 1], dtype)
        some = rng.integers(max(info.min, -20), 20, shape).astype(dtype)
    elif dtype.kind == "f":
        ends = np.asarray(FLOATS, dtype)
        some = np.asarray(10 * rng.normal(size=shape), dtype)
    else:
        part = np.dtype(f"f{dtype.itemsize // 2}")
        both = np.asarray(np.stack([values(rng, part, shape) for _ in "ri"], axis=-1), order="C")
        return both.view(dtype)[..., 0]
    return np.where(rng.random(shape) < 0.5, rng.choice(ends, shape), some)


def outcome(call: Callable[..., Any], *operands: Any, **options: Any) -> Any:
    """The results as dtypes, shapes and values; which warnings; or that it was refused."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            out = call(*operands, **options)
        except (TypeError, ValueError, OverflowError, IndexError):
            return "refused"
    results = [np.asarray(x) for x in (out if isinstance(out, tuple) else (out,))]
    # Of an overflow in rounding to float16 NumPy warns, and a cast does not.
    heard = () if any(x.dtype == np.float16 for x in results) else caught
    return [told(x) for x in results], {warning.category for warning in heard}


def told(array: Any) -> tuple[Any, ...]:
    """One NaN is as good as another."""
    dtype, shape = array.dtype, array.shape
    if dtype.kind == "c":
        array = np.stack([array.real, array.imag])
    nan = array != array
    return dtype, shape, nan.tobytes(), np.where(nan, array.dtype.type(0), array).tobytes()


def ours(*operands: Any) -> list[Any]:
    return [pa.asarray(x) if isinstance(x, np.ndarray) else x for x in operands]


def numpys(name: str) -> Callable[..., Any]:
    return getattr(np, {"bitwise_invert": "invert"}.get(name, name))  # type: ignore[no-any-return]


@pytest.mark.parametrize("name", UNARY)
@settings(max_examples=15)
@given(x=arrays())
def test_functions_of_one_array(name: str, x: Any) -> None:
    assert outcome(getattr(pa, name), *ours(x)) == outcome(numpys(name), x)


@pytest.mark.parametrize("name", BINARY)
@settings(max_examples=10)  # of each function, and others in each run
@given(data=st.data())
def test_functions_of_two_operands(name: str, data: st.DataObject) -> None:
    x = data.draw(arrays())
    near = st.one_of(arrays(), arrays(shape=x.shape), arrays(dtype=x.dtype))
    pair = [x, data.draw(near | st.sampled_from(SCALARS))]
    pair = data.draw(st.permutations(pair))
    if name in ("pow", "atan2") and len({np.asarray(each).dtype for each in pair}) > 1:
        # What is cast beside them lies in rows, and NumPy's loops have other last bits elsewhere.
        pair = [
            np.ascontiguousarray(x) if isinstance(x, np.ndarray) and x.ndim else x for x in pair
        ]
    assert outcome(getattr(pa, name), *ours(*pair)) == outcome(numpys(name), *pair)


@pytest.mark.parametrize("name", [*UNARY, *BINARY])
def test_all_that_is_special_beside_all_that_is_special(name: str) -> None:
    """Few, as NumPy and C++ take them, and many."""
    for dtype in DTYPES:
        found = np.unique(values(np.random.default_rng(2), dtype, (60,)))  # NaN is the last
        special = found[np.linspace(0, found.size - 1, min(found.size, 24)).astype(int)]
        pairs = np.array([*product(special, special)], dtype).T
        for many in (1, 40):
            given = [np.tile(each, many) for each in pairs[: OPERATIONS[name].arity]]
            assert outcome(getattr(pa, name), *ours(*given)) == outcome(numpys(name), *given)


@settings(max_examples=60)
@given(data=st.data())
def test_clip_and_where(data: st.DataObject) -> None:
    x = data.draw(arrays())
    bound = st.none() | st.sampled_from(SCALARS) | arrays(shape=()) | arrays(shape=x.shape)
    low, high = data.draw(bound), data.draw(bound)
    if x.dtype.kind in "iu" and not (low is high is None):
        assert outcome(pa.clip, *ours(x, low, high)) == outcome(np.clip, x, low, high)
    y = data.draw(arrays(shape=x.shape) | st.sampled_from(SCALARS))
    mask = data.draw(arrays(dtype=np.dtype("?"), shape=x.shape))
    with pa.policy(INSTALLED):
        assert outcome(pa.where, *ours(mask, x, y)) == outcome(np.where, mask, x, y)


@pytest.mark.parametrize("dtype", ["?", "B", "b", "i"])
def test_a_bound_of_clip_at_the_end_of_the_integers_clipped_is_none(dtype: str) -> None:
    x = np.array([0, 1, 1], dtype)
    arrays = (np.array([-3, 300, 2], code) for code in "hif")
    ends = -300, -128, -(2**31), 0, 127, 255, 300, 2**31, 2**64
    for bound, end in product([*arrays, None, 1], ends):
        for low, high in ((bound, end), (end, bound)):
            assert outcome(pa.clip, *ours(x, low, high)) == outcome(np.clip, x, low, high)


@pytest.mark.parametrize("name", REDUCTIONS)
@settings(max_examples=25)
@given(x=arrays(), axis=st.sampled_from([None, 0, -1, 1, (0, 1)]), keepdims=st.booleans())
def test_reductions(name: str, x: Any, axis: Any, keepdims: bool) -> None:
    options = {"axis": axis, "keepdims": keepdims}
    assert outcome(getattr(pa, name), *ours(x), **options) == outcome(numpys(name), x, **options)


@pytest.mark.parametrize("name", MOVES)
@settings(max_examples=15)
@given(x=arrays())
def test_manipulation_and_what_runs_along_an_axis(name: str, x: Any) -> None:
    if x.ndim or name in ("reshape", "tile", "expand_dims", "stack"):
        assert outcome(MOVES[name], pa, *ours(x)) == outcome(MOVES[name], np, x)


@settings(max_examples=60)
@given(parts=st.lists(arrays(shape=(3, 4)), min_size=1, max_size=5))
def test_many_arrays_joined(parts: list[Any]) -> None:
    assert outcome(pa.concat, ours(*parts)) == outcome(np.concatenate, parts)
