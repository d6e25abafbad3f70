"""Creation functions: values, default dtypes by policy, and no silent wrong number."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

import promoarray as pa
from promoarray import dtypes as dt
from promoarray.dtypes import CONCRETE, DType, Kind

DEFAULTS = {
    # policy: bool, int, float, complex as asarray makes them
    "numpy": "bool int64 float64 complex128",
    "numpy@1": "bool int64 float64 complex128",
    "jax": "bool int64 float64 complex128",
    "jax@x32": "bool int32 float32 complex64",
    "torch": "bool int64 float32 complex64",
    "paddle": "bool int64 float32 complex64",
}


@pytest.mark.parametrize("policy", DEFAULTS)
def test_python_numbers_take_the_policys_defaults(policy: str) -> None:
    with pa.policy(policy):
        found = [pa.asarray([v]).dtype.name for v in (True, 1, 1.5, 1j)]
        assert " ".join(found) == DEFAULTS[policy]
        mixed = [pa.asarray(v).dtype.name for v in ([True, 1], [1, 1.5], [1.5, 1j])]
        assert mixed == DEFAULTS[policy].split()[1:]
        floats = {pa.zeros(2).dtype, pa.ones(2).dtype, pa.empty(2).dtype, pa.eye(2).dtype}
        floats |= {pa.linspace(0, 1, 3).dtype, pa.arange(0.0, 3).dtype, pa.asarray([]).dtype}
        assert {d.name for d in floats} == {DEFAULTS[policy].split()[2]}
        assert pa.arange(3).dtype.name == DEFAULTS[policy].split()[1]
        assert pa.full(2, True).dtype is pa.bool


def test_dtypes_the_policy_never_holds_are_made_what_it_holds() -> None:
    with pa.policy("jax@x32"):
        assert pa.asarray(np.ones(2)).dtype is pa.float32
        assert pa.zeros(2, dtype=pa.int64).dtype is pa.int32
        assert pa.ones(2, dtype="float32").astype(pa.float64).dtype is pa.float32
        assert pa.zeros_like(np.ones(2), dtype=pa.complex128).dtype is pa.complex64


def test_only_jax_keeps_scalars_weak() -> None:
    with pa.policy("jax"):
        assert pa.asarray(1).weak_type
        assert pa.asarray(1.5).weak_type
        assert not pa.asarray([1]).weak_type
        assert not pa.asarray(1, dtype=pa.int64).weak_type
        assert pa.asarray(pa.asarray(1)).weak_type
        assert not pa.asarray(pa.asarray(1), dtype=pa.int64).weak_type
    assert not pa.asarray(1).weak_type


@pytest.mark.parametrize("dtype", CONCRETE, ids=str)
def test_a_given_dtype_is_kept_by_every_function(dtype: DType) -> None:
    x = pa.asarray([1, 0], dtype=dtype)
    made = [
        pa.zeros(2, dtype=dtype),
        pa.ones((2, 2), dtype=dtype.name),
        pa.empty(2, dtype=dtype.storage),
        pa.full(2, 1, dtype=dtype),
        pa.eye(2, dtype=dtype),
        pa.arange(2, dtype=dtype),
        pa.linspace(0, 1, 2, dtype=dtype),
        *(pa.zeros_like(x), pa.ones_like(x), pa.empty_like(x), pa.full_like(x, 1)),
        *(pa.asarray(x), pa.asarray(np.asarray(x)), pa.asarray([[x[0], x[1]], [x[0], x[0]]])),
        *pa.meshgrid(x, x),
    ]
    assert {m.dtype for m in made} == {dtype}
    if dtype is dt.float8_e8m0fnu:  # has no zero
        assert all(math.isnan(v) for v in pa.zeros(2, dtype=dtype).tolist())
        return
    assert pa.zeros(2, dtype=dtype).tolist() == pa.zeros_like(x).tolist() == [0, 0]
    assert pa.ones(2, dtype=dtype).tolist() == pa.full(2, 1, dtype=dtype).tolist() == [1, 1]
    assert pa.eye(2, dtype=dtype).tolist() == [[1, 0], [0, 1]]
    assert pa.arange(2, dtype=dtype).tolist() == [0, 1]
    full = pa.ones((2, 3), dtype=dtype)
    assert pa.tril(full).tolist() == [[1, 0, 0], [1, 1, 0]]
    assert pa.triu(full, k=1).tolist() == [[0, 1, 1], [0, 0, 1]]
    assert pa.tril(full, k=-1).tolist() == [[0, 0, 0], [1, 0, 0]]
    assert pa.triu(pa.zeros((0, 3), dtype=dtype)).shape == (0, 3)


def test_nested_sequences_of_numbers_and_arrays() -> None:
    assert pa.asarray([[1, 2.5], [True, 4]]).tolist() == [[1.0, 2.5], [1.0, 4.0]]
    assert pa.asarray(((1, 2), [3, 4])).shape == (2, 2)
    assert pa.asarray(range(3)).tolist() == [0, 1, 2]
    assert pa.asarray([[], []]).shape == (2, 0)
    assert pa.asarray([np.float32(1.5), 2]).dtype is pa.float64  # as in NumPy
    assert pa.asarray([pa.asarray(1, dtype=pa.int8), np.int16(2)]).dtype is pa.int16
    assert pa.asarray([np.ones(2), np.zeros(2)]).shape == (2, 2)
    assert pa.asarray([np.float32(1), 2.5], dtype=pa.bfloat16).dtype is pa.bfloat16
    with pa.policy("onnx"), pytest.raises(pa.PromotionError, match="stack"):
        pa.asarray([np.float32(1), np.float64(1)])


def test_numbers_are_rounded_once_into_narrow_dtypes() -> None:
    tie = 1 + 2.0**-8 + 2.0**-40  # just above halfway, which float32 would call halfway
    assert pa.asarray(tie, dtype=pa.bfloat16).item() == 1 + 2.0**-7
    assert pa.asarray([2**53 + 1, 2**62 + 1]).tolist() == [2**53 + 1, 2**62 + 1]
    assert pa.asarray([2**24 + 1], dtype=pa.float32).item() == 2.0**24


@pytest.mark.parametrize("copy", [None, True, False])
def test_copy_means_what_the_standard_says(copy: bool | None) -> None:
    for source in (np.arange(3.0), pa.arange(3), np.zeros(0), pa.zeros((0, 2))):
        out = pa.asarray(source, copy=copy)
        ours, given = np.asarray(out), np.asarray(source)
        owners = (array if array.base is None else array.base for array in (ours, given))
        assert (next(owners) is next(owners)) is (copy is not True)  # empty ones share no memory
    cast = np.arange(3.0)
    if copy is False:
        for wrong in (1, [1.5], np.float64(1)):
            with pytest.raises(ValueError, match="cop"):
                pa.asarray(wrong, copy=False)
        with pytest.raises(ValueError, match="float32 from ndarray needs a copy"):
            pa.asarray(cast, dtype=pa.float32, copy=False)
    else:
        assert pa.asarray(cast, dtype=pa.float32, copy=copy).dtype is pa.float32
        assert pa.asarray(1, copy=copy).item() == 1


@pytest.mark.parametrize(
    ("args", "values"),
    [
        ((3,), [0, 1, 2]),
        ((1, 4), [1, 2, 3]),
        ((4, 0, -2), [4, 2]),
        ((0, 3, 2), [0, 2]),
        ((3, 0), []),
        ((0.5, 2.0, 0.5), [0.5, 1.0, 1.5]),
        ((2**53, 2**53 + 3), [2**53, 2**53 + 1, 2**53 + 2]),
        ((np.float32(0.5), 2), [0.5, 1.5]),
    ],
)
def test_arange(args: tuple[float, ...], values: list[float]) -> None:
    x = pa.arange(*args)
    assert x.tolist() == values
    floats = any(isinstance(a, (float, np.floating)) for a in args)
    assert x.dtype is (pa.float64 if floats else pa.int64)


def test_what_is_made_like_an_array_has_a_dtype_that_the_policy_holds() -> None:
    """As JAX without x64 makes them, of an array from elsewhere; a weak array's stay weak."""
    given = [pa.asarray([1.5], dtype=pa.float64), pa.asarray([1], dtype=pa.int64)]
    with pa.policy("jax@x32"):
        for _ in range(2):
            for make in (pa.zeros_like, pa.ones_like, pa.empty_like, lambda x: pa.full_like(x, 1)):
                assert [make(x).dtype for x in given] == [pa.float32, pa.int32]
        half = pa.asarray([1], dtype=pa.float16)
        assert (pa.zeros_like(pa.asarray(1.5)) + half).dtype is pa.float16


