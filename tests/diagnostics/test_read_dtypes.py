"""Dtypes that a program reads from arrays, or asks for: each policy goes on with its own."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command import Command
from fuzz import read_dtypes

import promoarray as pa
from promoarray.diagnostics.model.slots import as_seen_by, held, lacks
from promoarray.dtypes import CONCRETE
from promoarray.policies import as_policy


def _seen(policy: str, x: Any) -> pa.DType:
    """The dtype that a policy has of an array by now."""
    asked = as_policy(policy)
    return asked.strong(as_seen_by(asked, x).type)


def _halves() -> Any:
    """Float64 in the run, float32 under PyTorch's rules, int64 under ONNX'."""
    return pa.asarray([1, 2, 3]) / 2


@pytest.mark.parametrize("seed", range(16))
def test_what_a_shadow_predicts_is_what_a_run_under_the_policy_gives(seed: int) -> None:
    read_dtypes.once(np.random.default_rng(seed))


GIVEN: list[Callable[[Any, Any], Any]] = [
    lambda x, w: pa.astype(w, x.dtype),
    lambda x, w: w.astype(x.dtype),
    lambda x, w: pa.zeros(3, dtype=x.dtype),
    lambda x, w: pa.asarray(1.5, dtype=x.dtype),
    lambda x, w: pa.asarray(np.ones(2), dtype=x.dtype),
    lambda x, w: pa.full_like(x, 1),
    lambda x, w: pa.zeros_like(w, dtype=x.dtype),
    lambda x, w: pa.astype(w, pa.result_type(x, w)),
    lambda x, w: pa.astype(w, pa.result_type(x.dtype, pa.int8)),
    lambda x, w: pa.astype(w, pa.promote_types(x.dtype, pa.int8)),
    lambda x, w: pa.ones(3, dtype=pa.finfo(x.dtype).dtype),
    lambda x, w: pa.ones(3, dtype=pa.finfo(x).dtype),
    lambda x, w: pa.ones(3, dtype={"dtype": x.dtype}["dtype"]),
    lambda x, w: pa.sum(w, dtype=x.dtype),
    lambda x, w: pa.asarray([x[0], 2]),
    lambda x, w: pa.linspace(0, 1, 3, dtype=x.dtype),
    lambda x, w: pa.extras.einsum("i->i", x),
    lambda x, w: np.nanmean(pa.concat([x, pa.asarray([float("nan")], dtype=x.dtype)])),
    lambda x, w: np.add.reduce(x, dtype=x.dtype),
]


@pytest.mark.parametrize("given", GIVEN)
def test_a_dtype_that_is_read_from_an_array_is_each_policys_own(
    given: Callable[[Any, Any], Any],
) -> None:
    with pa.shadow("torch", "jax") as report:
        x, w = _halves(), pa.asarray([1, 2, 3], dtype=pa.int8)
        made = given(x, w)
    assert made.dtype == pa.float64
    assert _seen("torch", made) == pa.float32
    assert _seen("jax", made) == pa.float64
    assert [root.site.expression for root in report.roots] == ["pa.asarray([1, 2, 3]) / 2"]


def test_a_dtype_that_is_written_is_the_same_everywhere() -> None:
    with pa.shadow("torch", "jax") as report:
        x = _halves()
        made = pa.astype(x, pa.float64, copy=False), pa.asarray(x, dtype=pa.float64)
    assert [_seen("torch", each) for each in (*made, x)] == [pa.float64, pa.float64, pa.float32]
    assert len(report.divergences) == 1


def test_the_edit_of_the_root_is_enough() -> None:
    with pa.shadow("torch") as report:
        x = pa.astype(pa.asarray([1, 2, 3]), pa.float64) / 2
        pa.zeros(3, dtype=x.dtype) + pa.astype(pa.asarray([1], dtype=pa.int8), x.dtype)
        assert x.dtype == pa.float64
    assert report.divergences == []
    assert not report.decisions


def test_result_type_is_a_root_where_policies_answer_otherwise() -> None:
    with pa.shadow("torch", "onnx") as report:
        x, w = pa.asarray([1], dtype=pa.int64), pa.asarray([1], dtype=pa.float32)
        made = pa.zeros(2, dtype=pa.result_type(x, w))
    assert made.dtype == pa.float64
    assert _seen("torch", made) == pa.float32
    asked, zeros = report.divergences
    assert asked.name == "result_type"
    answers = {name: (str(a), a.origin) for name, a in asked.answers.items()}
    assert answers["torch@2.13"] == ("float32", "root")
    assert answers["onnx@25"] == ("refuses", "root")
    assert {a.origin for n, a in zeros.answers.items() if n == "torch@2.13"} == {"inherits"}


def test_a_dtype_that_is_read_from_the_policy_is_a_root_where_it_is_used() -> None:
    with pa.shadow("torch") as report:
        default = pa.__array_namespace_info__().default_dtypes()["real floating"]
        made = pa.zeros(2, dtype=default)
    assert made.dtype == pa.float64
    assert _seen("torch", made) == pa.float32
    (place,) = report.divergences
    assert place.root
    assert place.site.expression == "pa.zeros(2, dtype=default)"


DECIDED: list[Callable[[Any], Any]] = [
    lambda x: x.dtype == pa.float64,
    lambda x: x.dtype != pa.float32,
    lambda x: pa.float32 == x.dtype,
    lambda x: x.dtype in (pa.float32, pa.float64),
    lambda x: x.dtype in {pa.float32},
    lambda x: {pa.float64: 1}.get(x.dtype),
    lambda x: {pa.float32: 1}.get(x.dtype),
    lambda x: x.dtype.name == "float64",
    lambda x: x.dtype.itemsize,
    lambda x: np.dtype(x.dtype),
    lambda x: pa.finfo(x.dtype).eps,
    lambda x: pa.isdtype(x.dtype, pa.float64),
    lambda x: pa.isdtype(x.dtype, ("bool", pa.float32)),
    lambda x: pa.can_cast(x.dtype, pa.float32) and pa.can_cast(pa.float32, x.dtype),
    lambda x: pa.result_type(x.dtype, pa.int8) == pa.float64,
]


@pytest.mark.parametrize("branch", DECIDED)
def test_a_branch_on_a_dtype_is_told(branch: Callable[[Any], Any]) -> None:
    with pa.shadow("numpy", "torch", "jax") as report:
        x = _halves()
        branch(x)
    found = {(d.run, d.policy, d.other) for d in report.decisions}
    assert found == {(("float64",), "torch@2.13", ("float32",))}
    assert {d.site.line for d in report.decisions} == {branch.__code__.co_firstlineno}


UNDECIDED: list[Callable[[Any], Any]] = [
    lambda x: pa.isdtype(x.dtype, "real floating"),
    lambda x: x.dtype == pa.int8,
    lambda x: x.dtype is None,
    lambda x: x.dtype.kind,
    lambda x: f"{x.dtype} {x.dtype!r}",
    lambda x: pa.zeros(2, dtype=x.dtype),
    lambda x: (x > 1).dtype == pa.bool,
    lambda x: x.dtype.complexified,
]


@pytest.mark.parametrize("question", UNDECIDED)
def test_what_every_policy_answers_alike_is_not_told(question: Callable[[Any], Any]) -> None:
    with pa.shadow("torch", "jax") as report:
        question(_halves())
    assert not report.decisions


def test_decisions_are_in_the_report() -> None:
    with pa.shadow("torch", "onnx") as report:
        x = _halves()
        if x.dtype == pa.float64:
            x = x + 1
    text = str(report)
    assert "Decided by the run's dtype: other policies may take another branch" in text
    assert "x.dtype == pa.float64" in text
    assert "    int64       onnx@25  the run goes by float64" in text
    assert "    float32     torch@2.13  as above" in text
    (decision,) = json.loads(json.dumps(report.to_dict()))["decisions"]
    assert decision["expression"] == "x.dtype == pa.float64"
    assert decision["dtypes"] == ["float64"]
    assert decision["policies"] == {"torch@2.13": ["float32"], "onnx@25": ["int64"]}
    assert (
        "<b>float32</b> <span>torch@2.13</span> <small>the run goes by float64" in report.to_html()
    )


# -- dtypes that a policy lacks -------------------------------------------------------------------


def test_a_dtype_that_a_policy_lacks_is_one_root_where_it_enters() -> None:
    with pa.shadow("numpy@1", "torch") as report:
        x = pa.asarray([1.0, 2.0], dtype=pa.bfloat16)
        y = x * 2 + 1
        z = pa.sum(pa.exp(y) / x, keepdims=True)
        z + pa.astype(pa.asarray([1], dtype=pa.int8), x.dtype)
    assert [root.site.expression for root in report.roots] == [
        "pa.asarray([1.0, 2.0], dtype=pa.bfloat16)"
    ]
    (root,) = report.roots
    answer = root.answers["numpy@1"]
    assert str(answer) == "refuses"
    assert answer.reason == (
        "NumPy 1.26 has no bfloat16; write float32, which holds all its values"
    )
    assert all(str(each.answers["numpy@1"]) == "float32" for each in report.divergences[1:])
    assert "refuses     numpy@1  NumPy 1.26 has no bfloat16" in str(report)


def test_with_the_remedy_that_is_written_nothing_is_left() -> None:
    with pa.policy("numpy@1"), pa.shadow("numpy@2", "torch") as report:
        x = pa.asarray([1.0, 2.0], dtype=pa.float32)
        pa.sum(pa.exp(x * 2 + 1) / x)
    assert report.divergences == []


def test_an_array_from_outside_of_the_block_enters_where_it_is_used() -> None:
    x = pa.asarray([1.0, 2.0], dtype=pa.bfloat16)
    with pa.shadow("numpy@1") as report:
        y = x * x
        y + y
        x + y
    roots = [root.site.expression for root in report.roots]
    assert roots == ["x * x", "x + y"]


@pytest.mark.parametrize(
    ("policy", "dtype", "expected"),
    [
        ("numpy@1", pa.bfloat16, pa.float32),
        ("numpy@1", pa.float8_e4m3fn, pa.float16),
        ("numpy@1", pa.int4, pa.int8),
        ("numpy@1", pa.uint2, pa.uint8),
        ("numpy@1", pa.complex32, pa.complex64),
        ("array_api", pa.float16, pa.float32),
        ("paddle", pa.uint16, pa.int32),
        ("paddle", pa.uint64, pa.int64),
        ("jax@x32", pa.float64, pa.float32),
        ("jax@x32", pa.complex32, pa.complex64),
        ("torch", pa.bfloat16, pa.bfloat16),
    ],
)
def test_the_dtype_to_write_instead(policy: str, dtype: pa.DType, expected: pa.DType) -> None:
    assert held(as_policy(policy), dtype) == expected


@pytest.mark.parametrize("name", ["numpy@1", "jax@x32", "torch", "paddle", "onnx@1", "array_api"])
def test_what_is_written_instead_is_a_dtype_that_the_policy_has(name: str) -> None:
    policy = as_policy(name)
    for dtype in CONCRETE:
        other = held(policy, dtype)
        assert other in policy.dtypes
        assert not lacks(policy, other)
        assert (other == dtype) is (dtype in policy.dtypes and dtype not in policy.canonical)


def test_a_dtype_that_a_policy_narrows_begins_where_it_is_asked_for() -> None:
    with pa.shadow("jax@x32") as report:
        x = pa.zeros(2, dtype=pa.float64)
        x + x
    first, second = report.divergences
    assert first.site.expression == "pa.zeros(2, dtype=pa.float64)"
    assert [str(d.answers["jax@x32"]) for d in (first, second)] == ["float32", "float32"]
    assert [d.answers["jax@x32"].origin for d in (first, second)] == ["root", "inherits"]


def test_expressions_stand_before_those_they_feed() -> None:
    x = pa.asarray([1, 2], dtype=pa.int8)
    with pa.shadow("torch") as report:
        pa.sqrt(pa.mean(x / 2) + x)
    expressions = [each.site.expression for each in report.divergences]
    assert expressions == sorted(expressions, key=len)
    assert expressions[0] == "x / 2"


PROGRAM = """
import promoarray as xp
x = xp.asarray([1, 2, 3], dtype=xp.int8) / 2
settings = {"dtype": x.dtype}
y = xp.zeros(3, **settings) + xp.astype(xp.asarray([1, 2, 3], dtype=xp.int8), x.dtype)
names = {xp.float64: "double", xp.float32: "single"}
name = names[y.dtype]
z = y * xp.ones(3, dtype=xp.result_type(x, y))
"""


@pytest.mark.slow
def test_compare_predicts_what_its_actual_runs_give(tmp_path: Path, command: Command) -> None:
    script = tmp_path / "program.py"
    script.write_text(PROGRAM, encoding="utf-8")
    arguments = ["--policies", "torch,numpy@2", "--run-all", "--show", "z,name", "--json"]
    data = command("compare", str(script), *arguments).data
    outcomes = {each["policy"]: each["values"] for each in data["outcomes"]}
    assert outcomes["torch@2.13"] == {"z": "float32 [3]", "name": "single"}
    assert outcomes["numpy@2"] == {"z": "float64 [3]", "name": "double"}
    last = data["divergences"][-1]
    assert last["expression"].startswith("y * xp.ones(")
    assert last["answers"]["torch@2.13"] | {"operands": []} == {
        "dtype": "float32",
        "origin": "inherits",
        "operands": [],
    }
    assert [place["line"] for place in data["divergences"] if place["root"]] == [3]
    (decision,) = data["decisions"]
    assert (decision["line"], decision["expression"]) == (7, "names[y.dtype]")
    assert decision["policies"] == {"torch@2.13": ["float32"]}
