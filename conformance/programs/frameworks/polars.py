"""Polars: operators and functions are expressions over the columns of a frame.

Arrays of other than one axis, and results with nulls, are not asked.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from programs.frameworks import Framework
from programs.frameworks.boxed import boxed, of_boxes
from programs.program import words

NAMES = {f"{'u' * u}int{n}": f"{'U' * u}Int{n}" for u in (0, 1) for n in (8, 16, 32, 64)}
DTYPES = {"bool": pl.Boolean, **{name: getattr(pl, theirs) for name, theirs in NAMES.items()}}
DTYPES |= {"float32": pl.Float32, "float64": pl.Float64}
UNARY = {name: f"x.{name}()" for name in words("sin cos tan exp log sqrt floor ceil abs sign")}
UNARY |= {"negative": "x.neg()", "isnan": "x.is_nan()", "isfinite": "x.is_finite()"}
UNARY |= {"cumulative_sum": "x.cum_sum()", "cumulative_prod": "x.cum_prod()"}
REDUCED = {name: f"x.{name}()" for name in words("sum mean max min")} | {"prod": "x.product()"}


def compute(text: str, *values: Any) -> Any:
    """Run an expression of ``x`` and ``y``."""
    shapes = {np.shape(v) for v in values if isinstance(v, (np.ndarray, np.generic))}
    if len(shapes) != 1 or len(next(iter(shapes))) != 1:
        raise NotImplementedError("asked of columns")
    names = dict(zip("xyz", values, strict=False))
    frame = pl.DataFrame(
        {n: pl.Series(v, dtype=DTYPES[v.dtype.name]) for n, v in names.items() if np.ndim(v)}
    )
    operands = {n: pl.col(n) if np.ndim(v) else v for n, v in names.items()}
    result = frame.select(eval(text, {"pl": pl}, operands).alias("z"))["z"]
    if result.null_count() or result.dtype == pl.Int128 or result.dtype == pl.Float16:
        raise NotImplementedError("a null, or no dtype of promoarray's")
    array = result.to_numpy()
    return array[0] if text in REDUCED.values() else array


Array = boxed(compute, "+ - * / // % ** & | ^ == != < <= > >= ~")


def _function(text: str) -> Any:
    def called(x: Any, *, axis: Any = None) -> Any:
        if axis not in (None, 0, -1):
            raise NotImplementedError("of one axis")
        return Array(compute(text, x.value))

    return called


def _astype(x: Any, dtype: Any) -> Any:
    kinds = x.value.dtype.kind, dtype
    if kinds[0] in "fiu" and dtype.is_integer():  # what does not fit is an error there
        fits = pl.Series(np.ravel(x.value)).cast(dtype, strict=False)
        if fits.null_count():
            raise NotImplementedError("refused by its value")
    return Array(compute(f"x.cast(pl.{dtype})", x.value))


def framework(edition: str) -> Framework:
    """The installed Polars."""
    return of_boxes(
        Array,
        version=f"polars {pl.__version__}",
        policy="polars@2.1",
        functions={n: _function(t) for n, t in (UNARY | REDUCED).items()} | {"astype": _astype},
        dtypes=DTYPES,
    )
