"""What a shadow run says that a policy agrees in, against the policy itself.

Each call is run under one policy with others as shadows, and under each of those directly. One that
agrees, says the report, gives the same dtypes there and refuses nothing.
"""

from __future__ import annotations

import operator
import sys
import warnings
from collections.abc import Callable
from enum import IntEnum
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sampled import turns

import promoarray as pa
from promoarray import extras
from promoarray.diagnostics.findings.verdict import DIFFERS, verdicts
from promoarray.diagnostics.model.slots import lacks
from promoarray.dtypes import BY_CODE, CONCRETE, DType
from promoarray.policies import as_policy

sys.path.append(str(Path(__file__).parent.parent / "functions"))

from test_every_function import BINARY, RECIPES

Recipe = Callable[[Any], Any]


class Level(IntEnum):
    ONE = 1


POLICIES = (
    *("numpy@2", "numpy@1", "jax@x64", "jax@x32", "torch@2.13", "tensorflow", "tensorflow@all"),
    *("paddle@3.3", "paddle", "aclnn@8.5", "onnx@25", "mindspore@2.10", "array_api"),
)

DTYPES = ["f32", "i8", "u8", "i64", "f16", "b1", "c64", "u16"]

NUMBERS: tuple[Any, ...] = (
    *(1, True, 0.5, 2j, 300, Level.ONE, np.float64(0.5), np.float32(0.5), np.int8(1), np.True_),
    *(np.int64(300), np.array(1, np.int16), np.ones((2, 3), np.int8)),
)
"""What stands beside an array."""

OPERATORS = {
    name: getattr(operator, name)
    for name in [
        "add",
        "sub",
        "mul",
        "truediv",
        "floordiv",
        "mod",
        "pow",
        "and_",
        "or_",
        "lshift",
        "eq",
        "lt",
        "iadd",
        "imul",
    ]
}


def _put(x: Any, key: Any, value: Any) -> Any:
    y = pa.asarray(x, copy=True)
    y[key] = value
    return y


def _in_place(function: Any, x: Any, other: Any) -> Any:
    return function(pa.asarray(x, copy=True), other)


def _recipes() -> dict[str, Recipe]:
    """Calls of an array, by what they are."""
    found: dict[str, Recipe] = {
        name: lambda x, call=call: call(pa, x) for name, call in RECIPES.items()
    }
    for name in BINARY:
        function = getattr(pa, name)
        for other in NUMBERS:
            found[f"{name} {other!r}"] = lambda x, f=function, y=other: f(x, y)
        for code in DTYPES:
            found[f"{name} {code}"] = lambda x, f=function, c=code: f(x, pa.astype(x, BY_CODE[c]))
    for name, function in OPERATORS.items():
        for other in NUMBERS:
            found[f"x {name} {other!r}"] = lambda x, f=function, y=other: _in_place(f, x, y)
            found[f"{other!r} {name} x"] = lambda x, f=function, y=other: f(y, x)
        for code in DTYPES:
            found[f"x {name} {code}"] = lambda x, f=function, c=code: _in_place(
                f, x, pa.astype(x, BY_CODE[c])
            )
    for value in NUMBERS[:-1]:
        found[f"x[0] = {value!r}"] = lambda x, y=value: _put(x, 0, y)
        found[f"full {value!r}"] = lambda x, y=value: pa.full((2,), y)
        found[f"where {value!r}"] = lambda x, y=value: pa.where(x == x, x, y)
        found[f"clip {value!r}"] = lambda x, y=value: pa.clip(x, y)
    for code in DTYPES:
        dtype = BY_CODE[code]
        found[f"x[mask] = {code}"] = lambda x, d=dtype: _put(x, x == x, pa.astype(x[x == x], d))
        found[f"take {code}"] = lambda x, d=dtype: pa.take(x, pa.asarray([1, 0], dtype=d), axis=0)
        found[f"x[{code}]"] = lambda x, d=dtype: x[pa.asarray([1, 0], dtype=d)]
        found[f"x[numpy {code}]"] = lambda x, d=dtype: x[np.array([1, 0], d.storage)]
        found[f"x[numpy {code}(1)]"] = lambda x, d=dtype: x[d.storage.type(1)]
    for dtype in CONCRETE:
        code = dtype.code
        for name, given in _MAKERS.items():
            found[f"{name} {code}"] = lambda x, n=name, g=given, d=dtype: getattr(pa, n)(
                *g, dtype=d
            )
        found[f"astype {code}"] = lambda x, d=dtype: pa.astype(x, d)
        found[f"sum dtype={code}"] = lambda x, d=dtype: pa.sum(x, dtype=d)
        found[f"asarray dtype={code}"] = lambda x, d=dtype: pa.asarray(x, dtype=d)
    found["clip()"] = pa.clip
    found |= {
        "histogram": extras.histogram,
        "cov": extras.cov,
        "quantile": lambda x: extras.quantile(x, 0.5),
        "nanquantile": lambda x: extras.nanquantile(x, 1),
        "einsum": lambda x: extras.einsum("ij->i", x),
        "einsum of two": lambda x: extras.einsum("ij,kj->ik", x, pa.astype(x, pa.float32)),
        "interp": lambda x: extras.interp(x, [0.0, 1.0], [0.0, 1.0]),
        "quantization_parameters": lambda x: extras.quantization_parameters(x, x),
        "dynamic_quantize": lambda x: tuple(extras.dynamic_quantize(x)),
    }
    return found


_MAKERS: dict[str, tuple[Any, ...]] = {
    "zeros": ((2,),),
    "ones": ((2,),),
    "eye": (3,),
    "arange": (3,),
    "linspace": (0, 1, 3),
    "full": ((2,), 1),
}

CALLS = _recipes()


def _made(policy: str, call: Recipe, data: Any) -> Any:
    """The dtypes that a call gives, or the error that a rule raises; other errors go by values."""
    with pa.policy(policy), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return _dtypes(call(pa.asarray(data)))
        except (TypeError, OverflowError) as error:
            return type(error)
        except (ValueError, IndexError, ArithmeticError):
            return None


def _dtypes(made: Any) -> list[Any]:
    if isinstance(made, (tuple, list)):
        return [dtype for each in made for dtype in _dtypes(each)]
    return [made.dtype if isinstance(made, pa.PArray) else type(made)]


def _data(dtype: DType) -> Any:
    return np.array([[1, 0, 1], [0, 1, 1]]).astype(dtype.storage)


def false_agreements(names: list[str], run: str, dtype: DType) -> list[str]:
    """Where a report says that a policy agrees, and the policy does otherwise."""
    found, data = [], _data(dtype)
    policies = [p for p in POLICIES if not lacks(as_policy(p), dtype)]
    if run not in policies:
        return []
    for name in names:
        direct = {policy: _made(policy, CALLS[name], data) for policy in policies}
        if not isinstance(direct[run], list):
            continue
        with pa.policy(run), pa.shadow(*policies) as report, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            CALLS[name](pa.asarray(data))
        for verdict in verdicts(report):
            whole = verdict.state != DIFFERS and not verdict.open
            theirs = direct[verdict.policy]
            if whole and theirs is not None and theirs != direct[run]:
                found.append(f"{name} of {dtype}, {run} -> {verdict.policy}: {theirs}")
    return found


@pytest.mark.parametrize("run", POLICIES)
def test_a_policy_that_agrees_does_the_same(run: str) -> None:
    at = POLICIES.index(run)
    found = []
    for turn, code in enumerate(DTYPES):
        names = turns(CALLS, 320, at * len(DTYPES) + 13 * turn)
        found += false_agreements(names, run, BY_CODE[code])
    assert not found
