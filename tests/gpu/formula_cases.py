"""The kernels of single frameworks on a device and on the CPU: each, of each dtype it is for."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import numpy as np
from device_cases import array, different, outcome

import promoarray as pa
from promoarray.backends import backend_of
from promoarray.dtypes import INTEGERS, DType, Kind
from promoarray.kernels.portable import complex_arithmetic, products, statistics, variants
from promoarray.kernels.portable.steps import kernels_of
from promoarray.promotion.variants import VARIANTS

FORMULAS = variants.of(np)
_PRODUCTS = kernels_of(products)
_SUMS = {*_PRODUCTS, *kernels_of(statistics)} - {"signed_max", "signed_min"}
_BY_FLOAT32 = frozenset({"integer_var", "integer_std"})
"""Whose mean is of float32: a last bit of it is another variance."""
_POWERS = frozenset({name for name in FORMULAS if name.endswith("_pow")})
_OF_MANY_EXPONENTS = frozenset({"plain_pow", "log_pow", "shortcut_log_pow", "polar_pow"})
_PLACES = {
    **dict.fromkeys(
        (*_SUMS, "single_atan2", "rounded_atan2", "standard_expm1", "infinite_exp"), 64
    ),
    **dict.fromkeys((name for name in kernels_of(complex_arithmetic) if "sign_of" in name), 16),
    **dict.fromkeys(("standard_tanh", "hypot_of_squares"), 64),
    **dict.fromkeys((*_POWERS, "wrapped_logaddexp"), 1 << 12),
}
"""By how many units in the last place floats may be apart, where functions of a library or the
order of a sum's terms have a part in them; all else has the bits of the CPU."""
_COMPLEX_PLACES = dict.fromkeys(("scaled", "first_selects", "second_selects", "hypot_of_sizes"), 16)
"""And of complex numbers, whose products NumPy rounds once or twice as the machine has it."""


def formulas(compute: DType) -> list[str]:
    """The kernels of single frameworks that compute in a dtype."""
    return [name for name in FORMULAS if compute.kind in VARIANTS[name].kinds]


def wrong_formulas(compute: DType, device: str) -> list[str]:
    """Those that a device does not compute as the CPU does."""
    found = []
    for name in formulas(compute):
        for operands, options in _asked(name, compute):
            there = [x.to_device(device) for x in operands]
            want, got = (
                outcome(lambda n=name, v=v, o=options: _computed(n, v, compute, o))  # type: ignore[misc]
                for v in (operands, there)
            )
            wrong = different(want, got, _places(name, compute))
            if wrong:
                shapes = ", ".join(str(x.shape) for x in operands)
                found.append(f"{name} of {compute}, {shapes}, {options}: {wrong}")
    return found


def _places(name: str, compute: DType) -> int:
    if compute.kind in (*INTEGERS, Kind.BOOL):
        return 0
    found = _PLACES.get(name, 0)
    return found or (_COMPLEX_PLACES.get(name, 0) if compute.kind is Kind.COMPLEX else 0)


def _computed(name: str, operands: list[Any], compute: DType, options: dict[str, Any]) -> Any:
    buffers = tuple(x._buffer for x in operands)
    ((made, dtype),) = backend_of(buffers[0]).call(name, buffers, compute, **options)
    return pa.PArray._wrap(made, dtype)


def _asked(name: str, compute: DType) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    """Operands and options of a kernel."""
    positional = [p.name for p in inspect.signature(FORMULAS[name]).parameters.values()
                  if p.kind is not p.KEYWORD_ONLY and p.kind is not p.VAR_KEYWORD]  # fmt: skip
    if positional == ["given"]:  # any number: that of the operation
        positional = ["x"] if name.endswith(("negative", "abs")) else ["x", "y"]
    x, y, z = (_operand(name, compute, seed) for seed in range(3))
    if "bounds" in positional:
        least, most = pa.minimum(y, z), pa.maximum(y, z)
        yield [x, least, most], {"low": True, "high": True}
        yield [x, most], {"low": False, "high": True}
        yield [x, least], {"low": True, "high": False}
    elif len(positional) == 1:
        yield [x], {}
        yield from (([pa.reshape(x, (16, 16))], {"axis": axis}) for axis in (0, 1) if name in _SUMS)
    elif name in _PRODUCTS:
        options = {"axes": 1} if "tensordot" in name else {}
        yield from (([a, b], options) for a, b in ((x, y), (x[:1], y[:1])))
    elif name in _POWERS and compute.kind not in INTEGERS:
        ones = (pa.asarray(each, dtype=compute) for each in (-2, -1, -0.5, 0, 0.5, 1, 2, 3))
        yield from (([x, one], {}) for one in ones)
        if name in _OF_MANY_EXPONENTS:
            yield [x, y], {}
    else:
        yield [x, y], {}
        yield [x, y[:1]], {}
        if compute.kind in INTEGERS:
            yield [x, pa.where(y == 0, pa.ones_like(y), y)], {}


def _operand(name: str, compute: DType, seed: int) -> Any:
    """Any bits; of sums of floats numbers of one sign, of which nothing cancels, or integers that
    float32 adds exactly in any order, and of functions of complex numbers everyday ones."""
    if name in _BY_FLOAT32:
        return pa.asarray(np.random.default_rng(seed).integers(0, 100, 256), dtype=compute)
    if name in _SUMS and compute.kind not in INTEGERS:
        return pa.asarray(np.random.default_rng(seed).random(256), dtype=compute)
    return array(compute, seed, ends=not _places(name, compute))
