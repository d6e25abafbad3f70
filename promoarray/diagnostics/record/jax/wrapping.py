"""JAX's functions and the operators of its arrays, wrapped while somebody records.

Wrappers stand in JAX's public modules and in its classes of arrays; JAX's own code calls what they
wrap. Of what runs inside a call only the program's functions are seen, such as ``lax.scan`` is
given. A program may keep a wrapper (``from jax.nn import relu``): when nobody records, it only
calls.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial, update_wrapper, wraps
from types import FrameType, MethodType, ModuleType
from typing import Any, Protocol

import jax
from jax import lax
from jax import numpy as jnp
from jax._src.array import ArrayImpl
from jax._src.numpy.array_methods import _IndexUpdateRef
from jax.scipy import special

from promoarray.diagnostics.record.jax.calls import METHODS, OPERATORS, UNSEEN, UPDATES

MODULES: dict[str, ModuleType] = {
    "": jnp,
    "linalg.": jnp.linalg,
    "fft.": jnp.fft,
    "lax.": lax,
    "nn.": jax.nn,
    "special.": special,
    "random.": jax.random,
}
"""The modules whose functions are wrapped, by what stands before their names."""

_FOLDER = os.path.join(os.path.dirname(jax.__file__), "_src", "")
_OWN = tuple(
    _FOLDER + part
    for part in (
        *("numpy", "lax", "nn", "scipy", "image", "ops", "third_party", "state", "pallas"),
        *("random", "prng", "ad_util"),
    )
)
"""Where JAX computes with arrays itself; its other files call what the program gives them."""


class Listener(Protocol):
    """Who records."""

    def carry_out(
        self,
        name: str,
        func: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        frame: FrameType,
    ) -> Any:
        """Carry out a call, and record what it was."""


class _Listeners(threading.local):
    innermost_last: tuple[Listener, ...] = ()


_listeners = _Listeners()
_lock = threading.Lock()
_put_back: list[Callable[[], None]] = []
_users = 0


def listen(listener: Listener) -> None:
    """Have a listener hear of every call of this thread."""
    global _users
    with _lock:
        if not _users:
            _wrap_all()
        _users += 1
    _listeners.innermost_last += (listener,)


def leave(listener: Listener) -> None:
    """Have it hear no more; when nobody is left to hear, everything is as it was."""
    global _users
    _listeners.innermost_last = tuple(x for x in _listeners.innermost_last if x is not listener)
    with _lock:
        _users -= 1
        if not _users:
            while _put_back:
                _put_back.pop()()


def _carried_out(
    name: str,
    func: Callable[..., Any],
    frame: FrameType,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    listeners = _listeners.innermost_last
    # JAX tells functions by identity: a sum's, ``lax.reduce(x, 0.0, lax.add, (0,))``, from others.
    args = tuple(vars(x)["__wrapped__"] if type(x) in _WRAPPERS else x for x in args)
    if not listeners or frame.f_code.co_filename.startswith(_OWN):
        return func(*args, **kwargs)
    for listener in listeners:
        func = _heard(listener, name, func, frame)
    return func(*args, **kwargs)


def _heard(
    listener: Listener, name: str, func: Callable[..., Any], frame: FrameType
) -> Callable[..., Any]:
    return lambda *args, **kwargs: listener.carry_out(name, func, args, kwargs, frame)


class Wrapper:
    """A function of JAX's that is heard of, and in all else is what it wraps."""

    def __init__(self, name: str, func: Callable[..., Any]) -> None:
        update_wrapper(self, func)
        self.__wrapped__ = func
        self._name_heard = name

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return _carried_out(self._name_heard, self.__wrapped__, sys._getframe(1), args, kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(vars(self)["__wrapped__"], name)

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return type(self.__wrapped__)

    def __repr__(self) -> str:
        return repr(self.__wrapped__)

    def __reduce__(self) -> Any:
        return _same, (self.__wrapped__,)


class WrapperOfFunction(Wrapper):
    """That of a function, which in a class is a method."""

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else MethodType(self, instance)


_WRAPPERS = frozenset({Wrapper, WrapperOfFunction})


def _same(x: Any) -> Any:
    return x


def _wrap_all() -> None:
    for owner, name, wrapped in _wrapped():
        _put_back.append(partial(setattr, owner, name, vars(owner)[name]))
        setattr(owner, name, wrapped)


def _wrapped() -> Iterator[tuple[Any, str, Any]]:
    """Whatever is wrapped: where it stands, by what name, and its wrapper."""
    for prefix, module in MODULES.items():
        for name, func in tuple(vars(module).items()):
            plain = callable(func) and not (isinstance(func, type) or name.startswith("_"))
            if plain and prefix + name not in UNSEEN:
                kind = WrapperOfFunction if hasattr(type(func), "__get__") else Wrapper
                yield module, name, kind(prefix + name, func)
    for cls in (ArrayImpl, jax.core.Tracer):
        for name in OPERATORS | METHODS:
            found = vars(cls).get(name)
            if isinstance(found, property):
                yield cls, name, property(_method(name, found.fget), doc=found.__doc__)
            elif found is not None:
                yield cls, name, _method(name, found)
    for name in UPDATES | {"at.get", "at.apply"}:
        method = name.removeprefix("at.")
        if method in vars(_IndexUpdateRef):
            yield _IndexUpdateRef, method, _method(name, vars(_IndexUpdateRef)[method])


def _method(name: str, func: Any) -> Callable[..., Any]:
    @wraps(func)
    def method(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        return _carried_out(name, func, sys._getframe(1), (self, *args), kwargs)

    return method
