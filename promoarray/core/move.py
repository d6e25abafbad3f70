"""What moves values and computes none: a function of the backend, under every policy alike."""

from __future__ import annotations

from typing import Any, TypeVar

from promoarray.backends import backend_of
from promoarray.core.array_base import Array

AnyArray = TypeVar("AnyArray", bound=Array)


def moved(name: str, array: AnyArray, *args: Any, **kwargs: Any) -> AnyArray:
    """Run a function that moves values; dtype, weakness and binding stay."""
    buffer = backend_of(array._buffer).move(name, array._buffer, *args, **kwargs)
    return array._wrap(buffer, array._type)
