"""The array API standard: its tables, and that what it leaves undefined is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest

import promoarray as pa
from promoarray.dtypes import BY_CODE, STANDARD
from promoarray.policies import Operand, Rank, Refusal, Table, as_policy

STANDARD_POLICY = as_policy("array_api")

# "Type Promotion Rules", the tables of the page: signed, unsigned, mixed, floating-point.
TABLES = """
     i8   i16  i32  i64
i8   i8   i16  i32  i64
i16  i16  i16  i32  i64
i32  i32  i32  i32  i64
i64  i64  i64  i64  i64

     u8   u16  u32  u64
u8   u8   u16  u32  u64
u16  u16  u16  u32  u64
u32  u32  u32  u32  u64
u64  u64  u64  u64  u64

     u8   u16  u32
i8   i16  i32  i64
i16  i16  i32  i64
i32  i32  i32  i64
i64  i64  i64  i64

      f32   f64   c64   c128
f32   f32   f64   c64   c128
f64   f64   f64   c128  c128
c64   c64   c128  c64   c128
c128  c128  c128  c128  c128
"""


def operand(code: str) -> Operand:
    return Operand(BY_CODE[code], Rank.SCALAR if code.endswith("*") else Rank.ARRAY)


def result(name: str, *codes: str) -> str:
    plan = STANDARD_POLICY.plan(name, tuple(map(operand, codes)))
    return "-" if isinstance(plan, Refusal) else plan.result.code


def test_promotion_is_the_printed_tables_and_nothing_else() -> None:
    printed = {(d, d): d for d in STANDARD}
    for text in TABLES.strip().split("\n\n"):
        for (a, b), common in Table(text).cells.items():
            assert common is not None
            printed[a, b] = printed[b, a] = common
    promoted = {
        (a, b): common
        for a in STANDARD
        for b in STANDARD
        if (common := STANDARD_POLICY.promote(a, b)) is not None
    }
    assert promoted == printed


@pytest.mark.parametrize(
    ("name", "codes", "expected"),
    [
        ("add", ("i8", "f32"), "-"),
        ("add", ("u64", "i8"), "-"),
        ("add", ("b1", "b1"), "-"),
        ("add", ("i8", "i*"), "i8"),
        ("add", ("i8", "f*"), "-"),
        ("add", ("f32", "i*"), "f32"),
        ("add", ("f32", "c*"), "c64"),
        ("add", ("f64", "c*"), "c128"),
        ("add", ("i8", "c*"), "-"),
        ("logical_and", ("b1", "b*"), "b1"),
        ("logical_and", ("i8", "i8"), "-"),
        ("equal", ("i8", "b*"), "-"),
        ("divide", ("i8", "i8"), "-"),
        ("less", ("c64", "c64"), "-"),
        ("sin", ("i8",), "-"),
        ("sum", ("i8",), "i64"),
        ("sum", ("u8",), "u64"),
        ("sum", ("f32",), "f32"),
        ("mean", ("c64",), "c64"),
        ("std", ("c64",), "-"),
        ("abs", ("c64",), "f32"),
        ("imag", ("f32",), "-"),
        ("all", ("f32",), "b1"),
    ],
)
def test_answers(name: str, codes: tuple[str, ...], expected: str) -> None:
    assert result(name, *codes) == expected


@pytest.mark.parametrize(("target", "other"), [("i8", "i16"), ("f32", "f64"), ("f32", "c*")])
def test_in_place_keeps_the_dtype(target: str, other: str) -> None:
    plan = STANDARD_POLICY.plan_inplace("add", (operand(target), operand(other)))
    assert isinstance(plan, Refusal)


def test_dtypes_beyond_the_standard_are_refused() -> None:
    assert result("add", "f16", "f16") == "-"
    assert result("negative", "bf16") == "-"


INF, NAN = math.inf, math.nan


@pytest.mark.parametrize("dtype", [pa.float32, pa.float64])
def test_floors_of_infinite_quotients_are_the_standards(dtype: pa.DType) -> None:
    pairs = [
        *((INF, 2.0, INF), (INF, -2.0, -INF), (-INF, 2.0, -INF), (-INF, -2.0, INF)),
        *((2.5, INF, 0.0), (2.5, -INF, -0.0), (-2.5, INF, -0.0), (-2.5, -INF, 0.0)),
        *((INF, INF, NAN), (-7.0, 2.0, -4.0), (NAN, 1.0, NAN), (0.0, -3.0, -0.0)),
    ]
    xp = pa.namespace("array_api")
    x, y = (xp.asarray([pair[i] for pair in pairs], dtype=dtype) for i in (0, 1))
    with np.errstate(invalid="ignore"):
        for found in (x // y, xp.floor_divide(x, y)):
            assert repr(found.tolist()) == repr([pair[2] for pair in pairs])
        x //= y
    assert repr(x.tolist()) == repr([pair[2] for pair in pairs])


@pytest.mark.parametrize(
    ("name", "given", "expected"),
    [
        ("expm1", complex(-0.0, 0.0), complex(0.0, 0.0)),
        ("expm1", complex(INF, 0.0), complex(INF, 0.0)),
        ("expm1", complex(INF, -0.0), complex(INF, -0.0)),
        ("expm1", complex(-INF, INF), complex(-1.0, 0.0)),
        ("expm1", complex(INF, INF), complex(INF, NAN)),
        ("expm1", complex(-INF, NAN), complex(-1.0, 0.0)),
        ("expm1", complex(NAN, 0.0), complex(NAN, 0.0)),
        ("expm1", complex(1.5, NAN), complex(NAN, NAN)),
        ("tanh", complex(INF, 2.0), complex(1.0, 0.0)),
        ("tanh", complex(INF, -2.0), complex(1.0, -0.0)),
        ("tanh", complex(-INF, 2.0), complex(-1.0, 0.0)),
        ("tanh", complex(INF, 0.5), complex(1.0, 0.0)),
    ],
)
@pytest.mark.parametrize("dtype", [pa.complex64, pa.complex128])
def test_complex_functions_have_the_standards_special_cases(
    name: str, given: complex, expected: complex, dtype: pa.DType
) -> None:
    xp = pa.namespace("array_api")
    with np.errstate(all="ignore"):
        found = getattr(xp, name)(xp.asarray([given, 0.5 + 0.25j], dtype=dtype))
        plain = getattr(pa, name)(pa.asarray(0.5 + 0.25j, dtype=dtype))
    assert found.dtype is dtype
    assert repr(found[0].item()) == repr(expected)
    assert found[1].item() == plain.item()  # finite numbers as everywhere
