"""Questions about operands that are not the framework's own: NumPy's, and numbers of other classes.

What is ``tensor * np.float64(.5)``, what ``np.int16(5) + tensor``, what becomes of
``tensor[0] = np.float32(3)``? ``questions`` asks a framework, or promoarray in its place, which a
``Side`` describes; ``oracles/foreign_operands.py`` writes down what the frameworks answered, and
``tests/policies/test_foreign.py`` compares promoarray with it.

Sections are named by what the operand is, where it stands and the operation::

    scalar/right/add        x + np.int16(3)         zero_d: np.array(3, np.int16)
    array/left/add          np.array([3, 3], np.int16) + x
    scalar/right_0d/add     the same beside a 0-d x
    python/inplace/add      x += Level.THREE        an IntEnum member, a Fraction ...
    scalar/function/where   where(mask, x, y)       function_left: where(mask, y, x)
    scalar/setitem/at       x[0] = y                array: x[...] = y
    scalar/getitem/at       x[y], whose cell is the shape
    value/right/add         x + np.int64(300), whose cell shows an element

Rows are dtypes of x, columns of y. A cell is a dtype code, ``-`` for a refusal, ``?`` for a kernel
that is missing, ``np:`` before the dtype of an array of NumPy's, and ``False`` of an answer that is
no array. Only NumPy is used, because the oracles run in the environments of the frameworks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from enum import IntEnum
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import python_operators
import tables

try:
    import ml_dtypes
except ImportError:  # with NumPy 1
    ml_dtypes = None

NAMES = {code: name for name, code in tables.CODES.items()}


class Level(IntEnum):
    """An enumeration of ints."""

    ONE = 1
    THREE = 3


class Int(int):
    """A class of a program's own, as are the next two."""


class Real(float):
    """See ``Int``."""


class Complex(complex):
    """See ``Int``."""


PYTHON = {
    "IntEnum": Level.THREE,
    "int+": Int(3),
    "float+": Real(1.5),
    "complex+": Complex(1.5, 2),
    "Fraction": Fraction(3, 2),
    "Decimal": Decimal("1.5"),
    "object": object(),
    "str": "3",
}

ROWS = ("b1", "u8", "i8", "i32", "i64", "f16", "bf16", "f32", "f64", "c64", "c128")
"""The dtypes of arrays; those that a framework has."""

COLUMNS = (
    *("b1", "u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64", "f16", "f32", "f64"),
    *("c64", "c128", "bf16", "f8_e4m3fn", "f8_e5m2", "i4"),
)
"""The dtypes of NumPy's operands."""

OPERATORS = ("add", "divide", "pow", "equal", "less", "bitwise_and", "left_shift")
INPLACE = ("add", "divide")
FUNCTIONS = ("add", "maximum", "where")

VALUES = (
    *("i64:300", "i64:-1", "i64:1099511627776", "i32:300", "u8:200", "i8:-3", "b1:1"),
    *("f32:1.5", "f64:0.1", "f64:1e300", "f64:70000.0", "f16:2.5", "f64:-0.0"),
)
VALUE_ROWS = ("b1", "u8", "i8", "i32", "i64", "f16", "bf16", "f32", "c64")


class Side(NamedTuple):
    """A framework, or promoarray, as it is asked.

    Attributes
    ----------
    array : callable
        From a code and nested lists of numbers to a new array.
    codes : collection of str
        The dtypes that it has.
    code : callable
        From an answer to its code.
    values : callable
        From an array to a flat list of Python's numbers.
    functions : mapping
        By the names of ``FUNCTIONS``; ``where`` takes the two arrays alone.
    assign : callable or None
        From an array, a key and a value to the array; None where arrays are immutable.
    trace : callable
        From what takes an array, and the array, to the answer; JAX needs no kernel for its dtype.
    """

    array: Callable[[str, Any], Any]
    codes: Iterable[str]
    code: Callable[[Any], str]
    values: Callable[[Any], list[Any]]
    functions: Mapping[str, Callable[[Any, Any], Any]]
    assign: Callable[[Any, Any, Any], Any] | None
    trace: Callable[[Callable[[Any], Any], Any], Any] = lambda run, x: run(x)


Question = Callable[[str, str], str]
"""From the codes of a row and a column to the cell."""


class Table(NamedTuple):
    """One section."""

    ask: Question
    rows: tuple[str, ...]
    columns: tuple[str, ...]


def storage(code: str) -> np.dtype[Any]:
    """The NumPy dtype of a code."""
    name = NAMES[code]
    return np.dtype(getattr(ml_dtypes, name, name))


