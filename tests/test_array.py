"""PArray: how it looks, what it converts to, and the protocols it speaks."""

from __future__ import annotations

import copy
import math
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import promoarray as pa
from promoarray import dtypes as dt
from promoarray.dtypes import CONCRETE, DType, Kind

NARROW_FLOATS = [d for d in CONCRETE if d.kind is Kind.FLOAT and d.bits < 32]
DLPACKED = (
    *(dt.bool, dt.int8, dt.int16, dt.int32, dt.int64, dt.uint8, dt.uint16, dt.uint32, dt.uint64),
    *(dt.float16, dt.float32, dt.float64, dt.complex64, dt.complex128),
)


def read(text: str) -> Any:
    return eval(text, dict(vars(pa)))


def bits(x: pa.PArray) -> bytes:
    """The bits of an array, all NaNs made one."""
    buffer = np.asarray(x)
    if buffer.dtype.kind == "c" or x.dtype.kind is Kind.COMPLEX:
        with np.errstate(invalid="ignore"):
            pair = buffer.astype(np.complex128)
        return bits(pa.asarray(pair.real)) + bits(pa.asarray(pair.imag))
    if x.dtype.kind is Kind.FLOAT:
        with np.errstate(invalid="ignore"):
            values = buffer.astype(np.float64)
        values[np.isnan(values)] = math.nan
        return values.tobytes()
    return buffer.tobytes()


