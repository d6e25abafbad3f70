"""The hook: JAX's functions and the operators of its arrays are wrapped while somebody records.

Wrappers stand in JAX's public modules and in its classes of arrays; JAX's own code calls what they
wrap. Of what runs inside a call only the program's functions are seen, such as ``lax.scan`` is
given. A program may keep a wrapper (``from jax.nn import relu``): when nobody records, it only
calls.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Hashable, Iterable, Iterator
from functools import partial, wraps
from types import FrameType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from jax import image, lax, ops
from jax import numpy as jnp
from jax._src.array import ArrayImpl
from jax._src.numpy.array_methods import _IndexUpdateRef
from jax.scipy import cluster, fft, integrate, linalg, ndimage, signal, special, stats

from promoarray.core.call_site import of_library, of_promoarray
from promoarray.diagnostics.calls.jax import (
    DEFAULTS,
    DISTRIBUTIONS,
    METHODS,
    OPERATORS,
    UNSEEN,
    UPDATES,
)
from promoarray.diagnostics.record.handlers import LEFT, Handler
from promoarray.diagnostics.record.jax.call import (
    OPEN,
    Arguments,
    Call,
    asked_for,
    handler_of,
    into_call,
    may_narrow,
    results_of,
    settled,
)
from promoarray.diagnostics.record.jax.transforms import (
    CONTROL,
    TRANSFORMS,
    Control,
    Transform,
    Wrapper,
)
from promoarray.diagnostics.record.recorder import Recorder
from promoarray.diagnostics.record.replaced import Place, Watched, carry_out
from promoarray.diagnostics.record.watcher import Watcher

if TYPE_CHECKING:
    from promoarray.core.array_base import TypeRecord

MODULES: dict[str, ModuleType] = {
    "": jnp,
    "linalg.": jnp.linalg,
    "fft.": jnp.fft,
    "lax.": lax,
    "lax.linalg.": lax.linalg,
    "nn.": jax.nn,
    "special.": special,
    "random.": jax.random,
    "image.": image,
    "ops.": ops,
    "scipy.cluster.vq.": cluster.vq,
    "scipy.fft.": fft,
    "scipy.integrate.": integrate,
    "scipy.linalg.": linalg,
    "scipy.ndimage.": ndimage,
    "scipy.signal.": signal,
    "stats.": stats,
    **{f"stats.{name}.": vars(stats)[name] for name in DISTRIBUTIONS if hasattr(stats, name)},
}
"""The modules whose functions are wrapped, by what stands before their names."""

_JAX = os.path.join(os.path.dirname(jax.__file__), "")
_FOLDER = os.path.join(_JAX, "_src", "")
_OWN = tuple(
    _FOLDER + part
    for part in (
        *("numpy", "lax", "nn", "scipy", "image", "ops", "third_party", "state", "pallas"),
        *("random", "prng", "ad_util"),
    )
)
"""Where JAX computes with arrays itself; its other files call what the program gives them."""


def _carried_out(
    name: str,
    func: Callable[..., Any],
    frame: FrameType,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    bare: Callable[..., Any] | None = None,
) -> Any:
    # JAX tells functions by identity: a sum's, ``lax.reduce(x, 0.0, lax.add, (0,))``, from others.
    args = tuple(vars(x)["__wrapped__"] if type(x) is Heard else x for x in args)
    bare, watchers = bare or func, () if OPEN.trying else REPLACED.watchers
    if not watchers or frame.f_code.co_filename.startswith(_OWN):
        if OPEN.probes is not None and not frame.f_code.co_filename.startswith(_JAX):
            return OPEN.probes.call(name, bare, args, kwargs, frame)
        return bare(*args, **kwargs)
    frame, handler, given = _calling(frame), handler_of(name), (args, kwargs)
    recorders = [watcher.recorder for watcher in watchers]
    if any(recorder.by_step for recorder in recorders):
        bare = partial(_as_ever, bare)
    narrowing = [r for r in recorders if settled(r) and may_narrow(r.home, given)]
    before: list[tuple[Any, TypeRecord | None]] = []
    for recorder in narrowing:
        before += recorder.guarded(_before, recorder, name, handler, given, frame) or ()
    try:
        made = carry_out(watchers, func, name, handler, args, kwargs, frame, bare)
    finally:
        for x, slot in before:  # to NumPy it is as wide as ever
            recorders[0].carried.put(x, slot)
    for recorder in narrowing:
        recorder.guarded(_after, recorder, given, made, frame)
    return made


def _calling(frame: FrameType) -> FrameType:
    """The frame that calls a function; of ``vmap(jnp.exp)(x)``, where JAX calls it, that
    which calls JAX."""
    if of_promoarray(frame):
        while frame.f_back and (of_promoarray(frame) or _is_jax(frame)):
            frame = frame.f_back
    return frame


def _is_jax(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith(_JAX)


def _as_ever(bare: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Carry out a function of JAX's as it is compiled; the program's own are not while checks look
    at them."""
    with jax.disable_jit(False):
        return bare(*args, **kwargs)


