"""Kernels of each element traced once, as programs of NumPy's inner loops: C++ runs them block by
block (``kernels/cpu/program.cpp``), where every call of NumPy's would go over all elements.

A kernel is run on values that compute nothing: every function of NumPy's that it calls leaves a
step behind. So there is one definition of a kernel, and its bits are NumPy's. What looks at
elements cannot be traced, and stays with Python."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from promoarray.backends.numpy.fp_warnings import ZERO_REFUSED
from promoarray.dtypes import BY_STORAGE
from promoarray.kernels import dtype_args

Kernel = Callable[..., Any]
Storages = tuple[np.dtype[Any], ...]
Traced = tuple[tuple[int, ...], tuple[Any, ...], tuple[Any, ...], bool]
"""A program as ``CastingKernel`` takes it: the bytes of each slot, constants, steps, and whether
one of them needs the lock of the interpreter."""


def traced(
    kernel: Kernel, storages: Storages, made: Any, by_way: bool
) -> tuple[Traced, ...] | None:
    """Trace a kernel of operands of these dtypes that makes ``made``; None if that cannot be done.

    If it asks which operands broadcasting repeats (``by_way``), there is a program for each answer.
    """
    shapes = _REPEATED if by_way else ((_SHAPE,) * len(storages),)
    found = [_traced(kernel, storages, made, each) for each in shapes]
    return None if None in found else tuple(each for each in found if each is not None)


_REPEATED = (((2, 2), (2, 2)), ((1, 2), (2, 2)), ((2, 2), (1, 2)), ((1, 2), (2, 1)))
"""Shapes of two operands of which broadcasting repeats none, the first, the second, both."""


def _traced(
    kernel: Kernel, storages: Storages, made: Any, shapes: tuple[Any, ...]
) -> Traced | None:
    program = _Program()
    operands = [program.slot(*each) for each in zip(storages, shapes, strict=True)]
    if isinstance(kernel, partial) and kernel.args[:1] == (np,):
        kernel = partial(kernel.func, _Namespace(program), *kernel.args[1:], **kernel.keywords)
    try:
        with np.errstate(all="warn"):
            result = kernel(*operands)
        divides = any(name.startswith(ZERO_REFUSED) for *_, name in program.steps)
        if result.dtype != made or divides != program.refuses_zero:
            return None
        return program.finished(result, len(storages))
    except (AttributeError, TypeError, ValueError, OverflowError):
        return None


class _Program:
    """The slots and steps so far. A slot is written to before it is read."""

    def __init__(self) -> None:
        self.dtypes: list[np.dtype[Any]] = []
        self.constants: dict[int, bytes] = {}
        self.steps: list[tuple[Any, tuple[Value, ...], str]] = []
        self.read: set[int] = set()
        self.needs_lock = False
        self.refuses_zero = False
        self._known: dict[tuple[bytes, np.dtype[Any]], int] = {}

    def slot(self, dtype: Any, shape: Any) -> Value:
        self.dtypes.append(np.dtype(dtype))
        return Value(self, len(self.dtypes) - 1, self.dtypes[-1], shape)

    def constant(self, value: Any, dtype: np.dtype[Any]) -> Value:
        with np.errstate(over="raise"):
            data = np.asarray(value, dtype).tobytes()
        if (data, dtype) not in self._known:
            self._known[data, dtype] = len(self.dtypes)
            self.constants[self.slot(dtype, ()).index] = data
        return Value(self, self._known[data, dtype], dtype, ())

    def step(self, loop: Any, *places: Value, name: str = "") -> None:
        """Add a step; of one without a name no exceptions are told."""
        *given, out = places
        self.read |= {place.index for place in given}
        if out.index in self.read:
            raise TypeError("a program writes to no value that was read")
        quiet = {*np.geterr().values()} == {"ignore"}
        self.steps.append((loop, tuple(place.copied() for place in places), "" if quiet else name))

    def finished(self, result: Value, operands: int) -> Traced:
        """The program, its result in the last slot."""
        if result.is_part or result.index < operands or result.index in self.constants:
            result = result.copy()
        order = [i for i in range(len(self.dtypes)) if i != result.index] + [result.index]
        number = {slot: i for i, slot in enumerate(order)}
        steps = tuple(
            (loop, tuple((number[place.index], place.offset) for place in places), name)
            for loop, places, name in self.steps
        )
        constants = tuple((number[slot], data) for slot, data in self.constants.items())
        return tuple(self.dtypes[i].itemsize for i in order), constants, steps, self.needs_lock


_DIVISIONS = frozenset({np.floor_divide, np.remainder, np.fmod})


class _Namespace:
    """NumPy, but for what it makes of a shape alone."""

    def __init__(self, program: _Program) -> None:
        self._program = program

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    def empty(self, shape: Any, dtype: Any) -> Value:
        return self._program.slot(dtype, shape)

    def refuse_zero(self, divisor: Any) -> Any:
        """A divisor of integers, of which a zero is an error: the division that comes tells."""
        if divisor.dtype.kind not in "iu":
            raise TypeError("floats divided by zero tell of it in several ways")
        self._program.refuses_zero = True
        return divisor

    def fma(self, x: Any, y: Any, z: Any) -> Value:
        """``x * y + z``, rounded once, which NumPy has not."""
        if x.dtype.char not in "fd":
            raise TypeError("there is a fused multiply-add of float32 and float64")
        values = [_as_value(self._program, each, x.dtype) for each in (x, y, z)]
        out = self._program.slot(x.dtype, _common(values))
        loop = "fma", dtype_args(BY_STORAGE[x.dtype])
        self._program.step(loop, *values, out)
        return out


class _Shape:
    """The shape of all values, which nobody may look at."""

    def __eq__(self, other: object) -> bool:
        raise TypeError("a program does not look at shapes")

    __hash__ = None  # type: ignore[assignment]


_SHAPE = _Shape()


class Value(NDArrayOperatorsMixin):
    """What a slot holds of each element, or one part of it."""

    def __init__(
        self, program: _Program, index: int, dtype: np.dtype[Any], shape: Any, offset: int = 0
    ) -> None:
        self._program, self.index, self.dtype = program, index, dtype
        self.shape, self.offset = shape, offset

    @property
    def size(self) -> int:
        if self.shape is _SHAPE:
            raise TypeError("a program does not look at shapes")
        return int(np.prod(self.shape))

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    @property
    def is_part(self) -> bool:
        return self.dtype != self._program.dtypes[self.index]

    def copied(self) -> Value:
        """The same place, whatever becomes of this name."""
        return Value(self._program, self.index, self.dtype, self.shape, self.offset)

    def __bool__(self) -> bool:
        raise TypeError("a program looks at no element")

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError("a program has no elements yet")

    # --- Parts and copies ------------------------------------------------------------------------

    def _part(self, which: int) -> Value:
        if self.dtype.kind != "c":
            raise TypeError("parts are those of complex numbers")
        size = self.dtype.itemsize // 2
        return Value(self._program, self.index, np.dtype(f"f{size}"), self.shape, which * size)

    @property
    def real(self) -> Value:
        return self._part(0) if self.dtype.kind == "c" else self

    @real.setter
    def real(self, value: Any) -> None:
        self._part(0)._hold(value)

    @property
    def imag(self) -> Value:
        if self.dtype.kind != "c":
            return self._program.constant(0, self.dtype)
        return self._part(1)

    @imag.setter
    def imag(self, value: Any) -> None:
        self._part(1)._hold(value)

    def _hold(self, value: Any) -> None:
        """Write a value of the same dtype, or a number, into a part."""
        given = _as_value(self._program, value, self.dtype)
        self._program.step(f"copy{_SIZES[self.dtype.itemsize]}", given, self)

    def copy(self) -> Value:
        out = self._program.slot(self.dtype, self.shape)
        out._hold(self)
        return out

    def astype(self, dtype: Any) -> Value:
        """As NumPy casts it; not of floats to integers, which hang on the machine."""
        kind = np.dtype(dtype)
        if kind == self.dtype:
            return self.copy()
        if kind.kind == "c":
            part = np.dtype(f"f{kind.itemsize // 2}")
            out = self._program.slot(kind, self.shape)
            out.real = self.real if self.real.dtype == part else self.real.astype(part)
            out.imag = self.imag if self.imag.dtype == part else self.imag.astype(part)
            return out
        is_known = {self.dtype, kind} <= _LETTERS.keys() and kind != np.bool
        if not is_known or (self.dtype.kind == "f" and kind.kind != "f") or self._loses(kind):
            raise TypeError(f"a program does not cast {self.dtype} to {kind}")
        out = self._program.slot(kind, self.shape)
        self._program.step(f"cast{_LETTERS[self.dtype]}{_LETTERS[kind]}", self, out)
        return out

    def _loses(self, kind: np.dtype[Any]) -> bool:
        """Whether float16 is cast, or made of what it may not hold."""
        return self.dtype == np.float16 or (kind == np.float16 and self.dtype.itemsize > 1)

    def __setitem__(self, mask: Any, value: Any) -> None:
        """Under this name are other values from now on."""
        if self.is_part or not isinstance(mask, Value) or mask.dtype != np.bool:
            raise TypeError("a program writes where a mask says")
        self.index = _where(self._program, mask, value, self.copied()).index

    # --- What NumPy calls ------------------------------------------------------------------------

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *given: Any, **options: Any) -> Any:
        if method != "__call__" or options or ufunc.nout != 1 or ufunc.signature is not None:
            return NotImplemented
        *kinds, _ = ufunc.resolve_dtypes((*map(_asked, given), None))
        (*entered, made), loop = ufunc._resolve_dtypes_and_context((*kinds, None))  # type: ignore[attr-defined]
        if entered != kinds or not all(kind.isbuiltin == 1 for kind in (*kinds, made)):
            return NotImplemented
        ufunc._get_strided_loop(loop)  # type: ignore[attr-defined]
        values = [_as_value(self._program, x, kind) for x, kind in zip(given, kinds, strict=True)]
        out = self._program.slot(made, _common(values))
        # A power of integers may raise an error, which threads without the lock cannot.
        self._program.needs_lock |= ufunc is np.power and made.kind in "iu"
        refuses = self._program.refuses_zero and ufunc in _DIVISIONS
        name = f"{ZERO_REFUSED}{ufunc.__name__}" if refuses else ufunc.__name__
        self._program.step(loop, *values, out, name=name)
        return out

    def __array_function__(self, function: Any, types: Any, given: Any, options: Any) -> Any:
        if function is np.where and len(given) == 3 and not options:
            return _where(self._program, *given)
        if function in _FILLED and len(given) == 1 and not options:
            return self._program.constant(_FILLED[function], self.dtype)
        if function is np.full_like and len(given) == 2 and not options:
            return _as_value(self._program, given[1], self.dtype)
        if function is np.empty_like and len(given) == 1 and not options:
            return self._program.slot(self.dtype, self.shape)
        return NotImplemented


def _common(values: list[Value]) -> Any:
    """The shape that values broadcast to; none is known of those that have one for all."""
    shapes = [value.shape for value in values]
    return _SHAPE if any(each is _SHAPE for each in shapes) else np.broadcast_shapes(*shapes)


_FILLED = {np.zeros_like: 0, np.ones_like: 1}

_SIZES = {1: "1", 2: "2", 4: "4", 8: "8", 16: "x"}
_LETTERS = {
    np.dtype(kind): letter
    for kind, letter in zip(
        ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"),
        "?bhiqBHIQefd",
        strict=True,
    )
}
"""What ``program.cpp`` calls lengths and dtypes."""


def _asked(x: Any) -> Any:
    """An operand as NumPy's promotion sees it: Python's numbers by their class."""
    if isinstance(x, (Value, np.generic)):
        return x.dtype
    if type(x) is bool:
        return np.dtype(bool)
    if type(x) in (int, float, complex):
        return type(x)
    raise TypeError("a program has values and numbers")


def _as_value(program: _Program, x: Any, dtype: np.dtype[Any]) -> Value:
    """An operand in the dtype that a loop takes."""
    if not isinstance(x, Value):
        _asked(x)
        return program.constant(x, dtype)
    return x if x.dtype == dtype else x.astype(dtype)


def _where(program: _Program, mask: Any, x: Any, y: Any) -> Value:
    if not isinstance(mask, Value) or mask.dtype != np.bool:
        raise TypeError("a program chooses where a mask says")
    dtype = np.result_type(*(v.dtype if isinstance(v, (Value, np.generic)) else v for v in (x, y)))
    if np.dtype(dtype).isbuiltin != 1:
        raise TypeError("a program has NumPy's own dtypes")
    chosen = [_as_value(program, v, dtype) for v in (x, y)]
    out = program.slot(dtype, _common([mask, *chosen]))
    program.step(f"where{_SIZES[dtype.itemsize]}", mask, *chosen, out)
    return out