@st.composite
def arrays(draw: st.DrawFn, dtype: DType, longest: int = 5) -> Any:
    """A NumPy array of any bits that are values of a dtype, of up to two axes."""
    shape = draw(st.sampled_from([(), (0,), (2, 0), (1,), (3,), (longest,), (2, 2)]))
    size = math.prod(shape)
    if dtype.kind is Kind.BOOL:
        return np.array(draw(st.lists(st.booleans(), min_size=size, max_size=size)), bool).reshape(
            shape
        )
    if dtype.kind in (Kind.INT, Kind.UINT):
        info = pa.iinfo(dtype)
        whole = st.integers(info.min, info.max)
        values = draw(st.lists(whole, min_size=size, max_size=size))
        wide = np.array(values, np.uint64 if dtype is dt.uint64 else np.int64)
        return wide.astype(dtype.storage).reshape(shape)
    width = 8 if dtype.bits <= 8 else dtype.bits  # float6 and float4 lie in a byte
    codes = st.binary(min_size=size * width // 8, max_size=size * width // 8)
    raw = np.frombuffer(draw(codes), np.uint8)
    if dtype.bits < 8:
        raw = raw & ((1 << dtype.bits) - 1)
    return raw.copy().view(dtype.storage).reshape(shape)


# --- repr ------------------------------------------------------------------------------------


@given(st.data())
@pytest.mark.parametrize("dtype", CONCRETE, ids=str)
def test_repr_reads_back_bit_by_bit(dtype: DType, data: st.DataObject) -> None:
    x = pa.asarray(data.draw(arrays(dtype)))
    back = read(repr(x))
    assert (back.dtype, back.shape, bits(back)) == (x.dtype, x.shape, bits(x))


@pytest.mark.parametrize("dtype", [d for d in CONCRETE if d.bits <= 8], ids=str)
def test_repr_reads_back_every_code_of_a_narrow_dtype(dtype: DType) -> None:
    codes = np.arange(1 << dtype.bits if dtype is not dt.bool else 2, dtype=np.uint8)
    if dtype is dt.float4_e2m1fn or dtype.bits < 8 or dtype.kind is Kind.FLOAT:
        x = pa.asarray(codes.view(dtype.storage))
    else:
        x = pa.asarray(codes.astype(dtype.storage))
    back = read(repr(x))
    assert (back.dtype, bits(back)) == (x.dtype, bits(x))


@given(st.lists(st.complex_numbers(), max_size=4), st.sampled_from(["complex64", "complex128"]))
def test_repr_of_complex_numbers_keeps_nan_infinities_and_zeros(
    values: list[complex], dtype: str
) -> None:
    with np.errstate(over="ignore"):
        x = pa.asarray(np.array(values, dtype))
    assert bits(read(repr(x))) == bits(x)


@pytest.mark.parametrize("z", [complex(math.nan, math.inf), complex(-0.0, -0.0), -1 - 0j, 1 + 2j])
@pytest.mark.parametrize("dtype", ["complex32", "complex64", "complex128"])
def test_repr_of_special_complex_numbers(dtype: str, z: complex) -> None:
    x = pa.asarray([z, complex(-0.0, 1.0)], dtype=dtype)
    assert bits(read(repr(x))) == bits(x)
    assert bits(read(repr(x[0]))) == bits(x[0])


@pytest.mark.parametrize(
    ("x", "text"),
    [
        (pa.asarray([1.5, 2.0], dtype=dt.bfloat16), "PArray([1.5, 2. ], dtype=bfloat16)"),
        (pa.asarray([448.0], dtype=dt.float8_e4m3fn), "PArray([448.], dtype=float8_e4m3fn)"),
        (pa.asarray([-8, 7], dtype=dt.int4), "PArray([-8,  7], dtype=int4)"),
        (pa.asarray([1 + 2j], dtype=dt.complex32), "PArray([1.+2.j], dtype=complex32)"),
        (pa.asarray(True), "PArray(True, dtype=bool)"),
        (pa.asarray(0.1, dtype=dt.float32), "PArray(0.1, dtype=float32)"),
        (pa.asarray([]), "PArray([], dtype=float64)"),
        (pa.zeros((0, 3)), "PArray(empty((0, 3)), dtype=float64)"),
        (pa.asarray(["a", "b c"], dtype=dt.string), "PArray(['a', 'b c'], dtype=string)"),
    ],
)
def test_repr_shows_decoded_values(x: pa.PArray, text: str) -> None:
    assert repr(x) == str(x) == text
    assert repr(read(text)) == text


def test_repr_reads_back_weak_types_and_bound_policies() -> None:
    with pa.policy("jax"):
        weak = pa.asarray(1.5) * 2
        assert weak.weak_type
        assert repr(weak) == "PArray(3., dtype=float64, weak_type=True)"
        back = read(repr(weak))
        assert (back.weak_type, back.dtype, back.item()) == (True, dt.float64, 3.0)
    for policy in ("torch", "jax@x32", "paddle@3.3", "onnx@19"):
        bound = pa.namespace(policy).asarray([1.5, 2.5])
        back = read(repr(bound))
        assert type(back) is type(bound)
        assert (back.dtype, back.tolist()) == (bound.dtype, bound.tolist())
        empty = pa.namespace(policy).zeros((0, 2))
        assert type(read(repr(empty))) is type(empty)
    weak = pa.namespace("jax").asarray(2)
    back = read(repr(weak))
    assert (back.weak_type, type(back)) == (True, type(weak))


def test_repr_does_not_depend_on_numpys_print_options() -> None:
    x = pa.asarray([math.nan, -math.inf, 1e-10, 123456.789])
    plain = repr(x)
    with np.printoptions(precision=2, suppress=True, nanstr="NA", infstr="oo", sign="+"):
        assert repr(x) == plain
    with np.printoptions(formatter={"all": lambda v: "?"}):
        assert repr(x) == plain
    assert bits(read(plain)) == bits(x)


def test_long_arrays_are_shortened_and_html_is_escaped() -> None:
    assert "..." in repr(pa.zeros(5000))
    html = pa.asarray(["<b>"], dtype=dt.string)._repr_html_()
    assert "&lt;b&gt;" in html
    assert "dtype=string" in html
    assert "0-d" in pa.asarray(1)._repr_html_()


# --- conversions -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dtype", "kind"),
    [
        *((d, int) for d in CONCRETE if d.kind in (Kind.INT, Kind.UINT)),
        *((d, float) for d in CONCRETE if d.kind is Kind.FLOAT),
        *((d, complex) for d in CONCRETE if d.kind is Kind.COMPLEX),
        (dt.bool, bool),
    ],
    ids=str,
)
def test_items_are_exact_python_scalars(dtype: DType, kind: type) -> None:
    x = pa.asarray(1, dtype=dtype)
    assert type(x.item()) is type(x.tolist()) is kind
    assert type(pa.asarray([1, 1], dtype=dtype).tolist()[0]) is kind
    assert bool(x) is True
    assert type(complex(x)) is complex
    if kind is not complex:
        assert (type(int(x)), int(x)) == (int, 1)
        assert (type(float(x)), float(x)) == (float, 1.0)
    if kind is int:
        assert [10, 20][x] == 20
        assert range(3)[x] == 1
    else:
        with pytest.raises(TypeError, match="only an integer array can be an index"):
            x.__index__()


