"""Data that JAX narrows before it promotes anything, of which it has nothing to tell.

Without x64 it makes float32 of NumPy's float64 as they come in, and int32 of int64; and it makes
float32 where a program asks for float64. Where a program names another dtype it knows what it does,
and where the dtype of the result follows from none, as of indices, nothing comes of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from jax.tree_util import tree_leaves

from promoarray.diagnostics.calls.common import is_reflected, words
from promoarray.diagnostics.calls.jax import DEFAULTS
from promoarray.diagnostics.record.call import flat
from promoarray.diagnostics.record.handlers import Handler, cast, make
from promoarray.diagnostics.record.recorder import Entering
from promoarray.dtypes import BY_NAME, DType
from promoarray.promotion.policy import Policy

Arguments = tuple[tuple[Any, ...], Mapping[str, Any]]


def may_narrow(home: Policy, given: Arguments) -> bool:
    """Whether a call may be given what is narrowed, or name it: most are given JAX's arrays."""
    args, kwargs = given
    return bool(home.canonical) and any(isinstance(x, _OTHERS) for x in (*args, *kwargs.values()))


_OTHERS = np.ndarray, np.generic, list, tuple, dict, type, np.dtype, str


def into_call(home: Policy, name: str, handler: Handler, given: Arguments) -> Sequence[Entering]:
    """Return the arrays among the arguments of a function of JAX's that it narrows."""
    args, kwargs = given
    if name == "__getitem__" or handler in (cast, make):
        return ()
    if DEFAULTS.get(name) is not None or _dtype_named(args, kwargs) is not None:
        return ()
    if name in words("jax").moves:  # what else it takes are places
        first = words("jax").argument.get(name, 0)
        args, kwargs = args[: first + 1], {}
    parts = args[0] if args and isinstance(args[0], (list, tuple)) else args
    found = [each for i, x in enumerate(parts) for each in _wide(home, flat((x,)), _index(name, i))]
    return [*found, *_wide(home, flat(kwargs.values()), None)]


def into_function(home: Policy, given: Any) -> Sequence[Entering]:
    """Return the arrays that a function is given which JAX traces."""
    return list(_wide(home, tree_leaves(given), None)) if home.canonical else ()


def asked_for(home: Policy, given: Arguments) -> DType | None:
    """Return the dtype that a call names and that JAX narrows; None if it names no such."""
    named = _dtype_named(*given)
    return named if named in home.canonical else None


def _wide(home: Policy, values: Any, operand: int | None) -> Iterator[Entering]:
    for x in values:
        if isinstance(x, (np.ndarray, np.generic)):
            dtype = BY_NAME.get(x.dtype.name)
            if dtype is not None and dtype in home.canonical:
                yield Entering(x, dtype, operand)


def _index(name: str, argument: int) -> int | None:
    """Which operand an argument is, as it stands in the source; None if it is none of them."""
    if is_reflected(name):
        return 1 - argument
    return argument - 1 if name == "where" else argument


def _dtype_named(args: Sequence[Any], kwargs: Mapping[str, Any]) -> DType | None:
    for x in (kwargs.get("dtype"), *args):
        if isinstance(x, (type, np.dtype)) or (type(x) is str and x in BY_NAME):
            return BY_NAME.get(np.dtype(x).name)
    return None
