"""What moves values and computes none: a function of the backend, under every policy alike."""

from __future__ import annotations

from typing import Any, TypeVar

from promoarray.backends import backend_of

Array = TypeVar("Array", bound=Any)


def moved(name: str, array: Array, *args: Any, **kwargs: Any) -> Array:
    """Run a function that moves values; dtype, weakness and binding stay."""
    buffer = backend_of(array._buffer).move(name, array._buffer, *args, **kwargs)
    out: Array = array._wrap(buffer, array._type)
    return out
