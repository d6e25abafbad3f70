"""Whether a 0-d array counts as an array: what is kept of an operation goes by it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest

import promoarray as pa
from promoarray import dtypes as dt
from promoarray.operations import OPERATIONS, Form
from promoarray.policies import Operand, Policy, Rank, as_policy

TYPES = (dt.bool, dt.int16, dt.uint64, dt.float32, dt.bfloat16, dt.complex64)
WEAK = (dt.weak_bool, dt.weak_int, dt.weak_float, dt.weak_complex)
NAMES = [name for name, row in OPERATIONS.items() if row.arity in (1, 2)]


def plans(policy: Policy, name: str) -> Iterator[tuple[tuple[Operand, ...], bool]]:
    """Operands, and whether the plan is the same for 0-d arrays."""
    arrays = [Operand(d) for d in (*TYPES, *(WEAK if policy.weak_arrays else ()))]
    scalars = [Operand(d, Rank.SCALAR) for d in WEAK]
    for given in product([*arrays, *scalars], repeat=OPERATIONS[name].arity):
        ways = [(o,) if o.rank is Rank.SCALAR else (o, o._replace(rank=Rank.ZERO_D)) for o in given]
        if any(len(way) > 1 for way in ways):
            found = [policy.plan(name, operands, Form.FUNCTION) for operands in product(*ways)]
            yield given, all(plan == found[0] for plan in found)


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in pa.list_policies() if not as_policy(n).ranks])
def test_ranks_decide_only_where_the_policy_says_so(name: str) -> None:
    policy = as_policy(name)
    if policy.by_value is not None:
        return
    deciding = {n for n in NAMES if not all(same for _, same in plans(policy, n))}
    assert deciding <= policy.ranked


@pytest.mark.parametrize("name", ["hypot", "logaddexp"])
@pytest.mark.parametrize("shapes", [((), (2,)), ((2,), ())], ids=str)
def test_what_jax_met_first_decides_nothing(name: str, shapes: tuple[tuple[int, ...], ...]) -> None:
    policy = as_policy("jax").derive("mine")
    scalar = 3 if name == "hypot" else 1j
    x = {shape: pa.full(shape, 1, dtype=pa.bool) for shape in shapes}
    with pa.policy(policy):
        weak = {shape: getattr(pa, name)(x[shape], scalar)._type.weak for shape in shapes}
    assert weak == {(): True, (2,): False}
