"""Operations with their casts: which kernels are tested, on what, and what the CPU gives."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np
from cuda_cases import FUSED_PATTERNS, Transforms, differences, expected, operand
from device_cases import DIVIDING

from promoarray import dtypes as dt
from promoarray.backends import numpy as backend
from promoarray.backends.numpy.kernels import KERNELS
from promoarray.dtypes import BY_CODE, BY_STORAGE, DType, Kind
from promoarray.kernels import DEFAULT, CastMode
from promoarray.kernels.cuda.fused import Casts, answer, fused_kernel
from promoarray.kernels.cuda.kernel_source import KernelSource
from promoarray.operations import OPERATIONS
from promoarray.promotion.plan import Operand, Plan
from promoarray.promotion.registry import as_policy

COMPUTED = (*dt.STANDARD,)
"""What kernels compute in."""

LIBRARY = frozenset(
    {"sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh"}
    | {"exp", "expm1", "log", "log1p", "log2", "log10", "atan2", "hypot", "logaddexp"}
    | {"poisson_nll_loss"}
)
"""Functions whose last bits are the library's; and the power of floats, the modulus."""

ULPS = {dt.float32: 4, dt.float64: 3}
"""How far from the exact result they may be."""


@dataclass(frozen=True)
class Case:
    """An operation, what its operands hold, and the plan it is carried out by."""

    name: str
    operands: tuple[DType, ...]
    plan: Plan
    casts: Casts
    bounds: tuple[str, ...] = ()

    @property
    def kernel(self) -> KernelSource | None:
        plan, flags = self.plan, dict.fromkeys(self.bounds, True)
        return fused_kernel(
            self.name, self.operands, plan.inputs, plan.compute, plan.result, self.casts, **flags
        )

    @property
    def exact(self) -> bool:
        """Whether every bit must be the CPU's."""
        compute = self.plan.compute or self.plan.inputs[0]
        inexact = compute.kind in (Kind.FLOAT, Kind.COMPLEX)
        modulus = self.name == "abs" and compute.kind is Kind.COMPLEX
        return not (inexact and (self.name in LIBRARY or self.name == "pow" or modulus))

    def arguments(self) -> list[np.ndarray]:
        """Operands of many patterns."""
        given = [operand(d, FUSED_PATTERNS, seed) for seed, d in enumerate(self.operands)]
        if self.name == "pow" and self.operands[1].kind is Kind.INT:
            given[1] = np.abs(given[1].astype(np.int64)).astype(self.operands[1].storage)
            given[1][given[1] < 0] = 0  # the lowest number
        if self.name == "where":
            given.insert(0, operand(dt.bool, FUSED_PATTERNS, 7))
        for array in given:
            array.flags.writeable = False
        return given

    def on_cpu(self, given: list[np.ndarray]) -> np.ndarray:
        """What the plan gives on the CPU, cast by cast."""
        plan, options = self.plan, {}
        if self.name == "where":
            options["condition"], *given = given
        if self.name == "clip":
            options = {bound: bound in self.bounds for bound in ("low", "high")}
        held = []
        for array, source, entered in zip(given, self.operands, plan.inputs, strict=True):
            array = self._cast(array, source, entered)
            held.append(self._cast(array, entered, plan.compute or entered))
        with np.errstate(all="ignore"):
            out, own = self._called(held, **options)
        return self._cast(out, own, plan.result)

    def _called(self, held: list[np.ndarray], **options: object) -> tuple[np.ndarray, DType]:
        compute = self.plan.compute or self.plan.inputs[0]
        if compute.kind is Kind.COMPLEX and self.name in _PLAIN:
            return _PLAIN[self.name](*held), compute
        ((out, own),) = backend.call(self.name, tuple(held), compute, **options)
        return out, own

    def _cast(self, array: np.ndarray, source: DType, target: DType) -> np.ndarray:
        if source is target:
            return array
        return expected(np.ascontiguousarray(array), source, target, *self.casts(source, target))

    def wrong(self, given: list[np.ndarray], got: np.ndarray) -> list[str]:
        """Lines about elements that are not what they should be."""
        want = self.on_cpu(given)
        label = f"{self.name} of {' and '.join(map(str, self.operands))} to {self.plan.result}"
        if self.exact:
            if self.name in DIVIDING:
                got = _with_one_nan(got)
                want = _with_one_nan(want)
            return differences(given[-1], got, want, label)
        return _too_far(self, given, got, want, label)


def _with_one_nan(values: np.ndarray) -> np.ndarray:
    if BY_STORAGE[values.dtype].kind is not Kind.FLOAT:
        return values
    with np.errstate(invalid="ignore"):
        nan = np.isnan(values.astype(np.float64))
    return np.where(nan, np.array(np.nan, values.dtype), values)


