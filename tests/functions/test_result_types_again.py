"""Questions about dtypes: the second answer is the first, whatever else was asked between."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest
from outcomes import outcome
from sampled import turns

import promoarray as pa
from promoarray import dtypes as dt
from promoarray.core import events, observers, result_type_cache
from promoarray.dtypes import DType
from promoarray.policies import as_policy

POLICIES = ["numpy", "numpy@1", "torch", "jax", "jax@x32", "tensorflow", "paddle", "onnx@25"]

DTYPES = [
    *(dt.bool, dt.int4, dt.int8, dt.uint8, dt.int32, dt.int64, dt.uint64, dt.bfloat16, dt.float16),
    *(dt.float32, dt.float64, dt.float8_e4m3fn, dt.complex64),
]

SCALARS = [True, 0, 1, 300, -1, 1 << 40, 1 << 70, 1.5, -0.0, 1e300, float("nan"), 1.5j]

FORMS: dict[str, Callable[[DType], Any]] = {
    "dtype": lambda dtype: dtype,
    "name": lambda dtype: dtype.name,
    "array": lambda dtype: pa.PArray._wrap(np.ones(2, dtype.storage), dtype),
    "0-d array": lambda dtype: pa.PArray._wrap(np.ones((), dtype.storage), dtype),
    "0-d zero": lambda dtype: pa.PArray._wrap(np.zeros((), dtype.storage), dtype),
    "NumPy's": lambda dtype: np.ones(2, dtype.storage),
    "NumPy's 0-d": lambda dtype: np.ones((), dtype.storage),
    "NumPy's scalar": lambda dtype: np.ones((), dtype.storage)[()],
    "NumPy's dtype": lambda dtype: dtype.storage,
}

long_way: Any = {
    name: getattr(pa, name).__wrapped__
    for name in ("result_type", "promote_types", "can_cast", "finfo", "iinfo")
}


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with np.errstate(all="ignore"):
        yield


def operands(dtypes: list[DType]) -> list[Any]:
    """Dtypes in every form, weakly typed arrays, and numbers."""
    weak = [
        pa.PArray._wrap(np.ones(shape, storage), weak)
        for shape in ((2,), ())
        for weak, storage in ((dt.weak_int, np.int32), (dt.weak_float, np.float32))
    ]
    return [*(form(dtype) for form in FORMS.values() for dtype in dtypes), *weak, *SCALARS]


@pytest.mark.parametrize("policy", POLICIES)
def test_two_operands_have_the_dtype_that_they_had(policy: str) -> None:
    wrong, given = [], operands(DTYPES[::2])
    # The policies take turns: an answer is kept by the forms of operands, whatever the policy.
    pairs = turns(product(given, repeat=2), 4, POLICIES.index(policy))
    with pa.policy(policy):
        for pair in pairs:
            outcome(pa.result_type, *pair)  # all before any is asked again
        for pair in pairs:
            expected = outcome(long_way["result_type"], *pair)
            if outcome(pa.result_type, *pair) != expected:
                wrong.append((pair, expected))
    assert wrong == []


@pytest.mark.parametrize("policy", POLICIES)
def test_one_and_three_operands(policy: str) -> None:
    wrong = []
    few = [dt.int8, pa.asarray([1.0]), pa.asarray(1), np.float32(1), np.ones(2, np.int8), 1.5]
    with pa.policy(policy):
        for _, count in product(range(2), (1, 3)):
            for given in product(few, repeat=count):
                expected = outcome(long_way["result_type"], *given)
                if outcome(pa.result_type, *given) != expected:
                    wrong.append((given, expected))
    assert wrong == []


@pytest.mark.parametrize("name", ["promote_types", "can_cast", "finfo", "iinfo"])
@pytest.mark.parametrize("policy", POLICIES)
def test_dtypes_have_the_answers_that_they_had(policy: str, name: str) -> None:
    wrong, given = [], operands(DTYPES)
    if name in ("finfo", "iinfo"):
        asked = [(x,) for x in given]
    else:
        every = [*product(given, DTYPES[::3]), *product(DTYPES[::3], given)]
        asked = turns(every, 3, POLICIES.index(policy))
    with pa.policy(policy):
        expected = [outcome(long_way[name], *each) for each in asked]
        for _ in range(2):
            found = [outcome(getattr(pa, name), *each) for each in asked]
            wrong += [(a, b) for a, b, c in zip(asked, expected, found, strict=True) if b != c]
    assert wrong == []


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What took the long way."""
    taken: list[str] = []
    plain = result_type_cache.keep_answer

    def counted(policy: Any, name: str, *args: Any, **options: Any) -> None:
        taken.append(name)
        plain(policy, name, *args, **options)

    monkeypatch.setattr(result_type_cache, "keep_answer", counted)
    return taken


@pytest.mark.parametrize("bound", [False, True])
@pytest.mark.parametrize("policy", ["numpy", "numpy@1", "torch", "jax"])
def test_nothing_of_ours_is_called_again(policy: str, bound: bool, kept: list[str]) -> None:
    xp = pa.namespace(as_policy(policy)) if bound else pa
    with pa.policy(policy):
        x, y = xp.asarray(np.ones(2, np.float32)), xp.asarray(np.asarray(2.0))
        asked: list[tuple[str, tuple[Any, ...]]] = [
            *(("result_type", (x, other)) for other in (y, x, 1.5, pa.int8, "int8", np.ones(2))),
            *(("result_type", given) for given in ((x,), (x, y, 1), (pa.int8, np.float32))),
            *(("promote_types", given) for given in ((pa.int8, pa.uint8), ("int8", "float32"))),
            *(("can_cast", given) for given in ((x, pa.float64), (pa.float64, "float32"))),
            *(("finfo", (given,)) for given in (x, pa.bfloat16, "float32", np.float64)),
            *(("iinfo", (given,)) for given in (pa.int4, "int8")),
        ]
        for name, given in asked:
            first = getattr(xp, name)(*given)
            kept.clear()
            assert getattr(xp, name)(*given) == first
            assert kept == [], (name, given)


def test_policies_answer_for_themselves() -> None:
    x = pa.asarray([1], dtype=pa.int8)
    bound = pa.namespace("torch").asarray(x)
    found = []
    for policy in ("numpy", "torch", "numpy", "jax", "torch") * 2:
        with pa.policy(policy):
            found.append(pa.result_type(x, 1.5).name)
            assert pa.result_type(bound, 1.5) is pa.float32
    assert found == ["float64", "float32", "float64", "float64", "float32"] * 2


def test_arrays_of_two_namespaces_are_refused_every_time() -> None:
    one, other = pa.namespace("torch").asarray([1.0]), pa.namespace("jax").asarray([1.0])
    for _ in range(3):
        with pytest.raises(TypeError, match="do not mix"):
            pa.result_type(one, other)
        with pytest.raises(TypeError, match="do not mix"):
            pa.namespace("torch").result_type(one, other)


class Listener(events.Observer):
    """Counts the questions that it hears."""

    heard = 0

    def on_question(self, question: Any) -> None:
        self.heard += 1


def test_observers_hear_of_every_question() -> None:
    listener = Listener()
    for _ in range(3):
        pa.result_type(pa.int8, 1.5), pa.promote_types(pa.int8, pa.uint8)
    with observers.observing(listener):
        for _ in range(3):
            pa.result_type(pa.int8, 1.5), pa.promote_types(pa.int8, pa.uint8)
    assert listener.heard == 6
