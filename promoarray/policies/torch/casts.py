"""PyTorch's cast rule: ``Tensor.to`` on x86-64; 2.11 and 2.13 differ in one target, ARM64 and a GPU
in floats beyond an integer.

Recorded: conformance/golden/casts, torch 2.13.0; of the GPU docs/gpu.md, torch 2.11.0.
"""

from __future__ import annotations

from dataclasses import replace

from promoarray.kernels.cast_mode import DEFAULT, Beyond, ScaleNegative, ScaleZero, ToInteger
from promoarray.promotion.cast_quirks import (
    IN_VECTORS,
    NARROW_FLOATS,
    RECORDED,
    SAID_BY_ARM,
    SAID_BY_X86,
    in_no_vector,
    lowest_scale_up,
    rounds_twice,
)
from promoarray.promotion.cast_rules import FLOAT_DTYPES, INTEGER_DTYPES, CastRule, case, dtypes
from promoarray.promotion.source import Note, Source

_TORCH = "torch 2.13.0, CPU"

TORCH_2_11 = CastRule(
    mode=DEFAULT._replace(
        to_integer=ToInteger.TORCH,
        scale_negative=ScaleNegative.ABSOLUTE,
        scale_zero=ScaleZero.SMALLEST,
    ),
    cases=(case("ints", "f8_e4m3fnuz f8_e5m2fnuz scale", to_integer=ToInteger.NUMPY),),
    quirks=(rounds_twice(_TORCH, f"{NARROW_FLOATS} f16 c32"), lowest_scale_up(_TORCH)),
    sources=(Source("torch.Tensor.to", RECORDED, _TORCH),),
    notes=(
        SAID_BY_X86,
        Note("float8_e8m0fnu takes the absolute value; 0 is its smallest scale.", dtypes("scale")),
        Note(
            "PyTorch has no casts to float6 and float4; here they are ml_dtypes'.",
            dtypes("float4 float6"),
            borrowed=True,
        ),
    ),
)

TORCH_2_11_CUDA = CastRule(
    mode=TORCH_2_11.mode._replace(to_integer=ToInteger.TORCH_CUDA),
    quirks=TORCH_2_11.quirks,
    sources=(
        Source("PTX ISA, cvt", "integer conversion: .sat, NaN inputs", "9.0"),
        Source("torch.Tensor.to on an H100", "recorded in docs/gpu.md", "torch 2.11.0, CUDA 13.0"),
    ),
    notes=(
        Note(
            "Floats out of range saturate at 32 bits, for int64, uint64 and (signed) uint8 at 64"
            " bits, and narrower integers keep the low bits of that.",
            INTEGER_DTYPES,
            of=FLOAT_DTYPES,
        ),
        Note(
            "NaN is 0; from float64 and in a register of 64 bits it is the register's highest bit.",
            INTEGER_DTYPES,
            of=FLOAT_DTYPES,
        ),
        *(note for note in TORCH_2_11.notes if note is not SAID_BY_X86),
    ),
)

TORCH_2_13 = CastRule(
    mode=TORCH_2_11.mode,
    cases=(*TORCH_2_11.cases, case("f8_e4m3fn", overflow=Beyond.LARGEST, infinity=Beyond.LARGEST)),
    quirks=TORCH_2_11.quirks,
    sources=TORCH_2_11.sources,
    notes=(
        Note("float8_e4m3fn saturates, Inf too (2.11: NaN).", dtypes("f8_e4m3fn")),
        *TORCH_2_11.notes,
    ),
)

TORCH_2_13_CUDA = replace(
    TORCH_2_11_CUDA,
    cases=TORCH_2_13.cases[-1:],
    sources=(
        *TORCH_2_11_CUDA.sources,
        Source("pytorch/pytorch, c10/util/TypeCast.h", "static_cast_with_inter_type", "2.13.0"),
    ),
    notes=(
        Note(
            "PyTorch 2.13 was not asked on a GPU: its source has 2.11's conversions, of which CUDA"
            " 13.0's compiler makes these instructions."
        ),
        TORCH_2_13.notes[0],
        *TORCH_2_11_CUDA.notes,
    ),
)

_TORCH_ARM64 = "torch 2.13.0, the wheel for Linux on aarch64, under qemu 7.2"

TORCH_2_13_ARM64 = replace(
    TORCH_2_13,
    mode=TORCH_2_13.mode._replace(to_integer=ToInteger.ARM64),
    # uint8 by way of int64; 8-bit floats in an int32, Inf of which has no end of its own
    cases=(
        TORCH_2_13.cases[-1],
        case("u8", to_integer=ToInteger.ACLNN),
        case("i8 i16 u16", "float8", to_integer=ToInteger.ACLNN),
    ),
    quirks=(
        rounds_twice(_TORCH_ARM64, f"{NARROW_FLOATS} c32"),
        lowest_scale_up(_TORCH_ARM64),
        in_no_vector(_TORCH_ARM64, ("i8 i16 u16 i32 u32", IN_VECTORS), ("u16", "float8")),
    ),
    sources=(Source("torch.Tensor.to", RECORDED, _TORCH_ARM64),),
    notes=(
        *SAID_BY_ARM,
        Note("uint8 is the low bits of an int64.", dtypes("u8"), of=FLOAT_DTYPES),
        *(note for note in TORCH_2_13.notes if note is not SAID_BY_X86),
    ),
)
