"""The keys that ``x[key]`` takes, the same whatever holds the buffer."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from promoarray import dtypes as dt
from promoarray.backends import backend_of, is_lazy
from promoarray.backends.numpy.cast import caster
from promoarray.core.array_base import Array, storage_dtype
from promoarray.core.executable_cache import Executable, types_of
from promoarray.core.move import AnyArray, Move, require_taken, tell_taken
from promoarray.core.observers import observers_anywhere
from promoarray.core.operands import array_class, as_operand, entries, foreign_error, wrap
from promoarray.dtypes import BY_STORAGE, INTEGERS, Kind
from promoarray.errors import kind_of
from promoarray.operations import Form
from promoarray.promotion.foreign import Entry
from promoarray.promotion.in_force import get_policy
from promoarray.promotion.policy import Policy


def as_key(key: Any, x: Array) -> Any:
    """Return a key of ``x[key]`` as the backend of ``x`` takes it: arrays as buffers.

    Raises IndexError if it is, or holds, anything but integers, slices, Ellipsis, None, and arrays,
    lists or ranges of integers or bools; TypeError if an array in it is bound to another namespace
    than ``x``, or the policy takes no indices of its dtype.
    """
    if isinstance(key, tuple):
        return tuple(_part(part, x) for part in key)
    return _part(key, x)


def _part(key: Any, x: Array) -> Any:
    if key is None or key is Ellipsis or isinstance(key, (bool, slice)):
        return key
    given: tuple[Any, ...] = ()
    if isinstance(key, (np.generic, np.ndarray)):
        given, key = (None, key), _numpys(key, x)
    if isinstance(key, (int, np.integer)):
        if given and observers_anywhere:
            tell_taken(x._policy or get_policy(), "getitem", x, wrap(given[1]), given=given)
        if not -(1 << 63) <= key < 1 << 63:
            raise IndexError("an index of more than 64 bits is out of bounds for every axis")
        return int(key)
    try:
        index = as_operand(_listed(key) if isinstance(key, (list, range)) else key)
    except TypeError as error:  # an array of no dtype of ours
        raise IndexError(f"an index array is of integers or bools: {error}") from None
    if hasattr(index, "_buffer"):
        require_taken("getitem", x, index, given=given)
        policy, backend = array_class((x, index))._policy or get_policy(), backend_of(x._buffer)
        if storage_dtype(index) in policy.masks:
            buffer = _mask(index, backend)
        else:
            buffer = positions(index, backend)
        _keep(policy, x, index)
        return buffer
    if hasattr(type(key), "__index__"):
        return key.__index__()
    raise IndexError(
        "an index is an integer, a slice, ..., None, or an array of integers or bools, not "
        f"{kind_of(key)}"
    )


def _mask(index: Array, backend: Any) -> Any:
    """An index array as a buffer of bools."""
    home = backend_of(index._buffer)
    return _moved(home.cast(index._buffer, storage_dtype(index), dt.bool), backend, dt.bool)


def _numpys(key: Any, x: Array) -> Any:
    """An index of NumPy's as the policy takes it beside its own arrays: of ints some frameworks
    make their default integers, whatever they take of their own."""
    policy = x._policy or get_policy()
    if policy.foreign is None or key.dtype not in BY_STORAGE:
        return key
    _, way = entries(policy, "getitem", Form.OPERATOR, (x, key), (x, wrap(key)))
    if way is Entry.REFUSED:
        raise foreign_error(policy, "getitem", Form.OPERATOR, wrap(key))
    if way is not Entry.INT:
        return key
    return key.astype(np.int64) if key.ndim else int(key)


def _listed(key: list[Any] | range) -> Any:
    """A list as the array it means; an empty one means no elements."""
    try:
        return np.asarray(key) if key else np.empty(0, np.int64)
    except (ValueError, TypeError) as error:
        raise IndexError(f"a list as an index holds integers or bools: {error}") from None


def _keep(policy: Policy, x: Array, index: Array) -> None:
    """Keep how arrays of a type are indexed by those of another, as ``native/indexing.cpp`` looks
    it up: nothing refuses them, and the dtypes tell what becomes of the indices."""
    known = types_of(x, index)
    if known is None:
        return
    if ("getitem", *known, ...) in policy.executables:
        return
    source = storage_dtype(index)
    target = dt.bool if source in policy.masks else dt.int64
    as_index = Executable(None if source is target else caster(source, target), (), target, ())
    for name in ("getitem", "setitem"):
        policy.executables[name, *known, ...] = as_index


def positions(array: Any, backend: Any) -> Any:
    """Return an array of integers as a buffer of int64; errors as in ``positioner``."""
    as_positions = positioner(array, backend)
    return as_positions(array._buffer) if as_positions is not None else array._buffer


def positioner(array: Array, backend: Any) -> Callable[[Any], Any] | None:
    """What makes a buffer of int64 of the buffer of an array of integers; None if it is one.

    Raises IndexError if it is of another kind.
    """
    dtype, home = storage_dtype(array), backend_of(array._buffer)
    if dtype.kind not in INTEGERS:
        also = "" if dtype.kind is Kind.BOOL else " or bools"
        raise IndexError(f"an index array is of integers{also}, not {dtype.name}")
    if home is not backend:
        return lambda buffer: _moved(home.cast(buffer, dtype, dt.int64), backend, dt.int64)
    return None if dtype is dt.int64 else partial(home.cast, source=dtype, target=dt.int64)


def picking(pick: Callable[..., Any], array: AnyArray, index: Array) -> Move[AnyArray]:
    """A call that picks from an array by indices; errors as in ``positioner``."""
    as_positions = positioner(index, backend_of(array._buffer))
    if as_positions is None:
        return Move((array, index), pick)
    return Move((array, index), lambda buffer, index: pick(buffer, as_positions(index)))


def _moved(buffer: Any, backend: Any, dtype: dt.DType) -> Any:
    """Indices may lie on the CPU though the array does not. There they stay where the array is
    computed later, as the shape of the result hangs on them."""
    home = backend_of(buffer)
    if is_lazy(home) and not is_lazy(backend):
        raise IndexError(
            "an array in memory is not indexed by one that is computed later: write i.compute(), "
            "or x.to_device('dask')"
        )
    if home is backend or home.name != "numpy" or is_lazy(backend):
        return buffer
    return backend.from_numpy(buffer, dtype)
