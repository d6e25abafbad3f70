"""The same bits under another dtype: ``PArray.view``."""

from __future__ import annotations

from typing import Any

from promoarray import dtypes as dt
from promoarray.backends import backend_of, is_lazy
from promoarray.dtypes import DType, Kind


def reinterpreted(buffer: Any, source: DType, target: DType) -> Any:
    """Return a buffer of one dtype as one of another, in the same memory.

    Raises
    ------
    ValueError
        If the widths differ, or a code does not fit a narrow dtype.
    """
    if Kind.STRING in (source.kind, target.kind):
        raise ValueError("strings have no bits to look at")
    if source.part is target.part and source is not target:
        return _in_parts(buffer, source, target)
    backend = backend_of(buffer)
    width = target.storage.itemsize
    if width != source.storage.itemsize:
        raise ValueError(
            f"x.view keeps the width: {source.name} and {target.name} are stored in "
            f"{source.storage.itemsize} and {width} bytes an element"
        )
    if is_lazy(backend):
        return backend.recoded(buffer, source, target)
    codes = buffer.view(f"u{width}") if width <= 8 else buffer
    most = 1 if target is dt.bool else (1 << target.bits) - 1
    narrows = source.bits > target.bits or target is dt.bool
    if narrows and codes.size and int(codes.max()) > most:
        raise ValueError(f"{target.name} has no code beyond {most}")
    return codes.view(backend.storage(target))


def _in_parts(buffer: Any, source: DType, target: DType) -> Any:
    """Complex numbers as pairs of floats along the last axis, or back."""
    if is_lazy(backend_of(buffer)):
        raise ValueError(
            f"x.view({target.name}) of a lazy array of {source.name} would change the lengths of "
            "its chunks; write pa.real(x) and pa.imag(x), or pa.astype(x, ...)"
        )
    try:
        return buffer.view(backend_of(buffer).storage(target))
    except ValueError:
        raise ValueError(
            f"x.view({target.name}) of {source.name} and shape {buffer.shape} needs pairs of "
            "floats side by side along the last axis; write x.copy() first if they are not"
        ) from None
