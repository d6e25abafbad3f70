"""``Policy.check``: each property on rules known to have it or to lack it."""

from __future__ import annotations

import json
from itertools import product

import pytest

import promoarray as pa
from promoarray import Policy
from promoarray.dtypes import BY_CODE
from promoarray.promotion.properties import PROPERTIES, check
from promoarray.promotion.properties_report import PropertiesReport
from promoarray.promotion.registry import as_policy
from promoarray.promotion.type_steps import rows

# JEP 9407 (sources/003), read from its text: the edges its options have in common, then each one's.
COMMON = """
i* -> u8 i8
u8 -> u16 i16
u16 -> u32 i32
u32 -> u64 i64
i8 -> i16
i16 -> i32
i32 -> i64
f* -> f16 c*
f16 -> f32
f32 -> f64 c64
f64 -> c128
c* -> c64
c64 -> c128
"""
OPTIONS = {
    "1": "i* -> f*\ni8 -> f16\ni16 -> f32\ni32 -> f64",
    "2": "i* -> f*\ni16 -> f16\ni32 -> f32\ni64 -> f64",
    "3": "i64 -> f*",
}
CLOSED = {
    "1": "\ni64 -> f64\nu64 -> f64",
    "2": "\nu64 -> f64",
    "3": "\nu64 -> f*",
}


def option(name: str, more: str = "") -> Policy:
    return Policy.from_lattice(f"option {name}", COMMON + OPTIONS[name] + more)


def cell(policy: Policy, a: str, b: str) -> str | None:
    common = policy.promote(BY_CODE[a], BY_CODE[b])
    return common and common.code


# -- the graphs of the design document --------------------------------------------------------


@pytest.mark.parametrize("name", OPTIONS)
def test_the_options_are_partial_lattices_that_leave_pairs_undefined(name: str) -> None:
    report = option(name).check()
    failing = {finding.name for finding in report.findings if not finding.holds}
    assert failing == {"total", "lattice"}
    assert not report


@pytest.mark.parametrize("name", OPTIONS)
def test_closing_the_integers_makes_each_option_a_lattice(name: str) -> None:
    assert option(name, CLOSED[name]).check()


def test_the_options_widen_as_the_document_says() -> None:
    assert cell(option("1"), "u16", "f16") == "f64", "option 1, third disadvantage"
    assert cell(option("1"), "i64", "f64") is None
    assert cell(option("2"), "f32", "u32") == "f64", "option 2, unnecessary widening"
    assert cell(option("2"), "i64", "f32") == "f64"
    assert cell(option("2"), "u64", "f64") is None
    assert cell(option("3"), "i64", "f16") == "f16", "option 3, loss of precision"


def test_bfloat16_finds_a_place_in_option_3_only() -> None:
    beside = "\nbf16 -> f32\n"
    assert option("3", CLOSED["3"] + beside + "f* -> bf16").check()
    for name, edge in (("1", "i8 -> bf16"), ("2", "i16 -> bf16")):
        report = option(name, CLOSED[name] + beside + edge + "\nf* -> bf16").check()
        assert not report["partial lattice"].holds, "two least dtypes: bf16 and f16"


def test_option_3_closed_is_the_table_that_the_appendix_prints() -> None:
    closed = option("3", CLOSED["3"] + "\nb1 -> i*\nf* -> bf16\nbf16 -> f32")
    jax = as_policy("jax")
    types = rows("b1 u8 u16 u32 u64 i8 i16 i32 i64 bf16 f16 f32 f64 c64 c128 i* f* c*")
    differing = {
        (a, b): (closed.promote(a, b), jax.promote(a, b))
        for a, b in product(types, repeat=2)
        if closed.promote(a, b) is not jax.promote(a, b)
    }
    assert differing == {}


def test_two_dtypes_with_nothing_above_them() -> None:
    # B and C of the left graph; A, B, C are int8, int16, float16 here.
    report = Policy.from_lattice("left", "i8 -> i16 f16", scalars="refuse").check()
    assert report.dtypes == (pa.int8, pa.int16, pa.float16)
    assert report["lattice"].says == "i16 with f16: nothing lies above both"
    assert report["lattice"].example == (pa.int16, pa.float16)
    assert (report["lattice"].failures, report["lattice"].cases) == (2, 9)
    assert report["partial lattice"].holds
    assert report["associative"].holds


def test_two_dtypes_with_two_least_ones_above_them() -> None:
    # The right graph; A, B, C, D are int8, uint8, int16, float16 here.
    report = Policy.from_lattice("right", "i8 -> i16 f16\nu8 -> i16 f16", scalars="refuse").check()
    says = "i8 with u8: i16 and f16 lie above both, none of them below another"
    assert report["lattice"].says == says
    assert report["partial lattice"].says == says
    assert report["lattice"].failures == 4, "C with D fails as well"
    assert not report["associative"].holds


def test_numpy_is_not_associative_as_the_document_shows() -> None:
    finding = as_policy("numpy@1").check("associative")["associative"]
    assert finding.example == (pa.int8, pa.uint8, pa.float16)
    assert finding.says == (
        "(i8 with u8) with f16 is i16 with f16: f32; i8 with (u8 with f16) is i8 with f16: f16"
    )


