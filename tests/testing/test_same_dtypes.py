"""``pa.testing.assert_same_dtypes``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import promoarray as pa
from promoarray.testing import assert_same_dtypes


def differs(fn: Any, *args: Any, **kwargs: Any) -> list[str]:
    with pytest.raises(AssertionError) as raised:
        assert_same_dtypes(fn, *args, **kwargs)
    return str(raised.value).splitlines()


def half(x: Any) -> Any:
    return x / 2


def test_the_table_the_line_and_the_edit() -> None:
    said = differs(half, pa.ones(3, dtype=pa.int8), policies=["numpy", "torch", "onnx"])
    line = half.__code__.co_firstlineno + 1
    assert said[:5] == [
        "half gives other dtypes under some policies",
        "  policy      result",
        "  numpy@2     float64",
        "  torch@2.13  float32",
        "  onnx@25     int8",
    ]
    assert f"test_same_dtypes.py:{line}  x / 2  [int8 / Python int]" in said[5]
    assert said[6:] == [
        "    float64     numpy@2",
        "    float32     torch@2.13",
        "    int8        onnx@25",
        "    write pa.astype(x, pa.float64) / 2  for torch@2.13, onnx@25",
    ]


def test_the_edit_mends_it() -> None:
    def mended(x: Any) -> Any:
        return pa.astype(x, pa.float64) / 2

    assert_same_dtypes(mended, pa.ones(3, dtype=pa.int8), policies=["numpy", "torch", "onnx"])


def test_by_default_it_asks_what_compare_asks() -> None:
    ran = []

    def note(x: Any) -> Any:
        ran.append(pa.get_policy().name)
        return x

    assert_same_dtypes(note, pa.ones(3, dtype=pa.float32))
    assert ran[:4] == ["numpy@2", "numpy@1", "jax@x64", "torch@2.13"]
    assert len(ran) == 8


def test_arrays_are_bound_to_each_policy_and_copied_wherever_they_stand() -> None:
    given = pa.ones(2, dtype=pa.float32)
    theirs = np.ones(2, np.float32)
    bound = pa.namespace("jax").ones(2, dtype=pa.float32)

    def spoil(x: Any, parts: Any, *, options: Any) -> Any:
        x[0] = 5.0
        parts[0][0] = 5.0
        arrays = [x, *parts, options["b"]]
        assert {a.__array_namespace__().policy for a in arrays} == {pa.get_policy()}
        return x

    assert_same_dtypes(
        spoil, given, (theirs,), options={"b": bound, "n": 3}, policies=["numpy", "torch"]
    )
    assert given[0] == 1
    assert theirs[0] == 1


def test_a_refusal_differs_and_says_where() -> None:
    def mixed(x: Any, y: Any) -> Any:
        return x + y

    args = pa.ones(2, dtype=pa.int64), pa.ones(2, dtype=pa.float32)
    said = differs(mixed, *args, policies=["paddle", "torch"])
    line = mixed.__code__.co_firstlineno + 1
    assert f"  paddle      refuses, test_same_dtypes.py:{line}: tensors promote only" in said[1 + 1]
    assert any("refuses     paddle" in each for each in said[4:])
    said = differs(mixed, *args, policies=["paddle", "onnx"])
    assert said[0] == "every policy refuses mixed"


def test_a_number_that_does_not_fit_is_a_refusal() -> None:
    said = differs(lambda x: x * 300, pa.ones(2, dtype=pa.uint8), policies=["numpy", "numpy@1"])
    assert "refuses" in said[2]
    assert "Python int 300 does not fit uint8" in said[2]
    assert said[3].split() == ["numpy@1", "uint16"]


@dataclass
class State:
    weight: Any
    steps: int


def test_the_leaves_of_a_result_have_names_and_those_that_agree_are_left_out() -> None:
    def train(x: Any) -> Any:
        return [x, State(x / 2, 3)], {"loss": pa.sum(x) / 2}

    said = differs(train, pa.ones(2, dtype=pa.int8), policies=["numpy", "torch"])
    assert said[1].split() == ["policy", "[0][1].weight", "[1]['loss']"]
    assert said[4] == "  and 2 more, which agree"


def test_a_result_of_another_shape_differs() -> None:
    def unlike(x: Any) -> Any:
        return (x, x) if pa.get_policy().name == "numpy@2" else (x,)

    said = differs(unlike, pa.ones(2, dtype=pa.float32), policies=["numpy", "torch"])
    assert [line.split()[-1] for line in said[1:4]] == ["[1]", "float32", "none"]


def test_what_cannot_fail_is_an_error() -> None:
    with pytest.raises(ValueError, match="<lambda> gives no array under any policy"):
        assert_same_dtypes(lambda: 3)
    with pytest.raises(ValueError, match="one policy has nothing to be compared with"):
        assert_same_dtypes(half, pa.ones(2), policies="torch")
    with pytest.raises(pa.UnknownPolicyError, match="numppy"):
        assert_same_dtypes(half, pa.ones(2), policies=["numpy", "numppy"])


def test_other_errors_are_the_functions_own_and_name_the_policy() -> None:
    with pytest.raises(ZeroDivisionError) as raised:
        assert_same_dtypes(lambda: 1 / 0)
    assert raised.value.__notes__ == ["under the policy numpy@2"]
