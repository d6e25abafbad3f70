"""What each framework runs programs with: its own functions under the array API's names.

A module has ``framework(edition)``, which imports its framework and answers a `Framework`. A
function that the framework has under another name, or with other arguments, is spelt here as its
user would write it; what the framework does not have is left out, and is not asked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import foreign
import numpy as np

from programs import answers


@dataclass(frozen=True)
class Framework:
    """A framework as programs see it.

    Attributes
    ----------
    version : str
    policy : str
        The policy that promises its answers.
    functions : mapping
        By the array API's name; ``linalg`` and ``fft`` are namespaces.
    dtypes : mapping
        From the names of dtypes to the framework's own.
    enter : callable
        From a NumPy array, of ml_dtypes' dtype where it has to be, and the name of its dtype to the
        framework's array.
    leave : callable
        From a framework's array to its dtype's name, whether it is weak, and a NumPy array of its
        values. Raises TypeError of what is no array.
    missing : callable
        Whether an exception means that the machine has no such kernel.
    cast_only : frozenset of str
        Dtypes that little but a cast is there for, and programs do little else with.
    traits : frozenset of str
        What else programs may ask: "mutable" arrays that can be assigned to and share memory.
    seconds : int
        So long a program may take; one that takes longer ends the process, which is a crash.
    """

    version: str
    policy: str
    functions: Mapping[str, Any]
    dtypes: Mapping[str, Any]
    enter: Callable[[Any, str], Any]
    leave: Callable[[Any], tuple[str, bool, Any]]
    missing: Callable[[Exception], bool] = lambda error: False
    cast_only: frozenset[str] = frozenset()
    traits: frozenset[str] = frozenset({"mutable"})
    seconds: int = 110
    names: Mapping[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        names = {**self.dtypes, **self.functions, "array": self.array, "foreign": foreign.operand}
        object.__setattr__(self, "names", names)

    def array(self, dtype: str, values: list[Any], shape: tuple[int, ...]) -> Any:
        """Make an array of values written out."""
        return self.enter(np.array(values, storage(dtype)).reshape(shape), dtype)

    def told(self, value: Any) -> str:
        """Write what a line bound."""
        if isinstance(value, (tuple, list)):
            return " & ".join(map(self.told, value))
        if isinstance(value, bool):
            return answers.of_array("bool", value)
        if isinstance(value, np.ndarray) and value.dtype.kind in "biufc":
            return answers.of_array(value.dtype.name, value)  # of a foreign operand
        dtype, weak, array = self.leave(value)
        return answers.of_array(dtype, array, weak=weak)

    def failed(self, error: Exception) -> str:
        """Write an exception."""
        missing = self.missing(error) or _lacks_option(error)
        return answers.of_error(error, missing=missing)

    def described(self) -> dict[str, Any]:
        """What the process that asks has to know."""
        return {
            "version": self.version,
            "policy": self.policy,
            "dtypes": [name for name in self.dtypes if name not in self.cast_only],
            "cast_only": sorted(self.cast_only),
            "functions": sorted(_functions(self.functions)),
            "traits": sorted(self.traits),
        }


def _lacks_option(error: Exception) -> bool:
    """Whether a function does not take such an argument, here or at all: it is not asked."""
    return isinstance(error, TypeError) and bool(_NO_OPTION.search(str(error)))


_NO_OPTION = re.compile(
    r"unexpected keyword argument|positional arguments? but \d+ w|required positional arg"
)


def _functions(functions: Mapping[str, Any], prefix: str = "") -> list[str]:
    names = []
    for name, value in functions.items():
        if isinstance(value, SimpleNamespace):
            names += _functions(vars(value), f"{name}.")
        else:
            names.append(prefix + name)
    return names


def storage(dtype: str) -> Any:
    """NumPy's or ml_dtypes' dtype of a name."""
    try:
        return np.dtype(dtype)
    except TypeError:
        import ml_dtypes

        return np.dtype(getattr(ml_dtypes, dtype))


def getitem(x: Any, key: Any) -> Any:
    """Look up a key of any kind: arrays, several axes at once."""
    return x[key]


def setitem(x: Any, key: Any, value: Any) -> Any:
    """Assign, and answer what was assigned to."""
    x[key] = value
    return x


def in_standard_form(
    functions: Mapping[str, Callable[..., Any]], leave: Callable[[Any], tuple[str, bool, Any]]
) -> dict[str, Callable[..., Any]]:
    """Functions that are not asked what the array API has no form for.

    That is a condition that is no array of bools, no axis, or one that is not there or twice, an
    extreme of no elements, a clip without a bound, arrays that are joined, sorted or added up
    without an axis. A
    framework that takes it says nothing about dtypes by that; NotImplementedError is raised.
    """

    def of_bools(condition: Any, *values: Any) -> bool:
        try:
            return leave(condition)[0] == "bool"
        except Exception:
            return False

    def along(x: Any, *, axis: Any = None, **options: Any) -> bool:
        if axis is None:
            return True
        axes = axis if isinstance(axis, tuple) else (axis,)
        shape = getattr(x, "shape", ())
        there = all(type(n) is int and -len(shape) <= n < len(shape) for n in axes)
        return there and 0 < len(axes) == len({n % len(shape) for n in axes})

    def of_some(x: Any, **options: Any) -> bool:
        return along(x, **options) and 0 not in getattr(x, "shape", ())

    def by_axis(x: Any, *, axis: Any = 0, **options: Any) -> bool:
        return axis is not None

    def running(x: Any, *, axis: Any = None, **options: Any) -> bool:
        return getattr(x, "ndim", 0) == 1 if axis is None else along(x, axis=axis)

    def bounded(x: Any, min: Any = None, max: Any = None) -> bool:
        return min is not None and max is not None

    forms = {
        "where": of_bools,
        "clip": bounded,
        **dict.fromkeys(("concat", "stack", "sort", "argsort"), by_axis),
        **dict.fromkeys(("max", "min", "argmax", "argmin"), of_some),
        **dict.fromkeys(("cumulative_sum", "cumulative_prod"), running),
        **dict.fromkeys(("all", "any", "sum", "prod", "mean", "std", "var", "flip"), along),
    }

    def guarded(function: Callable[..., Any], form: Callable[..., bool]) -> Callable[..., Any]:
        def asked(*arguments: Any, **options: Any) -> Any:
            if not form(*arguments, **options):
                raise NotImplementedError("the array API has no such form")
            return function(*arguments, **options)

        return asked

    both = forms.keys() & functions.keys()
    return {**functions, **{name: guarded(functions[name], forms[name]) for name in both}}
