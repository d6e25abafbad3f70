"""Functions of blocks as tasks carry them: all that they were compiled of, as data.

One travels to the worker with the version of promoarray that made it, and with the floating-point
state in force then (``numpy.errstate``), whichever thread or process it is run in. Nothing of a
policy goes with it but what the policy answered, so a worker needs no policy and asks for none.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import cloudpickle
import numpy as np

State = tuple[Any, ...]
"""What is done of a division by zero, an overflow, an underflow, and an invalid operation."""

DEFAULT: State = ("warn", "warn", "ignore", "warn")


class BlockExecutable:
    """A function that is made once a process, of what it carries: ``make`` makes the function of
    blocks of ``fields``, which can be pickled (dtypes, plans, tables of casts, options). ``token``
    is the same for what carries the same."""

    __slots__ = ("_content", "_function", "_state", "_version", "token")

    def __init__(self, make: Callable[..., Callable[..., Any]], *fields: Any) -> None:
        self._hold(_version(), cloudpickle.dumps((make, fields)), DEFAULT)

    def _hold(self, version: str, content: bytes, state: State) -> None:
        self._version, self._content, self._state = version, content, state
        told = content if state == DEFAULT else content + repr(state).encode()
        self.token = hashlib.blake2b(told, digest_size=16).hexdigest()
        self._function: Callable[..., Any] | None = None

    def in_state(self) -> BlockExecutable:
        """The same under the floating-point state in force here."""
        state = _state()
        return self if state == self._state else _carried(self._version, self._content, state)

    def __call__(self, *blocks: Any, computing_meta: bool = False, **options: Any) -> Any:
        if computing_meta:  # Dask asks what comes of nothing, which kernels may refuse
            return blocks[0]
        if self._function is None:
            self._function = _made(self._version, self._content)
        divide, over, under, invalid = self._state
        with np.errstate(divide=divide, over=over, under=under, invalid=invalid):
            return self._function(*blocks, **options)

    def __dask_tokenize__(self) -> str:
        return self.token

    def __reduce__(self) -> tuple[Any, ...]:
        return _carried, (self._version, self._content, self._state)


@lru_cache(maxsize=4096)
def executable(make: Callable[..., Callable[..., Any]], *fields: Any) -> BlockExecutable:
    """A ``BlockExecutable`` of fields that can be hashed: one object for the same."""
    return BlockExecutable(make, *fields)


def _carried(version: str, content: bytes, state: State) -> BlockExecutable:
    """Hold what has arrived. It is opened when it is called: a scheduler only hands it on."""
    found = object.__new__(BlockExecutable)
    found._hold(version, content, state)
    return found


def _state() -> State:
    """NumPy's; a function or log that the program has for it does not travel: they are warnings."""
    told = np.geterr()
    answers = (told[kind] for kind in ("divide", "over", "under", "invalid"))
    return tuple("warn" if answer in ("call", "log") else answer for answer in answers)


def _made(version: str, content: bytes) -> Callable[..., Any]:
    """Open what has arrived, unless it was made by another promoarray.

    Raises RuntimeError if it was.
    """
    if version != _version():
        raise RuntimeError(
            f"this worker has promoarray {_version()}, and the task was made by promoarray "
            f"{version}: they may cast and compute differently. Install promoarray {version} on "
            "the workers"
        )
    return _opened(content)


@lru_cache(maxsize=1024)
def _opened(content: bytes) -> Callable[..., Any]:
    make, fields = cloudpickle.loads(content)
    function: Callable[..., Any] = make(*fields)
    return function


def _version() -> str:
    found: str = sys.modules["promoarray"].__version__  # which stands above
    return found