def test_only_0d_arrays_become_scalars() -> None:
    x = pa.asarray([1])
    assert x.item() == 1
    for convert in (bool, int, float, complex, lambda v: range(3)[v]):
        with pytest.raises(TypeError, match=r"only a 0-d array becomes an?"):
            convert(x)  # type: ignore[operator]
    with pytest.raises(ValueError, match="needs one element, and x has 2"):
        pa.asarray([1, 2]).item()
    with pytest.raises(TypeError):
        int(pa.asarray(1j))
    with pytest.raises(ValueError, match="NaN"):
        int(pa.asarray(math.nan))
    with pytest.raises(TypeError, match="unhashable"):
        hash(x)


def test_uint64_and_int64_ends_survive() -> None:
    ends = [0, 2**64 - 1]
    assert pa.asarray(ends, dtype=dt.uint64).tolist() == ends
    assert pa.asarray([-(2**63), 2**63 - 1]).tolist() == [-(2**63), 2**63 - 1]
    assert int(pa.asarray(2**64 - 1, dtype=dt.uint64)) == 2**64 - 1


def test_length_iteration_and_membership() -> None:
    x = pa.asarray([[1, 2], [3, 4]], dtype=dt.int4)
    assert len(x) == 2
    assert [row.tolist() for row in x] == [[1, 2], [3, 4]]
    assert {row.dtype for row in x} == {dt.int4}
    assert 2 in x[0]
    assert list(pa.zeros(0)) == []
    for fails in (len, iter, list):
        with pytest.raises(TypeError, match="0-d"):
            fails(pa.asarray(1))  # type: ignore[operator]


def test_shape_size_ndim_and_device() -> None:
    x = pa.zeros((2, 3))
    assert (x.shape, x.size, x.ndim, x.device) == ((2, 3), 6, 2, "cpu")
    assert {type(n) for n in (x.size, x.ndim, *x.shape)} == {int}
    assert x.to_device("cpu").shape == (2, 3)
    with pytest.raises(ValueError, match="stream"):
        x.to_device("cpu", stream=1)


def test_transposes() -> None:
    x = pa.reshape(pa.arange(6), (2, 3))
    assert x.T.tolist() == x.mT.tolist() == [[0, 3], [1, 4], [2, 5]]
    assert pa.zeros((4, 2, 3)).mT.shape == (4, 3, 2)
    with pytest.raises(ValueError, match="two axes"):
        pa.zeros(3).T  # noqa: B018
    with pytest.raises(ValueError, match="two axes"):
        pa.zeros((2, 2, 2)).T  # noqa: B018
    with pytest.raises(ValueError, match="two axes"):
        pa.zeros(3).mT  # noqa: B018


def test_reshape_takes_a_tuple_or_integers() -> None:
    x = pa.arange(6)
    assert x.reshape(2, 3).shape == x.reshape((2, -1)).shape == pa.reshape(x, (2, 3)).shape
    assert np.shares_memory(np.asarray(x.reshape(3, 2)), np.asarray(x))
    assert not np.shares_memory(np.asarray(x.reshape(3, 2, copy=True)), np.asarray(x))
    with pytest.raises(ValueError, match="copy"):
        x.reshape(2, 3).T.reshape(6, copy=False)
    with pytest.raises(ValueError, match="reshape"):
        x.reshape(4)


# --- copies ----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [*CONCRETE, dt.string], ids=str)
def test_copies_and_pickles_are_equal_and_independent(dtype: DType) -> None:
    source = ["1", "2"] if dtype is dt.string else [1, 2]
    if dtype is dt.bool:
        source = [True, False]
    if dtype in (dt.int2,):
        source = [1, -2]
    x = pa.asarray(source, dtype=dtype)
    made = [copy.copy(x), copy.deepcopy(x), pa.asarray(x, copy=True)]
    made += [pickle.loads(pickle.dumps(x, p)) for p in range(2, pickle.HIGHEST_PROTOCOL + 1)]
    for other in made:
        assert (type(other), other.dtype, other.tolist()) == (type(x), x.dtype, x.tolist())
        other[0] = other[1]
        assert x.tolist()[0] == source[0]


def test_copies_keep_weak_types_and_bindings() -> None:
    weak = pa.namespace("jax").asarray(1)
    assert weak.weak_type
    for other in (copy.copy(weak), copy.deepcopy([weak])[0], pickle.loads(pickle.dumps(weak))):
        assert (type(other), other.weak_type) == (type(weak), True)


