"""Operands that are neither arrays nor Python's own numbers: none is compared by identity."""

from __future__ import annotations

import operator
from decimal import Decimal
from enum import IntEnum, IntFlag
from fractions import Fraction
from typing import Any
from unittest import mock

import numpy as np
import pytest
from operator_table import FORWARD, INPLACE

import promoarray as pa

POLICIES = ["numpy", "numpy@1", "torch", "jax", "tensorflow", "paddle", "onnx", "array_api"]
STRONG = "numpy"
"""Makes an array of a number of a derived class."""


class Level(IntEnum):
    LOW = 2


class Flags(IntFlag):
    FIRST = 2


class Real(float):
    """A float of a program's own, with another opinion of its value."""

    def __float__(self) -> float:
        return 99.0


class Complex(complex):
    """A complex number of a program's own."""


NUMBERS = [(Level.LOW, 2), (Flags.FIRST, 2), (Real(1.5), 1.5), (Complex(1.5, 2), 1.5 + 2j)]


def outcome(run: Any, *operands: Any) -> Any:
    try:
        made = run(*operands)
    except Exception as error:
        return type(error).__name__
    return made.dtype.name, str(made.tolist())


@pytest.mark.parametrize("policy", POLICIES)
def test_numbers_of_derived_classes_are_those_of_python(policy: str) -> None:
    wrong = {}
    with pa.policy(policy):
        for dtype in ("int8", "int64", "float32", "complex64"):
            x = pa.asarray([1, 2, 3], dtype=dtype)
            for given, number in NUMBERS:
                plain = pa.asarray(number) if policy == STRONG else number
                for name, run in FORWARD.items():
                    found = outcome(run, x, given), outcome(run, given, x)
                    want = outcome(run, x, plain), outcome(run, plain, x)
                    if found != want:
                        wrong[name, dtype, given] = found, want
                for name, run in INPLACE.items():
                    found = outcome(run, pa.asarray(x, copy=True), given)
                    if found != outcome(run, pa.asarray(x, copy=True), plain):
                        wrong[f"{name}=", dtype, given] = found
    assert not wrong


def test_an_intenum_member_wherever_a_number_is_taken() -> None:
    x = pa.asarray([1, 2, 3], dtype=pa.int8)
    for _ in range(2):
        assert (x == Level.LOW).tolist() == (Level.LOW == x).tolist() == [False, True, False]  # noqa: SIM300
        assert (x != Level.LOW).tolist() == [True, False, True]
        assert pa.add(x, Level.LOW).tolist() == [3, 4, 5]
        for policy, dtype in (("numpy", pa.int64), ("numpy@1", pa.int8), ("torch", pa.int8)):
            with pa.policy(policy):
                assert (x + Level.LOW).dtype is dtype
                assert pa.where(x > 1, x, Level.LOW).dtype is dtype
                assert pa.result_type(x, Level.LOW) is dtype
        assert x[Level.LOW].item() == 3
    x[0] = Level.LOW
    assert x.tolist() == [2, 2, 3]
    assert pa.asarray(Level.LOW).dtype is pa.int64
    assert pa.asarray([Level.LOW, 1, Real(0.5)]).tolist() == [2.0, 1.0, 0.5]
    assert pa.full((2,), Level.LOW).tolist() == [2, 2]
    assert pa.arange(Level.LOW).tolist() == [0, 1]
    assert pa.asarray(Level.LOW, dtype=pa.bfloat16).item() == 2.0
    assert "int8" in str(pa.explain("add", x, Level.LOW))
    with pa.policy("jax"):
        assert pa.asarray(Level.LOW).weak_type


class Silent:
    """It compares by identity, as classes do that say nothing of it."""


UNKNOWN = [Silent(), object(), Fraction(1, 2), Decimal(1), np.int8, print, {1}, "a", b"a", ...]


@pytest.mark.parametrize("name", ["equal", "not_equal", "less", "greater_equal", "add", "pow"])
@pytest.mark.parametrize("other", UNKNOWN, ids=lambda other: type(other).__name__)
def test_what_is_no_operand_is_refused_by_every_operator(name: str, other: Any) -> None:
    x, run = pa.asarray([1, 2]), FORWARD[name]
    if name == "pow" and isinstance(other, Fraction):
        assert (x**other).tolist() == (x**0.5).tolist()  # as Fraction itself has it
        return
    for operands in ((x, other), (other, x)):
        with pytest.raises(TypeError):
            run(*operands)


def test_a_refused_comparison_says_what_to_write() -> None:
    x = pa.asarray([1, 2])
    with pytest.raises(TypeError, match=r"PArray == Silent: .*pa\.asarray"):
        operator.eq(x, Silent())
    with pytest.raises(TypeError, match=r"PArray != Fraction: .*float\(\.\.\.\)"):
        operator.ne(x, Fraction(1, 2))
    with pytest.raises(TypeError, match=r"Fraction \+ PArray: .*float\(\.\.\.\)"):
        operator.add(Fraction(1, 2), x)


def test_what_compares_arrays_itself_is_asked() -> None:
    x = pa.asarray([1, 2])
    assert (x == mock.ANY) is True
    assert (mock.ANY == x) is True  # noqa: SIM300
    assert (x != mock.ANY) is False
