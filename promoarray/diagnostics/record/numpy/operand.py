"""Operands of a NumPy program, as abstract arrays and Python scalars, and NumPy's functions by the
names that the tables have."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, NamedTuple

import numpy as np

from promoarray.core.call_site import is_library
from promoarray.diagnostics.calls.numpy import REDUCTIONS
from promoarray.diagnostics.record.recorder import Recorder, Result
from promoarray.dtypes import CONCRETE, WEAK, DType
from promoarray.operations import Form

ARRAYS = np.ndarray, np.generic

_BY_NAME = {
    np.dtype(row.storage).name: row for row in CONCRETE if row.storage is not None and row.bits >= 8
}
_KNOWN: dict[Any, DType | None] = {}


def dtype_of(x: Any) -> DType | None:
    """The dtype of an array or scalar of NumPy's; None if it is no number of a known format."""
    given = x.dtype
    found = _KNOWN.get(given, ...)
    if found is ...:
        found = _KNOWN[given] = None if given.names else _BY_NAME.get(given.name)
    return found


def form_of(name: str, first: Any, form: Form) -> Form:
    """How an operator is written.

    Of a scalar ``**`` looks for a loop, as ``np.power`` does; of an array it may be a square.
    """
    return Form.FUNCTION if name == "pow" and isinstance(first, np.generic) else form


def operand_of(recorder: Recorder, x: Any) -> Any:
    """An abstract array or a Python scalar; None if it is neither an array nor a number."""
    if type(x) in WEAK:
        return x
    if isinstance(x, ARRAYS):
        dtype = dtype_of(x)
        if dtype is None:
            return None
        return recorder.abstract(x, dtype, x.ndim, x.item if x.ndim == 0 else None)
    if not isinstance(x, (int, float, complex)):
        found = recorder.elsewhere(x)
        return found and recorder.taken(found)
    made = np.asarray(x)  # of an IntEnum, and such, in every edition
    dtype = dtype_of(made)
    return None if dtype is None else recorder.abstract(made, dtype, 0, made.item)


def is_derived(x: Any) -> bool:
    """Whether it is a number of a class derived from Python's, such as an IntEnum, which NumPy
    takes for an array, and others for a Python number."""
    return (
        isinstance(x, (int, float, complex)) and type(x) not in WEAK and not isinstance(x, ARRAYS)
    )


def array_of(recorder: Recorder, x: Any, least: int = 0) -> Any:
    """An operand; of a list the array that NumPy makes of it, of so many axes at least."""
    if isinstance(x, np.flatiter):
        x = x.base
    if least and type(x) in WEAK:
        x = np.asarray(x)
    elif isinstance(x, (list, tuple, range)):
        try:
            x = np.asarray(x)
        except (ValueError, TypeError, OverflowError):
            return None
    if least and isinstance(x, ARRAYS) and x.ndim < least:
        dtype = dtype_of(x)
        return dtype and recorder.abstract(x, dtype, least)
    return operand_of(recorder, x)


def result_of(x: Any) -> Result | None:
    """An array that was made; None if it is none."""
    if isinstance(x, Result):  # of another library's
        return x
    if not isinstance(x, ARRAYS):
        return None
    dtype = dtype_of(x)
    return None if dtype is None else Result(x, dtype, x.ndim)


def results_of(x: Any) -> list[Result]:
    """The arrays that a call made."""
    several = isinstance(x, (list, tuple)) and not isinstance(x, Result)
    found = (result_of(each) for each in (x if several else (x,)))
    return [each for each in found if each is not None]


def flat(values: Any) -> Iterator[Any]:
    """What lists of lists hold; of a range a number like those it has."""
    for x in values:
        if isinstance(x, (list, tuple)):
            yield from flat(x)
        else:
            yield 0 if isinstance(x, range) else x


def as_taken(values: Sequence[Any]) -> Sequence[Any]:
    """Operands as NumPy takes them: beside a masked array numbers are arrays without axes."""
    for x in values:
        if isinstance(x, np.ma.MaskedArray):
            return [np.asarray(x) if type(x) in WEAK else x for x in values]
    return values


# -- functions ------------------------------------------------------------------------------------


Asked = Callable[[tuple[Any, ...], dict[str, Any]], Any]


class Callee(NamedTuple):
    """A function of NumPy's."""

    name: str  # of what draws numbers after ``random.``
    form: Form  # ufuncs are the operators that they are the function of
    # whether it is the ``outer`` of a ufunc, which makes arrays of Python numbers first
    outer: bool = False
    looked: str = ""  # the name under which its values are looked at, if that is another


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
    name = f"{ufunc}.{method}"
    looked = name if method == "reduceat" else ""
    return Callee(REDUCTIONS.get((ufunc, method), name), Form.FUNCTION, looked=looked)


def _form_of(ufunc: str) -> Form:
    """``x ** 2`` is a square, while ``np.power(x, 2)`` looks for a loop."""
    return Form.FUNCTION if ufunc == "power" else Form.OPERATOR


# -- packages -------------------------------------------------------------------------------------


UNNAMED = frozenset({"ml_dtypes", "promoarray"})
"""Packages that are not named: what they compute is recorded, or is but a dtype."""


def root_of(module: str | None) -> str:
    """The package that a module is in."""
    return (module or "").partition(".")[0]


def is_of_library(root: str) -> bool:
    """Whether a package is installed, and no part of the program."""
    file = getattr(sys.modules.get(root), "__file__", None)
    return isinstance(file, str) and is_library(file)


def in_library(root: str) -> str:
    """Why what a package computes is not examined."""
    if root == "numpy":
        return "no policy is asked about it"
    return f"NumPy's operations in it are not recorded; --packages {root} records its Python"
