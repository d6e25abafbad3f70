"""Powers of short NumPy buffers that one exponent decides, as PyTorch and NumPy 1 have them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from promoarray import dtypes as dt
from promoarray.backends.numpy import complex_loops, exponents, loops, programs
from promoarray.backends.numpy.between_casts import between_casts, of_each_element
from promoarray.dtypes import INTEGERS, DType, Kind
from promoarray.once import cached_property

if TYPE_CHECKING:
    from promoarray.promotion.plan import Plan

Buffer = np.ndarray[Any, Any]
Kernel = Callable[..., Any]


def power_kernel(
    name: str,
    kernel: Kernel | None,
    held: tuple[DType, ...],
    plan: Plan,
    common: DType,
    casts: loops.Casts,
) -> Kernel | None:
    """What raises by the kernel of this name, and by NumPy's power where that has the same bits."""
    made = _Powers(name, kernel, held, plan, common, casts)
    return _MADE_BY[name](name, made, held, plan, common, casts)


class _Powers:
    """The kernels of a power for any exponents: most programs have one, which is none of these."""

    def __init__(self, *asked: Any) -> None:
        self._asked = asked

    @cached_property
    def otherwise(self) -> Kernel:
        """The kernel of this name."""
        return of_each_element(*self._asked) or _nothing

    @cached_property
    def power(self) -> Kernel:
        """NumPy's power; the kernel of this name where there is none."""
        return between_casts("pow", np.power, *self._asked[2:]) or self.otherwise


def _nothing(x: Buffer, y: Buffer) -> None:
    """The kernel of what goes another way."""


def _by_factors(
    name: str,
    made: _Powers,
    held: tuple[DType, ...],
    plan: Plan,
    common: DType,
    casts: loops.Casts,
) -> Kernel:
    """Powers that are by one exponent a function of the base, by most others NumPy's power."""
    if held[1] is not common and not (held[1].kind is common.kind and held[1].bits < common.bits):
        return made.otherwise
    of_base = held[:1], plan._replace(inputs=plan.inputs[:1])
    known: Any = complex_loops.FACTORS if common.kind is Kind.COMPLEX else exponents.LOOPS[name]
    ways: dict[complex, Kernel | None]
    ways = dict.fromkeys((*complex_loops.IN_STEPS, *known, *_ENDS), _nothing)

    def way_of(exponent: complex) -> Kernel | None:
        """A kernel of the base alone, made when its exponent is first met."""
        if exponent in _ENDS:
            kernel = _ENDS[int(exponent.real)]
            program = programs.written(kernel, common.storage, 1, common.storage)
            return between_casts("", kernel, *of_base, common, casts, program=program)
        if exponent in known:
            return between_casts(known[exponent], None, *of_base, common, casts)
        return None

    def run(x: Buffer, y: Buffer) -> Any:
        if y.ndim:
            return made.otherwise(x, y)
        exponent = y.item()
        if exponent not in ways:
            return made.power(x, y)
        way = ways[exponent]
        if way is _nothing:
            way = ways[exponent] = way_of(exponent)
        return way(x) if way else made.otherwise(x, y)

    return run


_ENDS: dict[int, Kernel] = {0: np.ones_like, 1: lambda x: x.copy()}


def _plain_power(_: str, made: _Powers, held: tuple[DType, ...], *__: object) -> Kernel:
    """Powers of which NumPy's own loops have no shortcut, and the others by steps."""
    if held[1].kind in INTEGERS or held[1] is dt.bool:  # no root among their powers
        return made.power

    low, high = exponents.AROUND_A_ROOT

    def raised(x: Buffer, y: Buffer) -> Any:
        if y.size == 1:  # without a call, which takes a fifth of NumPy's x + x
            return (made.otherwise if low < y.item().real < high else made.power)(x, y)
        return (made.power if exponents.is_as_numpy(x, y) else made.otherwise)(x, y)

    return raised


_MADE_BY: dict[str, Callable[..., Kernel]] = {
    "plain_pow": _plain_power,
    "multiplied_pow": _by_factors,
    "whole_shortcut_pow": _by_factors,
    "root_shortcut_pow": _by_factors,
    "shortcut_pow": _by_factors,
}


def is_by_exponent(name: str, common: DType) -> bool:
    """Whether a kernel is a power that one exponent decides, which is made here."""
    if common.kind is Kind.COMPLEX:
        return name in ("plain_pow", "multiplied_pow")
    return name == "plain_pow" or (name in _MADE_BY and common.kind is Kind.FLOAT)
