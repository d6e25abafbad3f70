"""What moves values and computes none: a function of the backend, and what policies say of it."""

from __future__ import annotations

from typing import Any, TypeVar

from promoarray.backends import backend_of
from promoarray.core.array_base import Array, storage_dtype
from promoarray.core.operands import array_class
from promoarray.errors import PromotionError, quoted
from promoarray.promotion.in_force import get_policy
from promoarray.promotion.plan import Operand

AnyArray = TypeVar("AnyArray", bound=Array)


def moved(name: str, array: AnyArray, *args: Any, **kwargs: Any) -> AnyArray:
    """Run a function that moves values; dtype, weakness and binding stay."""
    buffer = backend_of(array._buffer).move(name, array._buffer, *args, **kwargs)
    return array._wrap(buffer, array._type)


def require_taken(name: str, *arrays: Array) -> None:
    """Refuse arrays of dtypes that the policy's function does not take.

    Raises
    ------
    PromotionError
        With their dtypes as its operands.
    TypeError
        If they are bound to two namespaces.
    """
    policy = array_class(arrays)._policy or get_policy()
    if name not in policy.refuses:
        return
    dtypes = tuple(map(storage_dtype, arrays))
    why = policy.refuses[name](dtypes)
    if why:
        shown = f"{name}({', '.join(dtype.name for dtype in dtypes)})"
        message = f"policy {quoted(policy.name)} has no {shown}: {why}"
        raise PromotionError(message, policy, name, tuple(map(Operand, dtypes)), why)


def picked(array: AnyArray, key: Any) -> AnyArray:
    """``array[key]``; one element lies in the array's memory or its own, as the policy has it."""
    buffer = array._buffer
    if _is_one(key, buffer.ndim) and "item" not in (array._policy or get_policy()).copies:
        key = (*key, ...) if type(key) is tuple else (key, ...)
    return array._wrap(backend_of(buffer).read(buffer, key), array._type)


def _is_one(key: Any, ndim: int) -> bool:
    """Whether a key is an integer for every axis."""
    if type(key) is tuple:
        return len(key) == ndim and all(type(part) is int for part in key)
    return type(key) is int and ndim == 1
