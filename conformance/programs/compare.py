"""Where a framework and promoarray differ on a program, and the class the difference is of."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from programs import numbers
from programs.answers import CRASHED, Result, read
from programs.program import makes_operand, operands, operation, target, words

ULPS = {
    **dict.fromkeys(
        words(
            "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp expm1 log log1p log2 "
            "log10 atan2 hypot logaddexp pow ** **= reciprocal divide / /= logspace"
        ),
        4.0,
    ),
    **dict.fromkeys(["abs", "sqrt", "sign", "multiply", "*", "*=", "square"], 2.0),
}
"""How far apart values may be in units of the last place: libraries of functions round otherwise.

Division, multiplication, roots and moduli are rounded correctly of real numbers; the room is for
complex ones, which libraries multiply by different formulas, and for ``x ** y``.
"""
EXACT_IF_REAL = frozenset(words("reciprocal divide / /= abs sqrt sign multiply * *= square"))

SUMS = frozenset(
    words("sum prod mean std var cumulative_sum cumulative_prod matmul @ vecdot tensordot")
)
"""What adds up in an order of its own: values may differ by a few units of the largest term."""

UNORDERED = frozenset({"unique_values"})
"""What may stand in any order: the standard leaves it open."""

UP_TO_SIGN = frozenset(words("linalg.eig linalg.eigh linalg.qr linalg.svd"))
"""Factors of which each column has a sign, or a phase, of its own: moduli are compared."""

EPSILONS = {
    "float16": 2.0**-10,
    "bfloat16": 2.0**-7,
    "float32": 2.0**-23,
    "float64": 2.0**-52,
    "complex64": 2.0**-23,
    "complex128": 2.0**-52,
    "float8_e4m3fn": 2.0**-3,
    "float8_e5m2": 2.0**-2,
    "complex32": 2.0**-10,
}


class Difference(NamedTuple):
    """One program that two sides answer otherwise.

    Attributes
    ----------
    operation : str
        What the first line that differs does.
    operands : str
        What it does it with, in codes: ``int8 float32[] int!`` (an int that int8 does not hold).
    kind : str
        ``allowed`` (refused there, answered here), ``refused``, ``dtype``, ``weak``, ``shape``,
        ``values``, ``crash``.
    detail : str
        The dtypes of both answers, ``int8 int64``, or what was raised.
    program : str
    theirs, ours : str
        The answers of the line.
    """

    operation: str
    operands: str
    kind: str
    detail: str
    program: str
    theirs: str
    ours: str

    @property
    def group(self) -> tuple[str, str, str]:
        """What differences are counted by."""
        return self.operation, self.kind, self.detail


def difference(program: str, theirs: Sequence[str], ours: Sequence[str]) -> Difference | None:
    """Tell where the answers differ first; None where they agree as far as both can be asked.

    Behind a line that agrees only within a tolerance values say nothing any more.
    """
    lines, compared = program.splitlines(), True
    for number, line in enumerate(lines):
        if number >= len(theirs) or number >= len(ours):
            return None
        mine, real = ours[number], theirs[number]
        if real.startswith("?") or mine == real:
            if real.startswith("?"):
                return None
            continue
        if makes_operand(line) and real.startswith("!"):
            return None
        kind, exactly = _kind(line, real, mine, lines[:number], theirs, values=compared)
        compared = compared and exactly
        if kind:
            shown = _described(line, lines[:number], theirs)
            said = "\n".join(lines[: number + 1])
            return Difference(
                operation(line), shown, kind, _detail(kind, real, mine), said, real, mine
            )
        if real.startswith("!"):
            return None
    return None


def _kind(
    line: str,
    real: str,
    mine: str,
    before: Sequence[str],
    answers: Sequence[str],
    *,
    values: bool,
) -> tuple[str, bool]:
    """The kind of difference, or "", and whether values were equal to the bit."""
    if mine.startswith(CRASHED) or real.startswith(CRASHED):
        return "crash", False
    theirs, ours = read(real), read(mine)
    if "foreign(" in line and real in ("bool () True", "bool () False"):
        theirs = None  # compared by identity, which is no answer
    if theirs is None or ours is None:
        if theirs is ours:
            return "", True
        return ("allowed" if theirs is None else "refused"), False
    for kind, differs in (
        ("dtype", [r.dtype for r in theirs] != [r.dtype for r in ours]),
        ("weak", [r.weak for r in theirs] != [r.weak for r in ours]),
        ("shape", [r.shape for r in theirs] != [r.shape for r in ours]),
    ):
        if differs:
            return kind, False
    if not values:
        return "", False
    scale = _scale(before, answers)
    said = real, *answers[: len(before)]
    only_real = not any("complex" in answer.partition(" ")[0] for answer in said)
    pairs = zip(theirs, ours, strict=True)
    close = all(_close(operation(line), a, b, scale, real=only_real) for a, b in pairs)
    return ("" if close else "values"), False


def _scale(before: Sequence[str], answers: Sequence[str]) -> float:
    """The largest finite number that a line may have computed with."""
    found = [1.0]
    for _, answer in zip(before, answers, strict=False):
        for result in read(answer) or []:
            parts = map(_complex, result.values)
            found += [
                max(abs(p.real), abs(p.imag))
                for p in parts
                if math.isfinite(p.real) and math.isfinite(p.imag)
            ]
    return max(found)


def _complex(text: str) -> complex:
    return complex(text == "True") if text in ("True", "False") else complex(text)


def _close(name: str, a: Result, b: Result, scale: float, *, real: bool) -> bool:
    """Whether two arrays of one dtype are as near as the operation is defined."""
    if a.values == b.values or (name in UNORDERED and sorted(a.values) == sorted(b.values)):
        return True
    if a.dtype not in EPSILONS:
        return False
    epsilon = EPSILONS["float32" if _single(a) and _single(b) else a.dtype]
    parts = ("real",) if name in UP_TO_SIGN else ("real", "imag")
    loose = name in SUMS or name.startswith(("linalg.", "fft."))
    ulps = 0.0 if name in EXACT_IF_REAL and real else ULPS.get(name, 0.0)
    for x, y in zip(map(_complex, a.values), map(_complex, b.values), strict=True):
        if name in UP_TO_SIGN:
            x, y = complex(abs(x)), complex(abs(y))
        if loose:
            size = max(abs(x) if math.isfinite(abs(x)) else 0.0, scale)
            allowed = 16 * epsilon * size
        else:
            size = max(abs(x) if math.isfinite(abs(x)) else 0.0, abs(y))
            allowed = ulps * epsilon * size
        for part in parts:
            if not _near(getattr(x, part), getattr(y, part), allowed):
                return False
    return True


def _single(result: Result) -> bool:
    """Whether a float64 holds nothing but numbers of float32: that is what it was computed in."""
    values = np.array(result.values if result.dtype == "float64" else ["0.1"], np.float64)
    with np.errstate(over="ignore"):
        return np.array_equal(values, values.astype(np.float32), equal_nan=True)


def _near(x: float, y: float, allowed: float) -> bool:
    if x == y:
        return x != 0 or math.copysign(1, x) == math.copysign(1, y) or allowed > 0
    if x != x or y != y:
        return x != x and y != y
    return math.isfinite(x) and math.isfinite(y) and abs(x - y) <= allowed


def _described(line: str, before: Sequence[str], answers: Sequence[str]) -> str:
    """The operands of a line in codes."""
    known = {target(text): answer for text, answer in zip(before, answers, strict=False)}
    integers = [
        result.dtype
        for name in re.findall(r"\b[a-p]\b", line)
        for result in (read(known.get(name, "!")) or [])[:1]
        if result.dtype in numbers.INTEGERS
    ]
    codes = []
    for text in operands(line):
        for each in re.findall(r"\b[a-p]\b", text) or [text]:
            codes.append(_code(each, known, integers))
    return " ".join(filter(None, codes))


def _code(text: str, known: dict[str, str], integers: list[str]) -> str:
    results = read(known[text]) if text in known else None
    if results:
        dtype, weak, shape, _ = results[0]
        return f"{dtype}{'*' * weak}{'' if shape else '[]'}"
    if text.startswith("foreign("):
        _, kind, _, code, *_ = text.split('"' if '"' in text else "'")
        return f"np.{code}{'[]' * (kind == 'zero_d')}" if kind != "python" else code
    value = _number(text)
    if value is None:
        return text if text.isidentifier() and text != "None" else ""
    if type(value) is int and integers:
        bits, signed = numbers.INTEGERS[integers[0]]
        low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
        return "int" if low <= value <= high else "int!"
    if type(value) is float and not math.isfinite(value):
        return "float!"
    return type(value).__name__


def _number(text: str) -> object:
    """A Python scalar as it is written; None of anything else."""
    if text.startswith("complex("):
        return 1j
    if text.lstrip("-") in ("inf", "nan"):
        return float(text)
    try:
        value = ast.literal_eval(text)
    except ValueError:
        return None
    return value if isinstance(value, (bool, int, float, complex)) else None


def _detail(kind: str, real: str, mine: str) -> str:
    if kind in ("dtype", "weak"):
        return f"{_dtypes(real)} / {_dtypes(mine)}"
    if kind in ("allowed", "refused", "crash"):
        raised = real if kind == "allowed" else mine
        return re.sub(r"[\d.'\"]+", "#", raised)[:60]
    return _dtypes(real)


def _dtypes(answer: str) -> str:
    return " & ".join(part.partition(" ")[0] for part in answer.split(" & "))
