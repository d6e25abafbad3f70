"""What both the stand-in and a GPU are asked: cases, and how their answers are compared with the
CPU's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from typing import Any

import numpy as np

import promoarray as pa
from promoarray import dtypes as dt
from promoarray.backends import backend_of
from promoarray.dtypes import CONCRETE, INTEGERS, DType, Kind
from promoarray.operations import OPERATIONS, Family
from promoarray.promotion.registry import as_policy

ELEMENTWISE = frozenset(
    {
        *(Family.ARITHMETIC, Family.DIVIDE, Family.FLOOR_DIVIDE, Family.POW),
        *(Family.EQUALITY, Family.ORDER, Family.LOGICAL, Family.BITWISE, Family.SHIFT),
        *(Family.EXTREMUM, Family.FLOAT_BINARY),
        *(Family.FLOAT_UNARY, Family.SIGN, Family.ROUND, Family.TEST, Family.COMPLEX),
    }
)
NAMES = tuple(
    name for name, row in OPERATIONS.items() if row.family in ELEMENTWISE and name != "diff"
)
BINARY = tuple(name for name in NAMES if OPERATIONS[name].arity == 2)

LAST_PLACES = {
    **dict.fromkeys(
        (
            *("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh"),
            *("acosh", "atanh", "exp", "expm1", "log", "log1p", "log2", "log10", "pow"),
            *("atan2", "hypot", "logaddexp"),
        ),
        8,
    ),
    "abs": 2,
}
"""How many units in the last place functions may be apart, each side being half of them wrong.

