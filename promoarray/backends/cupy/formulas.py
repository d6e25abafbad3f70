"""Kernels by name, and the formulas of ``kernels.portable`` among them, over CuPy's buffers.

CuPy's own operators and casts flush float32 subnormals and round twice in places, and integers go
through floats in some of its functions. So a formula is given operands whose operators, casts and
functions are our kernels, wherever there is one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from promoarray import dtypes as dt
from promoarray.backends.cupy.array_api import functions
from promoarray.backends.cupy.device import cupy
from promoarray.backends.cupy.kernels import KERNELS, Kernel, of_buffers
from promoarray.backends.cupy.launch import Buffer, cast, operate
from promoarray.dtypes import BY_STORAGE, DType, Kind
from promoarray.kernels.cuda.fused import answer
from promoarray.kernels.portable import complexes, composed, variants
from promoarray.kernels.portable.steps import kernels_of

# --- Operands ------------------------------------------------------------------------------------


class Operand(NDArrayOperatorsMixin):
    """A buffer in a formula."""

    __slots__ = ("buffer",)

    def __init__(self, buffer: Buffer) -> None:
        self.buffer = buffer

    def __array_ufunc__(self, ufunc: Any, method: str, *operands: Any, **options: Any) -> Any:
        return getattr(_FUNCTIONS, ufunc.__name__)(*operands, **options)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.buffer, name)
        return _of_operands(found) if callable(found) else _operand(found)

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "buffer":
            super().__setattr__(name, value)
        else:  # a part
            part = getattr(self.buffer, name)
            full = isinstance(value, Operand)
            setattr(self.buffer, name, value.buffer if full else cupy.full_like(part, value))

    def __getitem__(self, key: Any) -> Any:
        return Operand(self.buffer[_buffer(key)])

    def __setitem__(self, key: Any, value: Any) -> None:
        self.buffer[_buffer(key)] = _buffer(value)

    def __bool__(self) -> bool:
        return bool(self.buffer)

    def astype(self, dtype: Any, copy: bool = True) -> Operand:
        held, wanted = BY_STORAGE[self.buffer.dtype], BY_STORAGE[np.dtype(dtype)]
        made = cast(self.buffer, held, wanted)
        return Operand(made.copy() if copy and made is self.buffer else made)


def _operand(value: Any) -> Any:
    return Operand(value) if isinstance(value, cupy.ndarray) else value


def _buffer(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return type(value)(map(_buffer, value))
    return value.buffer if isinstance(value, Operand) else value


def _of_operands(function: Kernel) -> Kernel:
    """A function of buffers as one of operands."""

    def run(*given: Any, **options: Any) -> Any:
        found = function(*map(_buffer, given), **{k: _buffer(v) for k, v in options.items()})
        return tuple(map(_operand, found)) if isinstance(found, tuple) else _operand(found)

    return run


def _alike(compute: DType, given: tuple[Any, ...]) -> tuple[Any, ...]:
    """Buffers of one dtype; scalars as NumPy's arrays, which go along with a launch."""
    return tuple(
        each.astype(compute.storage, copy=False).buffer
        if isinstance(each, Operand)
        else np.asarray(each, compute.storage)
        for each in given
    )


def _common(given: tuple[Any, ...]) -> DType:
    types = (each.dtype if isinstance(each, Operand) else each for each in given)
    return BY_STORAGE[np.result_type(*types)]


# --- Functions -----------------------------------------------------------------------------------

_NAMES = {
    "absolute": "abs",
    "arctan2": "atan2",
    "invert": "bitwise_invert",
    "left_shift": "bitwise_left_shift",
    "power": "pow",
    "right_shift": "bitwise_right_shift",
    "rint": "round",
    "true_divide": "divide",
}
"""NumPy's names for what promoarray calls otherwise."""


class _Functions:
    """NumPy's names for functions that compute by our kernels; CuPy's own for all else."""

    refuse_zero = None  # no division on a GPU raises a flag: the divisor is looked at

    def __getattr__(self, name: str) -> Any:
        theirs = getattr(cupy, name, None) or getattr(functions(), name, None)
        found = theirs if isinstance(theirs, type) else _function(name, theirs)
        self.__dict__[name] = found
        return found

    @staticmethod
    def where(condition: Any, x: Any, y: Any) -> Any:
        dtype = _common((x, y))
        return Operand(
            KERNELS["where"](*_alike(dtype, (x, y)), dtype, condition=_buffer(condition))
        )


_FUNCTIONS = _Functions()


def _function(name: str, theirs: Any) -> Kernel:
    ours, as_numpy = _NAMES.get(name, name), complexes.AS_NUMPY.get(name)

    def run(*given: Any, **options: Any) -> Any:
        if name in _REDUCED:
            return _of_operands(KERNELS[name])(*given, _common(given), **options)
        if not options and any(isinstance(each, Operand) for each in given):
            compute = _common(given)
            if answer(ours, compute) is not None:
                done = operate(ours, _alike(compute, given), compute)
                if done is not None:
                    return Operand(done[0])
            if as_numpy is not None and compute.kind is Kind.COMPLEX:
                return as_numpy(_FUNCTIONS, *given)
        return _of_operands(theirs)(*given, **options)

    return run


_REDUCED = frozenset({"max", "min", "argmax", "argmin", "all", "any"})
"""Functions for which subnormals and infinities count."""

# --- Kernels -------------------------------------------------------------------------------------


def _formula(function: Kernel) -> Kernel:
    """A function of operands as one of buffers."""

    def run(*given: Any, **options: Any) -> Any:
        held = {name: _operand(value) for name, value in options.items()}
        return _buffer(function(*map(_operand, given), **held))

    return run


def _formulas(named: Mapping[str, Kernel]) -> dict[str, Kernel]:
    return {name: _formula(partial(function, _FUNCTIONS)) for name, function in named.items()}


_VARIANTS = _formulas(kernels_of(composed)) | {
    name: _formula(function) for name, function in variants.of(_FUNCTIONS).items()
}
_COMPLEX = _formulas(complexes.KERNELS | complexes.AS_NUMPY)

_OF_CODES = frozenset({"where", "concat", "stack", "nextafter"})
"""What has no need of a dtype of CuPy's own."""


def kernel(name: str, compute: DType) -> Callable[..., Any]:
    """The kernel of an operation: a formula or one of ``KERNELS``, else the library's function.

    It takes buffers, the dtype they hold, and options.

    Raises TypeError if it would compute with codes.
    """
    if compute not in dt.NATIVE and name not in _OF_CODES:
        raise TypeError("what CuPy holds are codes")
    if compute.kind is Kind.COMPLEX and name in _COMPLEX:
        return of_buffers(_COMPLEX[name])
    if name in KERNELS:
        return KERNELS[name]
    return of_buffers(_VARIANTS.get(name) or getattr(functions(), name))
