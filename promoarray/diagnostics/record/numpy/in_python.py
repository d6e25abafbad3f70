"""Built-in functions of Python that use operators of their arguments in C, written in Python.

The recorder loads this module rewritten (``stand_ins.py``), so that each operator passes the hook.
Order, results and errors are those of C.
"""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any

__warningregistry__ = None
"""Each warning is shown, and where the program stands (``hook.py``)."""

_NONE = object()
_NUMBERS = frozenset({bool, int, float})


def sum(iterable: Iterable[Any], /, start: Any = 0) -> Any:
    """Add what there is, one after the other; Python's own numbers as ``sum`` does."""
    if isinstance(start, (str, bytes, bytearray)):
        return builtins.sum(iterable, start)
    total, values = start, iter(iterable)
    run: list[Any] = []  # of Python's numbers, which it adds with one rounding
    for x in values:
        if type(x) in _NUMBERS and type(total) in _NUMBERS:
            run.append(x)
            continue
        if run:
            total, run = builtins.sum(run, total), []
        total = total + x
    return builtins.sum(run, total) if run else total


def prod(iterable: Iterable[Any], /, *, start: Any = 1) -> Any:
    """Multiply what there is."""
    total = start
    for x in iterable:
        total = total * x
    return total


def sumprod(p: Iterable[Any], q: Iterable[Any], /) -> Any:
    """Add the products of what there is."""
    total: Any = 0
    for x, y in zip(p, q, strict=True):
        total = total + x * y
    return total


def min(*args: Any, key: Any = None, default: Any = _NONE) -> Any:
    """The first of the smallest."""
    values = iter(args[0] if not args[1:] else args)
    best = next(values, _NONE)
    if best is _NONE:
        return builtins.min(()) if default is _NONE else default
    least = best if key is None else key(best)
    for x in values:
        given = x if key is None else key(x)
        if given < least:
            best, least = x, given
    return best


def max(*args: Any, key: Any = None, default: Any = _NONE) -> Any:
    """The first of the largest."""
    values = iter(args[0] if not args[1:] else args)
    best = next(values, _NONE)
    if best is _NONE:
        return builtins.max(()) if default is _NONE else default
    most = best if key is None else key(best)
    for x in values:
        given = x if key is None else key(x)
        if given > most:
            best, most = x, given
    return best


class _Key:
    """Compares what sorting compares."""

    __slots__ = ("x",)

    def __init__(self, x: Any) -> None:
        self.x = x

    def __lt__(self, other: _Key) -> Any:
        return self.x < other.x


def sorted(iterable: Iterable[Any], /, *, key: Any = None, reverse: Any = False) -> list[Any]:
    """Sort by what the program compares."""
    by: Callable[[Any], Any] = _Key if key is None else lambda x: _Key(key(x))
    return builtins.sorted(iterable, key=by, reverse=reverse)


def equal(a: Any, b: Any) -> Any:
    """What is equal of an array."""
    return a == b


def contains(values: Iterable[Any], x: Any) -> bool:
    """Whether a value is among others, as ``in`` compares them."""
    return any(each is x or each == x for each in values)


def count_of(values: Iterable[Any], x: Any) -> int:
    """How many are equal to a value."""
    found = 0
    for each in values:
        if each is x or each == x:
            found += 1
    return found


def index_of(values: Sequence[Any], x: Any, start: Any = 0, stop: Any = None) -> int:
    """Where the first is that is equal to a value."""
    for place in range(*slice(start, stop).indices(len(values))):
        if values[place] is x or values[place] == x:
            return place
    raise ValueError(f"{x!r} is not in list")


def remove(values: list[Any], x: Any) -> None:
    """Take out the first that is equal to a value."""
    try:
        del values[index_of(values, x)]
    except ValueError:
        raise ValueError("list.remove(x): x not in list") from None


def sort(values: list[Any], *, key: Any = None, reverse: Any = False) -> None:
    """Sort in place by what the program compares."""
    by: Callable[[Any], Any] = _Key if key is None else lambda x: _Key(key(x))
    values.sort(key=by, reverse=reverse)


def calling(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function of NumPy's as one that the hook sees, wherever it is called."""

    def call(*args: Any, **kwargs: Any) -> Any:
        return f(*args, **kwargs)

    return call


OPERATORS: dict[Any, Callable[..., Any]] = {
    operator.add: lambda a, b, /: a + b,
    operator.sub: lambda a, b, /: a - b,
    operator.mul: lambda a, b, /: a * b,
    operator.truediv: lambda a, b, /: a / b,
    operator.floordiv: lambda a, b, /: a // b,
    operator.mod: lambda a, b, /: a % b,
    operator.pow: lambda a, b, /: a**b,
    operator.matmul: lambda a, b, /: a @ b,
    operator.and_: lambda a, b, /: a & b,
    operator.or_: lambda a, b, /: a | b,
    operator.xor: lambda a, b, /: a ^ b,
    operator.lshift: lambda a, b, /: a << b,
    operator.rshift: lambda a, b, /: a >> b,
    operator.eq: lambda a, b, /: a == b,
    operator.ne: lambda a, b, /: a != b,
    operator.lt: lambda a, b, /: a < b,
    operator.le: lambda a, b, /: a <= b,
    operator.gt: lambda a, b, /: a > b,
    operator.ge: lambda a, b, /: a >= b,
    operator.neg: lambda a, /: -a,
    operator.pos: lambda a, /: +a,
    operator.invert: lambda a, /: ~a,
    operator.abs: lambda a, /: abs(a),
    operator.getitem: lambda a, b, /: a[b],
    operator.contains: contains,
    operator.countOf: count_of,
}

REPLACED: dict[Any, Callable[..., Any]] = {
    **OPERATORS,
    builtins.sum: sum,
    builtins.min: min,
    builtins.max: max,
    builtins.sorted: sorted,
    math.prod: prod,
}
"""From functions that compute with the operators of their arguments to those that do the same."""

if hasattr(math, "sumprod"):  # since Python 3.12
    REPLACED[math.sumprod] = sumprod

METHODS: dict[str, Callable[..., Any]] = {
    "count": count_of,
    "index": index_of,
    "remove": remove,
    "sort": sort,
}
"""Methods by which lists compare what they hold."""
