"""CuPy: NumPy's dtypes, by NumPy's own functions, and CUDA's casts of floats to integers.

CuPy 14 follows NumPy 2. CuPy 13 has NumPy 1.26 for its baseline: the values of Python numbers
count, those of 0-d arrays, which are on the device, do not. No GPU was asked: which loop a ufunc
takes of arrays CuPy 14.2.0 answers without one (conformance/golden/cupy14.txt), Python numbers are
from its source, casts from the PTX that CUDA's compiler makes of its kernels.

Sources: cupy/_core/_kernel.pyx (``_guess_routine``, ``_check_should_use_min_scalar``), the upgrade
guide and "Differences between CuPy and NumPy" of 14.2.0 and 13.6.0; docs/gpu.md.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from promoarray import dtypes as dt
from promoarray.dtypes import Kind
from promoarray.kernels.cast_mode import DEFAULT, ToInteger
from promoarray.operations import Family, Form
from promoarray.policies.numpy import numpy_1, numpy_2
from promoarray.promotion.cast_rules import FLOAT_DTYPES, INTEGER_DTYPES, case
from promoarray.promotion.cast_transforms import Through
from promoarray.promotion.plan import Operand, Plan, Rank, Refusal
from promoarray.promotion.policy import Policy
from promoarray.promotion.source import Note, Source

if TYPE_CHECKING:
    from promoarray.promotion.policy_like import PolicyLike

EDITIONS = ("14", "13")

CUDA = DEFAULT._replace(to_integer=ToInteger.TORCH_CUDA)
_PTX = Source("the PTX of CuPy's kernels", "cvt.rzi", "CuPy 14.2.0, CUDA 13.0")

CASTS = replace(
    numpy_2.CASTS,
    mode=CUDA,
    cases=(case("u8", "wide", transform=Through(dt.uint32, CUDA)),),
    quirks=(),
    sources=(
        _PTX,
        Source("Differences between CuPy and NumPy", "Cast behavior from float to integer", "14.2"),
    ),
    notes=(
        Note(
            "Floats out of range saturate at 32 bits, for int64 and uint64 at 64 bits, and narrower"
            " integers keep the low bits of that. NaN becomes 0; at 64 bits and from float64 the"
            " highest bit alone.",
            INTEGER_DTYPES,
            of=FLOAT_DTYPES,
        ),
        Note(
            "CuPy takes float32 subnormals for zero and rounds float64 to bfloat16 twice; here no"
            " cast does.",
            FLOAT_DTYPES,
        ),
        "Read off the PTX and not run.",
    ),
)


class ScalarsByValue(numpy_1.ByValue):
    """NumPy 1's rule by value, of Python numbers alone."""

    @staticmethod
    def __call__(
        policy: PolicyLike, name: str, operands: tuple[Operand, ...], form: Form
    ) -> tuple[Operand, ...]:
        seen = tuple(o if o.rank is Rank.SCALAR else Operand(o.type) for o in operands)
        by_value = any(o.value is not None for o in seen)
        return numpy_1.by_value(policy, name, seen, form) if by_value else seen

    def telling(
        self, name: str, operands: tuple[Operand, ...], form: Form, index: int
    ) -> tuple[object, ...]:
        """The value of a 0-d array, which makes no difference."""
        return (operands[index].value,)


def _logical(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
    """Compute as NumPy does, but of complex numbers, for which there is no loop."""
    if any(operand.type.kind is Kind.COMPLEX for operand in operands):
        return Refusal(f"CuPy has no {name} of complex numbers")
    return numpy_2.NUMPY_2.rule(name, operands, Form.FUNCTION)(policy, name, operands)


def _sign(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
    """Make an int8 of a bool."""
    if operands[0].type is dt.bool:
        return policy.make_plan(name, dt.int8, dt.int8, 1)
    return numpy_2.NUMPY_2.rule(name, operands, Form.FUNCTION)(policy, name, operands)


_OPERATIONS = {
    **numpy_2.NUMPY_2.operations,
    Family.LOGICAL: _logical,
    "logical_not": _logical,
    "sign": _sign,
}

_DTYPES = (*numpy_2.OWN, dt.bfloat16)
_ZERO_D = "0-d arrays count as arrays of their dtype: their values are on the GPU."
_NOT_ASKED = "No GPU was asked; what CuPy lacks of NumPy is mostly not refused."

POLICIES = {
    "14": numpy_2.NUMPY_2.derive(
        "cupy@14",
        title="CuPy 14",
        dtypes=_DTYPES,
        operations=_OPERATIONS,
        cast=CASTS,
        answers=None,
        real_spectra=False,
        sources=(
            Source("CuPy, upgrade guide", "follows NumPy 2 in most of its behavior", "14"),
            *numpy_2.NUMPY_2.sources[:2],
        ),
        notes=(_NOT_ASKED, *numpy_2.NUMPY_2.notes[:1]),
    ),
    "13": numpy_1.NUMPY_1.derive(
        "cupy@13",
        title="CuPy 13",
        cast=CASTS,
        by_value=ScalarsByValue(),
        answers=None,
        real_spectra=False,
        sources=(
            Source("cupy/_core/_kernel.pyx", "_check_should_use_min_scalar", "13.6"),
            *numpy_1.NUMPY_1.sources[:1],
        ),
        notes=(_NOT_ASKED, _ZERO_D),
    ),
}


def edition(edition: str) -> Policy:
    """CuPy ``14`` or ``13``."""
    return POLICIES[edition]
