"""What array-api-tests cannot see: every pair of dtypes, both sides, in place, scalars of any kind.

The suite draws 65 pairs of one kind, no float with a complex, and passes without reflected or
in-place methods at all. Here each operator goes through every pair of dtypes, extended ones too,
under every policy, as a function, as an operator, reflected and in place; what comes out must be
what the policy's plan says, and what is refused must leave everything as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pytest
from operator_table import FORWARD, INPLACE, MIRRORED
from sampled import turns

import promoarray as pa
from promoarray import dtypes as dt
from promoarray.dtypes import CONCRETE, WEAK, DType, Kind
from promoarray.operations import BY_SYMBOL, OPERATIONS, Family, Form
from promoarray.policies import Operand, Policy, Rank, Refusal, as_policy

POLICIES = [name for name in pa.list_policies() if not name.startswith("onnx@")]
POLICIES += ["onnx@1", "onnx@25"]
FAMILIES = dict.fromkeys(name.partition("@")[0] for name in POLICIES)
NUMBERS = [dtype for dtype in CONCRETE if dtype.kind is not Kind.STRING]
RARE = ("int2", "uint4", "float4", "float6", "e3m4", "e4m3b11", "e4m3fnuz", "e5m2", "e8m0")
USUAL = [d for d in NUMBERS if d is not dt.float8_e4m3 and not any(r in d.name for r in RARE)]
EDITIONS = [p for p in POLICIES if p not in {as_policy(f).name for f in FAMILIES}]
FEW = [
    *(dt.bool, dt.int8, dt.uint8, dt.int64, dt.uint64),
    *(dt.float8_e4m3fn, dt.float16, dt.bfloat16, dt.float32, dt.float64, dt.complex64),
]
"""What is gone through in a moment; the slow tests take all dtypes, these among them."""
EVERY = [
    *(pytest.param(p, FEW, id=p) for p in FAMILIES),
    *(pytest.param(p, USUAL, id=p, marks=pytest.mark.slow) for p in EDITIONS),
    *(pytest.param(p, NUMBERS, id=f"{p}, all", marks=pytest.mark.slow) for p in FAMILIES),
]
SCALARS = (True, 1, 1.0, 1 + 0j)

REFLECTED = {name: f"__r{method.__name__.strip('_')}__" for name, method in FORWARD.items()}
REFLECTED |= {name: f"__{FORWARD[mirrored].__name__}__" for name, mirrored in MIRRORED.items()}
ELEMENTWISE = (Family.EXTREMUM, Family.FLOAT_BINARY, Family.LOGICAL)
FUNCTIONS = [n for n, row in OPERATIONS.items() if row.arity == 2 and row.family in ELEMENTWISE]

FIRST = {row.family: name for name, row in reversed(OPERATIONS.items())}.values()
"""One operation of each family: a family enters its operands in one way."""

REFUSED = "refused"

pytestmark = pytest.mark.usefixtures("short_errors")


@pytest.fixture(scope="module")
def ones() -> dict[tuple[DType, Rank], Any]:
    """A one of every dtype, as an array and without dimensions."""
    shapes = {Rank.ARRAY: (1, 1), Rank.ZERO_D: ()}
    with pa.policy("numpy"):
        return {(d, r): pa.ones(s, dtype=d) for d in NUMBERS for r, s in shapes.items()}


def test_every_operator_is_tried() -> None:
    assert {*FORWARD} == {row.name for row in BY_SYMBOL.values()}
    compared = {n for n in FORWARD if OPERATIONS[n].family in (Family.EQUALITY, Family.ORDER)}
    assert {*INPLACE} == {*FORWARD} - compared
    assert {*FUNCTIONS} >= {"atan2", "hypot", "maximum", "logical_and"}


def seen(policy: Policy, x: Any) -> Operand:
    """What the policy is told of an operand, worked out apart from the dispatcher."""
    if type(x) in WEAK:
        return Operand(WEAK[type(x)], Rank.SCALAR, x if policy.by_value else None)
    if x.ndim:
        return Operand(x.dtype)
    return Operand(x.dtype, Rank.ZERO_D, x.item() if policy.by_value else None)


def planned(policy: Policy, name: str, form: Form, *operands: Operand) -> Any:
    """The dtype the plan gives the result, or "refused"."""
    plan = policy.plan(name, operands, form)
    return REFUSED if isinstance(plan, Refusal) else policy.strong(plan.result)


def given(call: Callable[..., Any], *operands: Any) -> tuple[Any, bytes]:
    """The dtype and the bits a call gives, "refused", or the error it must not raise."""
    try:
        out = call(*operands)
    except pa.PromotionError:
        return REFUSED, b""
    except Exception as error:
        return error, b""
    if not isinstance(out, pa.PArray):
        return type(out), b""
    return out.dtype, np.asarray(out._buffer).tobytes()


def tell(cells: Iterator[str]) -> None:
    """Fail with the cells that differ, and only those."""
    differing = list(cells)
    shown = "\n".join(differing[:12])
    assert not differing, f"{len(differing)} cells differ:\n{shown}"


def operands_of(
    policy: Policy, name: str, ones: dict[tuple[DType, Rank], Any], dtypes: list[DType]
) -> Iterable[tuple[Any, Any]]:
    """Some pairs in turn; of all dtypes more for one operation of each family."""
    every = all_operands_of(policy, name, ones, dtypes)
    part = 6 if dtypes is not NUMBERS else 4 if name in FIRST else 22
    return turns(every, part, [*OPERATIONS].index(name) + POLICIES.index(policy.name))


def all_operands_of(
    policy: Policy, name: str, ones: dict[tuple[DType, Rank], Any], dtypes: list[DType]
) -> Iterator[tuple[Any, Any]]:
    """Every pair as arrays, each with every Python scalar and, where ranks count, as 0-d arrays."""
    product = OPERATIONS[name].family in (Family.MATMUL, Family.CONCAT)
    for a in dtypes:
        x = ones[a, Rank.ARRAY]
        for b in dtypes:
            yield x, ones[b, Rank.ARRAY]
            if policy.ranks and not product and (dtypes is NUMBERS or name in FIRST):
                yield x, ones[b, Rank.ZERO_D]
                yield ones[b, Rank.ZERO_D], x
        if not product:
            for scalar in SCALARS:
                yield x, scalar
                yield scalar, x


@pytest.mark.parametrize(("policy", "dtypes"), EVERY)
def test_operators_and_functions_give_what_the_plan_says(
    policy: str, dtypes: list[DType], ones: dict[tuple[DType, Rank], Any]
) -> None:
    rules = as_policy(policy)

    def differing() -> Iterator[str]:
        for name in (*FORWARD, *FUNCTIONS):
            function = getattr(pa, name)
            forward, reflected = FORWARD.get(name), REFLECTED.get(name, "")
            for x, y in operands_of(rules, name, ones, dtypes):
                operands = seen(rules, x), seen(rules, y)
                want = planned(rules, name, Form.FUNCTION, *operands)
                answer, bits = given(function, x, y)
                if answer is not want:
                    yield f"{cell(name, x, y)}: {answer}, planned {want}"
                if forward is None:
                    continue
                as_operator = planned(rules, name, Form.OPERATOR, *operands)
                done = given(forward, x, y)
                expected = as_operator, bits if as_operator is want else done[1]
                if done != expected:
                    yield f"{cell(name, x, y)} as an operator: {done}, not {expected}"
                if isinstance(y, pa.PArray):
                    got, back = given(getattr(y, reflected), x), done
                    if name in MIRRORED:  # Paddle 2.6 goes by the first operand of a comparison
                        back = given(FORWARD[MIRRORED[name]], y, x)
                    if got != back:
                        yield f"{cell(name, x, y)} reflected: {got}, not {back}"

    with pa.policy(policy):
        tell(differing())


@pytest.mark.parametrize(("policy", "dtypes"), EVERY)
def test_in_place_gives_what_the_plan_says_or_leaves_the_target_alone(
    policy: str, dtypes: list[DType], ones: dict[tuple[DType, Rank], Any]
) -> None:
    rules = as_policy(policy)

    def differing() -> Iterator[str]:
        for name, inplace in INPLACE.items():
            for x, y in operands_of(rules, name, ones, dtypes):
                if not isinstance(x, pa.PArray) or not x.ndim:
                    continue  # `1 += x` is no statement, and a 0-d target cannot hold an array
                target = before = x.__copy__()
                plan = rules.plan_inplace(name, (seen(rules, x), seen(rules, y)))
                refused = isinstance(plan, Refusal)
                binds = rules.inplace is None
                want = REFUSED if refused else rules.strong(plan.result) if binds else x.dtype
                try:
                    target = inplace(target, y)
                    answer: Any = target.dtype
                except pa.PromotionError:
                    answer = REFUSED
                except Exception as error:
                    answer = error
                if answer is not want:
                    yield f"{cell(name, x, y)} in place: {answer}, planned {want}"
                elif not refused and (target is before) is binds:
                    way = "wrote to the target" if binds else "made a new array"
                    yield f"{cell(name, x, y)} in place: {way}"
                if (refused or binds) and not same_bits(before, x):
                    yield f"{cell(name, x, y)} in place: the target changed"

    with pa.policy(policy):
        tell(differing())


@pytest.mark.parametrize(("policy", "dtypes"), EVERY)
def test_where_concat_and_stack_give_what_the_plan_says(
    policy: str, dtypes: list[DType], ones: dict[tuple[DType, Rank], Any]
) -> None:
    rules = as_policy(policy)
    condition = ones[dt.bool, Rank.ARRAY]
    calls: dict[str, Callable[[Any, Any], Any]] = {
        "where": lambda x, y: pa.where(condition, x, y),
        "concat": lambda x, y: pa.concat([x, y]),
        "stack": lambda x, y: pa.stack([x, y]),
    }

    def differing() -> Iterator[str]:
        for name, call in calls.items():
            for x, y in operands_of(rules, name, ones, dtypes):
                want = planned(rules, name, Form.FUNCTION, seen(rules, x), seen(rules, y))
                answer, _ = given(call, x, y)
                if answer is not want:
                    yield f"{cell(name, x, y)}: {answer}, planned {want}"

    with pa.policy(policy):
        tell(differing())


def same_bits(x: Any, y: Any) -> bool:
    return bool(np.asarray(x._buffer).tobytes() == np.asarray(y._buffer).tobytes())


def cell(name: str, x: Any, y: Any) -> str:
    return f"{name}({shown(x)}, {shown(y)})"


def shown(x: Any) -> str:
    return f"{x.dtype.name}{'' if x.ndim else '[]'}" if isinstance(x, pa.PArray) else repr(x)