def test_one_array_twice_in_a_list_stays_one_when_copied() -> None:
    x = pa.zeros(2)
    first, second = copy.deepcopy([x, x])
    assert first is second
    assert first is not x


# --- protocols -------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", CONCRETE, ids=str)
def test_numpy_gets_the_storage(dtype: DType) -> None:
    x = pa.asarray([1, 0, 1], dtype=dtype)
    buffer = np.asarray(x)
    assert buffer.dtype == dtype.storage
    assert np.shares_memory(buffer, np.asarray(x))
    assert not np.shares_memory(np.array(x), buffer)
    assert not np.shares_memory(np.asarray(x, copy=True), buffer)
    assert np.asarray(x, dtype=np.complex128).dtype == np.complex128
    if dtype is not dt.complex128:
        with pytest.raises(ValueError, match="copy"):
            np.asarray(x, dtype=np.complex128, copy=False)


@pytest.mark.parametrize("dtype", DLPACKED, ids=str)
def test_dlpack_shares_memory_both_ways(dtype: DType) -> None:
    x = pa.asarray([1, 0, 1], dtype=dtype)
    theirs = np.from_dlpack(x)
    assert np.shares_memory(theirs, np.asarray(x))
    ours = pa.from_dlpack(theirs)
    assert (ours.dtype, ours.tolist()) == (x.dtype, x.tolist())
    assert np.shares_memory(np.asarray(ours), np.asarray(x))
    assert not np.shares_memory(np.asarray(pa.from_dlpack(theirs, copy=True)), theirs)
    assert x.__dlpack_device__()[0] == 1


@pytest.mark.parametrize("dtype", [d for d in CONCRETE if d not in DLPACKED], ids=str)
def test_dlpack_says_how_to_hand_over_bits_it_has_no_name_for(dtype: DType) -> None:
    x = pa.asarray([1, 1], dtype=dtype)
    with pytest.raises(BufferError, match=rf"cannot export {dtype.name} .*np\.uint"):
        np.from_dlpack(x)
    assert pa.from_dlpack(x).dtype is dtype  # ours to ours needs no DLPack


def test_read_only_arrays_export_where_the_consumer_knows_the_flag() -> None:
    x = pa.broadcast_to(pa.asarray([1.0]), (1,))
    assert not np.from_dlpack(x).flags.writeable
    with pytest.raises(BufferError, match="copy=True"):
        x.__dlpack__()


def test_the_array_namespace_is_found_and_is_one_object() -> None:
    x = pa.zeros(2)
    assert x.__array_namespace__() is pa
    assert x.__array_namespace__(api_version="2025.12") is pa
    assert pa.__array_api_version__ == "2025.12"
    with pytest.raises(ValueError, match="2019"):
        x.__array_namespace__(api_version="2019.01")


def test_array_api_compat_finds_the_namespace() -> None:
    compat = pytest.importorskip("array_api_compat")
    xp = pa.namespace("torch")
    assert compat.array_namespace(pa.zeros(2)) is pa
    assert compat.array_namespace(xp.zeros(2), xp.ones(2)) is xp
    assert compat.is_array_api_obj(xp.zeros(2))
    assert compat.size(pa.zeros((2, 3))) == 6
    with pytest.raises(TypeError, match="Multiple namespaces"):
        compat.array_namespace(xp.zeros(2), pa.namespace("jax").zeros(2))


def test_arrays_have_slots_and_no_dict() -> None:
    x = pa.zeros(2)
    assert not hasattr(x, "__dict__")
    assert not isinstance(x, np.ndarray)
    with pytest.raises(AttributeError):
        x.note = 1  # type: ignore[attr-defined]


@pytest.mark.parametrize("dtype", NARROW_FLOATS, ids=str)
def test_astype_shares_or_copies(dtype: DType) -> None:
    x = pa.asarray([1.0, 2.0], dtype=dtype)
    assert x.astype(dtype, copy=False)._buffer is x._buffer
    assert not np.shares_memory(np.asarray(x.astype(dtype)), np.asarray(x))
    assert pa.astype(x, "float64").tolist() == [1.0, 2.0]
    assert pa.astype(np.ones(2), dtype).dtype is dtype
    with pytest.raises(TypeError, match="astype takes an array"):
        pa.astype(1.0, dtype)
