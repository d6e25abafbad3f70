"""Every function with every dtype, without axes, without elements, and lying anyhow in memory.

``RECIPES`` calls each function of the main namespace once on an array ``x``. What must hold is told
by the functions themselves: a strided array answers as its copy does, a narrow float as float32
rounded once, and an empty array as NumPy's empty array.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from sampled import turns

import promoarray as pa
from promoarray import dtypes as dt
from promoarray.dtypes import CONCRETE, DType, Kind
from promoarray.operations import OPERATIONS

Recipe = Callable[[Any, Any], Any]

UNARY = [n for n, row in OPERATIONS.items() if row.arity == 1 and n in pa.elementwise.__all__]
BINARY = [n for n, row in OPERATIONS.items() if row.arity == 2 and n in pa.elementwise.__all__]


def _elementwise(name: str, count: int) -> Recipe:
    return lambda xp, x: getattr(xp, name)(*(x,) * count)


def _ends(xp: Any, x: Any) -> Any:
    return xp.reshape(xp.zeros_like(x)[..., :1] if x.ndim else x, (-1,))


RECIPES: dict[str, Recipe] = {
    **{name: _elementwise(name, 1) for name in UNARY},
    **{name: _elementwise(name, 2) for name in BINARY},
    "clip": lambda xp, x: xp.clip(x, 0, 1),
    "where": lambda xp, x: xp.where(x == x, x, x),
    # manipulation
    "concat": lambda xp, x: xp.concat([x, x], axis=None),
    "stack": lambda xp, x: xp.stack([x, x], axis=-1),
    "reshape": lambda xp, x: xp.reshape(x, (x.size,)),
    "permute_dims": lambda xp, x: xp.permute_dims(x, tuple(range(x.ndim))[::-1]),
    "moveaxis": lambda xp, x: xp.moveaxis(x, 0, -1),
    "expand_dims": lambda xp, x: xp.expand_dims(x, axis=(0, -1)),
    "squeeze": lambda xp, x: xp.squeeze(x[None], axis=0),
    "flip": lambda xp, x: xp.flip(x),
    "roll": lambda xp, x: xp.roll(x, 1),
    "repeat": lambda xp, x: xp.repeat(x, 2),
    "tile": lambda xp, x: xp.tile(x, (2, 1)),
    "broadcast_to": lambda xp, x: xp.broadcast_to(x, (2, *x.shape)),
    "broadcast_arrays": lambda xp, x: xp.broadcast_arrays(x, x[None]),
    "unstack": lambda xp, x: xp.unstack(x),
    "matrix_transpose": lambda xp, x: xp.matrix_transpose(x),
    # indexing
    "take": lambda xp, x: xp.take(x, xp.asarray([0, -1]), axis=-1),
    "take_along_axis": lambda xp, x: xp.take_along_axis(x, xp.zeros(x.shape, dtype=xp.int64)),
    "x[mask]": lambda xp, x: x[x == x],
    "x[:, ::-1]": lambda xp, x: x[..., ::-1],
    "x[()]": lambda xp, x: x[()],
    # searching, sorting and sets
    "argmax": lambda xp, x: xp.argmax(x),
    "argmin": lambda xp, x: xp.argmin(x, axis=-1, keepdims=True),
    "count_nonzero": lambda xp, x: xp.count_nonzero(x, axis=-1),
    "nonzero": lambda xp, x: xp.nonzero(x),
    "searchsorted": lambda xp, x: xp.searchsorted(xp.sort(xp.reshape(x, (-1,))), x),
    "sort": lambda xp, x: xp.sort(x, descending=True),
    "argsort": lambda xp, x: xp.argsort(x),
    "unique_values": lambda xp, x: xp.unique_values(x),
    "unique_counts": lambda xp, x: tuple(xp.unique_counts(x)),
    "unique_inverse": lambda xp, x: tuple(xp.unique_inverse(x)),
    "unique_all": lambda xp, x: tuple(xp.unique_all(x)),
    "isin": lambda xp, x: xp.isin(x, x),
    # statistics and utilities
    "sum": lambda xp, x: xp.sum(x, axis=-1),
    "prod": lambda xp, x: xp.prod(x),
    "mean": lambda xp, x: xp.mean(x, axis=0),
    "std": lambda xp, x: xp.std(x),
    "var": lambda xp, x: xp.var(x, axis=-1),
    "max": lambda xp, x: xp.max(x, axis=-1),
    "min": lambda xp, x: xp.min(x),
    "cumulative_sum": lambda xp, x: xp.cumulative_sum(x, axis=-1),
    "cumulative_prod": lambda xp, x: xp.cumulative_prod(x, axis=0, include_initial=True),
    "all": lambda xp, x: xp.all(x),
    "any": lambda xp, x: xp.any(x, axis=-1),
    "diff": lambda xp, x: xp.diff(x, n=1),
    # products
    "matmul": lambda xp, x: xp.matmul(x, xp.matrix_transpose(x)),
    "vecdot": lambda xp, x: xp.vecdot(x, x),
    "tensordot": lambda xp, x: xp.tensordot(x, x, axes=x.ndim),
    # creation
    "tril": lambda xp, x: xp.tril(x),
    "triu": lambda xp, x: xp.triu(x, k=1),
    "zeros_like": lambda xp, x: xp.zeros_like(x),
    "ones_like": lambda xp, x: xp.ones_like(x),
    "full_like": lambda xp, x: xp.full_like(x, 1),
    "empty_like": lambda xp, x: xp.zeros_like(xp.empty_like(x)),
    "meshgrid": lambda xp, x: xp.meshgrid(xp.reshape(x, (-1,)), _ends(xp, x)),
    "asarray": lambda xp, x: xp.asarray(x, copy=True),
    "from_dlpack": lambda xp, x: xp.from_dlpack(x, copy=True),
    "astype": lambda xp, x: xp.astype(x, xp.complex128),
}

WITHOUT_ARRAYS = {
    *("zeros", "ones", "empty", "full", "arange", "linspace", "eye", "broadcast_shapes"),
    *("can_cast", "finfo", "iinfo", "isdtype", "promote_types", "result_type"),
    "__array_namespace_info__",
}


def same(one: Any, other: Any) -> bool:
    """Whether two results have the same dtypes, shapes and bits."""
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    bits = [np.asarray(x).tobytes() for x in (one, other)]
    return one.dtype is other.dtype and one.shape == other.shape and bits[0] == bits[1]


def tried(recipe: Recipe, x: Any) -> Any:
    """The result, or the reason why there is none; warnings of NumPy are not looked at."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return recipe(pa, x)
        except (pa.PromotionError, ValueError, IndexError) as error:
            return type(error)


