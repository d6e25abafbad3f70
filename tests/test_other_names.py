"""Names of other libraries: what an error says to write is there, and theirs is not."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import promoarray as pa
from promoarray.other_names import FUNCTIONS, KEYWORDS, METHODS, NUMPYS


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
    assert [name for name in FUNCTIONS if hasattr(pa, name)] == []
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
    [("cat", "concat"), ("cumsum", "cumulative_sum"), ("arctan2", "atan2"), ("power", "pow")],
)
def test_a_missing_function_names_ours(name: str, written: str) -> None:
    with pytest.raises(AttributeError, match=rf"has no attribute '{name}'; write pa\.{written}$"):
        getattr(pa, name)
    with pytest.raises(AttributeError, match=rf"has no attribute '{name}'; write xp\.{written}$"):
        getattr(pa.namespace("torch"), name)


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
        "correction": [lambda: pa.std(x, ddof=1), lambda: pa.var(x, unbiased=True)],
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
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'nothing'$"):
        pa.sum(x, nothing=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        pa.sum()  # type: ignore[call-arg]
    assert "dim" in KEYWORDS


A, B, N = (
    np.array([1.5, 2.5, 4.0]),
    np.array([[1.0, 2.0], [3.0, 4.5]]),
    np.array([1.0, np.nan, 3.0]),
)
HINTS = {  # what NumPy is asked, and the names of the hint
    "median": [(lambda x: np.median(x), {"x": x}) for x in (A, B)],
    "percentile": [(lambda x, q: np.percentile(x, q), {"x": A, "q": 30})],
    "inner": [(lambda x, y: np.inner(x, y), {"x": x, "y": x}) for x in (A, B)],
    "float_power": [(lambda x, y: np.float_power(x, y), {"x": np.arange(3), "y": 2})],
    "nancumsum": [(lambda x: np.nancumsum(x), {"x": N})],
    "nancumprod": [(lambda x: np.nancumprod(x), {"x": N})],
}


@pytest.mark.parametrize("name", HINTS)
def test_what_is_said_to_write_computes_what_numpy_does(name: str) -> None:
    for numpys, given in HINTS[name]:
        names = {n: pa.asarray(x) if isinstance(x, np.ndarray) else x for n, x in given.items()}
        ours = np.asarray(eval(FUNCTIONS[name], {"pa": pa}, names))
        theirs = np.asarray(numpys(**given))
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours, theirs)


@pytest.mark.parametrize("name", ["hstack", "vstack"])
def test_stacks_are_said_for_matrices_and_for_vectors(name: str) -> None:
    of_matrices, of_vectors = FUNCTIONS[name].split(", of vectors ")
    whole = of_vectors if of_vectors.startswith("pa.") else f"pa.concat(arrays, {of_vectors})"
    for text, x in ((of_matrices, B), (whole, A)):
        ours = eval(text, {"pa": pa}, {"arrays": [pa.asarray(x)] * 2})
        np.testing.assert_array_equal(np.asarray(ours), getattr(np, name)([x, x]))


def test_a_trace_of_a_matrix_is_no_trace_of_casts() -> None:
    assert METHODS["trace"] == "pa.linalg.trace(x)"
