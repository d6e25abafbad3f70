"""The bodies of NumPy's array methods, loaded when one is first asked for.

Each is the function under the policy, on ``x`` itself; only how arguments are written is NumPy's.
No function here asks for a method. A chapter of functions is loaded with the first method of it.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from inspect import cleandoc, unwrap
from operator import methodcaller
from sys import intern
from typing import Any

from promoarray.backends import backend_of, is_lazy
from promoarray.core._fast_path import FastOperator
from promoarray.core.cast import astype
from promoarray.core.dtype_argument import keep
from promoarray.core.fast_path import TYPED, standing_for
from promoarray.core.move import Move, fast_move, move
from promoarray.core.shapes import axis_in, integers
from promoarray.dtypes import Kind
from promoarray.errors import ends_at_caller, quoted
from promoarray.functions import xp
from promoarray.parray import PArray

# --- What differs from the function by more than how arguments are written -----------------------


def _of_dtype(function: Callable[..., Any]) -> Callable[..., Any]:
    """A mean of another dtype: as for ``sum``, ``x`` is cast to it before; without one the function
    itself."""

    def method(x: PArray, *, dtype: object = None, **options: Any) -> Any:
        if dtype is None:
            return function(x, **options)
        array: Any = astype(x, dtype, copy=False, made=True)
        out = astype(function(array, **options), dtype, copy=False, made=True)
        keep(function.__name__, x, array, dtype)
        return out

    kept_as, settings = vars(function)["fast"]
    settings = settings | TYPED
    made = standing_for(function, FastOperator(method, kept_as, **settings))
    vars(made)["fast"] = kept_as, settings
    return made


def _numpys(name: str, documented: Callable[..., Any] | None = None) -> Callable[..., Any]:
    """A method of what NumPy's function of that name is, in the namespace of the array."""
    function = getattr(import_module("promoarray.numpy_api.composed"), name)

    def method(x: PArray, *args: Any, **options: Any) -> Any:
        return function(x.__array_namespace__(), x, *args, **options)

    method.__name__, method.__doc__ = f"_{name}", function.__doc__
    if documented is not None:
        method.__name__, method.__doc__ = documented.__name__, unwrap(documented).__doc__
    return method


def _searchsorted(x: PArray, v: Any, *, side: str = "left", sorter: Any = None) -> Any:
    """Return where values would be inserted into the sorted elements to keep the order."""
    xp = x.__array_namespace__()
    order = None if sorter is None else xp.asarray(sorter)
    return xp.searchsorted(x, xp.asarray(v), side=side, sorter=order)


def _transpose(x: PArray, *axes: Any) -> PArray:
    """Return the array with its axes in another order; by default reversed."""
    order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
    return xp.permute_dims(x, tuple(order or range(x.ndim)[::-1]))


@fast_move
def _swapaxes(x: PArray, axis1: int, axis2: int) -> Move[PArray]:
    """Return the array with two axes in each other's place."""
    axes = [*range(x.ndim)]
    one, other = (axis_in("swapaxes", axis, x.ndim) for axis in (axis1, axis2))
    axes[one], axes[other] = other, one
    return move("permute_dims", x, tuple(axes))


def _round(x: PArray, decimals: int = 0) -> PArray:
    """Round to nearest, ties to even: to whole numbers, or to some digits after the point."""
    decimals = integers("round", "decimals", decimals)
    if not isinstance(decimals, int) or abs(decimals) > 400:  # beyond what any float holds
        raise ValueError(f"round: decimals is an int of at most 400, not {quoted(decimals)}")
    if not decimals or (decimals > 0 and x.dtype.kind in (Kind.INT, Kind.UINT)):
        return xp.round(x)
    if x.dtype.kind in (Kind.INT, Kind.UINT):
        raise TypeError(
            f"x.round({decimals}) of {x.dtype.name}: write x.astype(...) to a float first"
        )
    if x.dtype.kind is Kind.COMPLEX and not is_lazy(backend_of(x._buffer)):
        xp.round(xp.reshape(x, (-1,))[:0])  # refused where the policy rounds no complex numbers
        # A product of complex numbers would mix their parts.
        parts = xp.stack([xp.real(x), xp.imag(x)], axis=-1)
        return xp.reshape(_round(parts, decimals).view(x.dtype), x.shape)
    if decimals > 0:
        return xp.divide(xp.round(xp.multiply(x, 10**decimals)), 10**decimals)
    return xp.multiply(xp.round(xp.divide(x, 10**-decimals)), 10**-decimals)


