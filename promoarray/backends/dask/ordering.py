"""What sorts, finds and counts equal values: along an axis in one block, of sets in one block."""

from __future__ import annotations

from collections.abc import Callable
from math import nan
from typing import Any

import dask.array as da

from promoarray.backends.dask.tree import Results
from promoarray.backends.dask.whole import Labels, Signature, run
from promoarray.dtypes import DType


def sort(
    kernel: str, arrays: tuple[da.Array, ...], compute: DType, *, axis: int = -1, **options: Any
) -> Results:
    """Sort along an axis, or give the indices that do."""
    every = tuple(range(arrays[0].ndim))
    signature = Signature([every], [every], frozenset({every[axis]}))
    return run(kernel, arrays, compute, signature, axis=axis, **options)


def unique(kernel: str, arrays: tuple[da.Array, ...], compute: DType) -> Results:
    """Find the values that differ, whose number is known once they are computed."""
    every: Labels = tuple(range(arrays[0].ndim))
    found: Labels = ("found",)
    outputs: dict[str, list[Labels]] = {
        "unique_values": [found],
        "unique_counts": [found, found],
        "unique_inverse": [found, every],
        "unique_all": [found, found, every, found],
    }
    signature = Signature([every], outputs[kernel], frozenset(every), {"found": nan})
    return run(kernel, arrays, compute, signature)


def isin(
    kernel: str, arrays: tuple[da.Array, ...], compute: DType, *, invert: bool = False
) -> Results:
    """Tell which elements of the first array are among those of the second."""
    x, among = arrays
    every = tuple(range(x.ndim))
    those = tuple(f"among {a}" for a in range(among.ndim))
    signature = Signature([every, those], [every], frozenset(those))
    return run(kernel, arrays, compute, signature, invert=invert)


def searchsorted(
    kernel: str,
    arrays: tuple[da.Array, ...],
    compute: DType,
    *,
    sorter: da.Array | None = None,
    **options: Any,
) -> Results:
    """Find where values belong among sorted ones."""
    line, every = ("line",), tuple(range(arrays[1].ndim))
    named = () if sorter is None else ("sorter",)
    given = arrays if sorter is None else (*arrays, sorter)
    labels = [line, every, line][: len(given)]
    signature = Signature(labels, [every], frozenset(line))
    return run(kernel, given, compute, signature, named, **options)


GRAPHS: dict[str, Callable[..., Results]] = {
    "sort": sort,
    "argsort": sort,
    **dict.fromkeys(("unique_values", "unique_counts", "unique_inverse", "unique_all"), unique),
    "isin": isin,
    "searchsorted": searchsorted,
}