``abs`` is about complex numbers, whose modulus is ``hypot``.
"""


@cache
def values(
    dtype: DType, seed: int = 0, size: int = 256, ends: bool = False
) -> np.ndarray[Any, Any]:
    """Random codes of a dtype, all there are of 8 bits and fewer: subnormals, Inf and NaN too.

    Of complex64 and complex128 these ends of the range are there if they are asked for.
    """
    random = np.random.default_rng(seed)
    if dtype is dt.bool:
        return random.integers(0, 2, size).astype(np.bool)
    if dtype.bits <= 8:
        codes = random.permutation(np.arange(size) % (1 << dtype.bits))
        if dtype.kind is Kind.INT and dtype.bits < 8:  # as ml_dtypes has them, sign-extended
            codes = np.where(codes >> (dtype.bits - 1), codes - (1 << dtype.bits), codes)
        return codes.astype(np.uint8 if dtype.kind is not Kind.INT else np.int8).view(dtype.storage)
    if dtype.kind is Kind.COMPLEX and ends:
        parts = random.permutation(values(dtype.part, seed, 2 * size))
        return parts.view(dtype.storage)
    if dtype.kind is Kind.COMPLEX and dtype.bits > 32:  # of which libraries lose the ends
        parts = random.normal(0, 3, (2, size)) * 10.0 ** random.integers(-6, 7, (2, size))
        return (parts[0] + 1j * parts[1]).astype(dtype.storage)
    if dtype.bits == 16 and size == 1 << 16:
        return random.permutation(np.arange(size, dtype=np.uint16)).view(dtype.storage)
    codes = random.integers(0, 256, size * dtype.storage.itemsize, np.uint8)
    found = codes.view(dtype.storage)
    if dtype.kind is Kind.FLOAT and dtype.bits >= 32:
        found[::2] = random.normal(0, 3, len(found[::2])).astype(dtype.storage)
    return found


def array(dtype: DType, seed: int = 0, size: int = 256, ends: bool = False) -> Any:
    """The same as an array on the CPU."""
    return pa.PArray._wrap(values(dtype, seed, size, ends), dtype)


def host(x: Any) -> np.ndarray[Any, Any]:
    """What an array holds, on the CPU."""
    found: np.ndarray[Any, Any] = backend_of(x._buffer).to_numpy(x._buffer, x.dtype)
    return found


def outcome(run: Callable[[], Any]) -> Any:
    """What a call gives: a result, or the type of its error."""
    with np.errstate(all="ignore"):
        try:
            return run()
        except (TypeError, ValueError, ArithmeticError) as error:
            return type(error)


def different(want: Any, got: Any, places: Any = 0, least: float = 0.0) -> str:
    """How an answer differs from the CPU's, or "". All NaN are alike.

    Places are of the larger of the two, or of a number called ``least``.
    """
    if isinstance(want, type) or isinstance(got, type):
        return "" if want is got else f"{_said(want)} on the CPU, {_said(got)} on the GPU"
    if want.dtype is not got.dtype or want.shape != got.shape:
        return f"{want.dtype} {want.shape} on the CPU, {got.dtype} {got.shape} on the GPU"
    mine, theirs = _parts(want), _parts(got)
    apart = mine != theirs
    nan = [_is_nan(codes, want.dtype) for codes in (mine, theirs)]
    apart &= ~(nan[0] & nan[1])
    if np.any(places):
        apart &= ~_near(want, got, places, least)
    if not apart.any():
        return ""
    at = int(np.flatnonzero(apart)[0])
    shown = [f"{int(codes[at]):#x}" for codes in (mine, theirs)]
    return f"{shown[0]} on the CPU, {shown[1]} on the GPU at {at}; {int(apart.sum())} differ"


def _said(x: Any) -> str:
    return x.__name__ if isinstance(x, type) else str(x.dtype)


def _parts(x: Any) -> np.ndarray[Any, Any]:
    """Codes, those of the parts of complex numbers side by side."""
    width = x.dtype.storage.itemsize // (2 if x.dtype.kind is Kind.COMPLEX else 1)
    codes: np.ndarray[Any, Any] = np.ascontiguousarray(host(x)).reshape(-1).view(f"u{width}")
    return codes & ((1 << x.dtype.bits) - 1) if x.dtype.bits < 8 else codes


_PART = {dt.complex32: dt.float16, dt.complex64: dt.float32, dt.complex128: dt.float64}


def _is_nan(codes: np.ndarray[Any, Any], dtype: DType) -> np.ndarray[Any, Any]:
    part = _PART.get(dtype, dtype)
    if part.format is None:
        return np.zeros(codes.shape, np.bool)
    with np.errstate(all="ignore"):
        return np.isnan(codes.view(part.storage).astype(np.float64))


def _near(want: Any, got: Any, places: Any, smallest: float) -> np.ndarray[Any, Any]:
    part = _PART.get(want.dtype, want.dtype)
    if part.format is None:
        return np.zeros(_parts(want).shape, np.bool)
    with np.errstate(all="ignore"):
        x, y = (_parts(v).view(part.storage).astype(np.float64) for v in (want, got))
        size = np.maximum(np.maximum(np.abs(x), np.abs(y)), smallest)
        if want.dtype.kind is Kind.COMPLEX:  # the smaller part has the error of the larger one
            size = np.repeat(size.reshape(-1, 2).max(axis=1), 2)
        least = 2.0 ** (1 - part.format.bias - part.format.mantissa)
        if want.dtype.kind is Kind.COMPLEX:
            least = 2.0 ** (1 - part.format.bias)  # CuPy's own complex functions flush
        near: np.ndarray[Any, Any] = np.abs(x - y) <= places * np.maximum(
            size * 2.0**-part.format.mantissa, least
        )
    return near


# --- Cases ---------------------------------------------------------------------------------------


def places(name: str, plan_compute: DType | None) -> int:
    """How many units in the last place an operation may be apart."""
    if plan_compute is not None and plan_compute.kind in (Kind.BOOL, *INTEGERS):
        return 0
    complex_ones = plan_compute is not None and plan_compute.kind is Kind.COMPLEX
    if complex_ones and OPERATIONS[name].family in (Family.POW, Family.FLOAT_BINARY):
        return 1 << 12
    if complex_ones and name in (
        "floor_divide",
        "multiply",
        "divide",
        "square",
        "reciprocal",
        "sign",
        "sqrt",
    ):
        return 16
    if name == "abs" and not complex_ones:
        return 0
    return LAST_PLACES.get(name, 0) * (8 if complex_ones else 1)


def operations(
    policy: str, names: tuple[str, ...], dtypes: tuple[DType, ...], mixed: bool
) -> Iterator[tuple[str, tuple[DType, ...]]]:
    """Operations of dtypes; with pairs of different ones, or without."""
    known = [d for d in dtypes if d in as_policy(policy).dtypes]
    for name in names:
        if OPERATIONS[name].arity == 1 or not mixed:
            yield from ((name, (d,) * OPERATIONS[name].arity) for d in known)
        else:
            yield from ((name, pair) for pair in product(known, repeat=2))


def disagreements(
    policy: str, cases: list[tuple[str, tuple[DType, ...]]], device: str
) -> list[str]:
    """The cases in which a device does not answer as the CPU does."""
    xp = pa.namespace(policy)
    found = []
    for name, dtypes in cases:
        operands = [xp.asarray(array(d, seed)) for seed, d in enumerate(dtypes)]
        there = [x.to_device(device) for x in operands]
        function = getattr(xp, name)
        want = outcome(lambda f=function, x=operands: f(*x))  # type: ignore[misc]
        got = outcome(lambda f=function, x=there: f(*x))  # type: ignore[misc]
        compute = _computed(policy, name, dtypes)
        complex_ones = compute is not None and compute.kind is Kind.COMPLEX
        least = 1.0 if complex_ones and name == "log1p" else 0.0  # of a modulus near 1
        few = _powers(operands) if complex_ones and name == "pow" else places(name, compute)
        wrong = different(want, got, few, least)
        if wrong and not _unspecified(name, want, got):
            found.append(f"{policy} {name}({', '.join(d.name for d in dtypes)}): {wrong}")
    return found


def _powers(operands: list[Any]) -> np.ndarray[Any, Any]:
    """How many units in the last place powers of complex numbers may be apart: each side has the
    error of ``y * log(x)``, which is that of its size."""
    with np.errstate(all="ignore"):
        x, y = (host(v).astype(np.complex128) for v in operands)
        size = np.nan_to_num(np.abs(y * np.log(x)), nan=np.inf)
        return np.repeat((1 << 12) + 16 * size, 2)


def _computed(policy: str, name: str, dtypes: tuple[DType, ...]) -> DType | None:
    from promoarray.promotion.plan import Operand, Plan

    plan = as_policy(policy).plan(name, tuple(map(Operand, dtypes)))
    return plan.compute if isinstance(plan, Plan) else None


DIVIDING = frozenset({"floor_divide", "remainder", "fmod"})
"""Operations whose NaN comes from the C library on the CPU, with the sign it chooses."""


def _unspecified(name: str, want: Any, got: Any) -> bool:
    """Which zero is the larger one nobody says, nor the sign of a NaN that becomes a zero."""
    both = not isinstance(want, type) and not isinstance(got, type)
    layout = want.dtype.format if both and name in DIVIDING else None
    if layout is not None and layout.nan is None:
        return bool((host(want) == host(got)).all())
    if name not in ("maximum", "minimum", "fmax", "fmin") or isinstance(want, type):
        return False
    if isinstance(got, type) or want.dtype is not got.dtype or want.dtype.format is None:
        return False
    with np.errstate(all="ignore"):
        x, y = (host(v).astype(np.float64) for v in (want, got))
    return bool(((x == y) | (np.isnan(x) & np.isnan(y))).all())


_EXPONENTS = (-2, -1, 0, 1, 2, 3, 0.5, -0.5, -1.0, 2.0)


def wrong_powers(policy: str, dtypes: tuple[DType, ...], device: str) -> list[str]:
    """Powers by one exponent for which policies have roots, squares and products: the bits."""
    xp = pa.namespace(policy)
    found = []
    for dtype in dtypes:
        x = xp.asarray(array(dtype, 3))
        there = x.to_device(device)
        for exponent in _EXPONENTS:
            want = outcome(lambda x=x, y=exponent: x**y)  # type: ignore[misc]
            got = outcome(lambda x=there, y=exponent: x**y)  # type: ignore[misc]
            wrong = different(want, got, 0 if _is_exact(policy, dtype, exponent) else 8)
            found += [f"{policy} {dtype} ** {exponent}: {wrong}"] if wrong else []
    return found


EXACT_POWERS: dict[str, tuple[float, ...]] = {
    "pow": (0.5, 2),
    "plain_pow": (0.5, 2),
    "whole_shortcut_pow": (-1, 2),
    "root_shortcut_pow": (0.5,),
    "shortcut_pow": (-1, 2, 0.5),
    "multiplied_pow": (-2, -1, -0.5, 0.5, 2, 3),
}
"""The exponents for which a kernel takes roots, products and quotients alone."""


def _is_exact(policy: str, dtype: DType, exponent: float) -> bool:
    """Whether NumPy itself takes no function of a library."""
    from promoarray.promotion.plan import Operand, Plan, Rank

    rules, weak = as_policy(policy), {int: dt.weak_int, float: dt.weak_float}[type(exponent)]
    seen = Operand(dtype), Operand(weak, Rank.SCALAR)
    plan = rules.plan("pow", seen)
    kernel = rules.kernel("pow", plan) if isinstance(plan, Plan) else "pow"
    return kernel == "integer_pow" or exponent in EXACT_POWERS.get(kernel, ())


def casts(sources: tuple[DType, ...] = CONCRETE) -> list[tuple[DType, DType]]:
    """Pairs of numeric dtypes."""
    return [(a, b) for a in sources for b in CONCRETE if a is not b]


def wrong_casts(
    policy: str, pairs: list[tuple[DType, DType]], device: str, size: int = 1 << 12
) -> list[str]:
    """The casts under a policy that a device does not do as the CPU does, NaN included."""
    xp = pa.namespace(policy)
    found = []
    for source, target in pairs:
        x = xp.asarray(array(source, size=min(1 << source.bits, size)))
        want = outcome(lambda x=x, t=target: xp.astype(x, t))  # type: ignore[misc]
        there = x.to_device(device)
        got = outcome(lambda x=there, t=target: xp.astype(x, t))  # type: ignore[misc]
        wrong = different(want, got)
        if not wrong and not isinstance(want, type) and (source, target) not in WIDENING:
            wrong = "" if (_parts(want) == _parts(got)).all() else "the NaN differ"
        if wrong:
            found.append(f"{policy} {source} to {target}: {wrong}")
    return found


WIDENING = {
    (a, b)
    for a in (dt.float16, dt.float32, dt.complex64)
    for b in (dt.float32, dt.float64, dt.complex64, dt.complex128)
}
"""Where NumPy, whose casts these are on the CPU, keeps the payload of a NaN."""
