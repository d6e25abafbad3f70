"""Values that no message may quote: every public function, method and operator is given them.

The right answer, or an error of a class that says what is wrong, in fewer than 1,000 characters, in
which Python does not complain of the 4,300 digits that it prints.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from sampled import turns

import promoarray as pa
from promoarray.errors import clipped, quoted, suggestion

LONG = 1200


class Failing:
    def __repr__(self) -> str:
        raise ValueError("repr fails" * LONG)


class Garbage:
    def __repr__(self) -> str:
        return 3  # type: ignore[return-value]


class Long:
    def __repr__(self) -> str:
        return "long " * LONG


ENDLESS = 10**5000
VALUES: dict[str, Any] = {
    "endless": ENDLESS,
    "below": -ENDLESS,
    "list of endless": [ENDLESS],
    "tuple of endless": (ENDLESS, 0),
    "range": range(ENDLESS),
    "slice": slice(ENDLESS),
    "text": "a" * 2 * LONG,
    "bytes": b"a" * 2 * LONG,
    "texts": ["a" * 2 * LONG],
    "list": list(range(LONG)),
    "tuple": tuple(range(LONG)),
    "set": set(range(LONG)),
    "dict": dict.fromkeys(range(LONG)),
    "objects": np.array([ENDLESS, None]),
    "array": np.ones(LONG),
    "failing": Failing(),
    "of failing": [Failing()],
    "garbage": Garbage(),
    "long": Long(),
    "class": type("C" * 2 * LONG, (), {}),
    "instance": type("C" * 2 * LONG, (), {})(),
}
CLEAR = (TypeError, ValueError, OverflowError, IndexError, AttributeError, BufferError)
LACKING = ImportError
"""Of functions that need an extra, where it is not installed."""
FILES = {"save", "load", "to_zarr", "from_zarr"}  # which would make files of these names
STATE = {"set_policy", "set_num_threads"}
PYTHONS = {  # whose answers and errors are Python's own, or NumPy's
    *("__class__", "__init_subclass__", "__subclasshook__", "__new__", "__init__", "__dir__"),
    *("__setattr__", "__delattr__", "__getattribute__", "__reduce_ex__", "__array__"),
}


def functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    for module in (pa, pa.linalg, pa.fft, pa.extras):
        for name in module.__all__:
            function = getattr(module, name)
            if callable(function) and not isinstance(function, type):
                yield name, function


def keywords(function: Callable[..., Any]) -> list[str]:
    kinds = inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:
        return []
    return [parameter.name for parameter in parameters if parameter.kind in kinds]


def calls(value: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Every public way to hand over a value."""
    x, y = pa.asarray([1, 2], dtype=pa.int8), pa.ones((2, 2), dtype=pa.float32)
    for name, function in functions():
        if name in FILES | STATE:
            continue
        yield f"{name}(v)", lambda f=function: f(value)
        yield f"{name}(y, v)", lambda f=function: f(y, value)
        for key in keywords(function):
            yield f"{name}(y, {key}=v)", lambda f=function, k=key: f(y, **{k: value})
    for name in dir(pa.PArray):
        if name in PYTHONS or (name.startswith("_") and not name.startswith("__")):
            continue
        method = getattr(y, name)
        if callable(method):
            yield f"y.{name}(v)", lambda f=method: f(value)
    yield "x[v] = 1", lambda: x.__setitem__(value, 1)
    yield "x[0] = v", lambda: x.__setitem__(0, value)
    yield "x[0, v]", lambda: y[0, value]
    yield "x[v:]", lambda: x[value:]
    yield "np.add", lambda: np.add(x, value)
    yield "policy", lambda: pa.policy(value)
    yield "namespace", lambda: pa.namespace(value)
    for owner in (x, pa, pa.namespace("torch")):
        yield "getattr", lambda o=owner: getattr(o, value)


QUICK = ["numpy", "torch", "onnx"]
OTHERS = ["numpy@1", "jax", "tensorflow", "paddle", "aclnn", "array_api"]


def trouble(call: Callable[[], Any]) -> str | None:
    try:
        call()
    except (*CLEAR, LACKING) as error:
        words = str(error)
        if len(words) >= 1000 or "4300 digits" in words or "repr fails" in words or not words:
            return f"{type(error).__name__}: {len(words)} characters: {words[:100]}"
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:100]}"
    return None


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize(
    "policy", [*QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in OTHERS)]
)
def test_no_message_quotes_what_is_huge(policy: str, value: str) -> None:
    with pa.policy(policy), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # Three policies go through all calls together; what refuses a value is seldom the policy.
        turn = [*QUICK, *OTHERS].index(policy) + [*VALUES].index(value)
        found = {said: trouble(call) for said, call in turns(calls(VALUES[value]), 3, turn)}
    assert {said: wrong for said, wrong in found.items() if wrong} == {}


