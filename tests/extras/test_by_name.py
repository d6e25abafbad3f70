"""Functions that the main module has under NumPy's names, and random numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy_calls
import pytest

import promoarray as pa
from promoarray.other_names import BY_NAME


def same(found: Any, wanted: Any) -> None:
    if isinstance(wanted, (tuple, list)):
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted, strict=True):
            same(one, other)
        return
    if isinstance(wanted, int):
        assert found == wanted
        return
    assert (found.dtype.name, found.shape) == (wanted.dtype.name, wanted.shape)
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-6, atol=1e-12)


class Mixed:
    """NumPy, but for the functions that are ours by the same name."""

    def __getattr__(self, name: str) -> Any:
        return getattr(pa if name in BY_NAME else np, name)


@pytest.mark.parametrize("name", [name for name in BY_NAME if name in numpy_calls.CALLS])
def test_they_give_what_numpy_gives(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for call in numpy_calls.CALLS[name]:
        wanted = call(lambda x, dtype=None: np.asarray(x, dtype))
        monkeypatch.setattr(numpy_calls, "np", Mixed())
        made = call(lambda x, dtype=None: pa.asarray(np.asarray(x, dtype)))
        monkeypatch.undo()
        if isinstance(wanted, (np.ndarray, np.generic, tuple, list)):
            same(made, np.asarray(wanted) if isinstance(wanted, np.generic) else wanted)
        else:
            assert made == wanted


def test_they_take_lists_and_say_what_is_missing() -> None:
    assert pa.median([1, 2]).dtype is pa.float64
    with pytest.raises(TypeError, match=r"median\(\) missing a required argument: 'a'"):
        pa.median()
    with pytest.raises(TypeError, match=r"np\.average\(returned=\) is outside the policy"):
        pa.average([1, 2], returned=True)


@pytest.mark.parametrize(
    ("policy", "name", "given", "result"),
    [  # what JAX 0.10.2, PyTorch 2.13 and Paddle 3.3.1 give
        ("jax", "cumsum", "int8", "int8"),
        ("jax", "bincount", "int32", "int64"),
        ("paddle@3.3", "median", "int64", "float32"),
        ("paddle@3.3", "nanmean", "int32", "float32"),
        ("torch", "sinc", "int64", "float32"),
        ("torch", "cumsum", "int8", "int64"),
        ("paddle@3.3", "allclose", "int64", "bool"),
    ],
)
def test_their_dtypes_are_those_of_the_framework(
    policy: str, name: str, given: str, result: str
) -> None:
    xp = pa.namespace(policy)
    x = xp.asarray([3, 1, 2, 2], dtype=given)
    made = getattr(xp.extras, name)(*([x, x] if name == "allclose" else [x]))
    assert type(made).__name__ == result or made.dtype == result


def test_torchs_median_is_the_lower_of_the_middle_two() -> None:
    xp = pa.namespace("torch")
    for values, dtype in (([1, 2, 9, 9], "int64"), ([1.0, 2.0, 9.0, 9.0], "float32")):
        made = xp.extras.median(xp.asarray(values))
        assert (made.dtype.name, float(made)) == (dtype, 2.0)


def test_what_a_framework_refuses_in_its_function_is_refused() -> None:
    xp = pa.namespace("jax")
    with pytest.raises(pa.PromotionError, match="JAX with x64 takes no complex64 in median"):
        xp.extras.median(xp.asarray([1j], dtype=pa.complex64))


def test_random_numbers_are_numpys_in_the_default_dtypes() -> None:
    for policy, floats, ints in (
        ("numpy", "float64", "int64"),
        ("torch", "float32", "int64"),
        ("jax@x32", "float32", "int32"),
    ):
        with pa.policy(policy):
            ours, numpys = pa.random.default_rng(3), np.random.default_rng(3)
            same(ours.normal(size=3), numpys.normal(size=3).astype(floats))
            same(ours.integers(9, size=3), numpys.integers(9, size=3).astype(ints))
            assert ours.random() == numpys.random()
            same(ours.random(2, np.float32), numpys.random(2, np.float32))
            same(ours.integers(9, size=2, dtype=pa.int8), numpys.integers(9, size=2, dtype=np.int8))
    pa.random.seed(1)
    same(pa.random.rand(2, 3), np.random.RandomState(1).rand(2, 3))


@pytest.mark.parametrize("maker", ["default_rng", "RandomState"])
@pytest.mark.parametrize("name", ["permutation", "shuffle", "choice"])
def test_what_is_drawn_of_an_array_is_what_numpy_draws(maker: str, name: str) -> None:
    for shape in ((8,), (6, 2)):
        if (maker, name, len(shape)) == ("RandomState", "choice", 2):
            continue  # which NumPy refuses
        x = np.arange(np.prod(shape)).reshape(shape)
        y = pa.asarray(x, copy=True)
        made = getattr(getattr(pa.random, maker)(5), name)(y)
        wanted = getattr(getattr(np.random, maker)(5), name)(x)
        if name == "shuffle":
            made, wanted = y, x
        np.testing.assert_array_equal(np.asarray(made), wanted)


def test_random_numbers_of_a_namespace_are_its_arrays() -> None:
    xp = pa.namespace("jax@x32")
    for drawn in (xp.random.rand(2), xp.random.default_rng(7).normal(size=2)):
        assert (drawn + 1).dtype is pa.float32
        assert type(drawn) is xp.PArray
    x = xp.asarray([1, 2, 3])
    assert type(xp.random.permutation(x)) is xp.PArray
    same = np.random.default_rng(7).integers(9, size=3)
    assert np.array_equal(xp.random.default_rng(7).integers(9, size=3), same)


def test_annotations_of_numpy_programs_hold() -> None:
    assert pa.ndarray is pa.PArray
    assert "PArray" in repr(pa.ndarray[tuple, "dtype"])
    xp = pa.namespace("torch")
    assert xp.ndarray is xp.PArray


@pytest.mark.parametrize(
    ("policy", "results"),
    [  # as NumPy 2.4, PyTorch 2.13, JAX 0.10 and Paddle 3.3.1 answer, of weights in each dtype
        ("numpy", {"int32": "float64", "float16": "float64", "float32": "float64"}),
        ("torch", {"bool": "float64", "int64": "float64", "float32": "float32"}),
        ("jax", {"int8": "int8", "float16": "float16", "complex64": "complex64"}),
        ("paddle", {"int32": "float64", "float32": "float32", "float64": "float64"}),
    ],
)
def test_bincount_adds_weights_up_in_their_order(policy: str, results: dict[str, str]) -> None:
    xp = pa.namespace(policy)
    drawn = np.random.default_rng(0)
    x, w = drawn.integers(0, 9, 500), drawn.integers(0, 2, 500) * drawn.integers(0, 2, 500)
    for given, wanted in results.items():
        weights = xp.astype(xp.asarray(w), given)
        made = xp.bincount(xp.asarray(x), weights=weights, minlength=12)
        assert made.dtype.name == wanted
        assert np.array_equal(np.asarray(made), np.bincount(x, w, 12))


def test_weights_of_bincount_are_numbers_of_its_shape() -> None:
    with pytest.raises(ValueError, match=r"weights have the shape \(1,\), not \(2,\)"):
        pa.bincount([0, 1], weights=[1.0])
    with pytest.raises(TypeError, match="takes no weights of complex128"):
        pa.bincount([0, 1], weights=[1j, 1.0])
