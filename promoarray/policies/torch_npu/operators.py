"""torch_npu: PyTorch on Ascend, as its users meet it; ``aclnn`` is the interface below it.

The dtype of a result is PyTorch's: the kernels of op-plugin allocate it by ``result_type`` and hand
it to aclnn, whose own table decides what is computed in. So this is ``torch@2.13`` with a cast of
its own, floats that are float32 whatever the default dtype, and the device's lists of dtypes
(``lists.py``).

From the sources of op-plugin (517f2e7d) and torch_npu (9e73e708), both of August 2026, under the
BSD licence, the documentation of torch_npu and of CANN, and messages of devices in public threads.
Nothing here was run on a device, and CANN's own sources were not read. Left out is the older way
through ``aclops``, which ``jit_compile=True`` takes and, by default, chips before Atlas A2.
"""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from promoarray import dtypes as dt
from promoarray.dtypes import INEXACT, DType, Kind
from promoarray.operations import Family
from promoarray.policies.aclnn import CASTS as ACLNN_CASTS
from promoarray.policies.torch.operators import ANSWERS, FUNCTIONS, OPERATIONS, V2_13, no_bools
from promoarray.policies.torch.promotion import by_ranks
from promoarray.policies.torch_npu.lists import DTYPES, WIDE, DeviceLists
from promoarray.promotion.cast_rules import Given
from promoarray.promotion.plan import Operand, Rank, Refusal
from promoarray.promotion.policy import Policy
from promoarray.promotion.quantization import BORROWED
from promoarray.promotion.source import Note, Source
from promoarray.promotion.type_rules import TypeRule
from promoarray.promotion.type_steps import exact_to, of_one_dtype, rows, supported_types

if TYPE_CHECKING:
    from collections.abc import Mapping

    from promoarray.promotion.policy_like import OperationRule, PolicyLike


def held_ranks(policy: PolicyLike, operands: tuple[Operand, ...]) -> tuple[DType, ...] | Refusal:
    """Promote as PyTorch does, to dtypes that the chip has: not to complex32 on A2."""
    types = by_ranks(policy, operands)
    lacking = () if isinstance(types, Refusal) else [d for d in types if d not in policy.dtypes]
    return Refusal(f"{policy.title} has no {lacking[0].name}") if lacking else types


UNCHECKED = "PyTorch refuses it; op-plugin does not check, and what the device does is not known"


def no_bools_here(policy: PolicyLike, operands: tuple[Operand, ...]) -> tuple[DType, ...] | Refusal:
    """Refuse bools as PyTorch does, though op-plugin has no such check."""
    found = no_bools(policy, operands)
    if isinstance(found, Refusal) and any(o.type.kind is Kind.BOOL for o in operands):
        return Refusal(f"{found.why} ({UNCHECKED})")
    return found


def factors(policy: PolicyLike, operands: tuple[Operand, ...]) -> tuple[DType, ...] | Refusal:
    """Refuse matrices of two dtypes as PyTorch does, though op-plugin has no such check."""
    types = supported_types(policy, operands)
    if isinstance(types, Refusal) or len(set(types)) == 1:
        return types
    said = "matrix products promote nothing; op-plugin gives the first operand's dtype"
    return Refusal(f"{said} ({UNCHECKED})")


def _written(types: tuple[DType, ...]) -> str | None:
    why = of_one_dtype(types)
    return why and (
        f"{why}: PyTorch refuses x[mask] = y of another dtype; op-plugin makes masked_fill of one"
        " value, by its source of August 2026"
    )


_FLOAT = exact_to(dt.float32)
"""Not PyTorch's default dtype: float32 is written in op-plugin."""
_FLOAT_NOTE = "bool and integers compute in float32, whatever torch.set_default_dtype has set"
_SELF = (
    "op-plugin asks for a result of the array's own integer dtype, which the device's operator"
    " does not list (PyTorch: the default float)"
)


def _rule(name: str | Family) -> TypeRule:
    """PyTorch's rule."""
    rule = OPERATIONS[name]
    assert isinstance(rule, TypeRule)
    return rule


def _floats(rule: OperationRule) -> OperationRule:
    """Have a rule make float32 of integers, where it makes the default dtype of them."""
    assert isinstance(rule, TypeRule)
    return replace(rule, compute=_FLOAT, note=rule.note.replace(*_DEFAULT) or _FLOAT_NOTE)


_DEFAULT = "bool and integers compute in the default dtype, float32", _FLOAT_NOTE
_float_unary = _floats(OPERATIONS[Family.FLOAT_UNARY])
_small_refused = TypeRule(
    compute=_FLOAT, admit=frozenset({Kind.FLOAT, dt.bool, dt.int32, dt.int64}), why=_SELF
)


def _noted(name: str | Family, note: str) -> OperationRule:
    """PyTorch's rule with a note of the device's."""
    rule = _rule(name)
    return replace(rule, note="; ".join(filter(None, (rule.note, note))))


