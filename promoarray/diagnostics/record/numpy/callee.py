"""Functions that are NumPy's, and the names by which the tables have them."""

from __future__ import annotations

from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, NamedTuple

import numpy as np

from promoarray.diagnostics.calls.numpy import REDUCTIONS
from promoarray.operations import Form

Asked = Callable[[tuple[Any, ...], dict[str, Any]], Any]


class Callee(NamedTuple):
    """A function of NumPy's.

    Attributes
    ----------
    name : str
        Of what draws numbers after ``random.``.
    form : Form
        Ufuncs are the operators that they are the function of.
    outer : bool
        Whether it is the ``outer`` of a ufunc, which makes arrays of Python numbers first.
    """

    name: str
    form: Form
    outer: bool = False


class Otherwise(NamedTuple):
    """A function, what is asked before it is called, and what where it refuses (``calls.cpp``).

    Both are called with the arguments, a tuple and a dict; where they answer NotImplemented, the
    function is called, or its error stands.
    """

    function: Callable[..., Any]
    before: Asked | None = None
    instead: Asked | None = None


_FUNCTIONS = (FunctionType, BuiltinFunctionType, MethodType, type(np.sum))
_EMATH = {getattr(np.emath, name): f"emath.{name}" for name in np.emath.__all__}
"""Of the same names as others, but complex where a value asks for it."""

_ROOMS = frozenset({"ma", "polynomial", "char", "strings", "rec", "testing", "matlib", "ctypeslib"})
"""Modules of NumPy's whose functions have the names of others."""

_PYTHON = {abs: "abs", pow: "pow", round: "round", divmod: "divmod"}


def callee_of(f: Any) -> Callee | None:
    """What of NumPy's is called; None if it is something else."""
    kind: Any = type(f)
    if kind is np.ufunc:
        return Callee(f.__name__, _form_of(f.__name__))
    if f is np.ma.MaskedArray:
        return Callee("ma.array", Form.FUNCTION)
    if isinstance(f, type):
        numpy = issubclass(f, np.generic) and f.__module__.startswith("numpy")
        return Callee("astype", Form.FUNCTION) if numpy else None
    if kind not in _FUNCTIONS:
        return None
    if kind is BuiltinFunctionType or kind is MethodType:
        owner = f.__self__
        if isinstance(owner, (np.ndarray, np.generic)):
            return Callee(f.__name__, Form.FUNCTION)
        if type(owner) is np.ufunc:
            return _of_ufunc(owner.__name__, f.__name__)
        if kind is MethodType:
            drawn = type(owner).__module__.startswith("numpy.random")
            return Callee(f"random.{f.__name__}", Form.FUNCTION) if drawn else None
        if f in _PYTHON:
            return Callee(_PYTHON[f], Form.OPERATOR)
    root, _, module = (getattr(f, "__module__", None) or "").partition(".")
    if root != "numpy":
        return None
    room = module.partition(".")[0]
    name = f"{room}.{f.__name__}" if room in _ROOMS else f.__name__
    return Callee(_EMATH.get(f, name), Form.FUNCTION)


def _of_ufunc(ufunc: str, method: str) -> Callee:
    if method == "outer":
        return Callee(ufunc, _form_of(ufunc), outer=True)
    return Callee(REDUCTIONS.get((ufunc, method), f"{ufunc}.{method}"), Form.FUNCTION)


def _form_of(ufunc: str) -> Form:
    """``x ** 2`` is a square, while ``np.power(x, 2)`` looks for a loop."""
    return Form.FUNCTION if ufunc == "power" else Form.OPERATOR
