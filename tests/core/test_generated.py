"""Expressions of a program that a library has generated code of."""

from __future__ import annotations

import ast

import pytest

from promoarray.core.generated import written

SOURCE = """\
def f(x, y):
    z = (x +
         y) / 2
    return tf.reduce_sum(z, axis=0) if x and not y else g(*x)
"""


@pytest.mark.parametrize(
    ("generated", "line", "plain"),
    [
        ("ag__.ld(x) + ag__.ld(y)", 2, "x + y"),
        ("(ag__.ld(x) + ag__.ld(y)) / 2", 2, "(x + y) / 2"),
        (
            "ag__.converted_call(ag__.ld(tf).reduce_sum, (ag__.ld(z),), dict(axis=0), fscope)",
            4,
            "tf.reduce_sum(z, axis=0)",
        ),
        ("ag__.and_(lambda: ag__.ld(x), lambda: ag__.not_(ag__.ld(y)))", 4, "x and (not y)"),
    ],
)
def test_the_expression_is_found_that_code_was_generated_of(
    generated: str, line: int, plain: str
) -> None:
    found = written(generated, SOURCE, line)
    assert found is not None
    assert ast.unparse(found) == plain


@pytest.mark.parametrize("generated", ["ag__.if_stmt(a, b, c)", "x +", "ag__.ld(x) * 3"])
def test_what_stands_nowhere_is_not_found(generated: str) -> None:
    assert written(generated, SOURCE, 2) is None
