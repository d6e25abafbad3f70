"""aclnn: the printed page cell by cell, and the later edition against PyTorch's table."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
import tables

from promoarray import dtypes as dt
from promoarray.dtypes import BY_CODE, WEAK
from promoarray.policies import Operand, Policy, Rank, Refusal, as_policy
from promoarray.policies.aclnn import WIDE_UNSIGNED, edition

GOLDEN = Path(tables.__file__).parent / "golden"
V8_0, V8_5 = as_policy("aclnn"), as_policy("aclnn@8.5")
SCALARS = {kind.__name__: weak for kind, weak in WEAK.items()}

# The page against itself: (row, column) to what the policy answers.
MENDED = {"row f16, column bf16 prints f32, and so do later editions": {("bf16", "f16"): "f32"}}

# aclnn@8.5 against torch.promote_types, where both have the dtypes.
NOT_TORCH = {"the documentation of 8.5 says c32": {("bf16", "c32"): "c32", ("c32", "bf16"): "c32"}}


def flat(reasons: dict[str, dict[tuple[str, str], str]]) -> dict[tuple[str, str], str]:
    return {pair: cell for cells in reasons.values() for pair, cell in cells.items()}


def result(policy: Policy, name: str, *codes: str, ranks: tuple[Rank, ...] = ()) -> str:
    given = (
        Operand(SCALARS[code], Rank.SCALAR)
        if code in SCALARS
        else Operand(BY_CODE[code], (ranks or (Rank.ARRAY,) * len(codes))[i])
        for i, code in enumerate(codes)
    )
    plan = policy.plan(name, tuple(given))
    return "-" if isinstance(plan, Refusal) else plan.result.code


def test_table_and_prose_are_those_printed() -> None:
    _, sections = tables.read(GOLDEN / "documents.txt")
    different = {
        (row, column): ours
        for section in ("aclnn/table", "aclnn/prose")
        for (row, column), printed in sections[section].items()
        if (ours := result(V8_0, "add", row, column)) != printed
    }
    assert different == flat(MENDED)


def test_bool_with_bool_which_the_page_omits_is_bool() -> None:
    assert result(V8_0, "add", "b1", "b1") == "b1"


def test_8_5_is_torch() -> None:
    _, sections = tables.read(GOLDEN / "torch.txt")
    torch = sections["types/promote_types"]
    codes = [d.code for d in V8_5.dtypes if d not in WIDE_UNSIGNED]
    assert len(codes) == 13
    different = {
        pair: ours
        for pair in product(codes, codes)
        if (ours := result(V8_5, "add", *pair)) != torch[pair]
    }
    assert different == flat(NOT_TORCH)


def test_editions_part_in_float64_with_small_complex() -> None:
    different = {
        (a.code, b.code)
        for a, b in product(V8_0.dtypes, V8_0.dtypes)
        if V8_0.promote(a, b) is not V8_5.promote(a, b)
    }
    assert different == {("f64", "c32"), ("c32", "f64"), ("f64", "c64"), ("c64", "f64")}


def test_can_cast_is_torchs() -> None:
    _, sections = tables.read(GOLDEN / "torch.txt")
    torch = sections["types/can_cast"]
    for a, b in product(V8_0.dtypes, V8_0.dtypes):
        assert V8_0.can_cast(a, b) == (torch[a.code, b.code] != "-"), (a, b)


@pytest.mark.parametrize(
    ("pair", "on_910b", "on_950"),
    [
        (("i8", "int"), "i8", "i8"),
        (("i8", "float"), "f32", "f32"),
        (("b1", "int"), "i64", "i64"),
        (("b1", "bool"), "b1", "b1"),
        (("f16", "float"), "f16", "f16"),
        (("f16", "complex"), "c64", "c32"),
        (("bf16", "complex"), "c64", "c64"),
        (("f64", "complex"), "c64", "c128"),
        (("c32", "float"), "c64", "c32"),
        (("u16", "int"), "u16", "u16"),
        (("u16", "float"), "-", "-"),
    ],
)
def test_scalars(pair: tuple[str, str], on_910b: str, on_950: str) -> None:
    assert result(V8_0, "add", *pair) == on_910b
    assert result(V8_5, "add", *pair) == on_950
    assert result(V8_0, "add", *reversed(pair)) == on_910b


def test_zero_d_is_a_tensor_but_in_comparisons_and_extrema_of_the_950() -> None:
    point = (Rank.ARRAY, Rank.ZERO_D)
    for policy in (V8_0, V8_5):
        assert result(policy, "add", "i8", "i64", ranks=point) == "i64"
    assert result(V8_0, "maximum", "i8", "i64", ranks=point) == "i64"
    assert result(V8_5, "maximum", "i8", "i64", ranks=point) == "i8"


@pytest.mark.parametrize(
    ("name", "pair", "expected"),
    [
        ("divide", ("i32", "i32"), "f32"),
        ("divide", ("b1", "b1"), "f32"),
        ("floor_divide", ("b1", "b1"), "f32"),
        ("floor_divide", ("i8", "u8"), "i16"),
        ("remainder", ("i8", "i8"), "-"),
        ("remainder", ("i8", "i32"), "i32"),
        ("pow", ("b1", "b1"), "-"),
        ("logical_and", ("u16", "f32"), "b1"),
        ("less", ("f16", "bf16"), "b1"),
        ("concat", ("i8", "u8"), "i16"),
        ("where", ("f16", "i64"), "f16"),
    ],
)
def test_operators(name: str, pair: tuple[str, str], expected: str) -> None:
    assert result(V8_0, name, *pair) == expected


def test_check_support_refuses_what_the_operators_do_not_list() -> None:
    strict = edition("8.0", check_support=True)
    for code in ("u16", "u32", "u64", "c32"):
        assert result(V8_0, "add", code, code) == code
        refused = strict.plan("add", (Operand(BY_CODE[code]),) * 2)
        assert isinstance(refused, Refusal)
        assert "does not list" in refused.reason
    assert result(strict, "add", "f16", "bf16") == "f32"


def test_the_page_says_na_in_the_refusal() -> None:
    refused = V8_0.plan("add", (Operand(dt.bool), Operand(dt.uint16)))
    assert isinstance(refused, Refusal)
    assert "can not promote dtype" in refused.reason
