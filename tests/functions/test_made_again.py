"""What creation functions make the second time, when the fast path has it: the same to the bit."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pytest
from sampled import turns

import promoarray as pa
from promoarray.dtypes import CONCRETE

POLICIES = [name for name in pa.list_policies() if not name.startswith("onnx@")] + ["onnx@25"]
NUMBERS = [0, 1, 2, 300, -1, 0.0, -0.0, 1.5, math.nan, math.inf, True, False, 1j, 1 - 0j, 1 + 0j]
NUMBERS += [2**31, 2**63, 2**70, 1e300]
DTYPES = [None, *CONCRETE]

Make = Callable[[Any], Any]


def shaped(xp: Any, dtype: Any) -> Iterator[tuple[str, Make]]:
    """Each function with a dtype, as a function of the device; on one that is named it takes the
    long way."""
    for function in (xp.zeros, xp.ones):
        yield function.__name__, lambda there, f=function: f((2, 1), dtype=dtype, device=there)
    for number in NUMBERS:
        yield (
            f"full of {number!r}",
            lambda there, n=number: xp.full((2,), n, dtype=dtype, device=there),
        )


def like(xp: Any, x: Any, dtype: Any) -> Iterator[tuple[str, Make]]:
    """The same of those that make arrays like another."""
    for function in (xp.zeros_like, xp.ones_like):
        yield function.__name__, lambda there, f=function: f(x, dtype=dtype, device=there)
    for number in NUMBERS:
        yield (
            f"full_like of {number!r}",
            lambda there, n=number: xp.full_like(x, n, dtype=dtype, device=there),
        )


def told(make: Make, there: str | None) -> Any:
    """All that one can tell of an answer; or the error."""
    try:
        out = make(there)
    except Exception as error:
        return type(error), str(error)
    bits = np.asarray(out._buffer)
    assert bits.flags.writeable
    assert bits.flags.c_contiguous
    return type(out), out._type, out.shape, bits.dtype, bits.tobytes()


def differing(ways: Iterable[tuple[str, Make]]) -> list[str]:
    found = []
    for name, make in ways:
        want = told(make, "cpu")
        found += [name for _ in range(3) if told(make, None) != want]
    return found


@pytest.mark.parametrize("policy", POLICIES)
def test_arrays_of_a_shape_are_the_same_every_time(policy: str) -> None:
    with pa.policy(policy):
        turn = POLICIES.index(policy)  # what is kept goes by types, whatever the policy
        ways = {str(d): turns(shaped(pa, d), 2, turn + at) for at, d in enumerate(DTYPES)}
        wrong = {d: found for d, some in ways.items() if (found := differing(some))}
    assert wrong == {}


@pytest.mark.parametrize("policy", POLICIES)
def test_arrays_like_others_are_the_same_every_time(policy: str) -> None:
    with pa.policy(policy):
        wrong = {}
        for at, source in enumerate(CONCRETE):
            x = pa.asarray(np.zeros((2, 3), source.storage)).T
            for dtype in (None, pa.int8, pa.float32, pa.bfloat16):
                some = turns(like(pa, x, dtype), 4, at + POLICIES.index(policy))
                if found := differing(some):
                    wrong[f"{source}, {dtype}"] = found
    assert wrong == {}


RANGES: list[tuple[Any, ...]] = [(0,), (3,), (0, 3), (0.0, 3), (-0.0, 3.0), (0, 3.0), (2, 8, 2)]
RANGES += [
    (3.0,),
    (0.5, 2),
    (5, 0, -1),
    (0, 1, 0.25),
    (True, 3),
    (200,),
    (3, 0),
    (1, 5, 0),
]
LINES = [(0, 1, 3), (0.0, 1.0, 3), (-0.0, 1, 3), (0, 300, 4), (1j, 2, 3), (0, 1e300, 2), (0, 1, 0)]
EYES = [(3,), (3, 3), (2, 4), (0,), (2.0,), (-1,)]


def counted(xp: Any, dtype: Any) -> Iterator[tuple[str, Make]]:
    """What is made of numbers alone."""
    for function, ways in ((xp.arange, RANGES), (xp.linspace, LINES), (xp.eye, EYES)):
        for given in ways:
            yield (
                f"{function.__name__}{given}",
                lambda there, f=function, g=given: f(*g, dtype=dtype, device=there),
            )


@pytest.mark.parametrize("policy", POLICIES)
def test_ranges_are_the_same_every_time(policy: str) -> None:
    few = [None, pa.bool, pa.int8, pa.uint8, pa.int64, pa.float16, pa.float32, pa.float64]
    few += [pa.bfloat16, pa.float8_e4m3fn, pa.complex64]
    with pa.policy(policy):
        wrong = {str(d): f for d in few if (f := differing(counted(pa, d)))}
    assert wrong == {}


def test_what_numpy_warns_of_it_warns_of_every_time() -> None:
    for _ in range(3):
        with np.errstate(all="raise"), pytest.raises(FloatingPointError):
            pa.arange(0, 1e300, 1e299, dtype=pa.float32)


@pytest.mark.parametrize("policy", ["jax", "jax@x32"])
def test_weak_arrays_stay_weak_every_time(policy: str) -> None:
    with pa.policy(policy):
        for number in (1, 1.5, 1j):
            x = pa.asarray(number)
            for _ in range(3):
                made = pa.full(2, number), pa.zeros_like(x), pa.full_like(x, 2)
                assert [m.weak_type for m in made] == [True] * 3
                assert not pa.full_like(x, 2, dtype=x.dtype).weak_type


def test_a_namespace_makes_its_own_every_time() -> None:
    xp = pa.namespace("torch")
    x = xp.asarray([1, 2])
    with pa.policy("numpy"):
        for _ in range(3):
            made = xp.zeros(2), xp.ones(2), xp.empty(2), xp.full(2, 1.5)
            assert {(type(m), m.dtype) for m in made} == {(type(x), pa.float32)}
            alike = pa.zeros_like(x), xp.ones_like(x), pa.empty_like(x), xp.full_like(x, 1)
            assert {(type(m), m.dtype) for m in alike} == {(type(x), pa.int64)}
            assert type(pa.zeros(2)) is pa.PArray
        with pytest.raises(TypeError):
            pa.namespace("jax").zeros_like(x)


def test_an_array_of_a_namespace_is_filled_by_its_policy() -> None:
    x = pa.namespace("jax").asarray([1], dtype=pa.int8)
    for policy in ("numpy", "torch", "jax"):
        with pa.policy(policy):
            assert [pa.full_like(x, 1.5).tolist() for _ in range(3)] == [[1]] * 3
            want = told(lambda _: pa.namespace("jax").full_like(x, 300), None)
            assert [told(lambda _: pa.full_like(x, 300), None) for _ in range(3)] == [want] * 3


def test_another_policy_makes_another_at_once() -> None:
    for _ in range(3):
        for name, dtype in (("numpy", pa.float64), ("torch", pa.float32), ("jax@x32", pa.float32)):
            with pa.policy(name):
                assert pa.zeros(1).dtype is pa.ones(1).dtype is pa.full(1, 1.5).dtype is dtype
            pa.set_policy(name)
            assert pa.zeros(1).dtype is pa.ones(1).dtype is pa.full(1, 1.5).dtype is dtype
            pa.set_policy("numpy")


def test_what_was_made_is_nobody_elses() -> None:
    x = pa.asarray([1, 2])
    for make in (
        *(lambda: pa.full(2, 7), lambda: pa.full_like(x, 7)),
        *(lambda: pa.arange(7, 9), lambda: pa.linspace(7, 8, 2)),
    ):
        for _ in range(3):
            made = make()
            assert made.tolist() in ([7, 7], [7, 8])
            made[0] = 1


def test_observers_hear_of_every_one() -> None:
    x = pa.asarray([1, 2])
    for _ in range(2):
        for make in (lambda: pa.zeros(2), lambda: pa.ones(2), lambda: pa.full(2, 1.5)):
            make()
            with pa.shadow("numpy", "torch") as report:
                for _ in range(3):
                    assert (make() + 1).dtype is pa.float64
            assert "float32" in str(report)
        with pa.shadow("numpy", "jax@x32") as report:
            assert (pa.zeros_like(x, dtype=pa.float64) + 1).dtype is pa.float64
        assert "float32" in str(report)


def test_what_is_no_shape_is_told_every_time() -> None:
    for shape in (-1, (2, -1), 1.5, "3", 2**70, (2**40, 2**40), None):
        errors = set()
        for _ in range(3):
            pa.zeros(1)
            with pytest.raises((TypeError, ValueError)) as error:
                pa.zeros(shape)
            errors.add(str(error.value))
        assert len(errors) == 1
