"""The functions of the array API standard, one module per chapter.

A chapter is loaded when one of its names is first asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from promoarray.parray import PArray

_CHAPTERS = """
broadcasting    broadcast_arrays broadcast_shapes broadcast_to
creation        asarray empty empty_like from_dlpack full full_like ones ones_like
creation        zeros zeros_like
data_types      astype can_cast finfo iinfo isdtype promote_types result_type
elementwise     abs acos acosh add asin asinh atan atan2 atanh bitwise_and
elementwise     bitwise_invert bitwise_left_shift bitwise_or bitwise_right_shift
elementwise     bitwise_xor ceil clip conj copysign cos cosh divide equal exp
elementwise     expm1 floor floor_divide fmax fmin fmod greater greater_equal hypot
elementwise     imag isfinite isinf isnan less less_equal log log1p log2 log10
elementwise     logaddexp logical_and logical_not logical_or logical_xor maximum
elementwise     minimum multiply negative nextafter not_equal positive pow real
elementwise     reciprocal remainder round sign signbit sin sinh sqrt square
elementwise     subtract tan tanh trunc
grids           eye meshgrid tril triu
indexing        take take_along_axis
info            __array_namespace_info__
joining         concat stack unstack
linear_algebra  matmul matrix_transpose tensordot vecdot
manipulation    expand_dims flip moveaxis permute_dims repeat reshape roll squeeze
manipulation    tile
ranges          arange linspace
searching       argmax argmin count_nonzero nonzero searchsorted where
sets            isin unique_all unique_counts unique_inverse unique_values
sorting         argsort sort
statistical     cumulative_prod cumulative_sum max mean min prod std sum var
utility         all any diff
"""
_ROWS = [row.split() for row in _CHAPTERS.strip().splitlines()]
HOMES = {name: f"promoarray.functions.{chapter}" for chapter, *names in _ROWS for name in names}
"""From a function to the module that has it."""


class _Functions:
    """The functions by name, each found in its chapter when it is first asked for."""

    def __getattr__(self, name: str) -> Callable[..., PArray]:
        if name not in HOMES:
            raise AttributeError(name)
        function: Callable[..., PArray] = getattr(import_module(HOMES[name]), name)
        setattr(self, name, function)  # so that the next look-up is direct
        return function


xp = _Functions()
"""For what is made of them: methods of arrays, and functions beyond the standard."""
