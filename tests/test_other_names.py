"""Names of other libraries: what an error says to write is there, and theirs is not."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import promoarray as pa
from promoarray.other_names import FUNCTIONS, KEYWORDS, METHODS, NUMPYS, same_as


def test_what_is_said_to_write_is_there_and_the_other_name_is_not() -> None:
    x, wrong = pa.ones((2, 2)), []
    for text in (*FUNCTIONS.values(), *METHODS.values()):
        for path in re.findall(r"\bpa\.([a-z]\w*(?:\.\w+)?)", text):
            found: Any = pa
            for part in path.split("."):
                found = getattr(found, part, None)
            wrong += [text] if found is None else []
        wrong += [text for name in re.findall(r"\bx\.(\w+)", text) if not hasattr(x, name)]
    assert wrong == []
    assert [name for name in FUNCTIONS if hasattr(pa, name) and not same_as(name)] == []
    assert [name for name in METHODS if hasattr(x, name)] == []


def test_numpys_aliases_of_our_functions_are_all_known() -> None:
    ours = {id(getattr(np, name)): name for name in pa.__all__ if hasattr(np, name)}
    aliases = {
        name
        for name in dir(np)
        if callable(getattr(np, name)) and id(getattr(np, name)) in ours and not hasattr(pa, name)
    }
    scalars = {name for name in aliases if isinstance(getattr(np, name), type)}
    assert aliases - scalars - FUNCTIONS.keys() == set()


@pytest.mark.parametrize(
    ("name", "written"),
    [("cat", "concat"), ("amax", "max"), ("mul", "multiply")],
)
def test_a_missing_function_names_ours(name: str, written: str) -> None:
    with pytest.raises(AttributeError, match=rf"has no attribute '{name}'; write pa\.{written}$"):
        getattr(pa, name)
    with pytest.raises(AttributeError, match=rf"has no attribute '{name}'; write xp\.{written}$"):
        getattr(pa.namespace("torch"), name)


def test_numpys_other_names_of_one_function_are_ours_too() -> None:
    xp, x = pa.namespace("torch"), pa.ones(2)
    assert pa.power is pa.pow
    assert pa.arctan2 is pa.atan2
    assert pa.conjugate is pa.conj
    assert pa.bool_ is pa.bool
    assert xp.power(xp.asarray([3]), 2.0).dtype is pa.float32
    assert pa.std(x, ddof=1).item() == pa.var(x, ddof=1).item() == 0
    assert pa.std(pa.asarray([1.0, 3.0]), ddof=1).item() == 2**0.5


def test_missing_attributes_of_arrays_name_what_to_write() -> None:
    x = pa.ones(2)
    for name, words in {
        "numpy": "np.asarray(x)",
        "cpu": "x.to_device('cpu')",
        "float": "x.astype(pa.float32)",
        "to": "x.astype(dtype) or x.to_device(device)",
        "half": "x.astype(pa.float16)",
        "detach": "x: promoarray keeps no gradients",
        "unsqueeze": "pa.expand_dims",
        "dim": "x.ndim",
        "exp": "pa.exp(x)",
        "arctan": "pa.atan",
    }.items():
        assert not hasattr(x, name)
        with pytest.raises(AttributeError, match=re.escape(f"'{name}'; write {words}") + "$"):
            getattr(x, name)
    for name in ("nothing_like_it", "pi", "_private", "__array_struct__"):
        with pytest.raises(AttributeError, match=f"no attribute '{name}'$"):
            getattr(x, name)


def test_names_beyond_numpys_are_no_public_names() -> None:
    assert set(NUMPYS) <= set(pa.extras.__all__)
    assert set(NUMPYS) & FUNCTIONS.keys() == set()


def test_keywords_name_ours() -> None:
    x = pa.ones((2, 3))
    cases: dict[str, Any] = {
        "axis": [lambda: pa.sum(x, dim=1), lambda: pa.concat([x, x], dim=1)],
        "keepdims": [lambda: pa.mean(x, axis=1, keepdim=True), lambda: pa.max(x, keep_dims=True)],
        "correction": [lambda: pa.std(x, unbiased=True), lambda: pa.var(x, unbiased=True)],
        "min": [lambda: pa.clip(x, a_min=0)],
        "ord": [lambda: pa.linalg.vector_norm(x, p=1), lambda: pa.linalg.matrix_norm(x, p=1)],
    }
    for ours, calls in cases.items():
        for call in calls:
            with pytest.raises(
                TypeError, match=rf"unexpected keyword argument '\w+'; write {ours}="
            ):
                call()
    xp = pa.namespace("torch")
    with pytest.raises(TypeError, match=r"sum\(\) got an unexpected keyword argument 'dim'; write"):
        xp.sum(xp.ones(2), dim=0)
    for call, words in {
        "pa.sum(x, 0)": "takes 1 positional argument but 2 were given; write axis=",
        "pa.eye(2, 2, 1)": "; write k=",
        "pa.roll(x, 1, 0)": "; write axis=",
        "pa.mean(x, dtype=pa.float32)": "; write pa.astype(x, dtype) around what goes in",
        "pa.argsort(x, kind='stable')": "; write stable=",
        "pa.reshape(x, (6,), order='F')": "; write nothing for 'C'; for 'F' pa.permute_dims(x",
        "pa.add(x, x, out=x)": "; write out[...] = pa.add(...)",
        "pa.linalg.lstsq(x)": "has no attribute 'lstsq'; write pa.matmul(pa.linalg.pinv(a), b)",
        "pa.gcd(x, x)": "; numpy.gcd on numpy.asarray(x) has it, outside the policy",
    }.items():
        with pytest.raises((TypeError, AttributeError), match=re.escape(words)):
            eval(call)
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'nothing'$"):
        pa.sum(x, nothing=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        pa.sum()  # type: ignore[call-arg]
    assert "dim" in KEYWORDS
