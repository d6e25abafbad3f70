"""Transforms of casts as CUDA C: each runs once, on a symbol for the codes, and is written down.

A transform (``promotion.cast_transforms``) is Python over NumPy's arrays of codes: what it does to
an element is the same for all of them. Given a ``Symbol`` it computes nothing; every function of
NumPy's that it calls leaves a statement behind, for one element. So there is one definition of a
transform, and what it does on a GPU cannot differ from what it does on the CPU.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from promoarray.dtypes import DType
from promoarray.kernels.cast_mode import CastMode
from promoarray.kernels.cuda.element import code_bits, element

__all__ = ["CodeTransform", "transformed"]

CodeTransform = Callable[..., Any]
"""From the source's codes, both dtypes and the codes a kernel gave, to the codes to give."""

_NUMBERS = {
    **{f"u{n}": f"u{8 * n}" for n in (1, 2, 4, 8)},
    "i1": "signed char",
    "i2": "short",
    "i4": "int",
    "i8": "i64",
    "f4": "float",
    "f8": "double",
    "b1": "bool",
}
"""The types of cast.h and device.h, by NumPy's names of theirs."""

# Of floats the functions of operations.h are taken, which neither flush nor contract.
_OPERATORS = {
    "bitwise_and": "{} & {}",
    "bitwise_or": "{} | {}",
    "bitwise_xor": "{} ^ {}",
    "left_shift": "{} << {}",
    "right_shift": "{} >> {}",
    "add": "{} + {}",
    "subtract": "{} - {}",
    "equal": "{} == {}",
    "not_equal": "{} != {}",
    "less": "{} < {}",
    "less_equal": "{} <= {}",
    "greater": "{} > {}",
    "greater_equal": "{} >= {}",
    "invert": "~{}",
    "logical_not": "!{}",
}
_OF_FLOATS = {"absolute": "abs", "invert": "", "logical_not": ""}
_FLOAT_ONLY = {"isnan", "isfinite", "signbit", "trunc", "copysign", "absolute"}


class Symbol(NDArrayOperatorsMixin):
    """An element of an array, as the name that it has in a kernel; and the statements so far."""

    def __init__(self, name: str, dtype: Any, written: list[str]) -> None:
        self.name, self.dtype = name, np.dtype(dtype)
        self._written = written

    def _made(self, text: str, dtype: Any) -> Symbol:
        """The value of an expression, under a name of its own."""
        name, kind = f"s{len(self._written)}", np.dtype(dtype)
        self._written.append(f"const {_NUMBERS[kind.str[1:]]} {name} = {text};")
        return Symbol(name, kind, self._written)

    def cast(self, source: DType, target: DType, mode: CastMode) -> Symbol:
        """The code in another dtype."""
        word = f"u{code_bits(target)}"
        text = element(self.name, source, target, mode)
        return self._made(f"({word})({text})", f"u{code_bits(target) // 8}")

    def astype(self, dtype: Any) -> Symbol:
        """The same integer in another type: its low bits."""
        kind = np.dtype(dtype)
        if "f" in (kind.kind, self.dtype.kind):
            raise TypeError(
                f"a transform casts {self.dtype} to {kind} by other means than cast_codes"
            )
        return self._made(f"({_NUMBERS[kind.str[1:]]}){self.name}", kind)

    def view(self, dtype: Any) -> Symbol:
        """The same bits in another type of that width."""
        kind = np.dtype(dtype)
        if kind.itemsize != self.dtype.itemsize:
            raise TypeError(f"a transform sees {self.dtype} as {kind}")
        if kind.kind == self.dtype.kind:
            return self
        text = self.name if self.dtype.kind != "f" else f"as_bits({self.name})"
        if kind.kind == "f":
            return self._made(f"as_float((u{8 * kind.itemsize}){text})", kind)
        return self._made(f"({_NUMBERS[kind.str[1:]]}){text}", kind)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *given: Any, **options: Any) -> Any:
        """A function of NumPy's, in the types that NumPy computes it in."""
        if method != "__call__" or options:
            return NotImplemented
        *kinds, kind = ufunc.resolve_dtypes((*map(_asked, given), None))
        words = [self._operand(x, k) for x, k in zip(given, kinds, strict=True)]
        return self._made(_called(ufunc.__name__, kinds[0], words, kind), kind)

    def __array_function__(self, function: Any, types: Any, given: Any, options: Any) -> Any:
        """``where`` and ``clip``."""
        if options or function not in (np.where, np.clip):
            return NotImplemented
        if function is np.where:
            condition, x, y = given
            kind = np.result_type(*(v.dtype if isinstance(v, Symbol) else v for v in (x, y)))
            chosen = [self._operand(v, kind) for v in (x, y)]
            return self._made(f"{condition.name} ? {chosen[0]} : {chosen[1]}", kind)
        x, low, high = given
        ends = [self._operand(end, x.dtype) for end in (low, high)]
        text = f"{x.name} < {ends[0]} ? {ends[0]} : {x.name} > {ends[1]} ? {ends[1]} : {x.name}"
        return self._made(text, x.dtype)

    def _operand(self, x: Any, dtype: np.dtype[Any]) -> str:
        """An operand as C has it in a type."""
        word = _NUMBERS[dtype.str[1:]]
        if isinstance(x, Symbol):
            if x.dtype == dtype:
                return x.name
            if "f" in (x.dtype.kind, dtype.kind):
                raise TypeError(f"a transform mixes {x.dtype} and {dtype}")
            return f"({word}){x.name}"
        value = np.asarray(x, dtype)
        code = int(value.view(f"u{dtype.itemsize}"))
        bits = f"{code:#x}{'ull' if dtype.itemsize == 8 else 'u'}"
        return f"as_float({bits})" if dtype.kind == "f" else f"({word}){bits}"


def _asked(x: Any) -> Any:
    """An operand as NumPy's promotion sees it: Python's numbers by their class."""
    return x.dtype if isinstance(x, (Symbol, np.generic, np.ndarray)) else type(x)


def _called(name: str, of: np.dtype[Any], words: list[str], kind: np.dtype[Any]) -> str:
    """A function of NumPy's as an expression.

    Raises TypeError if no transform has called it so far: it has to be written here.
    """
    if of.kind == "f":
        if name in _FLOAT_ONLY or name in _COMPARISONS or name == "add":
            return f"op::{_OF_FLOATS.get(name, name)}({', '.join(words)})"
    elif name in _OPERATORS:
        text = _OPERATORS["logical_not" if name == "invert" and of.kind == "b" else name]
        return f"({_NUMBERS[kind.str[1:]]})({text.format(*words)})"
    raise TypeError(f"a transform calls {name} of {of}, which has no text for a GPU")


_COMPARISONS = {"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"}


def transformed(
    x: str, y: str, source: DType, target: DType, transforms: tuple[CodeTransform, ...]
) -> list[str]:
    """Statements that take the transforms of a cast, both of real dtypes: from the code ``x`` in
    ``source`` and the code ``y`` in ``target`` that a mode made of it, to another ``y``.
    """
    written: list[str] = []
    given = Symbol(x, f"u{code_bits(source) // 8}", written)
    made = Symbol(y, f"u{code_bits(target) // 8}", written)
    for transform in transforms:
        made = transform(given, source, target, made)
    return ["{", *(f"    {line}" for line in written), f"    {y} = {made.name};", "}"]