def arrays(dtype: DType, shape: tuple[int, ...]) -> pa.PArray:
    values = np.resize([1, 0, 1, 1, 0], shape) if np.prod(shape) else np.zeros(shape)
    return pa.astype(pa.asarray(values), dtype)


def test_every_function_has_a_recipe() -> None:
    chapters = (
        *(pa.broadcasting, pa.creation, pa.data_types, pa.elementwise, pa.indexing, pa.info),
        *(pa.joining, pa.linear_algebra, pa.manipulation, pa.ranges, pa.searching, pa.sets),
        *(pa.grids, pa.sorting, pa.statistical, pa.utility),
    )
    names = {name for chapter in chapters for name in chapter.__all__}
    assert names - set(RECIPES) == WITHOUT_ARRAYS


SUMMED = {"mean", "std", "var"}
"""NumPy sums up in the order of memory, and what is summed here is not exact."""

VECTORIZED = {
    *("tan", "sinh", "cosh", "asin", "acos", "atan", "asinh", "acosh", "atanh", "atan2", "pow"),
    *("exp", "expm1", "log", "log1p", "log2", "log10"),
}
"""NumPy's loops for AVX-512 take no array backwards, and its others round otherwise."""


@cache
def rounds_backwards_otherwise() -> bool:
    """Whether NumPy has such loops on this machine."""
    x = np.linspace(0.01, 0.99, 999, dtype=np.float32)
    return not np.array_equal(np.tan(x[::-1])[::-1], np.tan(x))


def inexact(name: str) -> bool:
    """Whether NumPy's bits depend on how an array lies in memory."""
    return name in SUMMED or (name in VECTORIZED and rounds_backwards_otherwise())


def close(one: Any, other: Any) -> bool:
    steps = 4 * pa.finfo(one.dtype).eps
    return bool(np.allclose(one.tolist(), other.tolist(), rtol=steps, atol=0))


LYING: dict[str, Callable[[Any], Any]] = {
    "transposed": lambda x: x.mT,
    "strided": lambda x: x[::2, 1:],
    "reversed": lambda x: x[::-1, ::-1],
    "broadcast": lambda x: pa.broadcast_to(x[:1], x.shape),
    "a column": lambda x: x[:, 1],
}


@pytest.mark.parametrize("lying", LYING)
def test_how_an_array_lies_in_memory_changes_nothing(lying: str) -> None:
    wrong = []
    for turn, dtype in enumerate(CONCRETE, [*LYING].index(lying)):
        x = LYING[lying](arrays(dtype, (4, 3)))
        copied = pa.asarray(x, copy=True)
        assert not np.asarray(x).flags.c_contiguous or lying == "broadcast"
        for name, recipe in turns(RECIPES.items(), 4, turn):  # dtypes and layouts take turns
            ours, plain = tried(recipe, x), tried(recipe, copied)
            if isinstance(ours, type) or isinstance(plain, type):
                fine = ours is plain
            else:
                fine = same(ours, plain) or (inexact(name) and close(ours, plain))
            if not fine:
                wrong.append((name, dtype.code, ours, plain))
    assert wrong == []