# -- each property by itself ------------------------------------------------------------------


def table(text: str) -> PropertiesReport:
    return Policy.from_table("t", text, scalars="refuse").check()


def test_a_chain_has_every_property() -> None:
    report = Policy.from_lattice("chain", "i8 -> i16\ni16 -> f32", scalars="refuse").check()
    assert report
    assert all(f.holds and not f.failures and not f.example for f in report.findings)
    assert [f.name for f in report.findings] == list(PROPERTIES)


def test_total() -> None:
    report = table("   i8 f32\ni8 i8 -\nf32 - f32")
    assert report["total"].says == "i8 with f32 has no common dtype"
    assert report["total"].failures == 2


def test_commutative() -> None:
    report = table("    i8 i16\ni8  i8 i8\ni16 i16 i16")
    assert report["commutative"].says == "i8 with i16 is i8, i16 with i8 i16"
    assert report["commutative"].example == (pa.int8, pa.int16)
    adds = next(a for a in report.operations if a.name == "add")
    assert adds.total
    assert not adds.commutative
    assert adds.apart == (pa.int8, pa.int16)


def test_idempotent() -> None:
    report = table("    i8 i16\ni8  i16 i16\ni16 i16 i16")
    assert report["idempotent"].says == "i8 with i8 is i16"


def test_monotone() -> None:
    finding = as_policy("numpy@1").check("monotone")["monotone"]
    assert finding.example == (pa.int8, pa.float16, pa.uint8)
    assert finding.says == (
        "i8 lies below f16, but with u8 they are i16 and f16, and i16 is not below f16"
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("    i8 f32\ni8  i8 i8\nf32 i8 f32", "i8 with f32 is i8: f32 loses its fractions"),
        (
            "    f32 c64\nf32 f32 f32\nc64 f32 c64",
            "f32 with c64 is f32: c64 loses its imaginary part",
        ),
        ("    i8 u8\ni8  i8 u8\nu8  u8 u8", "i8 with u8 is u8: i8 loses its sign"),
        (
            "    b1 u8\nb1  b1 b1\nu8  b1 u8",
            "b1 with u8 is b1: u8 loses all but whether it is zero",
        ),
    ],
)
def test_no_loss_of_kind(text: str, says: str) -> None:
    assert table(text)["no loss of kind"].says == says


def test_a_cycle_is_no_lattice() -> None:
    report = table("    i8  u8  f32\ni8  i8  u8  i8\nu8  u8  u8  f32\nf32 i8  f32 f32")
    says = "u8 with i8: u8 lies below f32 and f32 below i8, but u8 not below i8"
    assert report["lattice"].says == report["partial lattice"].says == says


def test_the_smallest_counter_example_has_no_scalars_and_the_narrowest_dtypes() -> None:
    report = Policy.from_table(
        "t", "    i64 i16 f32\ni64 i64 - -\ni16 - i16 -\nf32 - - f32", scalars="refuse"
    ).check()
    assert report["total"].example == (pa.int16, pa.float32)


def test_python_scalars_join_as_python_joins_them() -> None:
    report = as_policy("torch").check("idempotent")
    assert report, "1 + 2.5 is 3.5 before any tensor is asked"


# -- the report -------------------------------------------------------------------------------


def test_some_properties_can_be_asked_for() -> None:
    report = as_policy("numpy@1").check("commutative", "idempotent", operations=False)
    assert report
    assert [f.name for f in report.findings] == ["commutative", "idempotent"]
    assert report.operations == ()
    with pytest.raises(KeyError, match="was not checked"):
        report["lattice"]
    with pytest.raises(ValueError, match=r"unknown property 'nice'\. Write one of: total"):
        check(as_policy("numpy"), "nice")


def test_the_report_is_text_data_and_html() -> None:
    report = option("3").check()
    text = str(report)
    assert "\x1b" not in text
    assert "associative" in text
    assert "151 of 169 pairs of arrays have a result in add" in text
    data = json.loads(json.dumps(report.to_dict()))
    assert data["policy"] == "option 3"
    assert data["holds"] is False
    total = next(p for p in data["properties"] if p["property"] == "total")
    assert total["counter_example"] == ["i8", "u64"]
    page = report._repr_html_()
    assert page.count("<tr") == len(PROPERTIES) + 1
    assert "<script" not in page


@pytest.mark.parametrize("name", ["numpy", "jax", "torch", "paddle", "aclnn", "tensorflow@safe"])
def test_every_example_is_a_real_one(name: str) -> None:
    policy = as_policy(name)
    report = policy.check(operations=False)
    assert bool(report["associative"].example) is (name != "jax")
    if name != "jax":
        a, b, c = report["associative"].example
        ab, bc = policy.promote(a, b), policy.promote(b, c)
        assert (ab and policy.promote(ab, c)) is not (bc and policy.promote(a, bc))
    assert policy.promote(*report["total"].example) is None
    assert not report["commutative"].example


def test_a_name_is_shown_as_it_is() -> None:
    policy = as_policy("torch").derive("lab[/bold] [red]x")
    assert "lab[/bold] [red]x, " in str(policy.check())
