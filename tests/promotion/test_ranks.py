"""What is kept for arrays of any rank is what arrays of each rank are given."""

from __future__ import annotations

from itertools import product

import pytest

from promoarray import list_policies
from promoarray.dtypes import WEAK_TYPES
from promoarray.operations import OPERATIONS, Form
from promoarray.policies import as_policy
from promoarray.promotion.plan import Operand, Rank, Refusal
from promoarray.promotion.ranks import same_for_all_ranks

POLICIES = [
    name
    for name in list_policies()
    if as_policy(name).by_value is None and (as_policy(name).ranks or as_policy(name).ranked)
]
QUICK = ("jax@x32", "torch@2.13", "paddle@3.3", "mindspore@2.10")


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=() if n in QUICK else pytest.mark.slow) for n in POLICIES]
)
def test_one_plan_is_kept_where_all_ranks_have_it_and_nowhere_else(name: str) -> None:
    policy = as_policy(name).derive(f"{name}, ranks")
    arrays = [Operand(dtype) for dtype in policy.dtypes]
    any_operand = arrays + [Operand(dtype, Rank.SCALAR) for dtype in WEAK_TYPES]
    outcomes, rules = set(), set()
    for operation, form in product(OPERATIONS.values(), (Form.OPERATOR, Form.FUNCTION)):
        rule = operation.arity, id(policy.rule(operation.name, (), form))
        if operation.arity not in (1, 2) or (rule in rules and operation.name not in policy.ranked):
            continue
        rules.add(rule)
        for operands in product(any_operand, repeat=operation.arity):
            if all(o.rank is Rank.SCALAR for o in operands):
                continue
            plan = policy.plan(operation.name, operands, form)
            if isinstance(plan, Refusal):
                continue
            ways = (
                [o] if o.rank is Rank.SCALAR else [o, Operand(o.type, Rank.ZERO_D)]
                for o in operands
            )
            alike = all(policy.plan(operation.name, way, form) == plan for way in product(*ways))
            found = same_for_all_ranks(policy, operation.name, operands, form)
            assert found == alike, (operation.name, form, *map(str, operands))
            outcomes.add(found)
    assert True in outcomes