def test_arange_beyond_int64_is_exact_or_refused() -> None:
    start = 2**63
    expected = [start, start + 1, start + 2]
    assert pa.arange(start, start + 3, dtype=pa.uint64).tolist() == expected
    assert pa.arange(start, start + 3, dtype=pa.float32).dtype is pa.float32
    with pytest.raises(OverflowError, match="does not fit int64"):
        pa.arange(start, start + 3)
    assert pa.arange(300, dtype=pa.int8)[-1] == 43  # NumPy stores the first two and counts on
    with pa.policy("array_api"), pytest.raises(OverflowError, match="299 does not fit int8"):
        pa.arange(300, dtype=pa.int8)
    with pytest.raises(OverflowError, match="-1 does not fit uint8"):
        pa.arange(-1, 3, dtype=pa.uint8)
    for much in (2**63 - 1, 10**400):
        with pytest.raises(ValueError, match=r"more than 2\*\*\d+ elements"):
            pa.arange(much)
    with pytest.raises(ValueError, match="step"):
        pa.arange(0, 3, 0)
    with pytest.raises(ValueError, match="compute length"):
        pa.arange(math.nan)


@pytest.mark.parametrize("policy", ["numpy", "jax"])
def test_floats_count_integers_by_steps_that_the_dtype_itself_does_not_hold(policy: str) -> None:
    with pa.policy(policy):
        assert pa.arange(10.0, 0, -3, dtype=pa.uint8).tolist() == [10, 7, 4, 1]
        assert pa.arange(-100.0, 127, 200, dtype=pa.int8).tolist() == [-100, 100]
        assert pa.arange(2, 5, 1e30, dtype=pa.int16).tolist() == [2]
        assert pa.arange(0, 1.5e19, 1e19, dtype=pa.uint64).tolist() == [0, 10**19]
        for much in (1e18, 1e308):
            with pytest.raises((ValueError, OverflowError), match=r"more than|does not fit"):
                pa.arange(-much, much, 1, dtype=pa.int64)


