"""The tables of JAX's names, which need no JAX."""

from __future__ import annotations

from promoarray.diagnostics.calls import jax as calls
from promoarray.diagnostics.calls.common import expansions, is_reflected, operations
from promoarray.operations import OPERATIONS, STANDS_FOR


def test_every_expansion_is_made_of_operations_and_its_own_parameters() -> None:
    for name, expansion in expansions("jax").items():
        assert name not in operations("jax"), name
        assert expansion.steps, name
        for number, step in enumerate(expansion.steps):
            assert step.operation in {*OPERATIONS, *STANDS_FOR}, name
            assert set(step.operands) <= {*expansion.parameters, "_"}, name
            assert number or "_" not in step.operands, name
            assert len(step.operands) == OPERATIONS[step.operation].arity, (name, step)


def test_no_name_has_two_meanings() -> None:
    groups = [calls.MOVES, calls.CASTS, calls.MAKES, calls.DEFAULTS, calls.UPDATES, calls.UNSEEN]
    groups += [frozenset(operations("jax")), frozenset(expansions("jax"))]
    for number, names in enumerate(groups):
        for others in groups[number + 1 :]:
            assert not set(names) & set(others)
    assert set(operations("jax").values()) <= {*OPERATIONS, *STANDS_FOR}


def test_every_operator_and_method_has_a_meaning() -> None:
    known = {*operations("jax"), *expansions("jax"), *calls.MOVES, *calls.CASTS, *calls.MAKES}
    assert known >= calls.OPERATORS | calls.METHODS
    assert is_reflected("__rsub__")
    assert is_reflected("__rrshift__")
    assert not is_reflected("__rshift__")
    assert not is_reflected("__round__")
