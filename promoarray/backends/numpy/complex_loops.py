"""Kernels of complex numbers by our loops, where ``kernels.portable`` makes arrays of parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any

import numpy as np

from promoarray import kernels
from promoarray.backends.numpy import loops, programs
from promoarray.dtypes import BY_STORAGE
from promoarray.kernels import DEFAULT
from promoarray.kernels.portable import powers, xla
from promoarray.kernels.portable.complex_arithmetic import nan_divide, standard_multiply
from promoarray.kernels.portable.variants import by_nearest

Buffer = np.ndarray[Any, Any]
Kernel = Callable[..., Buffer]


def by_loop(name: str, otherwise: Kernel, *operands: Buffer) -> Buffer:
    """An operation on complex numbers of one dtype; ``otherwise`` knows what NumPy warns of."""
    if isinstance(operands[0], programs.Value):
        return programs.own_step(name, *operands)
    out: Buffer | None = _kernel(name, len(operands), operands[0].dtype)(*operands)
    return otherwise(*operands) if out is None else out


@cache
def _kernel(name: str, count: int, storage: np.dtype[Any]) -> Callable[..., Any]:
    row = kernels.dtype_args(BY_STORAGE[storage])
    any_layout = (row,) * (count + 2), (DEFAULT,) * (count + 1)
    rows, modes = (row,) * (2 * count + 3), (DEFAULT,) * (2 * count + 1)
    own = storage, storage, np.empty, np.empty_like, loops.watched
    return kernels.CastingKernel(name, rows, modes, *own, lambda: any_layout)


FACTORS = {-1: "fused_reciprocal", 2: "plain_square", 3: "plain_cube"}
"""The loops of powers by one exponent."""

IN_STEPS = -2, -0.5, 0, 0.5, 1
"""Other exponents that have a way of their own."""


def multiplied_pow(variants: Mapping[str, Kernel]) -> Kernel:
    """The powers by one exponent that counts factors."""
    others = variants["multiplied_pow"]
    reciprocal = partial(by_loop, "fused_reciprocal", variants["fused_reciprocal"])
    square = partial(by_loop, "plain_square", variants["plain_square"])
    cube = partial(by_loop, "plain_cube", lambda x: others(x, np.full((), 3, x.dtype)))
    ways = powers.complex_factors(reciprocal, square, cube, np.sqrt)

    def run(x: Buffer, y: Buffer) -> Buffer:
        way = ways.get(y.item()) if x.dtype.kind == "c" else None
        return way(x) if way else others(x, y)

    return run


_polar_ends = partial(by_loop, "polar_ends", partial(xla.polar_ends, np))
polar_pow = partial(xla.by_polar, np, _polar_ends)

_multiply = partial(by_loop, "standard_multiply", partial(standard_multiply, np))
log_pow = partial(powers.by_logarithm, np, _multiply)

_divide = partial(by_loop, "nan_divide", partial(nan_divide, np))
nearest_remainder = partial(by_nearest, np, _divide)


def shortcut_log_pow(x: Buffer, y: Buffer) -> Any:
    """Of a program, which looks at no exponent, all three."""
    if isinstance(y, programs.Value):
        return np.where(y == 0, np.ones_like(x), np.where(y == 1, x, log_pow(x, y)))
    return powers.end_or(np, log_pow, x, y)