def _before(
    recorder: Recorder, name: str, handler: Handler, given: Arguments, frame: FrameType
) -> list[tuple[Any, TypeRecord | None]]:
    """Note what a call narrows; answer what it carried before, of what another recorder hears."""
    found = into_call(recorder.home, name, handler, given)
    if not found:
        return []
    heard = found if recorder.beside("numpy") else ()
    before = [(each.array, recorder.carried.slot(each.array)) for each in heard]
    recorder.entered(found, frame, makes=name in DEFAULTS)
    return before


def _after(recorder: Recorder, given: Arguments, made: Any, frame: FrameType) -> None:
    """Note what a call made in a narrower dtype than it was asked for."""
    if asked := asked_for(recorder.home, given):
        recorder.asked(asked, results_of(recorder.home, made), frame)


class Heard(Wrapper):
    """A function of JAX's that is heard of."""

    def __init__(self, name: str, func: Callable[..., Any]) -> None:
        super().__init__(func)
        self._name_heard = name

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return _carried_out(self._name_heard, self.__wrapped__, sys._getframe(1), args, kwargs)


def _places() -> Iterator[Place]:
    """Every attribute to replace, with what takes its place."""
    for prefix, module in MODULES.items():
        for name, func in tuple(vars(module).items()):
            plain = callable(func) and not (isinstance(func, type) or name.startswith("_"))
            if plain and prefix + name not in UNSEEN:
                yield Place(module, name, func, Heard(prefix + name, func))
    for name in ("array", "asarray"):  # which read an array's memory, and call none of its methods
        func = vars(np)[name]
        yield Place(np, name, func, _into_numpy(name, func))
    scalars = type(jnp.float32)
    yield Place(scalars, "__call__", scalars.__call__, _scalar(scalars.__call__))
    put = jax.device_put
    yield Place(jax, "device_put", put, Heard("device_put", put))
    for name, gives in TRANSFORMS.items():
        if func := vars(jax).get(name):  # ``shard_map`` is newer than others
            yield Place(jax, name, func, Transform(func, _recorders, gives))
    for name, parameters in CONTROL.items():
        func = vars(lax)[name]
        yield Place(lax, name, func, Control(func, _recorders, parameters))
    ahead = jax.stages.Compiled.__call__
    yield Place(jax.stages.Compiled, "__call__", ahead, _compiled_ahead(ahead))
    for cls in (ArrayImpl, jax.core.Tracer):
        for name in OPERATORS | METHODS | {"__array__", "__dlpack__"}:
            found = vars(cls).get(name)
            if isinstance(found, property):
                getter = _method(name, found.fget)
                yield Place(cls, name, found, property(getter, doc=found.__doc__))
            elif found is not None:
                yield Place(cls, name, found, _method(name, found))
        if "__iter__" in vars(cls):
            yield Place(cls, "__iter__", cls.__iter__, _iterated(cls.__iter__))
    for owner, some in _NOTED.items():
        yield from REPLACED.noted(owner, *some)
    for name in UPDATES | {"at.get", "at.apply"}:
        method = name.removeprefix("at.")
        if found := vars(_IndexUpdateRef).get(method):
            yield Place(_IndexUpdateRef, method, found, _update(name, found))


