"""Pickles: those that 0.1.0 wrote, and policies, which are pickled as their names."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import promoarray as pa
from promoarray.policies import Operand, Policy, Rank, as_policy, register

# One pickle by 0.1.0 of each kind of object, by name.
FILE = Path(__file__).with_name("pickles_0_1_0.pickle")
WRITTEN: dict[str, bytes] = pickle.loads(FILE.read_bytes())


def loaded(name: str) -> Any:
    return pickle.loads(WRITTEN[name])


@pytest.mark.parametrize("name", WRITTEN)
def test_every_pickle_of_0_1_0_loads_and_prints(name: str) -> None:
    assert str(loaded(name))


def test_arrays_of_0_1_0_keep_bits_types_and_bindings() -> None:
    x = loaded("array")
    assert type(x) is pa.PArray
    assert x.dtype is pa.bfloat16
    assert np.asarray(x).view(np.uint16).tolist() == [0x3FC0, 0x8000, 0x7FC0]
    assert loaded("int4").tolist() == [1, -2]
    assert loaded("string").dtype is pa.string
    assert (loaded("bound") / 2).dtype is pa.float32  # torch's
    assert loaded("weak").weak_type
    assert loaded("class") is pa.PArray


def test_what_speaks_of_policies_in_0_1_0_is_the_same_today() -> None:
    assert loaded("dtype") is pa.float8_e4m3fn
    assert loaded("policy") is as_policy("paddle@3.3")
    assert loaded("namespace") is pa.namespace("jax")
    assert loaded("function").policy is as_policy("jax")
    assert loaded("operand") == Operand(pa.int8, Rank.ZERO_D, 3)
    error = loaded("promotion_error")
    assert (error.policy.name, error.operation) == ("paddle", "multiply")
    assert [o.type for o in error.operands] == [pa.int64, pa.float32]
    assert loaded("escape_error").escape.channel == "__array__"
    report = loaded("shadow")
    assert [str(d.answers["torch@2.13"]) for d in report.roots] == ["float32"]


def test_modules_of_0_1_0_have_no_other_names() -> None:
    with pytest.raises(AttributeError, match="Can't get attribute 'gone'"):
        pickle.loads(b"cpromoarray._escape\ngone\n.")
    with pytest.raises(ModuleNotFoundError):
        pickle.loads(b"cpromoarray._nowhere\nEscape\n.")


def test_a_registered_policy_is_pickled_as_its_name() -> None:
    for policy in (as_policy("torch"), as_policy("numpy+rounds-twice")):
        assert pickle.loads(pickle.dumps(policy)) is policy
        assert copy.deepcopy(policy) is copy.copy(policy) is policy


def test_a_policy_that_is_not_registered_is_refused_when_it_is_pickled() -> None:
    mine = as_policy("numpy").derive("mine", {("int8", "uint8"): "int8"})
    x = pa.namespace(mine).asarray([1])
    for what in (mine, x, pa.namespace(mine)):
        with pytest.raises(pickle.PicklingError, match="'mine', which is not registered"):
            pickle.dumps(what)
    assert copy.deepcopy(mine) is mine
    assert copy.deepcopy(x).tolist() == [1]
    register(mine)
    try:
        assert pickle.loads(pickle.dumps(mine)) is mine
    finally:
        from promoarray.promotion import registry

        del registry._registered["mine"]


def test_a_policy_of_the_same_name_is_not_the_registered_one() -> None:
    other = Policy.from_table("torch@2.13", "   i8\ni8 i8")
    with pytest.raises(pickle.PicklingError, match="not registered"):
        pickle.dumps(other)
