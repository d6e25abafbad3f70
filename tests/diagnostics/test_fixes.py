"""The edits that a report writes: with them a policy answers what the run answered."""

from __future__ import annotations

import ast
import linecache
import re
import runpy
import warnings
from itertools import product
from pathlib import Path
from types import CodeType
from typing import Any

import numpy as np
import pytest
from sampled import turns

import promoarray as pa
from promoarray.diagnostics.ask.observer import DEFAULT
from promoarray.diagnostics.findings.results import edits

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


def test_the_name_of_a_namespace_that_a_function_imports_by_name() -> None:
    file = "<test import_module>"
    text = """from importlib import import_module
def half():
    lazy = import_module("promoarray")
    return lazy.asarray([1], dtype=lazy.int8) / 2
"""
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    names: dict[str, Any] = {}
    exec(compile(text, file, "exec"), names)
    with pa.shadow("torch") as report:
        names["half"]()
    (place,) = report.divergences
    assert [*edits(place)] == ["lazy.astype(lazy.asarray([1], dtype=lazy.int8), lazy.float64) / 2"]


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


LINES = """\
import types
import promoarray as xp
from promoarray import where
x = xp.asarray([1, 2], dtype=xp.uint8)
y = xp.asarray([1, 2])
f = xp.asarray([1.5, 2], dtype=xp.float32)
c = xp.asarray([True, False])
o = types.SimpleNamespace(v=f)
args = (x,)
"""


@pytest.mark.parametrize(
    ("line", "to", "expected"),
    [
        # The first operand, in calls of every kind.
        ("x.mean(0)", "torch@2.13", "xp.astype(x, xp.float64).mean(0)"),
        ("xp.mean(x, axis=0)", "torch@2.13", "xp.mean(xp.astype(x, xp.float64), axis=0)"),
        ("where(c, x, 0.5)", "torch@2.13", "where(c, xp.astype(x, xp.float64), 0.5)"),
        ("where(c, x, y)", "paddle@3.3", "where(c, xp.astype(x, xp.int64), y)"),
        (
            "xp.linalg.vector_norm(x)",
            "torch@2.13",
            "xp.linalg.vector_norm(xp.astype(x, xp.float64))",
        ),
        ("xp.mean(*args)", "torch@2.13", None),
        ("xp.sum(*args)", "torch@2.13", "xp.astype(xp.sum(*args), xp.uint64)"),
        ("(x).mean()", "torch@2.13", "xp.astype(x, xp.float64).mean()"),
        # Targets stay as they are.
        ("f += y - 1", "paddle@3.3", "f += xp.astype(y - 1, xp.float32)"),
        ("o.v -= y - 1", "paddle@3.3", "o.v -= xp.astype(y - 1, xp.float32)"),
        ("f[:] += y", "paddle@3.3", "f[:] += xp.astype(y, xp.float32)"),
        ("f -= xp.ones(2)", "jax@x64", None),  # other names may stand for it
        # Arrays of Python numbers.
        ("xp.ones((2, 3))", "torch@2.13", "xp.ones((2, 3), dtype=xp.float64)"),
        ("xp.full((2,), 1.5, )", "torch@2.13", "xp.full((2,), 1.5, dtype=xp.float64, )"),
        # Whatever stands around it.
        ("not-x[0]/2", "torch@2.13", "xp.astype(-x[0], xp.float64)/2"),
        ("f'{x / 2}'", "torch@2.13", "xp.astype(x, xp.float64) / 2"),
        ("f'{(x / 2) = }'", "torch@2.13", None),  # it would print its cast
        ("(x  # here\n / 2)", "torch@2.13", "xp.astype(x, xp.float64) / 2"),
        ("(x \\\n / 2)", "torch@2.13", "xp.astype(x, xp.float64) / 2"),
        ("(z := x) / 2", "torch@2.13", "xp.astype((z := x), xp.float64) / 2"),
        # Truth values.
        ("z = c * c", "onnx@25", "c & c"),
        ("c + c", "tensorflow", "(c | c)"),
    ],
)
def test_a_line_and_the_edit_that_is_printed(line: str, to: str, expected: str | None) -> None:
    source, file = f"{LINES}{line}\n", f"<line {line}>"
    linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
    with pa.policy("numpy@2"), pa.shadow(to) as report:
        exec(compile(source, file, "exec"), {})
    at = 1 + LINES.count("\n")
    found = {edit for d in report.divergences if d.program.line == at for edit in edits(d)}
    assert found == ({expected} if expected else set())


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


def test_the_cast_of_what_is_assigned_is_one_of_an_operand() -> None:
    source, file = "w = xp.zeros(3, dtype=xp.int8)\nw[1:] = xp.asarray([1.5])\n", "<assigned>"
    linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
    with pa.policy("torch"), pa.shadow("array_api") as report:
        exec(compile(source, file, "exec"), {"xp": pa})
    (place,) = (d for d in report.divergences if d.name == "setitem")
    fix = place.answers[next(name for name in place.answers if name != "torch@2.13")].fix
    assert fix.to_dict() == {
        "casts": [{"operand": 1, "dtype": "int8"}],
        "result": None,
        "dtype": None,
    }
    assert fix.text == "w[1:] = xp.astype(xp.asarray([1.5]), xp.int8)"


def test_an_edit_that_needs_an_import_says_so(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text("from promoarray import asarray\nx = asarray([1], dtype='int8') / 2\n")
    with pa.shadow("torch") as report:
        runpy.run_path(str(path))
    (edit,) = edits(report.divergences[0])
    assert edit == "pa.astype(asarray([1], dtype='int8'), pa.float64) / 2"
    said = " ".join(str(report).split())
    assert (
        "What is to be written at program.py:2 needs import promoarray as pa in the file." in said
    )