def test_torch_counts_int64_by_integers_and_refuses_a_step_below_1() -> None:
    with pa.policy("torch"):
        assert pa.arange(10.0, 0, -3, dtype=pa.uint8).tolist() == [10, 7, 4, 1]
        assert pa.arange(-100.0, 127, 200, dtype=pa.int8).tolist() == [-100, 100]
        with pytest.raises(OverflowError, match="does not fit int64"):
            pa.arange(0, 1.5e19, 1e19, dtype=pa.uint64)
        with pytest.raises(OverflowError, match="does not fit int64"):
            pa.arange(-1e18, 1e18, 1e300, dtype=pa.int64)
        assert pa.arange(0, 2, 0.5, dtype=pa.int32).tolist() == [0, 0, 0, 0]
        with pytest.raises(ValueError, match=r"int\(0.5\)"):
            pa.arange(0, 2, 0.5, dtype=pa.int64)
        with pytest.raises(OverflowError, match="does not fit int64"):
            pa.arange(0, 1e300, 1e290, dtype=pa.int64)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "int8", "int64"])
def test_numpys_arange_is_numpys(dtype: str) -> None:
    fractions = (0, -1, 1.5, -3.7, 2.9), (1, -2.3, 7, 20.5), (1, 2, 0.3, -0.7, 1.9, -1.5)
    for ends in (*product(*fractions), (100.5, 126, 0.9), (0, 600, 100), (120, 100, -99)):
        found, expected = np.asarray(pa.arange(*ends, dtype=dtype)), np.arange(*ends, dtype=dtype)
        assert found.dtype == expected.dtype
        assert found.tobytes() == expected.tobytes(), ends


@pytest.mark.parametrize("dtype", ["int8", "int32", "uint16", "float32", "complex64"])
def test_numpys_linspace_is_numpys(dtype: str) -> None:
    for start, stop, num, endpoint in product((0, 1.5, 10), (5, 7.3, 0), range(7), (True, False)):
        found = np.asarray(pa.linspace(start, stop, num, dtype=dtype, endpoint=endpoint))
        expected = np.linspace(start, stop, num, dtype=dtype, endpoint=endpoint)
        assert found.dtype == expected.dtype
        assert found.tobytes() == expected.tobytes(), (start, stop, num)


def test_linspace() -> None:
    assert pa.linspace(0, 1, 5).tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert pa.linspace(0, 1, 4, endpoint=False).tolist() == [0.0, 0.25, 0.5, 0.75]
    assert pa.linspace(0, 1j, 3).tolist() == [0, 0.5j, 1j]
    assert pa.linspace(0, 10, 5, dtype=pa.int8).tolist() == [0, 2, 5, 7, 10]
    assert pa.linspace(0, 1, 0).shape == (0,)
    with pa.policy("array_api"):
        with pytest.raises(OverflowError, match="does not fit int8"):
            pa.linspace(0, 1e5, 3, dtype=pa.int8)
        with pytest.raises(ValueError, match="NaN"):
            pa.linspace(0, math.nan, 3, dtype=pa.int8)
    with pytest.raises(ValueError, match="non-negative"):
        pa.linspace(0, 1, -1)


