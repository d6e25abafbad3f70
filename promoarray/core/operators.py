"""The operators of arrays: methods made of an operation's name, and NumPy's ufuncs by theirs."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Number
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from promoarray import dtypes as dt
from promoarray.backends import backend_of
from promoarray.backends.numpy.fp_warnings import telling
from promoarray.backends.numpy.kernels import OF_UFUNC  # NumPy's protocol speaks of its ufuncs
from promoarray.core._fast_path import FastOperator
from promoarray.core.array_base import Array
from promoarray.core.dispatch import apply
from promoarray.core.fast_path import standing_for
from promoarray.errors import ends_at_caller, kind_of
from promoarray.operations import OPERATIONS, Form

if TYPE_CHECKING:
    from typing import Protocol, TypeVar

    A = TypeVar("A", bound=Array)

    class Binary(Protocol):
        """A method that takes another operand and answers an array of the class of its own."""

        def __get__(self, x: A, cls: Any = None, /) -> Callable[[Any], A]: ...


def binary(name: str) -> tuple[Binary, Binary, Binary]:
    """Make ``x op y``, ``y op x`` and ``x op= y``.

    The fast path (``native/``) serves two arrays of one class, or an array and a Python
    scalar, of types that the dispatcher has met before: one dictionary look-up, then the
    executable. All else takes ``apply``.
    """
    symbol = OPERATIONS[name].symbol

    def forward(self: Array, other: Any, /) -> Any:
        return _or_foreign(apply(name, self, other), symbol, other)

    def reflected(self: Array, other: Any, /) -> Any:
        return _or_foreign(apply(name, other, self), symbol, other, first=True)

    def inplace(self: Array, other: Any, /) -> Any:
        made = apply(name, self, other, form=Form.INPLACE)
        return _or_foreign(made, f"{symbol}=", other)

    shown = ("self", symbol, "other"), ("other", symbol, "self"), ("self", f"{symbol}=", "other")
    for method, words in zip((forward, reflected, inplace), shown, strict=True):
        method.__name__, method.__doc__ = name, f"{' '.join(words)}, under the policy."
    return (
        _method(forward, name),
        _method(reflected, name, reflected=True),
        _method(inplace, name + Form.INPLACE),
    )


def _method(slow: Callable[..., Any], name: str, **own: Any) -> Any:
    return standing_for(slow, FastOperator(ends_at_caller(slow), name, **own))


def both(first: Any, second: Any, written: str) -> Callable[[A, Any], tuple[A, A]]:
    """Make a method of two results, each of which is another operator's.

    Under every policy: that tensors of PyTorch, TensorFlow and Paddle have no ``divmod`` is no rule
    about dtypes.
    """

    @telling
    def pair(self: Array, other: Any, /) -> Any:
        made = first(self, other)
        return made if made is NotImplemented else (made, second(self, other))

    pair.__name__, pair.__doc__ = "divmod", f"{written}, under the policy."
    return pair


def comparison(name: str) -> Binary:
    """Make ``x op y`` alone, whose reflection is another operator, as Python has it."""
    return binary(name)[0]


def equality(name: str, *, none: bool) -> Binary:
    """Make ``x == y`` or ``x != y``; ``none`` is what every element says to ``x == None``.

    Under every policy that is an array of False, as in NumPy. PyTorch, JAX, TensorFlow, Paddle and
    MindSpore answer one False, whether there is an array; ``x is None`` asks that.

    What is no operand is asked itself, by its own ``__eq__``. Python would go on to compare the two
    by identity: one False for all elements.
    """
    symbol = OPERATIONS[name].symbol
    method = "__ne__" if none else "__eq__"

    def forward(self: Array, other: Any, /) -> Any:
        if other is None:
            return _filled(self, none)
        answer = _or_foreign(apply(name, self, other), symbol, other)
        if answer is NotImplemented:
            answer = getattr(type(other), method)(other, self)
        return _refused(symbol, other) if answer is NotImplemented else answer

    forward.__name__, forward.__doc__ = name, f"self {symbol} other, under the policy."
    made: Binary = _method(forward, name)
    return made


def _filled(x: Array, value: bool) -> Array:
    """An array of one bool, of the shape of another and where it lies."""
    backend, device = backend_of(x._buffer), x.device
    buffer = backend.empty(x.shape, dt.bool, device)
    backend.write(buffer, ..., backend.from_numpy(np.array(value), dt.bool, device))
    return x._wrap(buffer, dt.bool)


def unary(name: str) -> Callable[[A], A]:
    """Make ``op x``."""

    def forward(self: Array) -> Any:
        return apply(name, self)

    forward.__name__, forward.__doc__ = name, f"{name}(self), under the policy."
    made: Callable[[A], A] = _method(forward, name)
    return made


def _or_foreign(result: Any, symbol: str, other: Any, *, first: bool = False) -> Any:
    """Refuse what must not be computed with, and leave other types to their own operators."""
    if result is NotImplemented and _is_data(other):
        if symbol == "**" and isinstance(other, Number):
            return result  # which a Fraction answers itself, by a float
        _refused(symbol, other, first=first)
    return result


def _refused(symbol: str, other: Any, *, first: bool = False) -> NoReturn:
    kind = kind_of(other)
    written = f"{kind} {symbol} PArray" if first else f"PArray {symbol} {kind}"
    write = "float(...)" if isinstance(other, Number) else "pa.asarray(...)"
    remedy = f"Write {write} around it first"
    if type(other).__module__.startswith("polars.") and kind == "Expr":  # it has no numbers yet
        remedy = "Write pl.Series(np.asarray(x)) for the array x"
    raise TypeError(f"{written}: operands are arrays and Python scalars. {remedy}")


def _is_data(x: Any) -> bool:
    """Whether ``x`` is plain data, which no library means to combine with arrays by itself.

    A ``Fraction`` or ``Decimal``, too.
    """
    plain = (list, tuple, dict, set, frozenset, str, bytes, bytearray, range, type(None), Number)
    return isinstance(x, plain) or type(x).__module__.partition(".")[0] in ("pandas", "polars")


def of_ufunc(ufunc: np.ufunc, inputs: tuple[Any, ...]) -> tuple[str, Form] | None:
    """Return the operation that a call of a ufunc means; None if none is, of every dtype."""
    name = OF_UFUNC.get(ufunc) if ufunc is not np.rint else None  # it makes floats of integers
    return None if name is None else (name, form_of_ufunc(name, inputs))


def form_of_ufunc(name: str, inputs: tuple[Any, ...]) -> Form:
    """Return how an operation counts as written that comes in as a ufunc: as the operator, if any.

    ``np_array + x`` comes in as ``np.add(np_array, x)``, and the two cannot be told apart; but
    ``x ** 2`` is a method of x, so that ``np.power(x, 2)`` is the function.
    """
    if not OPERATIONS[name].symbol or (name in _BY_SCALARS and type(inputs[-1]) in dt.WEAK):
        return Form.FUNCTION
    return Form.OPERATOR


_BY_SCALARS = frozenset({"pow"})
"""Ufuncs that are functions where the last operand is a Python scalar."""
