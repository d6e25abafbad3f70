"""Functions that are called in the place of others: of what is none of NumPy's own functions.

What Python computes in C with the operators of its arguments is computed in Python, where they
pass the hook (``in_python.py``), if it is given what is NumPy's. Of other compiled code, and of
libraries that are not rewritten, it is said that they were not examined.
"""

from __future__ import annotations

import builtins
import functools
import inspect
import itertools
import operator
import os
import sys
from collections import deque
from collections.abc import Callable, ItemsView, Iterator, KeysView, ValuesView
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from types import BuiltinFunctionType, FunctionType, MethodType, MethodWrapperType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from promoarray.core.call_site import is_library, of_promoarray
from promoarray.diagnostics.record.numpy.importing import Loader
from promoarray.diagnostics.record.numpy.numpy1_emulation import program_frame
from promoarray.diagnostics.record.numpy.operand import (
    ARRAYS,
    UNNAMED,
    Otherwise,
    callee_of,
    in_library,
    is_of_library,
    root_of,
)

if TYPE_CHECKING:
    from promoarray.diagnostics.record.numpy.session import Session

Maker = Callable[[Any], Any]
"""Makes what is called in the place of a function."""

HIGHER: dict[Any, int] = {
    builtins.map: 0,
    builtins.filter: 0,
    functools.reduce: 0,
    itertools.starmap: 0,
    itertools.takewhile: 0,
    itertools.dropwhile: 0,
    itertools.filterfalse: 0,
    itertools.accumulate: 1,
}
"""Functions that call another, and where it stands among their arguments."""

PURE = {"statistics": "_statistics", "heapq": "_heapq", "bisect": "_bisect"}
"""Modules of the standard library that compute, and what is compiled of them."""

COMPUTES = frozenset(
    {"random", "fractions", "decimal", "colorsys", "_operator", "_random", "ctypes"}
)
"""Further such modules."""

DRAWS = frozenset({"matplotlib", "mpl_toolkits", "tqdm", "rich", "pytest", "_pytest", "IPython"})
"""Libraries that show what they are given."""

_LISTS = list, tuple, set, frozenset, deque
_VIEWS = KeysView, ValuesView, ItemsView


