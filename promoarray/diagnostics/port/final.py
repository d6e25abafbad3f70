"""The numbers that a program ends with, and where two ends differ."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from promoarray.backends import backend_of
from promoarray.core import host
from promoarray.core.array_base import Array, storage_dtype
from promoarray.diagnostics.model.values import distance
from promoarray.diagnostics.port.tensors import array_of, state_of
from promoarray.dtypes import Kind

DEPTH, MOST, LARGE = 4, 5000, 1 << 24
"""How deep containers are looked into, how many values are kept, and elements of each."""


class Final(NamedTuple):
    """A number or an array that a program ends with.

    Attributes
    ----------
    type : str
        The dtype of an array, or the type of a number.
    shape : tuple of int
    values : numpy.ndarray or None
        None of an array that is too large to be kept.
    digest : bytes
        Of such an array.
    """

    type: str
    shape: tuple[int, ...]
    values: Any
    digest: bytes = b""

    def __str__(self) -> str:
        return f"{self.type}{list(self.shape) if self.shape else ''}"


class Unequal(NamedTuple):
    """A value that two runs do not end with alike.

    Attributes
    ----------
    name : str
    dtype : bool
        Whether the dtypes differ; else the values do.
    words : str
    """

    name: str
    dtype: bool
    words: str


def final_values(names: dict[str, Any]) -> dict[str, Final]:
    """Return what a program's globals are, those in containers and objects of its own, too."""
    found: dict[str, Final] = {}
    for name, value in list(names.items()):
        if not name.startswith("_"):
            for path, each in _leaves(name, value, DEPTH, set()):
                if len(found) >= MOST:
                    return found
                found[path] = each
    return found


def _leaves(path: str, value: Any, depth: int, above: set[int]) -> Iterator[tuple[str, Final]]:
    kind = type(value)  # not isinstance, which asks the value for its class: anything may answer
    if issubclass(kind, Array):
        buffer, dtype = value._buffer, storage_dtype(value)
        yield path, _final(dtype.name, _on_host(buffer, dtype))
    elif kind in (bool, int, float, complex):
        yield path, _number(kind.__name__, value)
    elif issubclass(kind, np.generic) or kind is np.ndarray:
        if value.dtype.kind in "biufcV" and value.dtype.names is None:
            yield path, _final(f"numpy {value.dtype}", np.asarray(value))
    elif (made := array_of(value, kind)) is not None:
        yield path, _final(*made)
    elif depth and id(value) not in above:
        for key, inner in _parts(value, kind):
            yield from _leaves(f"{path}{key}", inner, depth - 1, above | {id(value)})


def _parts(value: Any, kind: type) -> list[tuple[str, Any]]:
    """What a container or an object of the program holds, with how to get there."""
    if kind is dict:
        items = list(value.items())
        return [(f"[{key!r}]", each) for key, each in items if type(key) in (str, int)]
    if kind in (list, tuple):
        return [(f"[{n}]", each) for n, each in enumerate(value)]
    state = state_of(value, kind)
    if state is not None:
        return [(f".{key}", each) for key, each in state.items()]
    if kind.__module__ != "__main__" or issubclass(kind, (type, ModuleType, FunctionType)):
        return []
    try:
        held = object.__getattribute__(value, "__dict__")
    except AttributeError:  # it has slots
        return []
    return [(f".{key}", each) for key, each in list(held.items())]


def _on_host(buffer: Any, dtype: Any) -> Any:
    array = backend_of(buffer).to_numpy(buffer, dtype)
    if dtype.kind is Kind.STRING:
        return np.asarray(array, dtype="U")
    return host.decoded(array, dtype)


def _number(kind: str, value: Any) -> Final:
    try:
        return Final(kind, (), np.asarray(value))
    except (OverflowError, ValueError):
        return Final(kind, (), None, str(hash(value)).encode())


def _final(kind: str, array: Any) -> Final:
    if array.size > LARGE:
        digest = hashlib.sha256(np.ascontiguousarray(array).data).digest()
        return Final(kind, array.shape, None, digest)
    return Final(kind, array.shape, np.array(array))


def unequal(
    wanted: dict[str, Final], given: dict[str, Final], tolerance: float = 0.0
) -> list[Unequal]:
    """Return what two runs do not end with alike, in the order of the first.

    Values of floats may differ by ``tolerance`` times the largest of their array.
    """
    found = []
    for name in dict.fromkeys((*wanted, *given)):
        mine, its = wanted.get(name), given.get(name)
        if mine is None or its is None:
            words = f"{its}, not set in the run" if its else f"not set; {mine} in the run"
            found.append(Unequal(name, True, words))
        elif (mine.type, mine.shape) != (its.type, its.shape):
            found.append(Unequal(name, mine.type != its.type, f"{its} instead of {mine}"))
        elif words := _differences(mine, its, tolerance):
            found.append(Unequal(name, False, words))
    return found


def _differences(mine: Final, its: Final, tolerance: float) -> str:
    """Where the values of two ends differ, in words; "" where they do not."""
    if mine.values is None or its.values is None:
        return "" if mine.digest == its.digest else "other values"
    apart = distance(mine.values, its.values)
    if apart is None:
        return ""
    largest = apart.largest if apart.finite else None
    if tolerance and largest is not None and largest <= tolerance * apart.scale:
        return ""
    first = apart.first
    words = f"{its.values[first]} instead of {mine.values[first]}"
    if mine.shape:
        at = ", ".join(map(str, first))
        words = f"{apart.count} of {mine.values.size} values differ, first [{at}]: {words}"
        if largest is not None:
            words += f"; largest difference {largest:.3g}"
            words += f", {largest / apart.scale:.3g} of the largest" if apart.scale else ""
    return words
