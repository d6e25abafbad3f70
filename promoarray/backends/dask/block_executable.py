"""What a task carries: a function of blocks, and all that it was compiled of, as data.

It travels to the worker with the version of promoarray that made it. Nothing of a policy goes with
it but what the policy answered, so a worker needs no policy and asks for none.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import cloudpickle


class BlockExecutable:
    """A function that is made once a process, of what it carries.

    Parameters
    ----------
    make : callable
        A function of a module, from ``fields`` to the function of blocks.
    *fields
        What can be pickled: dtypes, plans, tables of casts, options.

    Attributes
    ----------
    token : str
        The same for what carries the same.
    """

    __slots__ = ("_content", "_function", "_version", "token")

    def __init__(self, make: Callable[..., Callable[..., Any]], *fields: Any) -> None:
        self._hold(_version(), cloudpickle.dumps((make, fields)))

    def _hold(self, version: str, content: bytes) -> None:
        self._version, self._content = version, content
        self.token = hashlib.blake2b(content, digest_size=16).hexdigest()
        self._function: Callable[..., Any] | None = None

    def __call__(self, *blocks: Any, **options: Any) -> Any:
        if self._function is None:
            self._function = _made(self._version, self._content)
        return self._function(*blocks, **options)

    def __dask_tokenize__(self) -> str:
        return self.token

    def __reduce__(self) -> tuple[Any, ...]:
        return _carried, (self._version, self._content)


def _carried(version: str, content: bytes) -> BlockExecutable:
    """Hold what has arrived. It is opened when it is called: a scheduler only hands it on."""
    found = object.__new__(BlockExecutable)
    found._hold(version, content)
    return found


def _made(version: str, content: bytes) -> Callable[..., Any]:
    """Open what has arrived, unless it was made by another promoarray.

    Raises
    ------
    RuntimeError
        If it was.
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
