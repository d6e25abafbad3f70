"""Pickles: every kind of object comes back, policies as their names."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import promoarray as pa
from promoarray.kernels.cast_mode import CastMode
from promoarray.policies import Operand, Policy, Rank, as_policy, register
from promoarray.promotion.source import Source


def escape_error() -> pa.EscapeError:
    with pytest.raises(pa.EscapeError) as caught, pa.no_escape():
        np.asarray(pa.asarray([1.0]))
    return caught.value


def promotion_error() -> pa.PromotionError:
    with pa.policy("paddle"), pytest.raises(pa.PromotionError) as caught:
        pa.asarray([1]) * pa.asarray([1.5], dtype=pa.float32)
    return caught.value


def unknown_policy() -> pa.UnknownPolicyError:
    with pytest.raises(pa.UnknownPolicyError) as caught:
        as_policy("nump")
    return caught.value


def shadow() -> pa.Report:
    with pa.shadow("numpy", "torch") as report:
        pa.asarray([1, 2]) * 1.5
    return report


def trace() -> Any:
    with pa.trace() as found:
        pa.asarray([1, 2], dtype=pa.int8) + pa.asarray([1.5])
    return found


ADD = (Operand(pa.float16), Operand(pa.float16))
MATRIX = [[1.0, 2.0], [3.0, 4.0]]
MADE = {
    "array": lambda: pa.asarray([1.5, -0.0, np.nan], dtype=pa.bfloat16),
    "int4": lambda: pa.asarray([1, -2], dtype=pa.int4),
    "string": lambda: pa.asarray(["a", "1.5"], dtype=pa.string),
    "bound": lambda: pa.namespace("torch").asarray([1, 2]),
    "weak": lambda: pa.namespace("jax").asarray(2.5),
    "dtype": lambda: pa.float8_e4m3fn,
    "kind": lambda: pa.float8_e4m3fn.kind,
    "format": lambda: pa.float8_e4m3fn.format,
    "policy": lambda: as_policy("paddle@3.3"),
    "quirky": lambda: as_policy("numpy+rounds-twice"),
    "namespace": lambda: pa.namespace("jax"),
    "linalg": lambda: pa.namespace("jax").linalg,
    "function": lambda: pa.namespace("jax").add,
    "operand": lambda: Operand(pa.int8, Rank.ZERO_D, 3),
    "plan": lambda: as_policy("numpy").plan("add", ADD),
    "refusal": lambda: as_policy("paddle").decide("multiply", (Operand(pa.int64), ADD[0]), ()),
    "source": lambda: Source("t", "s", "v"),
    "cast mode": lambda: CastMode(),
    "promotion_error": promotion_error,
    "unknown_policy": unknown_policy,
    "escape_error": escape_error,
    "class": lambda: pa.PArray,
    "finfo": lambda: pa.finfo(pa.float8_e5m2),
    "iinfo": lambda: pa.iinfo(pa.int8),
    "explanation": lambda: pa.explain("add", pa.int8, 1.5),
    "cast explanation": lambda: pa.explain("astype", pa.float32, pa.float8_e4m3fn),
    "cast_report": lambda: pa.cast_report(pa.asarray([1.0, 500.0]), pa.float8_e4m3fn),
    "shadow": shadow,
    "trace": trace,
    "check": lambda: as_policy("numpy@1").check(),
    "table": lambda: pa.table("torch"),
    "svd": lambda: pa.linalg.svd(pa.asarray(MATRIX)),
    "unique": lambda: pa.unique_all(pa.asarray([2.0, 1.0, 2.0])),
}
ONE = {"dtype", "kind", "policy", "quirky", "namespace", "class"}
"""Those of which there is one object a process."""


@pytest.mark.parametrize("protocol", [2, pickle.HIGHEST_PROTOCOL])
@pytest.mark.parametrize("name", MADE)
def test_every_kind_of_object_comes_back_from_its_pickle(name: str, protocol: int) -> None:
    made = MADE[name]()
    loaded = pickle.loads(pickle.dumps(made, protocol))
    assert type(loaded) is type(made)
    assert str(loaded) == str(made)
    assert loaded is made or name not in ONE


def test_arrays_keep_bits_types_and_bindings_in_pickles() -> None:
    def loaded(name: str) -> Any:
        return pickle.loads(pickle.dumps(MADE[name]()))

    x = loaded("array")
    assert x.dtype is pa.bfloat16
    assert np.asarray(x).view(np.uint16).tolist() == [0x3FC0, 0x8000, 0x7FC0]
    assert loaded("int4").tolist() == [1, -2]
    assert loaded("string").dtype is pa.string
    assert (loaded("bound") / 2).dtype is pa.float32  # torch's
    assert loaded("weak").weak_type
    assert loaded("operand") == Operand(pa.int8, Rank.ZERO_D, 3)
    error = loaded("promotion_error")
    assert (error.policy.name, error.operation) == ("paddle", "multiply")
    assert [o.type for o in error.operands] == [pa.int64, pa.float32]
    assert loaded("escape_error").escape.channel == "__array__"
    assert [str(d.answers["torch@2.13"]) for d in loaded("shadow").roots] == ["float32"]


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
