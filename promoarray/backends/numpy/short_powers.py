"""Powers of short NumPy buffers that one exponent decides, as PyTorch and NumPy 1 have them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from promoarray import dtypes as dt
from promoarray.backends.numpy import complex_loops, exponents, loops
from promoarray.backends.numpy.between_casts import between_casts, of_each_element
from promoarray.dtypes import INTEGERS, DType

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
    otherwise = of_each_element(name, kernel, held, plan, common, casts)
    power = between_casts("pow", np.power, held, plan, common, casts)
    if otherwise is None or power is None:
        return otherwise
    return _MADE_BY[name](otherwise, power, held, plan, common, casts)


def _by_factors(
    otherwise: Kernel,
    power: Kernel,
    held: tuple[DType, ...],
    plan: Plan,
    common: DType,
    casts: loops.Casts,
) -> Kernel:
    """PyTorch's powers of complex numbers: by one exponent a function of the base, of most others
    NumPy's power."""
    if held[1] is not common:
        return otherwise
    of_base = held[:1], plan._replace(inputs=plan.inputs[:1])
    ways: dict[complex, Any] = {
        exponent: between_casts(name, None, *of_base, common, casts)
        for exponent, name in complex_loops.FACTORS.items()
    }
    ways |= dict.fromkeys(complex_loops.IN_STEPS)

    def run(x: Buffer, y: Buffer) -> Any:
        if y.ndim:
            return otherwise(x, y)
        exponent = y.item()
        if exponent not in ways:
            return power(x, y)
        way = ways[exponent]
        return way(x) if way else otherwise(x, y)

    return run


def _plain_power(otherwise: Kernel, power: Kernel, held: tuple[DType, ...], *_: object) -> Kernel:
    """Powers of which NumPy's own loops have no shortcut, and the others by steps."""
    if held[1].kind in INTEGERS or held[1] is dt.bool:  # no root among their powers
        return power
    return lambda x, y: (power if exponents.is_as_numpy(x, y) else otherwise)(x, y)


_MADE_BY: dict[str, Callable[..., Kernel]] = {
    "multiplied_pow": _by_factors,
    "plain_pow": _plain_power,
}