def operand(kind: str, column: str, value: Any = None) -> Any:
    """An operand of NumPy's, or of another class, that a column names."""
    if kind == "python":
        return PYTHON[column]
    dtype = storage(column)
    if value is None:
        value = 1.5 if column[0] in "fc" or column == "bf16" else 3
    scalar = np.asarray(value).astype(dtype)[()]
    return {
        "scalar": scalar,
        "zero_d": np.asarray(scalar, dtype),
        "array": np.asarray([scalar, scalar], dtype),
    }[kind]


def columns_of(kind: str) -> tuple[str, ...]:
    """The columns of a kind of operand."""
    narrow = () if ml_dtypes else ("bf16", "f8_e4m3fn", "f8_e5m2", "i4")
    return tuple(PYTHON) if kind == "python" else tuple(c for c in COLUMNS if c not in narrow)


def questions(side: Side) -> dict[str, Table]:
    """Return all sections."""
    rows = tuple(code for code in ROWS if code in side.codes)
    tables_: dict[str, Table] = {}
    for kind in ("scalar", "zero_d", "array", "python"):
        for name, ask in _of_kind(side, kind).items():
            tables_[f"{kind}/{name}"] = Table(ask, rows, columns_of(kind))
        indices = [c for c in columns_of(kind) if c[:2] != "bf" and c[0] in "biu"]
        index = indices if kind != "python" else [*PYTHON]
        tables_[f"{kind}/getitem/at"] = Table(partial(_indexed, side, kind), ("f32",), (*index,))
    values = tuple(code for code in VALUE_ROWS if code in rows)
    for name, run in (("right/add", "add"), ("right/less", "less"), ("setitem/at", "")):
        if run or side.assign:
            ask = partial(_valued, side, python_operators.OPERATORS.get(run))
            tables_[f"value/{name}"] = Table(ask, values, VALUES)
    return tables_


def _of_kind(side: Side, kind: str) -> dict[str, Question]:
    found: dict[str, Question] = {}
    operators = python_operators.OPERATORS
    for name in OPERATORS:
        found[f"right/{name}"] = _asking(side, kind, [1, 2], operators[name])
        found[f"left/{name}"] = _asking(side, kind, [1, 2], _turned(operators[name]))
    for name in ("add", "less"):
        found[f"right_0d/{name}"] = _asking(side, kind, 1, operators[name])
        found[f"left_0d/{name}"] = _asking(side, kind, 1, _turned(operators[name]))
    for name in INPLACE:
        found[f"inplace/{name}"] = _asking(side, kind, [1, 2], python_operators.INPLACE[name])
    for name, function in side.functions.items():
        found[f"function/{name}"] = _asking(side, kind, [1, 2], function)
        found[f"function_left/{name}"] = _asking(side, kind, [1, 2], _turned(function))
    if side.assign:
        found["setitem/at"] = partial(_assigned, side, kind)
    return found


def _asking(side: Side, kind: str, values: Any, run: Callable[[Any, Any], Any]) -> Question:
    def ask(row: str, column: str) -> str:
        y = operand(kind, column)
        return _code(side, side.trace(lambda x: run(x, y), side.array(row, values)))

    return ask


def _turned(run: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda x, y: run(y, x)


def _code(side: Side, answer: Any) -> str:
    return str(answer) if isinstance(answer, bool) else side.code(answer)


def _assigned(side: Side, kind: str, row: str, column: str) -> str:
    assert side.assign is not None
    key = ... if kind == "array" else 0
    assign, y = side.assign, operand(kind, column)
    return side.code(side.trace(lambda x: assign(x, key, y), side.array(row, [1, 2])))


def _indexed(side: Side, kind: str, row: str, column: str) -> str:
    value = 1
    index = operand(kind, column, value) if kind != "python" else PYTHON[column]
    if column in ("IntEnum", "int+"):
        index = type(index)(1)
    shape = side.array(row, [1, 2])[index].shape
    return "x".join(map(str, shape)) or "0d"


def _valued(side: Side, run: Any, row: str, column: str) -> str:
    code, _, number = column.partition(":")
    y = operand("scalar", code, float(number) if "." in number or "e" in number else int(number))
    x = side.array(row, [1, 2])
    answer = run(x, y) if run else side.assign(x, 0, y)  # type: ignore[misc]
    first = side.values(answer)[0]
    return f"{side.code(answer)}:{first!r}".replace(" ", "")
