"""Fourier transforms: NumPy's numbers, the policy's dtypes."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import promoarray as pa
from promoarray.dtypes import BY_CODE, DType, Kind
from promoarray.operations import OPERATIONS

fft = pa.fft
ONE = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
MANY = ("fftn", "ifftn", "rfftn", "irfftn")
REAL = ("rfft", "ihfft", "rfftn")


def values(shape: tuple[int, ...], name: str) -> Any:
    rng = np.random.default_rng(0)
    real = rng.normal(size=shape)
    return real if name in REAL else real + 1j * rng.normal(size=shape)


def test_every_function_of_the_extension_is_there() -> None:
    assert len(fft.__all__) == 14
    assert all(inspect.getdoc(getattr(fft, name)) for name in fft.__all__)
    assert set(fft.__all__) - {"fftfreq", "rfftfreq"} <= set(OPERATIONS)


@pytest.mark.parametrize("name", ONE)
@pytest.mark.parametrize("n", [None, 1, 3, 6])
@pytest.mark.parametrize("axis", [-1, 0])
@pytest.mark.parametrize("norm", ["backward", "ortho", "forward"])
def test_transforms_along_an_axis(name: str, n: int | None, axis: int, norm: Any) -> None:
    x = values((4, 5), name)
    found = getattr(fft, name)(pa.asarray(x), n=n, axis=axis, norm=norm)
    expected = getattr(np.fft, name)(x, n=n, axis=axis, norm=norm)
    assert np.allclose(np.asarray(found), expected)
    assert found.shape == expected.shape


@pytest.mark.parametrize("name", MANY)
@pytest.mark.parametrize(("s", "axes"), [(None, None), ((3, 4), (0, 2)), ((3, -1), None)])
def test_transforms_along_axes(name: str, s: Any, axes: Any) -> None:
    x = values((4, 3, 5), name)
    found = getattr(fft, name)(pa.asarray(x), s=s, axes=axes)
    expected = getattr(np.fft, name)(x, s=s, axes=axes or (None if s is None else (-2, -1)))
    assert np.allclose(np.asarray(found), expected)


@pytest.mark.parametrize("name", [*ONE, *MANY])
def test_what_is_not_contiguous_and_what_has_no_elements(name: str) -> None:
    x = values((6, 8), name)[::-1, ::2].T
    copied = np.ascontiguousarray(x)
    function = getattr(fft, name)
    assert np.allclose(np.asarray(function(pa.asarray(x))), getattr(np.fft, name)(copied))
    empty = function(pa.asarray(values((0, 4), name)), **({"axes": (1,)} if name in MANY else {}))
    assert empty.shape[0] == 0


@pytest.mark.parametrize("dtype", ["complex64", "complex128", "float32", "float64"])
@pytest.mark.parametrize("name", [*ONE, *MANY])
def test_zeros_are_appended_to_nothing(name: str, dtype: str) -> None:
    """NumPy reads memory behind it: here sevens."""
    nothing = np.full((2, 3), 7, dtype)[:, :0]
    if name in ("rfft", "rfftn", "ihfft") and dtype.startswith("complex"):
        return
    for x in (nothing, nothing[:0], nothing.T, nothing.T[:, :0]):
        ways: list[dict[str, Any]] = [{"n": 4, "axis": 0}, {"n": 1}, {"n": 3}]
        if name in MANY:
            ways = [
                {"s": (2, 3), "axes": (0, 1)},
                {"s": (4,), "axes": (0,)},
                {"s": (1, 4), "axes": (1, 0)},
            ]
        for options in ways:
            found = getattr(fft, name)(pa.asarray(x), **options)
            with np.errstate(all="ignore"):  # of what it reads there
                theirs = getattr(np.fft, name)(np.zeros_like(x), **options)
            assert found.shape == theirs.shape
            assert not np.asarray(found).any()


@pytest.mark.parametrize("name", ["fftfreq", "rfftfreq"])
def test_samples_without_a_distance_have_no_frequencies(name: str) -> None:
    with pytest.raises(
        ZeroDivisionError, match=f"{name}: d, the distance between samples, .* write d=1.0"
    ):
        getattr(fft, name)(4, d=0.0)


def test_inverses() -> None:
    x = pa.asarray(values((4, 6), "rfft"), dtype=pa.float32)
    assert np.allclose(np.asarray(fft.irfft(fft.rfft(x))), np.asarray(x), atol=1e-6)
    assert np.allclose(np.asarray(pa.real(fft.ifftn(fft.fftn(x)))), np.asarray(x), atol=1e-6)
    assert np.allclose(np.asarray(fft.hfft(fft.ihfft(x))), np.asarray(x), atol=1e-6)


CASES = {
    ("numpy", "fft", "float32"): "complex64",
    ("numpy", "fft", "int32"): "complex128",
    ("numpy", "fft", "bfloat16"): "complex64",
    ("numpy", "irfft", "complex64"): "float32",
    ("numpy", "rfft", "complex64"): None,
    ("numpy@1", "fft", "float32"): "complex128",
    ("numpy@1", "irfft", "complex64"): "float64",
    ("jax", "fft", "int32"): "complex64",
    ("jax", "fft", "int64"): "complex128",
    ("jax", "fft", "bfloat16"): "complex64",
    ("jax", "rfft", "bfloat16"): None,
    ("jax@x32", "fft", "int32"): "complex64",
    ("torch", "fft", "int32"): "complex64",
    ("torch", "fft", "bfloat16"): None,
    ("torch", "irfft", "int64"): "float32",
    ("tensorflow", "fft", "float32"): None,
    ("tensorflow", "rfft", "float64"): "complex128",
    ("paddle", "fft", "int8"): "complex64",
    ("paddle", "irfft", "int32"): None,
    ("array_api", "fft", "float32"): None,
    ("array_api", "fft", "complex64"): "complex64",
    ("array_api", "rfft", "float32"): "complex64",
    ("onnx", "fft", "complex64"): None,
}


@pytest.mark.parametrize(("case", "expected"), CASES.items(), ids=lambda x: str(x))
def test_dtypes_are_the_policys(case: tuple[str, str, str], expected: str | None) -> None:
    policy, name, dtype = case
    with pa.policy(policy):
        x = pa.asarray([1, 2, 3], dtype=dtype)
        if expected is not None:
            assert getattr(fft, name)(x).dtype.name == expected
            return
        with pytest.raises(pa.PromotionError):
            getattr(fft, name)(x)


@pytest.mark.parametrize("name", ["fftfreq", "rfftfreq"])
def test_frequencies(name: str) -> None:
    function, theirs = getattr(fft, name), getattr(np.fft, name)
    for n in (1, 4, 5):
        assert function(n, d=0.5).tolist() == theirs(n, d=0.5).tolist()
    assert function(4).dtype is pa.float64
    assert function(4, dtype=pa.float16).dtype is pa.float16
    assert getattr(pa.namespace("torch").fft, name)(4).dtype is pa.float32
    with pytest.raises(TypeError, match="real floating-point"):
        function(4, dtype=pa.complex64)
    with pytest.raises(ValueError, match="n must be 1 or more"):
        function(0)


NUMERIC = [d for d in BY_CODE.values() if not d.weak and d.kind is not Kind.STRING]


@pytest.mark.parametrize("dtype", NUMERIC, ids=str)
def test_shifts_keep_every_dtype(dtype: DType) -> None:
    x = pa.reshape(pa.asarray([1, 0, 1, 1, 0, 1], dtype=dtype), (2, 3))
    for axes in (None, 0, (1,), (0, 1)):
        moved = fft.fftshift(x, axes=axes)
        assert moved.dtype is dtype
        assert np.asarray(moved).tobytes() == np.fft.fftshift(np.asarray(x), axes).tobytes()
        assert np.asarray(fft.ifftshift(moved, axes=axes)).tobytes() == np.asarray(x).tobytes()


def test_wrong_arguments_are_told() -> None:
    x = pa.ones((2, 3))
    with pytest.raises(ValueError, match="axis 2 is out of bounds for array of dimension 2"):
        fft.fft(x, axis=2)
    with pytest.raises(ValueError, match="axis -1 is out of bounds for array of dimension 0"):
        fft.fft(pa.asarray(1.0))
    with pytest.raises(ValueError, match="ifftshift: axis 2 is out of bounds for array"):
        fft.ifftshift(x, axes=(0, 2))
    with pytest.raises(ValueError, match="not 0"):
        fft.fft(x, n=0)
    with pytest.raises(ValueError, match="axis -1 has length 0"):
        fft.fft(pa.ones((2, 0)))
    with pytest.raises(ValueError, match="norm is"):
        fft.fft(x, norm="none")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="s has 1 lengths"):
        fft.fftn(x, s=(2,), axes=(0, 1))
    with pytest.raises(TypeError, match="takes an array"):
        fft.fft([1.0])


@pytest.mark.parametrize("name", ["fftshift", "ifftshift"])
def test_a_shift_along_no_axis_is_a_copy(name: str) -> None:
    for x, axes in ((pa.asarray(2.0), None), (pa.asarray([1, 2]), ())):
        moved = getattr(fft, name)(x, axes=axes)
        assert (moved.dtype, moved.tolist()) == (x.dtype, x.tolist())
        moved[...] = 0
        assert np.asarray(x).any()


@pytest.mark.parametrize("name", ["fftn", "ifftn"])
@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "complex64"])
def test_a_transform_over_no_axes_is_complex(name: str, dtype: str) -> None:
    for x, axes in ((pa.ones((), dtype=dtype), None), (pa.ones((2, 3), dtype=dtype), ())):
        made = getattr(fft, name)(x, axes=axes)
        assert made.dtype is getattr(fft, name)(pa.ones(3, dtype=dtype)).dtype
        assert np.asarray(made).dtype.kind == "c"
        assert not np.shares_memory(np.asarray(made), np.asarray(x))
