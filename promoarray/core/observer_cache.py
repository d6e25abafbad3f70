"""Cache of what an observer does with operations that are alike: they run and are counted by one
look-up.

The first time an operation goes the long way, which decides, compiles and tells. What the observer
answers, a ``Repeat``, is kept in its ``Repeats`` beside the executable, under all that its answer
hangs on. From then on nothing is decided and no event is made. Only where one observer listens:
each would need a result of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from promoarray.core.array_base import Array, type_of
from promoarray.core.events import Repeat, Repeats
from promoarray.core.executable import Executable
from promoarray.core.executable_cache import plain
from promoarray.core.observers import lone_observer
from promoarray.core.operands import looked_on
from promoarray.dtypes import NATIVE, WEAK
from promoarray.operations import Form
from promoarray.promotion.in_force import get_policy

Known = tuple[Executable, Repeat]
"""What runs when an operation is carried out again, and what the observer does then."""


class Lookup(NamedTuple):
    """Where an observer keeps what it made of an operation, and what is kept there."""

    repeats: Repeats
    key: tuple[Any, ...]
    array_class: Any
    known: Known | None

    def keep(self, executable: Executable, repeat: Repeat) -> None:
        """Keep what the observer answered."""
        self.repeats.keep(self.key, (executable, repeat))


def look_up(
    name: str, form: Form, operands: tuple[Any, ...], options: Mapping[str, Any]
) -> Lookup | None:
    """Return where an operation is kept; None where nothing is: not of operands of other libraries,
    nor where several observe."""
    observer = lone_observer()
    repeats = observer.repeats if observer is not None else None
    if repeats is None:
        return None
    cls: Any = None
    key: list[Any] = [name, form]
    for x in operands:
        kind = type(x)
        if kind is not cls:
            if kind in WEAK:
                key.append(repeats.scalar(x))
                continue
            if cls is not None or not issubclass(kind, Array):
                return None
            cls = kind
        buffer = x._buffer
        flat = not buffer.ndim
        key += x._type, buffer.dtype, type(buffer), flat
        if flat and repeats.by_value:
            key.append(repeats.scalar(_value(x)))
    if cls is None:
        return None
    if options:
        if not plain(options):
            return None
        if "low" in options:
            key += options["low"], options["high"]
    key.append(cls._policy or get_policy())
    found = tuple(key)
    return Lookup(repeats, found, cls, repeats.kept.get(found))


def _value(x: Array) -> Any:
    """The element of a 0-d array as a Python scalar."""
    plain = type(x._buffer) is np.ndarray and type_of(x._type) in NATIVE
    return x._buffer.item() if plain else looked_on(x)