class StandIns:
    """Finds what is called in the place of functions.

    Parameters
    ----------
    session : callable
        Answers who is told.
    """

    def __init__(self, session: Callable[[], Session | None]) -> None:
        self._session = session

    def __call__(self, function: Any) -> Maker | None:
        """Return what makes the stand-ins of functions of a kind; None if they have none."""
        if isinstance(function, functools.partial):
            return _partial
        replaced = _replacement(function)
        if replaced is not None:
            made = Otherwise(function, _before(function, replaced))
            return lambda f: made
        if type(function) is FunctionType:
            return self._of_library(function, function)
        if type(function) is MethodType:
            return self._of_library(function, function.__func__)
        if type(function) is MethodWrapperType:
            return self._operator
        called = inspect.getattr_static(type(function), "__call__", None)
        if type(called) is FunctionType:  # of an object whose class is in Python
            return self._of_library(function, called)
        why = self._compiled(function)
        return (lambda f: self._watched(f, why)) if why else None

    def _operator(self, method: Any) -> Any:
        """An operator that is called by its name: ``x.__add__`` of an array. What it is given has
        to be such that the operator does the same: it asks the other's class, too."""
        x, name = method.__self__, method.__name__
        if type(x) not in (np.ndarray, *np.sctypeDict.values()):
            return method  # a class of the program's may call that of NumPy in its own
        plain, turned = getattr(operator, name, None), f"__{name[3:]}"
        done = in_python().OPERATORS.get(plain or getattr(operator, turned, None))
        if done is None or type(x) is not np.ndarray:  # scalars leave some numbers to their class
            known = done is not None or plain is not None or name in _DIVMOD
            return self._watched(method, _NOT_RECORDED, x) if known else method

        def before(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            if kwargs or len(args) != (name not in _OF_ONE) or not {*map(type, args)} <= _ALIKE:
                return NotImplemented
            return done(x, *args) if plain else done(*args, x)

        return Otherwise(method, before)

    def _of_library(self, function: Any, code: Any) -> Maker | None:
        """Of a function in Python: of the program, or of a library that is not rewritten."""
        file = getattr(getattr(code, "__code__", None), "co_filename", "")
        defined = getattr(code, "__globals__", {}).get("__name__")  # not where its wrapper says
        root = root_of(defined if isinstance(defined, str) else getattr(code, "__module__", None))
        session = self._session()
        if not file or not is_library(file) or root in UNNAMED or session is None:
            return None
        if root in session.rewritten or root in DRAWS or session.records(root):
            return None
        if root in sys.stdlib_module_names and root not in COMPUTES:
            return None
        if self._hands_on(function, code):
            return None
        why = in_library(root)
        return lambda f: f if _is_vectorized(f) else self._watched(f, why)

    def _hands_on(self, function: Any, code: Any) -> bool:
        """Whether a library of a framework's that is recorded made it of one of the program's own
        functions, as ``flax.nnx.jit`` does."""
        session, given = self._session(), function
        for _ in range(8):  # decorators may stand on each other
            given = inspect.getattr_static(given, "__wrapped__", given)
        code_given = given.__code__ if type(given) is FunctionType else None
        if session is None or code_given is None or is_library(code_given.co_filename):
            return False
        modules = (x for x in code.__globals__.values() if isinstance(x, ModuleType))
        return any(session.records(root_of(x.__name__)) for x in modules)

    def _compiled(self, function: Any) -> str:
        """Why what compiled code computes is not examined; "" if it computes nothing."""
        owner = getattr(function, "__self__", None)
        kind = function if isinstance(function, type) else type(function)
        if isinstance(function, BuiltinFunctionType):
            if owner is None and function.__module__ is None:  # as OpenCV's: a module's, of none
                return _NOT_RECORDED
            kind = type(owner) if owner is not None and not isinstance(owner, ModuleType) else kind
        module = getattr(function, "__module__", None) or getattr(kind, "__module__", "")
        root = root_of(module if isinstance(module, str) else "")
        session = self._session()
        records = session is not None and session.records(root)
        known = root in sys.stdlib_module_names or root in DRAWS or records
        if (known and root not in COMPUTES) or root == "promoarray" or root == "__main__":
            return ""
        if isinstance(function, type) and not is_of_library(root):
            return ""
        if isinstance(function, type) and hasattr(getattr(function, "__init__", None), "__code__"):
            return "" if session and root in session.rewritten else in_library(root)
        return _NOT_RECORDED

    def _watched(self, function: Any, why: str, *bound: Any) -> Any:
        """A function of which is said that it was not examined if it is given what is NumPy's."""
        owner = getattr(function, "__self__", None)

        def before(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            session, given = self._session(), (owner, *bound, *args, *kwargs.values())
            if session is None:
                return NotImplemented
            makes = isinstance(function, type) and session.is_foreign(function)
            if makes or any(holds(x) or session.is_foreign(type(x)) for x in given):
                frame = program_frame(sys._getframe(1))
                session.unexamined(f"call of {name_of(function)}", why, frame)
            return NotImplemented

        return Otherwise(function, before)


_OF_ONE = frozenset({"__neg__", "__pos__", "__invert__", "__abs__"})
_DIVMOD = "__divmod__", "__rdivmod__"
_ALIKE = {np.ndarray, bool, int, float, complex, *np.sctypeDict.values()}
_NOT_RECORDED = "what it computes is not recorded"


def _is_vectorized(f: Any) -> bool:
    """Whether a function in Python is called with each element, which is recorded there."""
    return isinstance(f, np.vectorize) and isinstance(f.pyfunc, (FunctionType, MethodType))


def holds(x: Any, deep: int = 2) -> bool:
    """Whether an object is NumPy's, or holds what is."""
    if isinstance(x, ARRAYS):
        return True
    if isinstance(x, dict):
        return holds(x.keys(), deep) or holds(x.values(), deep)
    if not isinstance(x, (*_LISTS, *_VIEWS)):
        return False
    kinds = set(map(type, x))
    if any(issubclass(kind, ARRAYS) for kind in kinds):
        return True
    nested = any(issubclass(kind, (*_LISTS, dict)) for kind in kinds)
    return bool(deep and nested and any(holds(each, deep - 1) for each in x))


def recording(f: Any) -> Any:
    """A function as one whose operations are recorded wherever it is called."""
    found = _replacement(f)
    if found is not None:
        return found
    if isinstance(f, functools.partial):
        return _partial(f)
    return in_python().calling(f) if callee_of(f) is not None else f


def listed(method: Any, values: Any) -> Any:
    """A method by which a list compares what it holds."""
    replaced = in_python().METHODS.get(method.__name__)
    if replaced is None:
        return method

    def before(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        lone = isinstance(kwargs.get("key"), type(None)) and _of_one_dtype((values,))
        if (not holds((values, *args)) and "key" not in kwargs) or (lone and not args):
            return NotImplemented
        return replaced(values, *args, **kwargs)

    return Otherwise(method, before)


def name_of(function: Any) -> str:
    """What a function is called in messages."""
    kind = type(function).__module__
    module = getattr(function, "__module__", None) or (None if kind == "builtins" else kind)
    names = (getattr(function, name, None) for name in ("__qualname__", "__name__"))
    name = next(filter(None, names), type(function).__qualname__)
    return f"{module}.{name}" if isinstance(module, str) else str(name)


def _replacement(function: Any) -> Any:
    try:
        found = in_python().REPLACED.get(function)
    except TypeError:  # it has no hash
        return None
    if found is not None:
        return found
    if any(function is f for f in HIGHER):
        return functools.partial(_higher, function, HIGHER[function])
    module = getattr(function, "__module__", None)
    for name, compiled in PURE.items():
        if module in (name, compiled) and isinstance(function, (FunctionType, BuiltinFunctionType)):
            return getattr(_pure(name), function.__name__, None)
    return None


def _before(function: Any, replaced: Any) -> Callable[..., Any]:
    alone = function in (builtins.min, builtins.max, builtins.sorted)

    def before(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        given = (*args, *kwargs.values())
        if of_promoarray(sys._getframe(1)):
            return NotImplemented  # which is asked for the function itself
        if function not in HIGHER and not any(holds(x) or _is_lazy(x) for x in given):
            return NotImplemented
        if alone and kwargs.get("key") is None and _of_one_dtype(args):
            return NotImplemented  # which compares without a promotion
        return replaced(*args, **kwargs)

    return before


def _is_lazy(x: Any) -> bool:
    """Whether only iteration tells what an object holds: iterators, objects of the program's."""
    methods = (getattr(type(x), name, None) for name in ("__iter__", "__getitem__"))
    return isinstance(x, Iterator) or any(type(method) is FunctionType for method in methods)


def _of_one_dtype(args: tuple[Any, ...]) -> bool:
    values = args[0] if len(args) == 1 else args
    if isinstance(values, np.ndarray):
        return values.ndim == 1 and values.dtype.kind != "O"
    kinds = set(map(type, values)) if isinstance(values, _LISTS) else set()
    return len(kinds) == 1 and issubclass(kinds.pop(), np.generic)


def _higher(function: Any, place: int, /, *args: Any, **kwargs: Any) -> Any:
    """Call what calls another function with one that is recorded."""
    given = list(args)
    if function is itertools.accumulate and len(given) == 1 and kwargs.get("func") is None:
        kwargs["func"] = operator.add
    if len(given) > place:
        given[place] = recording(given[place])
    if "func" in kwargs:
        kwargs["func"] = recording(kwargs["func"])
    return function(*given, **kwargs)


def _partial(f: Any) -> Any:
    found = recording(f.func)
    return f if found is f.func else functools.partial(found, *f.args, **f.keywords)


@functools.cache
def in_python() -> Any:
    """What Python computes in C, in Python and rewritten."""
    path = os.path.join(os.path.dirname(__file__), "in_python.py")
    return _loaded(f"{__package__}.in_python", path)


@functools.cache
def _pure(name: str) -> Any:
    """A module of the standard library, rewritten and without what is compiled of it."""
    compiled, spec = PURE[name], PathFinder.find_spec(name)
    assert spec is not None
    before = sys.modules.get(compiled)
    if name != "statistics":  # of which that is no second form of anything
        sys.modules[compiled] = None  # type: ignore[assignment]
    try:
        made = _loaded(name, spec.origin or "")
    finally:
        if before is None:
            sys.modules.pop(compiled, None)
        else:
            sys.modules[compiled] = before
    errors = {n: x for n, x in vars(sys.modules.get(name, made)).items() if isinstance(x, type)}
    vars(made).update(errors)  # as the program knows them
    return made


def _loaded(name: str, path: str) -> ModuleType:
    loader = Loader(name, path)
    spec = PathFinder.find_spec(name.rpartition(".")[2], [os.path.dirname(path)])
    assert spec is not None
    spec.name, spec.loader = name, loader
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module