def _conj(x: PArray) -> PArray:
    """Return the complex conjugates; real numbers as they are."""
    return xp.conj(x) if x.dtype.kind is Kind.COMPLEX else x


def _fill(x: PArray, value: Any) -> None:
    """Set every element to a value."""
    x[...] = value


def _sort(x: PArray, *, axis: int = -1) -> None:
    """Sort in place along an axis."""
    x[...] = xp.sort(x, axis=axis)


@fast_move
def _copy(x: PArray) -> Move[PArray]:
    """Return a copy with memory of its own."""
    return Move((x,), backend_of(x._buffer).copy)


@fast_move
def _flatten(x: PArray) -> Move[PArray]:
    """Return a copy with one axis."""
    backend = backend_of(x._buffer)
    if backend.name == "numpy":
        return Move((x,), methodcaller("flatten"))
    return move("reshape", x, (-1,), copy=True)


@fast_move
def _ravel(x: PArray) -> Move[PArray]:
    """Return the values with one axis, in the same memory where that can be."""
    return move("reshape", x, (-1,))


# --- Methods of functions -------------------------------------------------------------------------

_RENAMED = {"ddof": "correction"}
"""From a parameter of NumPy's to that of the function."""

_NUMPYS = {own: numpys for numpys, own in _RENAMED.items()}

_ONE_CHOICE = {
    "kind": (None, "stable", "mergesort", "quicksort", "heapsort"),  # every sort here is stable
    "mode": ("raise",),
    "order": (None, "C", "A", "K"),
    "out": (None,),
    "stable": (None, True, False),
}
"""Parameters of NumPy's that leave nothing to choose here, and the values that mean what is."""

_OWN: dict[str, Callable[..., Any]] = {
    "conj": _conj,
    "conjugate": _conj,
    "copy": _copy,
    "fill": _fill,
    "flatten": _flatten,
    "ravel": _ravel,
    "round": _round,
    "searchsorted": _searchsorted,
    "sort": _sort,
    "swapaxes": _swapaxes,
    "transpose": _transpose,
}
_RUNNING = {"cumprod": "cumulative_prod", "cumsum": "cumulative_sum"}


def _function(name: str) -> Callable[..., Any]:
    """What a method does, its arguments written as a function's."""
    if name in _OWN:
        return _OWN[name]
    if name in ("dot", "squeeze", "take", *_RUNNING):
        return _numpys(name, getattr(xp, _RUNNING[name]) if name in _RUNNING else None)
    function: Callable[..., Any] = getattr(xp, name)
    return _of_dtype(function) if name in ("mean", "std", "var") else function


def _settings(
    parameters: list[str], in_order: list[str], needed: int, function: Any
) -> tuple[str, dict[str, Any]]:
    """The name and the settings of a method's fast path, by those of its function: options go by
    NumPy's names, and may stand by position."""
    kept_as, settings = vars(function).get("fast", ("", {"kind": "slow"}))
    if settings.get("kind") == "slow" or settings.get("by_value"):
        return kept_as, settings
    operands = settings.get("operands", 1 + needed)
    numpys = {word.partition("=")[0]: word.partition("=")[2] for word in parameters}
    names = [_NUMPYS.get(own, own) for own in settings.get("option_names", ())]
    unnamed = [key if key in numpys and key not in _ONE_CHOICE else f"({key})" for key in names]
    alone = [key for key, default in numpys.items() if key in _ONE_CHOICE and default == "None"]
    return kept_as, settings | {
        "operands": operands,
        "option_names": (*map(intern, unnamed), *map(intern, alone)),
        "passed_names": (*settings.get("passed_names", ()), *(None for _ in alone)),
        "defaults": (*settings.get("defaults", ()), *(None for _ in alone)),
        "in_order": (*map(intern, in_order[operands - 1 :]),),
    }


