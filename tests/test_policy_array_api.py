"""The array API standard: its tables, and that what it leaves undefined is refused."""

from __future__ import annotations

import pytest

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
