"""Executables of functions that make arrays of Python's numbers: what was made is at hand.

Only of NumPy's buffers, where nobody observes: observers hear of each array.
"""

from __future__ import annotations

from collections.abc import Callable
from marshal import dumps
from typing import Any

import numpy as np

from promoarray.backends.numpy import write
from promoarray.core.array_base import Array
from promoarray.core.executable_cache import Executable, keep_function
from promoarray.dtypes import WEAK, DType
from promoarray.promotion.in_force import get_policy

Buffer = Any
Make = Callable[..., "Buffer | None"]
"""From what a function is given besides a dtype to a buffer; None, or an exception, leaves it to
the function."""


class BufferCache:
    """Buffers that were made of numbers: a program asks for the same few again and again."""

    def __init__(self, *_: object) -> None:
        self._buffers: dict[bytes, Buffer] = {}

    def find(self, *numbers: Any) -> Buffer | None:
        """The buffer made of these numbers, of their classes and to the bit."""
        return self._buffers.get(dumps(numbers, _WITHOUT_REFERENCES))

    def copy(self, *numbers: Any) -> Buffer | None:
        """A copy of it."""
        found = self.find(*numbers)
        return None if found is None else found.copy()

    def fill(self, shape: Any, number: Any) -> Buffer | None:
        """A new buffer of what was made of a number."""
        value = self.find(number)
        if value is None:
            return None
        out = np.empty(shape, value.dtype)
        write(out, ..., value)
        return out

    def keep(self, buffer: Buffer, *numbers: Any) -> None:
        """Keep what is short, and nobody else writes to."""
        if buffer.nbytes > _SHORT:
            return
        if len(self._buffers) >= _MOST:
            self._buffers.clear()
        kept = buffer.copy()
        kept.flags.writeable = False
        self._buffers[dumps(numbers, _WITHOUT_REFERENCES)] = kept


_MOST, _SHORT = 256, 1 << 10
_WITHOUT_REFERENCES = 2
"""The version of ``marshal`` whose bytes hang on values alone."""


def keep_made(
    name: str,
    given: tuple[Any, ...],
    numbers: tuple[Any, ...],
    asked: object,
    out: Array,
    make: Make,
) -> None:
    """Keep what a function has made of numbers, and that it was kept.

    What it makes of numbers of some classes may hang on their values: then only what is of the
    first one's dtype. ``given`` are the arguments by position, ``numbers`` what the buffer hangs
    on, ``make`` is a method of a new ``BufferCache``, which makes buffers of such arguments.
    """
    if any(type(number) not in WEAK for number in numbers):
        return
    policy, result = out._policy or get_policy(), out._type
    executable = Executable(make, (), result, ())
    known = keep_function(policy, name, given, asked, executable)
    if known is not None and known.result is result:
        known.run.__self__.keep(out._buffer, *numbers)


def keep_copy(name: str, given: tuple[Any, ...], asked: object, out: Array) -> None:
    """Keep what a function has made of numbers alone, so that it is copied the next time: where
    none of them is so large that NumPy may have warned of it."""
    small = [type(n) is int or (type(n) is float and abs(n) <= _HELD_BY_FLOAT16) for n in given]
    if isinstance(out._type, DType) and all(small):
        keep_made(name, given, given, asked, out, BufferCache().copy)


_HELD_BY_FLOAT16 = 60000.0
"""Of what is beyond 65504, the largest float16, NumPy may warn."""
