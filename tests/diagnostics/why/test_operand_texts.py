"""Operands of an expression, as reports name them."""

from __future__ import annotations

import pytest

from promoarray.diagnostics.why.origin import expressions


@pytest.mark.parametrize(
    ("text", "operands"),
    [
        ("torch.linalg.inv(x)", ["x"]),
        ("jax.scipy.special.zeta(x, y + 1)", ["x", "y + 1"]),
        ("tf.math.divide(x, y)", ["x", "y"]),
        ("x.T.add(y)", ["x.T", "y"]),
        ("torch.zeros(2).add(y)", ["torch.zeros(2)", "y"]),
        ("x += y", ["x", "y"]),
    ],
)
def test_a_module_is_no_operand_of_its_function(text: str, operands: list[str]) -> None:
    assert expressions(text) == operands
