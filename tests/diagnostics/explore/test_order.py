"""The order of a rule, and its drawing."""

from __future__ import annotations

from itertools import pairwise, product

import pytest

import promoarray as pa
from promoarray import Policy
from promoarray.diagnostics.explore import order as drawing
from promoarray.diagnostics.explore.order import order_of, right_above
from promoarray.dtypes import BY_CODE, DType
from promoarray.policies import as_policy
from promoarray.promotion.properties import Checked

NAMES = ("jax@x64", "jax@lax", "numpy@2", "numpy@1", "torch", "mindspore", "aclnn", "paddle@2.6")


def climb(edges: drawing.Edges, start: DType) -> set[DType]:
    found, queue = {start}, [start]
    while queue:
        for above in edges[queue.pop()]:
            if above not in found:
                found.add(above)
                queue.append(above)
    return found


@pytest.mark.parametrize("name", ["numpy@1", "mindspore", "aclnn", "jax@x64"])
def test_lines_lead_from_a_dtype_to_all_above_it_and_none_is_to_spare(name: str) -> None:
    policy = as_policy(name)
    edges, checked = right_above(policy), Checked(policy)
    for a in edges:
        for b in edges[a]:
            others = {**edges, a: tuple(d for d in edges[a] if d is not b)}
            assert b not in climb(others, a)
    for a, b in product(checked.dtypes, repeat=2):
        if (a, b) in checked.below:
            assert b in climb(edges, a)


@pytest.mark.parametrize("name", NAMES)
def test_every_line_goes_up_and_nothing_stands_on_another(name: str) -> None:
    order = order_of(as_policy(name))
    for path in order.paths:
        layers = [node.layer for node in path]
        assert layers == list(range(layers[0], layers[-1] + 1))
    for layer in order.layers:
        for a, b in product(layer, repeat=2):
            assert a is b or abs(order.x[a] - order.x[b]) >= 1 - 1e-9


def test_a_lattice_is_drawn_from_its_own_edges() -> None:
    jax = as_policy("jax@x64")
    drawn = {(path[0].dtype, path[-1].dtype) for path in order_of(jax).paths}
    edges = jax.promote.edges  # type: ignore[attr-defined]
    assert drawn == {(a, b) for a, above in edges.items() for b in above}


def test_the_words_say_whether_it_is_a_lattice() -> None:
    chain = Policy.from_lattice("chain", "i8 -> i16\ni16 -> f32", scalars="refuse")
    assert order_of(chain).says.startswith("A lattice")
    assert order_of(as_policy("jax@x64")).says.startswith("A partial lattice")
    assert "i16 and f16 lie above both" in order_of(as_policy("numpy@1")).says


def test_sweeps_leave_fewer_lines_crossed() -> None:
    order = order_of(as_policy("numpy@2"))
    steps = [step for path in order.paths for step in pairwise(path)]
    rows = right_above(as_policy("numpy@2"))
    given = {node: float(list(rows).index(node.dtype)) for layer in order.layers for node in layer}
    assert drawing.crossings(steps, order.x) < drawing.crossings(steps, given)


def test_a_rule_that_runs_in_a_circle_is_not_drawn() -> None:
    i8, i16, i32 = (BY_CODE[code] for code in ("i8", "i16", "i32"))
    beats = {(i8, i16): i16, (i16, i32): i32, (i32, i8): i8}
    circle = Policy.from_table("circle", {**beats, **{(b, a): c for (a, b), c in beats.items()}})
    order = order_of(circle)
    assert order.to_dict()["lines"] == []
    assert order.to_dict()["nodes"] == []
    assert order.says == "No order: what promotes to what runs in a circle."


def test_what_lies_below_nothing_is_named() -> None:
    order = order_of(as_policy("aclnn"))
    assert order.alone
    assert not {*order.alone} & {node.dtype for layer in order.layers for node in layer}
    assert pa.uint16 in order.alone


def test_a_drawing_is_the_same_in_every_run() -> None:
    """What stands in a layer stands in the order of the policy's dtypes, not in a set's."""
    policy = as_policy("mindspore")
    assert list(right_above(policy)) == list(right_above(policy.derive("other")))
    nodes = [name for name, *_ in order_of(policy).to_dict()["nodes"]]
    alike = [name for name in nodes if name in ("uint16", "uint32", "uint64")]
    assert alike == ["uint16", "uint32", "uint64"]