def _multiply(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The product by its formula; NumPy rounds twice or once, as the machine has it."""
    out = np.empty(x.shape, x.dtype)
    out.real = x.real * y.real - x.imag * y.imag
    out.imag = x.real * y.imag + x.imag * y.real
    return out


def _square(x: np.ndarray) -> np.ndarray:
    return _multiply(x, x)


_PLAIN = {"multiply": _multiply, "square": _square}


def _too_far(
    case: Case, given: list[np.ndarray], got: np.ndarray, want: np.ndarray, label: str
) -> list[str]:
    """Compare with the function in a wider type, in units of the last place."""
    compute = case.plan.compute.part
    wider = np.float64 if compute is dt.float32 else np.longdouble
    limit = np.finfo(got.dtype)
    with np.errstate(all="ignore"):
        wide = [a.astype(wider) for x in given for a in _parts(x)]
        name = "hypot" if case.name == "abs" else case.name
        precise = np.asarray(KERNELS[name](*wide))
        # Sums are as exact as what is added.
        terms = {"logaddexp": wide, "poisson_nll_loss": [np.exp(wide[0]), precise]}
        size = np.max(np.abs([precise, *terms.get(case.name, [])]), axis=0)
        unit = np.spacing(np.minimum(size, limit.max).astype(got.dtype)).astype(wider)
        error = np.abs(got.astype(wider) - precise) / unit
        settled = (got == want) | (np.isnan(got) & np.isnan(want))
        near_end = np.isinf(got) & (np.abs(precise) > limit.max * (1 - 8 * limit.eps))
        wrong = np.flatnonzero(~settled & ~near_end & ~(error <= ULPS[compute]))
    return [
        f"{label}: {[str(a[i]) for a in given]} is {got[i]!s}, not {precise[i]!s}:"
        f" {error[i]:.3g} units ({wrong.size} of {got.size})"
        for i in wrong[:3]
    ]


def _parts(x: np.ndarray) -> tuple[np.ndarray, ...]:
    return (x.real, x.imag) if np.iscomplexobj(x) else (x,)


# --- The cases -----------------------------------------------------------------------------------


def plainly(source: DType, target: DType) -> tuple[CastMode, Transforms]:
    return DEFAULT, ()


@cache
def alike(compute: DType) -> tuple[Case, ...]:
    """Every operation on operands of what it computes in."""
    found = []
    for row in OPERATIONS.values():
        own = answer(row.name, compute)
        if row.arity not in (1, 2) or own is None:
            continue
        inputs = (compute,) * row.arity
        found.append(Case(row.name, inputs, Plan(inputs, compute, own), plainly))
    for bounds in (("low",), ("high",), ("low", "high")):
        inputs = (compute,) * (1 + len(bounds))
        found.append(Case("clip", inputs, Plan(inputs, compute, compute), plainly, bounds))
    return tuple(found)


_FLUSHING = as_policy("jax").with_quirks("flushes-subnormals").name
_POLICIES = ("numpy", "jax", "torch", "paddle@3.3", "aclnn", "tensorflow@all", "onnx", _FLUSHING)
_PAIRS = """
bf16 bf16, f16 f16, f8_e4m3fn f8_e4m3fn, f8_e5m2 f8_e5m2, f8_e4m3fnuz f8_e4m3fnuz, c32 c32
f4_e2m1fn f4_e2m1fn, i4 i4, u4 u4, i2 u2, bf16 f16, bf16 f32, f16 f32, f16 f64, f8_e4m3fn bf16
f8_e5m2 f32, i8 f16, i8 bf16, i8 f32, i32 f16, i32 f32, i64 f32, i64 f64, u8 bf16, b1 f16, b1 f32
b1 i32, u8 i8, i4 i8, i16 u16, i32 u32, i64 u64, u64 i64, i64 i32, f32 c64, c32 f16, c64 c128
i64 c64, f64 c64
"""
_FEW_PAIRS = """
bf16 bf16, f16 f16, f8_e4m3fn f8_e4m3fn, c32 c32, i4 i4, bf16 f32, i64 f32, b1 i32, u8 i8, i64 u64
"""
_OF_PAIRS = ("add", "divide")
_OF_FEW_PAIRS = ("subtract", "multiply", "floor_divide", "remainder", "less", "equal", "maximum")
_OF_FEW_PAIRS += ("copysign", "where")
_OF_ONE = ("sqrt", "negative", "abs", "square", "floor", "exp", "isnan", "sign")


def _read(text: str) -> list[tuple[DType, DType]]:
    pairs = [pair.split() for line in text.strip().splitlines() for pair in line.split(",")]
    return [(BY_CODE[a], BY_CODE[b]) for a, b in pairs]


@cache
def planned(policy: str) -> tuple[Case, ...]:
    """Low-precision and mixed operands, as a policy has them done."""
    found = as_policy(policy)
    ones = [(a,) for a, _ in _read(_FEW_PAIRS)]
    wanted: list[tuple[str, tuple[DType, ...]]] = [
        *product(_OF_PAIRS, _read(_PAIRS)),
        *product(_OF_FEW_PAIRS, _read(_FEW_PAIRS)),
        *product(_OF_ONE, ones),
    ]
    cases = []
    for name, given in wanted:
        plan = found.plan(name, tuple(map(Operand, given)))
        if not isinstance(plan, Plan):
            continue
        if found.kernel(name, plan) != name or plan.result.weak:
            continue
        cases.append(Case(name, given, plan, found.cast.plan))
    return tuple(cases)


@cache
def mixed() -> dict[str, Case]:
    """The cases of all policies whose kernels differ, by the kernels' names."""
    found: dict[str, Case] = {}
    for policy in _POLICIES:
        for case in planned(policy):
            kernel = case.kernel
            if kernel is not None and (case.exact or case.plan.result in ULPS):
                found.setdefault(kernel.name, case)
    return found