_OPERATIONS: dict[str | Family, OperationRule] = OPERATIONS | {
    "subtract": TypeRule(operand_types=no_bools_here),
    Family.DIVIDE: _floats(OPERATIONS[Family.DIVIDE]),
    Family.FLOAT_UNARY: _float_unary,
    "exp": TypeRule(compute=_FLOAT, admit=INEXACT | WIDE | {dt.bool, dt.int64}, why=_SELF),
    "erf": _small_refused,
    "erfc": _small_refused,
    "mean": TypeRule(admit=INEXACT, why=f"bools and integers have no mean ({UNCHECKED})"),
    Family.MATMUL: replace(_rule(Family.MATMUL), operand_types=factors),
    Family.CLIP: _noted(
        Family.CLIP, "before CANN 8.2.RC1 integers with a float bound stay integers"
    ),
    Family.BITWISE: _noted(
        Family.BITWISE, "a 0-d tensor on the device keeps its dtype beside one on the CPU"
    ),
    Family.SORT: _noted(Family.SORT, "op-plugin refuses sort(stable=...) of float64"),
}

NOTES = (
    "Nothing of this was run on a device: it is from sources and documents of August 2026, and from"
    " messages of devices in public threads. Values are PyTorch's on a CPU.",
    "An operator without a kernel for the NPU runs on the CPU, with PyTorch's dtypes, unless"
    " TORCH_NPU_FALLBACK_CPU_DISABLE=1.",
    *(note for note in V2_13.notes if isinstance(note, Note) and note.ranks),
    Note(
        "A 0-d float64 tensor on the device has the kernel compute in float64, for a result of the"
        " array's dtype; one on the CPU and a Python number do not.",
        ranks=[Rank.ZERO_D],
    ),
    Note("complex128 is computed on the AI CPU, slowly.", dtypes=[dt.complex128]),
)
_NARROW = rows("f16 bf16 f32")
_KEPT = Note(
    "Float32 matrix products are computed in float32 (torch.npu.matmul.allow_hf32 is False).",
    dtypes=[dt.float32],
)
_IEEE = Note(
    "Inf and NaN are as IEEE 754 has them (INF_NAN_MODE_ENABLE=1); to saturate is barred unless"
    " INF_NAN_MODE_FORCE_DISABLE=1.",
    dtypes=_NARROW,
)

_GIVEN = Given(
    dt.float32,
    "x.double(), x.to(torch.float64) and x.type(torch.float64) give float32 on an NPU, with one"
    " warning (torch_npu, ToKernelNpu.cpp); what is made as float64 stays so, and so does"
    " x.to(x.device, torch.float64)",
)
CASTS = replace(
    ACLNN_CASTS,
    gives={dt.float64: _GIVEN},
    sources=(
        Source("Ascend/pytorch", "torch_npu/csrc/aten/common/ToKernelNpu.cpp", "9e73e708"),
        *ACLNN_CASTS.sources,
    ),
)


_HF32 = {
    (f"conv{axes}d", dt.float32): "a float32 convolution runs in HF32 by default, with fewer digits"
    " (torch.npu.conv.allow_hf32 is True)"
    for axes in (1, 2, 3)
}


def _of_chip(
    name: str,
    chip: str,
    dtypes: tuple[DType, ...],
    lists: str,
    *notes: str,
    doubts: Mapping[tuple[str, DType], str] = MappingProxyType({}),
) -> Policy:
    """The policy of a chip."""
    own = (*(d for d in V2_13.dtypes if d in dtypes),)
    return V2_13.derive(
        name,
        title=f"PyTorch 2.13 on Ascend ({chip})",
        principle=f"{V2_13.principle} torch_npu gives aclnn that dtype for the result.",
        dtypes=own,
        quantization=BORROWED,
        operations=_OPERATIONS,
        functions=FUNCTIONS | {Family.DIVIDE: _floats(FUNCTIONS[Family.DIVIDE])},
        operand_types=held_ranks,
        refuses={**V2_13.refuses, "setitem": _written},
        answers=DeviceLists(__file__, lists, name, own, doubts, ANSWERS),
        cast=CASTS,
        sources=(
            Source("Ascend/op-plugin", "op_plugin/ops/opapi", "517f2e7d, August 2026"),
            Source("Ascend/pytorch", "docs/zh/api/native_api/pytorch_2-13-0", "9e73e708"),
            Source("CANN's documentation of aclnn", "the operators' lists of dtypes"),
            *V2_13.sources,
        ),
        notes=(*NOTES, *notes),
    )


V2_13_A2 = _of_chip("torch_npu@2.13", "Atlas A2", DTYPES, "lists.txt", _IEEE, _KEPT, doubts=_HF32)
V2_13_950 = _of_chip(
    "torch_npu@2.13-950",
    "950",
    (*DTYPES, *rows("c32 f8_e4m3fn f8_e5m2 f8_e8m0fnu")),
    "",
    "Inf and NaN are as IEEE 754 has them; it has no other mode.",
    "Of the 950 no operator's list of dtypes is at hand.",
    _KEPT,
    doubts=_HF32,
)
V2_13_910A = _of_chip(
    "torch_npu@2.13-910a",
    "910A",
    (*(d for d in DTYPES if d is not dt.bfloat16),),
    "lists.txt",
    Note(
        "It saturates: overflow is the largest number, NaN 0. exp(12) is 65504 in float16.",
        dtypes=_NARROW,
    ),
    "The lists are of Atlas A2: by CANN's pages those of the 910A are the same without bfloat16."
    " By default operators are compiled (jit_compile), by rules that are left out here.",
    doubts={
        ("matmul", dt.float32): "a float32 matrix product is computed in float16 before the 910B"
        " (torch_npu, EnvVariables.cpp, allow_fp32_to_fp16)"
    },
)

POLICIES = {"2.13": V2_13_A2, "2.13-950": V2_13_950, "2.13-910a": V2_13_910A}
