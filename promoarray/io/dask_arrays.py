"""Dask's arrays in and out, and what an array has besides while it is lazy.

Dask's collection protocol is among the latter: an array in memory has none of it, so that
``hasattr(x, "__dask_graph__")`` and ``dask.is_dask_collection(x)`` tell them apart, as Dask, xarray
and ``distributed`` do.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pickle import PicklingError
from typing import TYPE_CHECKING, Any

from promoarray.backends import backend_of, on_device
from promoarray.core.array_base import type_of
from promoarray.core.asarray import asarray
from promoarray.dtypes import BY_CODE, DType
from promoarray.errors import UnknownPolicyError, kind_of, quoted
from promoarray.parray import PArray, array_type, rebuild
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import registered_name

if TYPE_CHECKING:
    from promoarray.core.array_base import TypeRecord

    Told = tuple[int, TypeRecord] | None
    """What an observer has told of an array's type, and the process that it observes."""


def from_dask(x: Any, /) -> PArray:
    """Wrap a Dask array: lazy, with its chunks, and every operation under the policy.

    Parameters
    ----------
    x : dask.array.Array, any shape
        Of a dtype of NumPy's or ml_dtypes'. Of codes that Dask holds for a dtype without a name
        there, write ``pa.from_dask(codes).view(pa.float8_e4m3fn)``.

    Returns
    -------
    PArray
        Of the shape and the chunks of ``x``. Nothing is computed. What is written to it is not
        written to ``x``.

    Raises
    ------
    TypeError
        If it is no Dask array, or promoarray has no dtype for it.

    Examples
    --------
    >>> import dask.array as da
    >>> from_dask(da.ones((4, 6), chunks=2)) + 1
    PArray(<lazy, shape (4, 6), chunks of (2, 2)>, dtype=float64)
    """
    if not isinstance(x, on_device("dask").Array):
        raise TypeError(
            f"from_dask takes a dask.array.Array, not {kind_of(x)}; write pa.asarray(x)"
        )
    made: PArray = asarray(x)
    return made


# --- What a lazy array has -----------------------------------------------------------------------


def to_dask(x: PArray) -> Any:
    """The Dask array, of NumPy's or ml_dtypes' dtype of that name; nothing is computed.

    ml_dtypes' do not cross every wire: ``distributed`` does not read back the float8_e5m2 it sent.
    ``x.view(pa.uint8).to_dask()`` are the codes, which do.
    """
    return backend_of(x._buffer).exported(x._buffer, x.dtype)


def compute(x: PArray, **options: Any) -> PArray:
    """The array in memory: of NumPy, whatever library the blocks are of.

    Options, such as ``scheduler="threads"``, are those of Dask's own ``compute``.
    """
    values = backend_of(x._buffer).to_numpy(x._buffer, x.dtype, **options)
    return x._wrap(values, x._type)


def persist(x: PArray, **options: Any) -> PArray:
    """The array with its blocks computed, where they are computed; options as of ``compute``."""
    return x._wrap(backend_of(x._buffer).persisted(x._buffer, **options), x._type)


def rechunk(x: PArray, *args: Any, **options: Any) -> PArray:
    """The array in other chunks, as Dask's ``rechunk`` takes them."""
    return _in_place_of(x, x._buffer.array.rechunk(*args, **options))


def compute_chunk_sizes(x: PArray) -> PArray:
    """Compute the lengths that are not known, so that the shape is; returns the array itself."""
    backend_of(x._buffer).measure(x._buffer)
    return x


def _in_place_of(x: PArray, array: Any) -> PArray:
    """An array of the same type over another Dask array of codes."""
    return x._wrap(type(x._buffer)(array), x._type)


# --- Dask's collection protocol ------------------------------------------------------------------


def postcompute(x: PArray) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """What makes an array of the blocks, as a task of its own: on a cluster a worker runs it."""
    told = None if type(x._type) is DType else (os.getpid(), x._type)
    return finalized, (_named(x._policy), type_of(x._type).code, x.dtype.code, told)


Named = str | tuple[str, int, int] | None
"""A policy by its name; one that is not registered also by this process, and its number here."""

_unregistered: list[Policy] = []


def _named(policy: Policy | None) -> Named:
    """How a policy is found when an array comes back that is bound to it."""
    if policy is None:
        return None
    try:
        return registered_name(policy, "the array is bound to")
    except PicklingError:
        if not any(policy is each for each in _unregistered):
            _unregistered.append(policy)
        number = next(i for i, each in enumerate(_unregistered) if policy is each)
        return policy.name, os.getpid(), number


def finalized(blocks: Any, policy: Named, code: str, stored: str, told: Told = None) -> Any:
    """An array in memory of nested lists of blocks."""
    values = on_device("dask").joined(blocks, BY_CODE[stored])
    kept = policy, values, code, stored, told
    if told is not None and told[0] != os.getpid():  # it is the client that observes
        return Travelling(*kept)
    try:
        return returned(*kept)
    except UnknownPolicyError:
        return Travelling(*kept)


def returned(policy: Named, values: Any, code: str, stored: str, told: Told = None) -> PArray:
    """An array of values, bound to a policy by what ``_named`` gave.

    Raises UnknownPolicyError if this process does not know the policy.
    """
    if not isinstance(policy, tuple):
        made = rebuild(policy, values, code, stored)
        return made if told is None else made._wrap(made._buffer, told[1])
    name, process, number = policy
    if process != os.getpid():
        raise UnknownPolicyError(
            f"the policy {quoted(name)}, which the array is bound to, is registered in no process"
        )
    label = BY_CODE[code] if told is None else told[1]
    bound: PArray = array_type(_unregistered[number])._wrap(values, label)
    return bound


class Travelling:
    """An array on a worker that does not know what the client does: its policy, its observers."""

    def __init__(self, *kept: Any) -> None:
        self._kept = kept

    def __reduce__(self) -> tuple[Any, ...]:
        return returned, self._kept


def postpersist(x: PArray) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """What makes an array of the keys of computed blocks."""
    make, args = x._buffer.array.__dask_postpersist__()

    def made(graph: Any, *given: Any, **options: Any) -> PArray:
        return _in_place_of(x, make(graph, *given, **options))

    return made, args


def tokenized(x: PArray) -> tuple[Any, ...]:
    """What is the same for arrays that are computed alike."""
    return "promoarray.PArray", x._buffer.array.name, type_of(x._type).code, _named(x._policy)


_OF_DASK = """
chunks chunksize numblocks npartitions visualize
__dask_graph__ __dask_keys__ __dask_layers__ __dask_optimize__ __dask_scheduler__
"""
"""Attributes of the Dask array below."""


def _of_array(name: str) -> Callable[[PArray], Any]:
    return lambda x: getattr(x._buffer.array, name)


def _method(function: Callable[..., Any]) -> Callable[[PArray], Any]:
    return lambda x: partial(function, x)


_METHODS = to_dask, compute, persist, rechunk, compute_chunk_sizes

ATTRIBUTES: dict[str, Callable[[PArray], Any]] = {
    **{function.__name__: _method(function) for function in _METHODS},
    **{name: _of_array(name) for name in _OF_DASK.split()},
    "__dask_tokenize__": _method(tokenized),
    "__dask_postcompute__": _method(postcompute),
    "__dask_postpersist__": _method(postpersist),
}
"""What a lazy array answers besides, by name: a function of the array that gives the attribute."""
