"""Operands of a NumPy program, as abstract arrays and Python scalars."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from promoarray.diagnostics.record.recorder import Recorder, Result
from promoarray.dtypes import CONCRETE, WEAK, DType
from promoarray.operations import Form

ARRAYS = np.ndarray, np.generic

_BY_NAME = {
    np.dtype(row.storage).name: row for row in CONCRETE if row.storage is not None and row.bits >= 8
}
_KNOWN: dict[Any, DType | None] = {}


def dtype_of(x: Any) -> DType | None:
    """The dtype of an array or scalar of NumPy's; None if it is no number of a known format."""
    given = x.dtype
    found = _KNOWN.get(given, ...)
    if found is ...:
        found = _KNOWN[given] = None if given.names else _BY_NAME.get(given.name)
    return found


def form_of(name: str, first: Any, form: Form) -> Form:
    """How an operator is written.

    Of a scalar ``**`` looks for a loop, as ``np.power`` does; of an array it may be a square.
    """
    return Form.FUNCTION if name == "pow" and isinstance(first, np.generic) else form


def operand_of(recorder: Recorder, x: Any) -> Any:
    """An abstract array or a Python scalar; None if it is neither an array nor a number."""
    if type(x) in WEAK:
        return x
    if isinstance(x, ARRAYS):
        dtype = dtype_of(x)
        if dtype is None:
            return None
        return recorder.abstract(x, dtype, x.ndim, x.item if x.ndim == 0 else None)
    kinds: tuple[Any, ...] = int, float, complex
    return next((kind(x) for kind in kinds if isinstance(x, kind)), None)  # an IntEnum, and such


def array_of(recorder: Recorder, x: Any, least: int = 0) -> Any:
    """An operand; of a list the array that NumPy makes of it, of so many axes at least."""
    if isinstance(x, np.flatiter):
        x = x.base
    if least and type(x) in WEAK:
        x = np.asarray(x)
    elif isinstance(x, (list, tuple, range)):
        try:
            x = np.asarray(x)
        except (ValueError, TypeError, OverflowError):
            return None
    if least and isinstance(x, ARRAYS) and x.ndim < least:
        dtype = dtype_of(x)
        return dtype and recorder.abstract(x, dtype, least)
    return operand_of(recorder, x)


def result_of(x: Any) -> Result | None:
    """An array that was made; None if it is none."""
    if not isinstance(x, ARRAYS):
        return None
    dtype = dtype_of(x)
    return None if dtype is None else Result(x, dtype, x.ndim)


def results_of(x: Any) -> list[Result]:
    """The arrays that a call made."""
    found = (result_of(each) for each in (x if isinstance(x, (list, tuple)) else (x,)))
    return [each for each in found if each is not None]


def flat(values: Any) -> Iterator[Any]:
    """What lists of lists hold; of a range a number like those it has."""
    for x in values:
        if isinstance(x, (list, tuple)):
            yield from flat(x)
        else:
            yield 0 if isinstance(x, range) else x


def as_taken(values: Sequence[Any]) -> Sequence[Any]:
    """Operands as NumPy takes them: beside a masked array numbers are arrays without axes."""
    for x in values:
        if isinstance(x, np.ma.MaskedArray):
            return [np.asarray(x) if type(x) in WEAK else x for x in values]
    return values
