"""What an operation has done with arrays of some ranks it does not do with those of others."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import promoarray as pa
from promoarray.dtypes import DType
from promoarray.operations import Form
from promoarray.policies import as_policy
from promoarray.promotion.plan import Operand, Plan, Rank

POLICIES = ("numpy@1", "jax@x32", "torch@2.13", "tensorflow", "paddle@3.3", "mindspore@2.10")
DTYPES = (pa.bool, pa.uint8, pa.int64, pa.bfloat16, pa.float32, pa.float64, pa.complex64)
NAMES = ("add", "multiply", "divide", "pow", "hypot", "logaddexp", "equal", "logical_and")


def array(dtype: DType, rank: Rank) -> pa.PArray:
    made: pa.PArray = pa.astype(pa.asarray(np.ones(() if rank is Rank.ZERO_D else 1)), dtype)
    return made


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", NAMES)
def test_ranks_are_told_apart_whatever_was_met_before(policy: str, name: str) -> None:
    mine = as_policy(policy).derive("ranks")
    with pa.policy(mine):
        for dtypes in product(DTYPES, repeat=2):
            if any(d in mine.canonical for d in dtypes):
                continue
            for ranks in 2 * [*product((Rank.ARRAY, Rank.ZERO_D), repeat=2)]:
                operands = [array(d, r) for d, r in zip(dtypes, ranks, strict=True)]
                seen = tuple(
                    Operand(d, r, x.item() if r is Rank.ZERO_D and mine.by_value else None)
                    for d, r, x in zip(dtypes, ranks, operands, strict=True)
                )
                plan = mine.plan(name, seen, Form.FUNCTION)
                if isinstance(plan, Plan):
                    found = getattr(pa, name)(*operands).dtype
                    assert found is mine.strong(plan.result), (dtypes, ranks)
