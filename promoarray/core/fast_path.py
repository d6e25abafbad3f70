"""The fast path of operations that were met before: ``native/`` and what it is made of.

It runs the executables that the dispatcher has kept; all else takes ``dispatch.apply``.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from promoarray import dtypes as dt
from promoarray.backends import BY_CLASS as backends
from promoarray.core._fast_path import ArraySlots, FastOperator, Shared
from promoarray.core.observers import (
    guarding,
    lone_observer,
    observed_everywhere,
    observers_anywhere,
    observing_here,
)
from promoarray.kernels import ScalarCaster
from promoarray.operations import Form
from promoarray.promotion.in_force import default_policy, policy_here

if TYPE_CHECKING:
    from typing import TypeVar

    Function = TypeVar("Function", bound=Callable[..., Any])

_ADOPTED = {
    by: dtype
    for storage, dtype in dt.BY_STORAGE.items()
    if dtype is not dt.string
    for by in (storage, storage.type)
}
"""What NumPy's arrays are wrapped as, by their dtypes, and its scalars by their classes."""


def in_parts(kernel: Any, *operands: Any) -> None:
    """Leave long operands to the kernel."""


def _array_option() -> tuple[str, ...] | None:
    """The option by which a ufunc, given ``...``, makes an array where it would make a scalar; None
    before NumPy 2.3."""
    with suppress(TypeError):
        np.negative(np.float32(1), out=...)
        return ("out",)
    return None


PARTS: dict[str, Any] = {
    "observers": observers_anywhere,
    "everywhere": observed_everywhere,
    "here": observing_here,
    "lone_observer": lone_observer,
    "policy_here": policy_here,
    "default_policy": default_policy,
    "ndarray": np.ndarray,
    "asarray": np.asarray,
    "array_slots": ArraySlots,
    "dtype_class": dt.DType,
    "bool": dt.bool,
    "in_parts": in_parts,
    "backends": backends,
    **{weak.name: weak for weak in dt.WEAK_TYPES},
    "stored": {},
    "adopted": _ADOPTED,
    "ufuncs": {},
    "named": dt.NAMED,
    "numpy_dtype": np.dtype,
    "scalar_caster": ScalarCaster,
    "guarding": guarding,
    "ufunc": np.ufunc,
    "array_option": _array_option(),
}
"""What every operator has. ``in_parts`` is asked first to run a kernel on long operands;
``backends`` has the back ends of the classes of buffers that were met,
``guarding`` what tells of the blocks of ``no_escape`` around,
``stored`` what weakly typed arrays are looked up by, ``adopted`` what NumPy's arrays and scalars
are wrapped as, ``ufuncs`` the operators that its ufuncs mean, and ``named`` the dtypes that texts
and NumPy's dtypes were read as; ``scalar_caster`` is the class of what keeps the last number that
it cast, ``ufunc`` that of NumPy's ufuncs, and ``array_option`` the option by which these make
arrays of arrays without axes."""

SHARED = Shared(**PARTS)


def fast_path(slow: Callable[..., Any], name: str, **own: Any) -> FastOperator:
    """The fast path of an operation, made of its slow one and its name as keys have it (``Form``).

    Parameters
    ----------
    slow : callable
    name : str
    **own
        ``kind`` is how its arguments are read: ``"operands"`` (unless it is told otherwise),
        ``"reflected"`` (in the other order), ``"conditional"`` (a mask comes first),
        ``"sequence"`` (they come in a list), ``"getitem"``, ``"setitem"``, ``"reshape"`` and
        ``"move"`` (arrays, and what is known by its value); ``"like"`` takes a ``dtype=`` besides,
        as the last operand; ``"shape"`` (and numbers) and ``"numbers"`` (alone) make arrays, of a
        ``dtype=`` or none (``core.made``), and so does ``"data"`` of numbers in lists or alone,
        and of arrays as ``"operands"``; ``"question"`` is about dtypes (``core.answers``);
        ``"channel"`` hands over what an array holds (``core.channels``);
        ``"ufunc"`` is ``__array_ufunc__``; ``"slow"`` has no fast path.
        ``option_names`` and ``defaults`` are what it takes besides, ``passed_names`` what
        executables call it, ``texts`` what may be given as a text; ``bound`` is the class of its
        arrays if it takes no other, ``adopts`` that of the arrays it makes of NumPy's.
    """
    return FastOperator(slow, name, SHARED, **own)


def standing_for(function: Callable[..., Any], made: FastOperator) -> FastOperator:
    """What ``functools.wraps`` does, for what has nothing of its own to keep: in one step."""
    vars(made).update(
        vars(function),
        __module__=function.__module__,
        __name__=function.__name__,
        __qualname__=function.__qualname__,
        __doc__=function.__doc__,
        __annotations__=function.__annotations__,
        __wrapped__=function,
    )
    return made


def fast_method(name: str, kind: str = "operands") -> Callable[[Function], Function]:
    """Make a decorator that gives a method its fast path."""

    def decorate(function: Function) -> Function:
        return cast("Function", standing_for(function, fast_path(function, name, kind=kind)))

    return decorate


def fast_function(
    name: str,
    kind: str = "operands",
    form: Form = Form.FUNCTION,
    adopts: type | None = None,
    passed: dict[str, str] | None = None,
    texts: tuple[str, ...] = (),
    **options: Any,
) -> Callable[[Function], Function]:
    """Make a decorator that gives a function its fast path.

    Parameters
    ----------
    name : str
        Of the operation.
    kind : str
    form : Form
        That it is kept under.
    adopts : type, optional
        Of the arrays it makes of NumPy's.
    passed : dict, optional
        What executables call an option, if it is not what the function does.
    texts : tuple of str, optional
        What may be given as a text; what else is goes to the function.
    **options
        What the operation takes besides, with the defaults.

    Returns
    -------
    callable
        What it makes bears ``fast``, by which namespaces make a fast path of their own.
    """
    settings: dict[str, Any] = {"kind": kind, "texts": texts}
    if options:
        settings["option_names"], settings["defaults"] = (*options,), (*options.values(),)
        settings["passed_names"] = (*((passed or {}).get(each, each) for each in options),)
    if adopts is not None:
        settings["adopts"] = adopts
    kept_as = name + form

    def decorate(function: Function) -> Function:
        made = standing_for(function, fast_path(function, kept_as, **settings))
        vars(made)["fast"] = kept_as, settings
        return cast("Function", made)

    return decorate
