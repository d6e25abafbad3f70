"""Policies of one's own: tables, lattices, changed cells, and what they leave open."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pytest

import promoarray as pa
from promoarray import Policy
from promoarray.diagnostics.policy_tables import table_of
from promoarray.operations import OPERATIONS, Family
from promoarray.promotion.plan import Operand, Plan, Rank, Refusal
from promoarray.promotion.registry import as_policy
from promoarray.promotion.rules import Lattice, Table
from promoarray.promotion.source import Source
from promoarray.promotion.table_text import cell_dtype
from promoarray.promotion.type_rules import TypeRule

TEXT = """
      b1   i8   i32  f16  f32  c64
b1    b1   i8   i32  f16  f32  c64
i8    i8   i8   i32  f16  f32  c64
i32   i32  i32  i32  -    f32  c64
f16   f16  f16  -    f16  f32  c64
f32   f32  f32  f32  f32  f32  c64
c64   c64  c64  c64  c64  c64  c64
"""
TINY = Policy.from_table("tiny", TEXT)


def of(dtype: object, rank: Rank = Rank.ARRAY) -> Operand:
    return Operand(cell_dtype(dtype), rank)


def result(policy: Policy, name: str, *dtypes: object) -> pa.DType | None:
    """The dtype of an operation on arrays, or on scalars where the dtype is weak."""
    operands = (of(d) for d in dtypes)
    ranked = tuple(Operand(o.type, Rank.SCALAR) if o.type.weak else o for o in operands)
    plan = policy.plan(name, ranked)
    return plan.result if isinstance(plan, Plan) else None


# -- tables, read in every form ---------------------------------------------------------------


def test_a_table_reads_the_same_from_text_csv_markdown_and_a_mapping(tmp_path: Path) -> None:
    shown = table_of(TINY, dtypes=TINY.dtypes)
    path = tmp_path / "tiny.csv"
    path.write_text(shown.to_csv(), encoding="utf-8")
    mapping = {
        (a.name, b.code): cell and cell.name
        for a, row in zip(shown.dtypes, shown.cells, strict=True)
        for b, cell in zip(shown.dtypes, row, strict=True)
    }
    for source in (shown.to_csv(), shown.to_markdown(), path, str(path), mapping):
        again = Policy.from_table("again", source)
        assert table_of(again, dtypes=TINY.dtypes).cells == shown.cells
        assert again.dtypes == TINY.dtypes


@pytest.mark.parametrize("name", ["numpy", "torch", "jax", "paddle", "aclnn@8.5"])
def test_a_policys_own_table_can_be_read_back(name: str) -> None:
    policy = as_policy(name)
    again = Policy.from_table(
        "again",
        table_of(policy).to_csv(),
        defaults=_by_type(policy),
        weak_arrays=policy.weak_arrays,
    )
    assert table_of(again).cells == table_of(policy).cells


def _by_type(policy: Policy) -> dict[object, object]:
    weak = {bool: "b*", int: "i*", float: "f*", complex: "c*"}
    return {kind: policy.defaults[of(code).type] for kind, code in weak.items()}


def test_a_mapping_holds_in_both_orders_unless_both_are_given() -> None:
    policy = Policy.from_table(
        "m",
        {("int8", pa.int16): "i16", (np.int16, "float32"): "f32", ("f32", "i16"): "f64"},
    )
    assert policy.promote(pa.int16, pa.int8) is pa.int16
    assert policy.promote(pa.int16, pa.float32) is pa.float32
    assert policy.promote(pa.float32, pa.int16) is pa.float64
    assert policy.promote(pa.int8, pa.float32) is None
    assert policy.promote(pa.float32, pa.float32) is pa.float32


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("i8", "a line that names its columns"),
        ("   i8 f99\ni8 i8 i8\nf99 i8 i8", "'f99' is not a dtype"),
        ("   i8 f32\ni8 i8 f32\nf32 f32", "row f32 has 1 cells for 2 columns"),
        ("   i8 f32\ni8 i8 f32 f32\nf32 f32 f32", "row i8 has 3 cells for 2 columns"),
        ("   i8 f32\ni8 i8 f32", "a table is square, and f32 is a row or a column only"),
        ("   i8 i8\ni8 i8 i8", "there are two columns i8"),
    ],
)
def test_what_cannot_be_read_is_named(text: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        Policy.from_table("bad", text)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("i8 i16", "has no arrow"),
        ("i8 -> i99", "'i99' is not a dtype"),
        ("i8 -> i16\ni16 -> i8", "run in a circle: i8 -> i16 -> i8"),
    ],
)
def test_edges_that_cannot_be_read_are_named(text: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        Policy.from_lattice("bad", text)


@pytest.mark.parametrize(
    "options",
    [
        {"scalars": "soft"},
        {"overflow": "clip"},
        {"inplace": "never"},
        {"operations": {"ad": TypeRule()}},
    ],
)
def test_an_unknown_option_lists_the_choices(options: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="is not one of"):
        Policy.from_table("bad", TEXT, **options)


def test_defaults_are_of_python_types_only() -> None:
    with pytest.raises(ValueError, match="not of int8"):
        Policy.from_table("bad", TEXT, defaults={"int8": "int16"})


# -- what scalars do --------------------------------------------------------------------------


def test_weak_scalars_count_by_kind_only() -> None:
    assert result(TINY, "add", "i8", "i*") is pa.int8
    assert result(TINY, "add", "i8", "f*") is pa.float32, "the widest float of the table"
    assert result(TINY, "add", "f16", "f*") is pa.float16
    assert result(TINY, "add", "b1", "i*") is pa.int32
    assert result(TINY, "add", "c*", "f16") is pa.complex64


def test_strong_scalars_count_as_their_default() -> None:
    policy = Policy.from_table("strong", TEXT, scalars="strong", defaults={float: "float16"})
    assert result(policy, "add", "i8", "i*") is pa.int32
    assert result(policy, "add", "i8", "f*") is pa.float16
    assert result(policy, "add", "i32", "f*") is None


def test_refused_scalars_are_refused() -> None:
    policy = Policy.from_table("none", TEXT, scalars="refuse")
    assert result(policy, "add", "i8", "i*") is None
    with pa.policy(policy), pytest.raises(pa.PromotionError, match="'none' has no common dtype"):
        pa.asarray([1], dtype=pa.int8) + 1


def test_weak_rows_of_the_table_go_before_the_option() -> None:
    table = "   i8  f32 i*  f*\ni8  i8  f32 f32 -\nf32 f32 f32 f32 f32"
    policy = Policy.from_table("rows", table)
    assert result(policy, "add", "i8", "i*") is pa.float32
    assert result(policy, "add", "i*", "i8") is pa.float32, "a column stands for both orders"
    assert result(policy, "add", "f*", "i8") is None
    assert result(policy, "add", "i8", "b*") is pa.int8


def test_a_complex_scalar_keeps_the_width_of_a_float() -> None:
    numpy = Policy.from_table("like numpy", table_of(as_policy("numpy@1"), dtypes=_own()).to_csv())
    assert result(numpy, "add", "f32", "c*") is pa.complex64
    assert result(numpy, "add", "f64", "c*") is pa.complex128
    assert result(numpy, "add", "i8", "c*") is pa.complex128


def _own() -> tuple[pa.DType, ...]:
    return as_policy("numpy@1").dtypes


def test_overflow_raises_or_wraps() -> None:
    with pa.policy(TINY), pytest.raises(OverflowError, match="1000 does not fit int8"):
        pa.asarray([1], dtype=pa.int8) + 1000
    with pa.policy(Policy.from_table("wrap", TEXT, overflow="wrap")):
        assert (pa.asarray([1], dtype=pa.int8) + 1000).tolist() == [-23]


def test_ranks_make_a_0_d_array_count_by_kind_only() -> None:
    policy = Policy.from_table("ranked", TEXT, ranks=True)
    small, wide = of("i8"), of("i32", Rank.ZERO_D)
    plan = policy.plan("add", (small, wide))
    assert isinstance(plan, Plan)
    assert plan.result is pa.int8
    floating = policy.plan("add", (small, of("f32", Rank.ZERO_D)))
    assert isinstance(floating, Plan)
    assert floating.result is pa.float32
    assert result(policy, "add", "i8", "i32") is pa.int32
    assert result(policy, "add", "i8", "f*") is pa.float32
    refused = policy.plan("add", (of("f16"), of("u8")))
    assert refused == Refusal("ranked has no uint8")


def test_inplace_follows_the_option() -> None:
    def added(inplace: str) -> pa.PArray:
        with pa.policy(Policy.from_table(inplace, TEXT, inplace=inplace)):
            a = pa.asarray([1, 2], dtype=pa.int8)
            a += 1.5
            return a

    assert added("any").dtype is pa.int8
    assert added("rebind").dtype is pa.float32
    with pytest.raises(pa.PromotionError, match="may not be written into int8"):
        added("same_kind")


# -- what operations do -----------------------------------------------------------------------

EXPECTED = {
    ("add", "i8", "f16"): "f16",
    ("divide", "i8", "i32"): "f32",
    ("divide", "f16", "i8"): "f16",
    ("floor_divide", "i8", "i32"): "i32",
    ("less", "i8", "f32"): "b1",
    ("less", "c64", "f32"): None,
    ("equal", "c64", "f32"): "b1",
    ("logical_and", "i32", "f16"): "b1",
    ("bitwise_and", "b1", "i8"): "i8",
    ("bitwise_and", "f32", "i8"): None,
    ("bitwise_left_shift", "i8", "i32"): "i32",
    ("subtract", "b1", "b1"): None,
    ("maximum", "b1", "i8"): "i8",
    ("atan2", "i8", "i8"): "f32",
    ("where", "i8", "f16"): "f16",
    ("matmul", "i8", "i32"): "i32",
    ("concat", "b1", "i8", "i32"): "i32",
    ("sin", "i8"): "f32",
    ("sqrt", "f16"): "f16",
    ("abs", "c64"): "f32",
    ("floor", "i8"): "i8",
    ("isnan", "c64"): "b1",
    ("sum", "i8"): "i8",
    ("sum", "b1"): "i32",
    ("mean", "i8"): "f32",
    ("std", "c64"): "f32",
    ("max", "c64"): None,
    ("all", "f32"): "b1",
    ("argmax", "f32"): "i32",
    ("mse_loss", "i8", "f16"): "f16",
}


@pytest.mark.parametrize(("case", "code"), EXPECTED.items(), ids=lambda x: str(x))
def test_general_rules(case: tuple[str, ...], code: str | None) -> None:
    found = result(TINY, *case)
    assert (found and found.code) == code


def test_every_operation_has_a_rule() -> None:
    for name, row in OPERATIONS.items():
        operands = (of("f32"),) * (row.arity or 2)
        if row.family in (Family.BITWISE, Family.SHIFT):
            operands = (of("i32"),) * row.arity
        assert isinstance(TINY.plan(name, operands), Plan), name


def test_an_operation_can_have_a_rule_of_its_own() -> None:
    policy = Policy.from_table(
        "own", TEXT, operations={"divide": TypeRule(), Family.SUM: TypeRule()}
    )
    assert result(policy, "divide", "i8", "i32") is pa.int32
    assert result(policy, "sum", "b1") is pa.bool


def test_a_made_policy_computes() -> None:
    with pa.policy(TINY):
        a, b = pa.asarray([1, 2, 3], dtype=pa.int8), pa.asarray([0.5, 1, 2], dtype=pa.float16)
        assert (a + b).tolist() == [1.5, 3.0, 5.0]
        assert (a / 2).dtype is pa.float32
        assert pa.mean(a).item() == 2.0
        assert (1 - b).tolist() == [0.5, 0.0, -1.0]
        with pytest.raises(pa.PromotionError, match="policy 'tiny' does not promote"):
            pa.asarray([1], dtype=pa.int32) + b


def test_other_fields_pass_through() -> None:
    source = Source("a page", "a section")
    policy = Policy.from_lattice("l", "i8 -> i16", title="Mine", sources=(source,), notes=("n",))
    assert (policy.title, policy.sources, policy.notes) == ("Mine", (source,), ("n",))
    with pytest.raises(TypeError, match="colour"):
        Policy.from_table("t", TEXT, colour="red")


# -- lattices ---------------------------------------------------------------------------------


def test_a_lattice_takes_names_and_codes() -> None:
    policy = Policy.from_lattice(
        "l", "int8 -> i16 float16\nuint8 -> int16\nfloat16 -> f32\ni16 -> f32"
    )
    assert policy.promote(pa.int8, pa.uint8) is pa.int16
    assert policy.promote(pa.uint8, pa.float16) is pa.float32


def test_the_path_climbs_from_each_operand() -> None:
    lattice = Lattice("i8 -> i16\nu8 -> u16 i16\ni16 -> i32\nu16 -> i32")
    assert lattice.path(pa.int8, pa.uint16) == "lattice: i8 -> i16 -> i32, u16 -> i32"
    assert lattice.path(pa.int8, pa.int16) == "lattice: i8 -> i16"
    assert Lattice("i8 -> i16 f16\nu8 -> i16 f16").path(pa.int8, pa.uint8) == (
        "lattice: f16 and i16 are both least"
    )
    assert Table("   i8 f32\ni8 i8 -\nf32 - f32").path(pa.int8, pa.float32) == (
        "table, row i8, column f32: -"
    )


# -- derive -----------------------------------------------------------------------------------

MIXED = {("int64", "bfloat16"): "float32"}


@pytest.mark.parametrize("name", ["numpy", "numpy@1", "torch", "jax", "paddle", "aclnn", "onnx"])
def test_a_changed_cell_holds_whatever_the_policy_does(name: str) -> None:
    mine = as_policy(name).derive("mine", MIXED)
    for pair in (("i64", "bf16"), ("bf16", "i64")):
        assert mine.promote(*(of(d).type for d in pair)) is pa.float32
        assert result(mine, "add", *pair) is pa.float32
        assert result(mine, "divide", *pair) is pa.float32
        assert result(mine, "less", *pair) is pa.bool
        assert mine.result_type(tuple(map(of, pair))) is pa.float32
    assert result(mine, "add", "f32", "f64") is result(as_policy(name), "add", "f32", "f64")
    assert result(as_policy(name), "add", "i64", "bf16") is not pa.float32


def test_one_order_changes_if_asked_to() -> None:
    mine = as_policy("torch").derive("mine", MIXED, symmetric=False)
    assert result(mine, "add", "i64", "bf16") is pa.float32
    assert result(mine, "add", "bf16", "i64") is pa.bfloat16


def test_a_changed_cell_leaves_ranks_to_the_policy() -> None:
    mine = as_policy("torch").derive("mine", MIXED)
    plan = mine.plan("add", (of("bf16"), of("i64", Rank.ZERO_D)))
    assert isinstance(plan, Plan)
    assert plan.result is pa.bfloat16


def test_cells_may_be_removed_and_scalars_changed() -> None:
    mine = as_policy("numpy").derive("mine", {("i8", "u8"): None, (pa.int8, "f*"): pa.float16})
    assert result(mine, "add", "i8", "u8") is None
    assert result(mine, "add", "i8", "f*") is pa.float16
    with pa.policy(mine):
        a = pa.asarray([1], dtype=pa.int8)
        assert (a + 0.5).dtype is pa.float16
        with pytest.raises(pa.PromotionError, match="'mine' leaves int8 with uint8 undefined"):
            a + pa.asarray([1], dtype=pa.uint8)


def test_a_changed_cell_counts_once() -> None:
    mine = as_policy("numpy").derive("mine", {("i8", "i16"): "f32", ("f32", "f32"): "f64"})
    assert result(mine, "add", "i8", "i16") is pa.float32
    assert result(mine, "add", "f32", "f32") is pa.float64


def test_changes_add_up() -> None:
    first = as_policy("numpy").derive("first", {("i8", "u8"): "f32"})
    second = first.derive("second", {("i8", "u8"): "f64", ("i8", "u16"): "f32"}, title="Second")
    assert result(second, "add", "i8", "u8") is pa.float64
    assert result(second, "add", "u16", "i8") is pa.float32
    assert result(first, "add", "i8", "u8") is pa.float32
    assert second.title == "Second"


def test_a_policy_is_not_changed_by_deriving() -> None:
    before = table_of(as_policy("numpy")).cells
    as_policy("numpy").derive("mine", {("i8", "u8"): "f64"})
    assert table_of(as_policy("numpy")).cells == before


def test_an_unknown_dtype_in_a_change_is_named() -> None:
    with pytest.raises(ValueError, match="'f99' is not a dtype"):
        as_policy("numpy").derive("mine", {("i8", "f99"): "f32"})
    with pytest.raises(ValueError, match="is not a pair of dtypes"):
        as_policy("numpy").derive("mine", {"i8": "f32"})


def test_the_table_is_csv_that_others_read() -> None:
    rows = list(csv.reader(io.StringIO(table_of(TINY, "/").to_csv())))
    assert rows[0][:4] == ["", "b1", "i8", "i32"]
    assert rows[2][2] == "f32"
