"""Every proposal of every refusal, followed: it passes, and loses no value that it need not."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import product

import pytest
from sampled import turns

from promoarray import dtypes as dt
from promoarray.core.proposed_casts import accepted_casts, proposed_casts
from promoarray.core.refusals import remedy
from promoarray.dtypes import BY_NAME, WEAK_TYPES, DType, Kind
from promoarray.operations import OPERATIONS, Family, Form
from promoarray.policies import Operand, Plan, Policy, Rank, Refusal, as_policy
from promoarray.promotion.cast_losses import loss

POLICIES = (
    *("numpy@2", "numpy@1", "jax@x64", "jax@x32", "jax@strict", "jax@lax", "torch@2.13"),
    *("tensorflow", "tensorflow@all", "tensorflow@safe", "paddle", "paddle@3.3", "paddle@2.6"),
    *("aclnn@8.0", "aclnn@8.5", "onnx@25", "onnx@13", "onnx@7", "mindspore@2.10", "array_api"),
)
BINARY = tuple(name for name, row in OPERATIONS.items() if row.arity != 1)
UNARY = tuple(name for name, row in OPERATIONS.items() if row.arity == 1)
FOREIGN = (dt.uint16, dt.uint64, dt.int4, dt.bfloat16, dt.float8_e4m3fn, dt.float8_e5m2)
"""Dtypes that some policies do not have, which may be met all the same."""

ADVICE = re.compile(r"pa\.astype\(x(\d?), pa\.(\w+)\)")
Operands = tuple[Operand, ...]


def dtypes_of(policy: Policy) -> tuple[DType, ...]:
    return tuple(d for d in dict.fromkeys((*policy.dtypes, *FOREIGN)) if d is not dt.string)


def targets_of(policy: Policy) -> tuple[DType, ...]:
    held = (policy.canonical.get(d, d) for d in policy.dtypes if d is not dt.string)
    return tuple(dict.fromkeys(held))


def operands_of(policy: Policy, name: str) -> Iterator[Operands]:
    """Arrays of every dtype, or of every pair; 0-d arrays and Python scalars beside arrays."""
    arrays = [Operand(d) for d in dtypes_of(policy)]
    if name in UNARY:
        yield from ((x,) for x in arrays)
        return
    yield from product(arrays, arrays)
    scalars = [Operand(d, Rank.SCALAR) for d in WEAK_TYPES]
    flat = [Operand(d, Rank.ZERO_D) for d in (dt.int64, dt.float64)] if policy.ranks else []
    for x, y in product(arrays, (*scalars, *flat)):
        yield x, y
        yield y, x


@cache
def admits(policy: Policy, source: DType, target: DType) -> bool:
    return source is target or policy.cast.refuses(source, target) is None


def lossless(policy: Policy, operands: Operands, *, on_bits: bool) -> list[list[DType]]:
    """What each operand can be cast to without losing a value, itself included."""
    some_complex = any(o.type.kind is Kind.COMPLEX for o in operands)
    out = []
    for x in operands:
        if x.rank is Rank.SCALAR:
            out.append([x.type])
            continue
        out.append(
            [x.type]
            + [
                t
                for t in targets_of(policy)
                if t is not x.type
                and not loss(x.type, t)
                and admits(policy, x.type, t)
                and (on_bits or t.kind.category >= x.type.kind.category)
                and (some_complex or t.kind is not Kind.COMPLEX)
            ]
        )
    return out


def passes(policy: Policy, name: str, operands: Operands) -> bool:
    return isinstance(policy.plan(name, operands), Plan)


def answers(policy: Policy, name: str) -> tuple[object, ...]:
    """What a policy does with all operands: operations that agree on it need one test."""
    plans = (policy.plan(name, operands) for operands in operands_of(policy, name))
    found = tuple(None if isinstance(p, Refusal) else (p.inputs, p.result) for p in plans)
    return OPERATIONS[name].family in (Family.BITWISE, Family.SHIFT, Family.LOGICAL), found


def wrong_proposals(policy: Policy, name: str, part: int, turn: int) -> Iterator[str]:
    on_bits = OPERATIONS[name].family in (Family.BITWISE, Family.SHIFT, Family.LOGICAL)
    refused = [each for each in operands_of(policy, name) if not passes(policy, name, each)]
    for operands in turns(refused, part, turn):
        text = remedy(policy, name, operands, Form.OPERATOR)
        casts = {int(which or 1) - 1: BY_NAME[to] for which, to in ADVICE.findall(text)}
        followed = tuple(
            Operand(casts[i], x.rank) if i in casts else x for i, x in enumerate(operands)
        )
        lost = [loss(policy.strong(x.type), casts[i]) for i, x in enumerate(operands) if i in casts]
        choices = product(*lossless(policy, operands, on_bits=on_bits)) if any(lost) else ()
        if casts and not passes(policy, name, followed):
            yield f"{name}{operands}: {text}: refused"
        elif not all(admits(policy, operands[i].type, to) for i, to in casts.items()):
            yield f"{name}{operands}: {text}: not cast"
        elif any(said not in text for said in lost):
            yield f"{name}{operands}: {text}: does not say {lost}"
        for types in choices:
            better = tuple(Operand(t, x.rank) for t, x in zip(types, operands, strict=True))
            if passes(policy, name, better):
                yield f"{name}{operands}: {text}: {better} loses nothing"
                break


def checked(policy: Policy, names: Iterable[str], part: int = 1, turn: int = 0) -> list[str]:
    """The wrong proposals of operations, one tested for all that answer alike."""
    first = {answers(policy, name): name for name in reversed([*names])}
    return [wrong for name in first.values() for wrong in wrong_proposals(policy, name, part, turn)]


@pytest.mark.parametrize("policy", POLICIES)
def test_proposals_for_one_operand(policy: str) -> None:
    wrong = checked(as_policy(policy), UNARY)
    assert not wrong, "\n".join(wrong[:20])


@pytest.mark.slow
@pytest.mark.parametrize("policy", POLICIES)
def test_proposals_for_two_operands(policy: str) -> None:
    """Policies take turns in the operations, of which most answer alike, and in the pairs."""
    turn = POLICIES.index(policy)
    wrong = checked(as_policy(policy), turns(BINARY, 3, turn), 8, turn)
    assert not wrong, "\n".join(wrong[:20])


@pytest.mark.parametrize("policy", ["torch@2.13", "paddle", "onnx@25"])
def test_proposals_for_two_operands_of_some_operations(policy: str) -> None:
    wrong = checked(as_policy(policy), ("add", "matmul", "bitwise_and"))
    assert not wrong, "\n".join(wrong[:20])


@pytest.mark.parametrize(
    ("name", "target"), [("sum", "int32"), ("max", "int32"), ("mean", "float32")]
)
def test_integers_stay_integers_unless_the_operation_has_fractions(name: str, target: str) -> None:
    operands = (Operand(dt.uint16),)
    found = proposed_casts(as_policy("onnx@25"), name, operands)
    assert found is not None
    assert found[0][0].name == target


def test_bools_become_bytes() -> None:
    """PyTorch only has the names of narrower integers: it casts nothing to them."""
    operands = (Operand(dt.float32), Operand(dt.bool))
    found = proposed_casts(as_policy("torch@2.13"), "subtract", operands)
    assert found is not None
    assert found[0] == {1: dt.uint8}


def test_proposals_do_not_depend_on_what_was_asked_before() -> None:
    """Plans are kept by the operands that stay; ranks, scalars and forms are apart there."""
    x, y = Operand(dt.bool), Operand(dt.uint16)
    asked = [
        (name, operands, form)
        for name, form in (
            *(("subtract", Form.OPERATOR), ("subtract", Form.FUNCTION), ("mean", Form.FUNCTION)),
            ("bitwise_and", Form.OPERATOR),
        )
        for operands in (
            *((x, y), (y, x), (x, x), (x,), (y,)),
            *((x, Operand(dt.uint16, Rank.ZERO_D)), (x, Operand(dt.weak_float, Rank.SCALAR))),
        )
        if OPERATIONS[name].arity in (0, len(operands))
    ]
    for policy in map(as_policy, ("torch", "paddle")):
        warm, cold = policy.derive("warm"), [policy.derive(str(n)) for n in range(len(asked))]
        for _ in range(2):
            made = [accepted_casts(warm, *each) for each in asked]
        assert made == [accepted_casts(p, *each) for p, each in zip(cold, asked, strict=True)]


def test_thousands_of_operands_are_looked_at_by_their_dtypes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    decided: list[int] = []
    rule = Policy.rule
    monkeypatch.setattr(
        Policy, "rule", lambda self, *given: decided.append(len(given[1])) or rule(self, *given)
    )
    policy = as_policy("paddle").derive("paddle@many")
    operands = tuple(Operand(dt.int64 if n % 3 else dt.float32) for n in range(3000))
    assert isinstance(policy.plan("concat", operands, Form.FUNCTION), Refusal)
    found = accepted_casts(policy, "concat", operands, Form.FUNCTION)
    assert found is not None
    casts, plan = found
    ints = [n for n, operand in enumerate(operands) if operand.type is dt.int64]
    assert [*casts] == ints
    assert {*casts.values()} == {plan.result}
    assert len(plan.inputs) == 3000
    assert decided.count(3000) <= 3  # what was asked twice, and what is answered
