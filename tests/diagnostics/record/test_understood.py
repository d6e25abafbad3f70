"""What was answered when every public function was called while it was recorded, by framework."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import pytest
import understood
import understood_tables

from promoarray.diagnostics.calls import tables
from promoarray.diagnostics.calls.common import words
from promoarray.diagnostics.record.handlers import handler_in

FRAMEWORKS = ["torch", "paddle", "jax", "numpy"]


@cache
def answers(framework: str) -> list[list[Any]]:
    return understood.read(framework)[1]


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_of_a_hundred_functions_that_were_tried_ninety_five_are_understood(framework: str) -> None:
    share = understood.Share(answers(framework))
    assert share.asked > 400
    assert share.understood / share.asked >= 0.95, share.not_understood


@pytest.mark.parametrize("framework", ["torch", "jax"])
def test_what_was_heard_then_is_understood_still(framework: str) -> None:
    known, lost = words(framework), []
    for _, _, name, answer in answers(framework):
        if answer and answer["kind"] in ("approximate", "move", "make"):
            heard = answer["names"] if len(answer["names"]) == 1 else []
            lost += [(name, n) for n in heard if handler_in(known, n) is None and not own(n)]
    assert lost == []


def own(name: str) -> bool:
    """Whether a framework's adapter knows a name beside the tables."""
    return (
        name.startswith(("quantize_per_", "fake_quantize_per_", "at."))
        or name == "sparse_coo_tensor"
    )


def test_the_table_says_what_was_answered() -> None:
    found = {name: answers(name) for name in FRAMEWORKS}
    written = tables.sections_of(tables.SWEPT)
    made = "\n".join(understood_tables.sections(found))
    assert understood_tables.SWEPT.read_text(encoding="utf-8").endswith(made)
    assert len(list(written)) > 6


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_what_a_function_stands_for_gives_its_dtypes(framework: str) -> None:
    other = {
        line
        for _, _, _, answer in answers(framework)
        for line in answer.get("drift", ())
        if ", not " in line and not re.search("bool|: refuses|not weak", line)
    }
    assert {line.partition(" as ")[0] for line in other} <= KNOWN[framework], other


KNOWN = {
    "torch": {"binary_cross_entropy_with_logits", "rnn_tanh_cell"},
    "paddle": {"", "conv1d", "dot", "einsum"},
    "jax": {"angle", "interp", "lax.conj", "nn.dot_product_attention", "rint"},
    "numpy": set(),
}
"""Functions of which an expansion gives other dtypes where operands have several."""


@pytest.mark.parametrize(
    ("kept", "made", "row"),
    [
        ({"f32": "f32", "i64": "i64"}, [0], "moves"),
        ({"f32": "b1", "i64": "b1", "f64": "b1"}, [0], "makes"),
        ({"f32": "f32", "i64": "f32", "f64": "f64"}, [0], "(input): exp(input)"),
        ({"f32 f32": "f32", "f32 f64": "f64"}, [0, 1], "(input, other): add(input, other)"),
        ({"f32 f32": "f32", "f32 f64": "f32", "f64 f32": "f64"}, [0, 1], "moves"),
        ({"f32": "f64", "f64": "f32"}, [0], ""),
    ],
)
def test_a_row_is_the_rule_that_gives_every_answer(
    kept: dict[str, str], made: list[int], row: str
) -> None:
    assert understood_tables.row("torch", {"rows": kept, "slots": made}) == row