def test_full_and_eye() -> None:
    assert pa.full((2, 2), 1.5).tolist() == [[1.5, 1.5], [1.5, 1.5]]
    assert pa.full(2, np.float32(1.5)).dtype is pa.float32
    assert pa.full_like(pa.zeros(2, dtype=pa.int8), 3).dtype is pa.int8
    assert pa.full((), 3).shape == ()
    assert pa.eye(2, 3, k=1).tolist() == [[0, 1, 0], [0, 0, 1]]


@pytest.mark.parametrize("shape", [-1, (2, -1)])
@pytest.mark.parametrize("name", ["zeros", "ones", "empty"])
def test_negative_shapes_are_refused(name: str, shape: object) -> None:
    with pytest.raises(ValueError, match="negative"):
        getattr(pa, name)(shape)


@pytest.mark.parametrize("shape", ["a", 1.5, (2, 1.5), None, [[1]]])
@pytest.mark.parametrize("name", ["zeros", "ones", "empty"])
def test_shapes_that_are_no_integers_are_refused(name: str, shape: object) -> None:
    if shape is None:  # NumPy's empty shape
        return
    with pytest.raises(TypeError):
        getattr(pa, name)(shape)


@pytest.mark.parametrize("name", ["tril", "triu"])
def test_triangles_need_two_axes(name: str) -> None:
    for x in (pa.asarray(1), pa.asarray([1, 2])):
        with pytest.raises(ValueError, match="needs two axes"):
            getattr(pa, name)(x)


def test_triangles_of_a_dtype_whose_code_0_is_no_zero() -> None:
    x = pa.full((2, 3), 2.0**-127, dtype=pa.float8_e8m0fnu)
    zero = pa.zeros((), dtype=x.dtype)  # NaN
    for name, k in (("tril", 0), ("triu", 1)):
        inside = getattr(pa, name)(pa.ones(x.shape, dtype=bool), k=k)
        got, want = getattr(pa, name)(x, k=k), pa.where(inside, x, zero)
        assert got.dtype is x.dtype
        np.testing.assert_array_equal(np.asarray(got, float), np.asarray(want, float))


def test_meshgrid() -> None:
    x, y = pa.asarray([1, 2, 3], dtype=pa.int8), pa.asarray([4, 5], dtype=pa.bfloat16)
    grids = pa.meshgrid(x, y)
    assert type(grids) is tuple
    assert [g.shape for g in grids] == [(2, 3), (2, 3)]
    assert [g.dtype for g in grids] == [pa.int8, pa.bfloat16]
    assert [g.shape for g in pa.meshgrid(x, y, indexing="ij")] == [(3, 2), (3, 2)]
    grids[0][0, 0] = 9  # each its own memory
    assert grids[0].tolist() == [[9, 2, 3], [1, 2, 3]]
    assert pa.meshgrid() == ()


def test_strings_are_made_when_asked_for() -> None:
    x = pa.asarray([["1.5", "é"], ["", "inf"]], dtype=pa.string)
    assert (x.shape, x.dtype) == ((2, 2), pa.string)
    assert x[0, 1].dtype is pa.string
    assert x.tolist() == [["1.5", "é"], ["", "inf"]]
    with pytest.raises(ValueError, match="ragged"):
        pa.asarray(["a", ["b"]], dtype=pa.string)


def test_every_float_kind_can_be_drawn_empty() -> None:
    kinds = {pa.empty((0, 2), dtype=d).shape for d in CONCRETE if d.kind is Kind.FLOAT}
    assert kinds == {(0, 2)}


@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e4m3fn", "int4", "float32"])
def test_long_arrays_of_one_value_and_what_is_written_into_them(dtype):
    n = 1 << 15
    out = pa.full((2, n), 3, dtype=dtype)
    want = np.full((2, n), 3, out.dtype.storage)
    out[0, ::3], want[0, ::3] = 1, 1
    part = pa.astype(pa.arange(n // 4) % 7, dtype)
    out[1, ::-4], want[1, ::-4] = part, np.asarray(part)
    out[..., 1:], want[..., 1:] = out[..., :-1], want[..., :-1].copy()
    assert np.asarray(out).tobytes() == want.tobytes()
    assert (pa.full_like(out, -1) == -1).all()
    assert out.dtype == dtype


def test_a_dtype_that_the_policy_has_another_for_is_that_one() -> None:
    x = pa.zeros(2, dtype=pa.float64)
    with pa.policy("jax@x32"):
        for _ in range(2):
            made = pa.full_like(x, 1)
            assert made.dtype is pa.float32
            assert made.tolist() == [1, 1]