def _any_arguments(
    name: str,
    names: list[str],
    in_order: list[str],
    needed: list[str],
    function: Callable[..., Any],
) -> Callable[..., Any]:
    """Make what a method does with arguments that do not go to the function as they are."""
    known = {*names}

    def method(self: PArray, *args: Any, **options: Any) -> Any:
        if args:
            _take_in_order(name, in_order, args, options)
        if not options.keys() <= known:
            from promoarray.other_names import for_keyword

            unknown = next(key for key in options if key not in known)
            raise TypeError(f"x.{name} takes no {unknown}={for_keyword(unknown, known)}")
        for key in needed:
            if key not in options:
                raise TypeError(f"x.{name} needs {key}")
        first = [options.pop(key) for key in needed]
        for key in [key for key in _ONE_CHOICE if key in options]:
            _check_choice(name, key, options.pop(key))
        return function(self, *first, **{_RENAMED.get(key, key): options[key] for key in options})

    return method


def _take_in_order(
    name: str, in_order: list[str], args: tuple[Any, ...], options: dict[str, Any]
) -> None:
    """Name the arguments that are given by position."""
    if len(args) > len(in_order):
        raise TypeError(f"x.{name} takes at most {len(in_order)} by position, not {len(args)}")
    for key, value in zip(in_order, args, strict=False):
        if key in options:
            raise TypeError(f"x.{name} is given {key} twice")
        options[key] = value


def _check_choice(name: str, key: str, value: Any) -> None:
    plain = value is None or isinstance(value, (bool, str))  # an array is equal elementwise
    if not plain or value not in _ONE_CHOICE[key]:
        choices = ", ".join(map(repr, _ONE_CHOICE[key]))
        remedy = f"write y[...] = x.{name}(...)" if key == "out" else f"it may be {choices}"
        raise TypeError(f"x.{name} takes no {key}={quoted(value)}; {remedy}")


def _summary(function: Callable[..., Any]) -> str:
    """The docstring of a method: the summary of the function, and where the rest stands."""
    stands = unwrap(function).__doc__ or ""  # none under python -OO
    summary = cleandoc(stands.partition("\n\n")[0])
    if function.__name__.startswith("_"):
        return f"{summary}\n\nUnder the policy; arguments are NumPy's."
    return f"{summary}\n\nAs ``promoarray.{function.__name__}``; arguments are NumPy's."


def made(owner: type[PArray], name: str, parameters: list[str]) -> Any:
    """Make a method of a class of arrays, of a function whose arguments are written as NumPy writes
    them."""
    function = _function(name)
    own = unwrap(function, stop=lambda each: isinstance(each, FastOperator))
    slow, kept_as = function, ""
    settings: dict[str, Any] = {"kind": "slow"}
    if parameters != ["*axes"]:
        words = [word for word in parameters if word != "*"]
        names = [word.partition("=")[0] for word in words]
        in_order = names[: parameters.index("*")] if "*" in parameters else names
        needed = [word for word in words if "=" not in word]
        slow = _any_arguments(name, names, in_order, needed, function)
        kept_as, settings = _settings(words, in_order, len(needed), own)
    method = FastOperator(ends_at_caller(slow), kept_as or name, **settings)
    vars(method).update(
        __name__=name,
        __qualname__=f"{owner.__name__}.{name}",
        __module__=__name__.rpartition(".")[0],
        __doc__=_summary(function),
        __text_signature__=f"({', '.join(('$self', '/', *parameters))})",
    )
    return method