WIDE = {Kind.FLOAT: dt.float32, Kind.COMPLEX: dt.complex64, Kind.INT: dt.int8, Kind.UINT: dt.uint8}
NARROW = [d for d in CONCRETE if d.bits < (32 if d.kind is Kind.FLOAT else 8)] + [dt.complex32]

# They look at the format itself, or are cast to no dtype of it.
OF_THE_FORMAT = {"nextafter", "astype"}


@pytest.mark.parametrize("dtype", NARROW, ids=str)
def test_narrow_dtypes_answer_as_wide_ones_rounded_once(dtype: DType) -> None:
    wrong = []
    for shape in ((2, 3), (), (0, 3), (4,)):
        x = arrays(dtype, shape)
        wide = pa.astype(x, WIDE[dtype.kind])
        # All functions of a matrix; with other shapes the dtypes take turns.
        part = 1 if shape == (2, 3) else 4
        for name, recipe in turns(RECIPES.items(), part, NARROW.index(dtype)):
            ours, theirs = tried(recipe, x), tried(recipe, wide)
            if name == "clip" and dtype is dt.float8_e8m0fnu:
                continue  # the bound 0 is NaN there
            if name in OF_THE_FORMAT or isinstance(ours, type) or isinstance(theirs, type):
                fine = ours is theirs or name in OF_THE_FORMAT
            else:
                fine = _rounds_to(ours, theirs)
            if not fine:
                wrong.append((name, shape, ours, theirs))
    assert wrong == []


def _rounds_to(ours: Any, theirs: Any) -> bool:
    if isinstance(ours, tuple):
        return all(map(_rounds_to, ours, theirs))
    return repr(pa.astype(theirs, ours.dtype)) == repr(ours)


@pytest.mark.parametrize("shape", [(), (0,), (0, 3), (3, 0), (1,)], ids=str)
def test_shapes_are_numpys_for_arrays_without_axes_or_elements(shape: tuple[int, ...]) -> None:
    xp = pytest.importorskip("array_api_compat.numpy")
    wrong = []
    for dtype in (dt.float32, dt.int8, dt.bool, dt.bfloat16):
        x = arrays(dtype, shape)
        buffer = np.asarray(x.astype(pa.float32) if dtype is dt.bfloat16 else x)
        for name, recipe in RECIPES.items():
            ours = tried(recipe, x)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    theirs = recipe(xp, buffer)
                except (TypeError, ValueError, IndexError, AttributeError):
                    theirs = None
            if theirs is None or isinstance(ours, type):
                fine = theirs is None or name in STRICTER
            else:
                fine = _shapes(ours) == _shapes(theirs)
            if not fine:
                wrong.append((name, dtype.code, ours, theirs))
    assert wrong == []


# The standard wants an axis here; NumPy makes a 0-d array one-dimensional.
STRICTER = {"sort", "argsort", "cumulative_sum", "cumulative_prod", "subtract", "x[mask]", "take"}
STRICTER |= {"tril", "triu"}  # of matrices only


def _shapes(result: Any) -> Any:
    if isinstance(result, (tuple, list)):
        return [_shapes(r) for r in result]
    return np.shape(np.asarray(result))


REFUSING = ["jax", "torch", "tensorflow", "paddle", "aclnn", "onnx"]


@pytest.mark.parametrize("policy", REFUSING)
def test_what_a_policy_does_not_compute_is_refused_with_a_reason(policy: str) -> None:
    xp, wrong = pa.namespace(policy), []
    for turn, dtype in enumerate(CONCRETE, REFUSING.index(policy)):
        x = xp.asarray(arrays(dtype, (2, 3)))
        for name, recipe in turns(RECIPES.items(), 4, turn):  # dtypes and policies take turns
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    recipe(xp, x)
                except ZeroDivisionError:  # an integer by zero, where the framework refuses that
                    assert name in ("divide", "floor_divide", "fmod", "remainder")
                except pa.PromotionError as error:
                    if policy not in str(error):
                        wrong.append((name, dtype.code, str(error)))
                except Exception as error:
                    wrong.append((name, dtype.code, repr(error)))
    assert wrong == []


@pytest.mark.parametrize("dtype", CONCRETE, ids=str)
def test_every_dtype_prints_and_converts(dtype: DType) -> None:
    x = arrays(dtype, (2, 3))
    values = x.tolist()
    assert repr(x).startswith("PArray([[")
    assert f"dtype={dtype.name}" in repr(x)
    assert isinstance(values[0][0], (bool, int, float, complex))
    zero_d = x[0, 0]
    assert zero_d.item() == 1
    assert bool(zero_d) is True
    assert complex(zero_d) == 1
    if dtype.kind is not Kind.COMPLEX:
        assert (int(zero_d), float(zero_d)) == (1, 1.0)
        assert f"{zero_d.astype(pa.float64):.2f}" == "1.00"
    long = repr(arrays(dtype, (2000,)))
    assert "..." in long
    assert len(long) < 300