_NOTED: dict[Any, tuple[str, ...]] = {
    jax: (
        *("jvp", "linearize", "vjp", "jacfwd", "jacrev", "jacobian", "hessian", "pure_callback"),
        *("make_array_from_callback", "make_array_from_single_device_arrays"),
    ),
    jnp: ("fromfunction", "piecewise", "vectorize"),
    lax: ("associative_scan",),
    jax.nn.initializers: tuple(
        name for name, x in vars(jax.nn.initializers).items() if type(x) is FunctionType
    ),
    **{type(x): ("__getitem__",) for x in (jnp.mgrid, jnp.ogrid)},
    type(jnp.r_).__base__: ("__getitem__",),
}


def _scalar(func: Any) -> Callable[..., Any]:
    """What stands in the place of ``jnp.float32(x)``, which is told as ``asarray`` is."""

    @wraps(func)
    def scalar(of: Any, x: Any) -> Any:
        def bare(x: Any, *, dtype: Any) -> Any:
            return func(of, x)

        return _carried_out("asarray", bare, sys._getframe(1), (x,), {"dtype": of.dtype})

    return scalar


def _compiled_ahead(func: Callable[..., Any]) -> Callable[..., Any]:
    """What stands in the place of a call of ``jax.jit(f).lower(x).compile()``, which knows no
    function to run op by op."""

    @wraps(func)
    def compiled(*args: Any, **kwargs: Any) -> Any:
        checks = [each.checks for each in _recorders() if each.checks is not None]
        for each in checks:
            each.unreadable("a compiled function", _AHEAD, sys._getframe(1))
        return (partial(_as_ever, func) if checks else func)(*args, **kwargs)

    return compiled


_AHEAD = "it was compiled ahead of its call"


def _into_numpy(name: str, func: Callable[..., Any]) -> Callable[..., Any]:
    """What stands in the place of a function of NumPy's that takes values out of JAX."""

    @wraps(func)
    def left(*args: Any, **kwargs: Any) -> Any:
        frame, given = sys._getframe(1), next(iter((*args, *kwargs.values())), None)
        own = frame.f_code.co_filename.startswith(_JAX) or of_promoarray(frame)
        if isinstance(given, ArrayImpl) and not own:
            for recorder in _recorders():
                if not recorder.beside("numpy") or of_library(frame):
                    recorder.unexamined(f"numpy.{name} of an array", LEFT, frame)
        return func(*args, **kwargs)

    return left


REPLACED = Watched(_places)


class Recording(Watcher):
    """Tells a recorder of every call that this thread makes, in functions traced as well."""

    kind = Call
    replaced = REPLACED

    def state(self) -> tuple[Callable[[], Hashable], ...]:
        """The mode that JAX is in, and that of the run."""
        return partial(settled, self.recorder), lambda: self.recorder.home


def _recorders() -> tuple[Recorder, ...]:
    """Who records the calls of this thread."""
    return () if OPEN.trying else tuple(watcher.recorder for watcher in REPLACED.watchers)


def _method(name: str, func: Any) -> Callable[..., Any]:
    @wraps(func)
    def method(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        return _carried_out(name, func, sys._getframe(1), (self, *args), kwargs)

    return method


def _iterated(func: Any) -> Callable[..., Any]:
    """What stands in the place of ``__iter__``: each part carries what the array does."""

    @wraps(func)
    def iterated(self: Any, /) -> Any:
        return _parts_of(self, func(self))

    return iterated


def _parts_of(whole: Any, parts: Iterable[Any]) -> Iterator[Any]:
    for part in parts:
        for recorder in _recorders():
            if (slot := recorder.carried.slot(whole)) is not None:
                recorder.carried.put(part, slot)
        yield part


def _update(name: str, func: Any) -> Callable[..., Any]:
    """A method of ``x.at[key]``, which is told as one of ``x``."""

    @wraps(func)
    def method(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        def bare(x: Any, *args: Any, **kwargs: Any) -> Any:
            own = self if x is self.array else x.at[self.index]  # which may be tried again
            return func(own, *args, **kwargs)

        frame = sys._getframe(1)
        return _carried_out(name, func, frame, (self.array, *args), kwargs, bare)

    return method