@pytest.mark.parametrize("value", VALUES)
def test_a_quoted_value_is_short_and_in_one_line(value: str) -> None:
    text = quoted(VALUES[value])
    assert 0 < len(text) <= 60
    assert text.isprintable()
    assert len(quoted([VALUES[value]] * LONG, 200)) <= 200


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.5, "1.5"),
        ("it's", '"it\'s"'),
        ([1, [None, "a"]], "[1, [None, 'a']]"),
        ((1,), "(1,)"),
        ({"a": (), "b": {2}}, "{'a': (), 'b': {2}}"),
        (frozenset(), "frozenset()"),
        (np.ones((2, 1)), "array([[1.], [1.]])"),
        (2**128, "<int of 129 bits>"),
        (-(2**127), str(-(2**127))),
        (range(2**200), "<range of 201 bits>"),
        (np.zeros((3, 40)), "<ndarray of float64, shape (3, 40)>"),
        ("a" * 100, repr("a" * 54) + "..."),
        (Failing(), "<Failing>"),
    ],
)
def test_a_quoted_value_is_a_repr_where_that_is_short(value: Any, text: str) -> None:
    assert quoted(value) == text


def test_a_list_that_holds_itself_is_quoted() -> None:
    loop: list[Any] = []
    loop.append(loop)
    assert quoted(loop) == "[[[[[...]]]]]"


def test_lists_of_names_are_shortened() -> None:
    assert len(suggestion("?", [f"name{i}" for i in range(LONG)])) < 700
    assert suggestion("a" * 10**6, ["add"]) == "Write one of: add"
    assert clipped("a" * 10, 10) == "a" * 10


def nested(depth: int) -> list[Any]:
    made: list[Any] = []
    for _ in range(depth):
        made = [made]
    return made


def test_lists_nested_deeper_than_python_goes_are_told_so() -> None:
    loop: list[Any] = []
    loop.append(loop)
    for deep in (nested(10**5), loop):
        for make in (pa.asarray, pa.namespace("torch").asarray):
            with pytest.raises(ValueError, match="asarray: the sequences are nested too deep"):
                make(deep)
        with pytest.raises(TypeError, match=r"\[\.\.\.\]\]\]\]\] is not a dtype"):
            pa.zeros(1, dtype=deep)
        with pytest.raises(TypeError, match="a shape is an int or a tuple of ints"):
            pa.zeros(deep)


def test_many_operands_are_told_by_their_dtypes_and_not_one_by_one() -> None:
    many = [pa.ones(2, dtype=pa.int64)] * 2000
    with pytest.raises(ValueError, match="concat: shapes") as caught:
        pa.concat([*many, pa.ones((2, 2))])
    assert len(str(caught.value)) < 1000
    with pa.policy("paddle@3.3"), pytest.raises(pa.PromotionError) as refused:
        pa.concat([*many, pa.ones(2, dtype=pa.float32)])
    text = str(refused.value)
    assert "does not promote concat(int64, float32)" in text
    assert "These are the dtypes of 2001 operands. Write pa.astype(x, pa." in text
    assert " of each x of " in text
    assert len(text) < 1000
    assert len(refused.value.operands) == 2001


RANGES = (
    *(range(5), range(-3, 250, 7), range(10, -200, -9), range(2**31 - 2, 2**31 + 9)),
    *(range(-(2**63), 2**63 - 1, 2**61), range(2**63, 2**63 + 4), range(0), range(3, 4)),
)


@pytest.mark.parametrize("policy", ["numpy", "jax@x32", "torch", "tensorflow", "onnx"])
@pytest.mark.parametrize("dtype", [None, "int8", "uint8", "float16", "bool", "int4", "complex64"])
def test_a_range_is_what_a_list_of_its_numbers_is(policy: str, dtype: str | None) -> None:
    def made(values: Any) -> Any:
        with pa.policy(policy):
            try:
                x = pa.asarray(values, dtype=dtype)
            except (TypeError, ValueError, OverflowError) as error:
                return type(error), str(error)
        return x.dtype, x.weak_type, x.tolist()

    for numbers in RANGES:
        assert made(numbers) == made([*numbers]), numbers


def test_no_list_is_made_of_a_long_range() -> None:
    x = pa.asarray(range(-1, 3 * 10**6, 2), dtype=pa.int32)
    assert (x.dtype, x.shape, x[-1].item()) == (pa.int32, (1500001,), 2999999)
    for values in (range(10**15), [range(10**15)]):  # no memory holds them, nor is it tried
        with pytest.raises(MemoryError):
            pa.asarray(values)
    with pytest.raises(OverflowError, match="does not fit int8"):
        pa.asarray(range(10**12), dtype=pa.int8)
