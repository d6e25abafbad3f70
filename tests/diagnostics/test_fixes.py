"""The edits that a report writes: with them a policy answers what the run answered."""

from __future__ import annotations

import ast
import linecache
import re
import warnings
from itertools import product
from types import CodeType

import numpy as np
import pytest
from sampled import turns

import promoarray as pa
from promoarray.diagnostics.ask.observer import DEFAULT
from promoarray.diagnostics.findings.finding import edits

EXPRESSIONS = (
    *("x + y", "x / y", "x // y", "x ** y", "x < y", "x == y", "x - 1.5", "2 * x", "x / 2"),
    *("x * 1j", "True + x", "xp.where(c, x, y)", "xp.where(c, x, 0)", "xp.sum(x)"),
    *("xp.mean(x)", "xp.sqrt(x)", "xp.concat([x, y])", "xp.stack((x, y))", "xp.maximum(x, y)"),
    *("x & y", "-x", "xp.prod(x, axis=0)", "xp.matmul(x, y)", "x @ y", "x + 1", "xp.clip(x, 0, y)"),
    *("xp.arange(3)", "xp.asarray([1.5, 2])", "xp.full(2, 7)", "xp.zeros(3)", "xp.var(x)"),
)
DTYPES = ("bool", "uint8", "int8", "int32", "int64", "uint64", "float16", "bfloat16", "float32")
WITHOUT = {"uint64", "bfloat16", "float16"}


def code(expression: str) -> CodeType:
    """Compile an expression so that reports can quote it."""
    file = f"<test {expression}>"
    linecache.cache[file] = len(expression), None, [f"{expression}\n"], file
    return compile(expression, file, "eval")


def answer(expression: str, x: object, y: object) -> pa.DType | None:
    """Return the dtype of an expression under the policy in force; None if it refuses."""
    names = {"xp": pa, "x": x, "y": y, "c": pa.asarray([True, False])}
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return eval(code(expression), names).dtype
    except (TypeError, OverflowError, ValueError, ZeroDivisionError):
        return None


SLOW_RUNS = [pytest.param(name, marks=pytest.mark.slow) for name in ("torch", "jax")]


@pytest.mark.parametrize("run", ["numpy", *SLOW_RUNS])
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_an_edit_gives_every_policy_it_is_for_the_dtype_of_the_run(
    run: str, expression: str
) -> None:
    written = 0
    pairs = [*product(DTYPES, DTYPES)]
    if not re.search(r"\by\b", expression):  # the same whatever y is
        pairs = [(first, first) for first in DTYPES]
    elif expression != EXPRESSIONS[0]:  # arithmetic and functions take turns
        pairs = turns(pairs, 2, EXPRESSIONS.index(expression))
    for first, second in pairs:
        if {first, second} & WITHOUT and first != second and first != "float32":
            continue
        x, y = (pa.asarray([1, 2], dtype=getattr(pa, name)) for name in (first, second))
        with pa.policy(run):
            wanted = answer(expression, x, y)
            with pa.shadow(*DEFAULT) as report:
                answer(expression, x, y)
        if wanted is None:
            continue
        for place in report.divergences:
            if place.site.expression != ast.unparse(ast.parse(expression)):
                continue
            for edit, policies in edits(place).items():
                for policy in policies:
                    with pa.policy(policy):
                        given = answer(edit, x, y)
                    assert given is wanted, (policy, first, second, edit)
                    written += 1
                with pa.policy(run):
                    assert answer(edit, x, y) is wanted, (run, first, second, edit)
    assert written or run != "numpy" or expression in ("x == y", "-x")


def test_the_namespace_has_the_name_that_the_program_gives_it() -> None:
    with pa.shadow("torch") as report:
        pa.asarray([1], dtype=pa.int8) / 2
    (place,) = report.divergences
    assert [*edits(place)] == ["pa.astype(pa.asarray([1], dtype=pa.int8), pa.float64) / 2"]


def test_lines_of_a_library_have_no_edit() -> None:
    with pa.policy("torch"), pa.shadow("numpy") as report:
        pa.extras.mse_loss(pa.asarray([1], dtype=pa.int8), pa.asarray([1.5]))
    assert all(place.program == place.site or not edits(place) for place in report.divergences)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("300 > x", "xp.astype(xp.asarray(300), xp.uint8) > x"),
        ("n >= x", "xp.astype(xp.asarray(n), xp.uint8) >= x"),
        ("x < 300", "x < xp.astype(xp.asarray(300), xp.uint8)"),
        ("0x12c == x", "xp.astype(xp.asarray(0x12c), xp.uint8) == x"),
        ("300 - x", "xp.astype(xp.asarray(300), xp.uint8) - x"),
        ("1.5 > x", "1.5 > xp.astype(x, xp.float64)"),
    ],
)
def test_a_number_that_does_not_fit_or_stands_on_the_left(expression: str, expected: str) -> None:
    """JAX makes 44 of 300 beside uint8, and so does the edit."""
    x = pa.asarray([1, 100], dtype=pa.uint8)
    names = {"xp": pa, "x": x, "n": 300}
    with pa.policy("jax"), pa.shadow("onnx") as report:
        made = eval(code(expression), names)
    assert [*edits(report.divergences[0])] == [expected]
    for policy in ("jax", "onnx"):
        with pa.policy(policy):
            again = eval(expected, names)
        assert again.dtype is made.dtype
        assert pa.all(again == made)


def test_one_edit_stands_for_several_policies_where_it_serves_all() -> None:
    x = pa.arange(1, 4)
    with pa.shadow("torch", "paddle@3.3") as report:
        eval(code("1.0 / x"), {"x": x})
    (divergence,) = report.divergences
    assert edits(divergence) == {
        "pa.asarray(1.0, dtype=pa.float64) / x": ["torch@2.13", "paddle@3.3"]
    }


def test_no_edit_makes_integers_of_floats() -> None:
    """ONNX's Mod takes integers alone, in which 2.5 % 1 is another number."""
    x = pa.asarray([2.5])
    with pa.shadow("onnx") as report:
        eval(code("x % 1"), {"x": x})
    (divergence,) = report.divergences
    assert divergence.answers["onnx@25"].origin == "root"
    assert not edits(divergence)
