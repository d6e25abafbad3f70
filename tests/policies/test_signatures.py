"""Python numbers where a framework's functions take arrays alone: what is told, and what is so."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import product
from typing import Any

import pytest

from promoarray.diagnostics.calls.common import words
from promoarray.dtypes import BY_NAME, WEAK
from promoarray.operations import OPERATIONS, STANDS_FOR, Form
from promoarray.promotion.plan import Operand, Rank, Refusal
from promoarray.promotion.registry import as_policy

NUMBERS = {"float32": 2.0, "int64": 2, "bool": True}
POLICIES = {"torch": "torch@2.13", "paddle": "paddle@3.3"}
LISTED = {"concat", "stack", "where", "clip"}
"""Functions whose arrays come in a list, or with a condition or bounds."""
OTHERWISE = {("torch", "equal"), ("torch", "searchsorted")}
"""``torch.equal`` is another function, and a number is searched in one axis alone."""


def number(value: float) -> Operand:
    return Operand(WEAK[type(value)], Rank.SCALAR)


@pytest.mark.parametrize("name", POLICIES.values())
def test_a_number_is_no_matrix(name: str) -> None:
    policy, array = as_policy(name), Operand(BY_NAME["float32"])
    for function in ("det", "tril", "nonzero", "median", "log"):
        assert policy.signature_refusal(function, (number(2.5),)), function
    for operands in ((array, number(2.5)), (number(2.5), array)):
        assert policy.signature_refusal("matmul", operands)
    assert not policy.signature_refusal("matmul", (array, array))


@pytest.mark.parametrize("name", ["numpy@2", "jax@x64", "tensorflow"])
def test_what_makes_arrays_of_numbers_takes_them(name: str) -> None:
    policy = as_policy(name)
    for function in ("det", "tril", "log"):
        assert policy.signature_refusal(function, (number(2.5),)) is None


@pytest.mark.parametrize("framework", POLICIES)
def test_functions_take_the_numbers_that_the_framework_takes(framework: str) -> None:
    module = pytest.importorskip(framework, reason=f"needs {framework}")
    policy, found = as_policy(POLICIES[framework]), {}
    for operation, function, args, seen in _calls(module, framework):
        try:
            function(*args)
            taken = True
        except Exception:
            taken = False
        told = policy.signature_refusal(operation, seen) is not None
        decided = policy.decide(operation, seen, args, Form.FUNCTION)
        refuses = told or isinstance(decided, Refusal)
        if told if taken else not refuses:
            found[operation, tuple(map(str, seen))] = taken
    assert {key: x for key, x in found.items() if (framework, key[0]) not in OTHERWISE} == {}


def _calls(module: Any, framework: str) -> Iterator[tuple[str, Any, Any, Any]]:
    for operation in sorted({*OPERATIONS, *STANDS_FOR} - LISTED):
        function = _function(module, framework, operation)
        arity = (OPERATIONS[operation].arity if operation in OPERATIONS else 1) or 1
        for dtype, value in NUMBERS.items():
            ones = module.ones([2, 2])
            array = ones.to(getattr(module, dtype)) if framework == "torch" else ones.astype(dtype)
            with suppress(Exception):
                function(*[array] * arity)
                for numbers in product((False, True), repeat=arity):
                    args = tuple(value if n else array for n in numbers)
                    seen = (number(value) if n else Operand(BY_NAME[dtype]) for n in numbers)
                    if any(numbers):
                        yield operation, function, args, tuple(seen)


def _function(module: Any, framework: str, operation: str) -> Any:
    known = words(framework).operations
    called = [operation, *(n for n, o in known.items() if o == operation and n[0] != "_")]
    places = [module, module.linalg, module.fft, module.nn.functional]
    found = (getattr(place, name, None) for name in called for place in places)
    return next(filter(callable, found), None)
