"""JAX: the tables its own document prints, and what conformance/golden/jax_*.txt do not say."""

from __future__ import annotations

import numpy as np
import pytest
import tables
from check import GOLDEN

import promoarray as pa
from promoarray import dtypes as dt
from promoarray.dtypes import BY_CODE
from promoarray.policies import Operand, Rank, Refusal, as_policy


def operand(code: str, weak_array: bool = False) -> Operand:
    scalar = code.endswith("*") and not weak_array
    return Operand(BY_CODE[code], Rank.SCALAR if scalar else Rank.ARRAY)


def result(policy: str, name: str, *operands: Operand) -> str:
    plan = as_policy(policy).plan(name, operands)
    return "-" if isinstance(plan, Refusal) else plan.result.code


@pytest.mark.parametrize("weak_array", [False, True], ids=["scalars", "weak arrays"])
@pytest.mark.parametrize(("section", "policy"), [("jax/jnp", "jax"), ("jax/lax", "jax@lax")])
def test_document_prints_the_same_table(section: str, policy: str, weak_array: bool) -> None:
    _, sections = tables.read(GOLDEN / "documents.txt")
    different = {
        (row, column)
        for (row, column), printed in sections[section].items()
        if result(policy, "add", operand(row, weak_array), operand(column, weak_array)) != printed
    }
    assert not different


def test_without_x64_nothing_is_64_bits_wide() -> None:
    policy = as_policy("jax@x32")
    wide = [d for d in policy.dtypes if d.bits > (64 if d.code.startswith("c") else 32)]
    assert not wide
    assert result("jax@x32", "add", operand("u32"), operand("i32")) == "i32"
    assert result("jax@x64", "add", operand("u32"), operand("i32")) == "i64"
    assert result("jax@x32", "add", operand("i64"), operand("i64")) == "-"
    assert policy.canonical[BY_CODE["i64"]] is BY_CODE["i32"]


@pytest.mark.parametrize("policy", ["jax@x64", "jax@x32", "jax@strict"])
def test_scalars_that_fit_nowhere(policy: str) -> None:
    fit = as_policy(policy).scalars.fit
    beyond = 1 << (31 if policy == "jax@x32" else 63)
    assert fit(beyond - 1, BY_CODE["i8"]) == -1
    with pytest.raises(OverflowError, match=f"{beyond} does not fit"):
        fit(beyond, BY_CODE["i8"])


def test_in_place_binds_a_new_array() -> None:
    plan = as_policy("jax").plan_inplace("add", (operand("i8"), operand("f32")))
    assert not isinstance(plan, Refusal)
    assert plan.result.code == "f32"


def test_weak_results_stay_weak_until_reduced() -> None:
    assert result("jax", "add", operand("i*", True), operand("f*")) == "f*"
    assert result("jax", "max", operand("f*", True)) == "f64"


@pytest.mark.parametrize("dtype", [dt.complex64, dt.complex128])
def test_lax_asks_only_the_real_part_whether_a_complex_number_is_true(dtype: dt.DType) -> None:
    parts = np.array([0.0, -0.0, 1.5, np.inf, np.nan], dtype=dtype.storage)
    z = (parts[:, None] + np.zeros((1, 5), dtype.storage)).copy()
    z.imag = parts.real[None, :]
    for name, true in (("jax@lax", z.real != 0), ("jax@x64", z != 0)):
        with pa.policy(name):
            assert np.array_equal(np.asarray(pa.astype(pa.asarray(z), pa.bool)), true)
