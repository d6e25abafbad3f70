"""PArray: how it looks, what it converts to, and the protocols it speaks."""

from __future__ import annotations

import copy
import math
import operator
import pickle
import tracemalloc
import weakref
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import promoarray as pa
from promoarray import dtypes as dt
from promoarray.dtypes import CONCRETE, DType, Kind
from promoarray.policies import as_policy

NARROW_FLOATS = [d for d in CONCRETE if d.kind is Kind.FLOAT and d.bits < 32]
DLPACKED = (
    *(dt.bool, dt.int8, dt.int16, dt.int32, dt.int64, dt.uint8, dt.uint16, dt.uint32, dt.uint64),
    *(dt.float16, dt.float32, dt.float64, dt.complex64, dt.complex128),
)


def read(text: str) -> Any:
    return eval(text, {name: getattr(pa, name) for name in pa.__all__})


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
@settings(max_examples=15)  # of each of 31 dtypes, and others in each run
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


CONVERSIONS = {
    "bool": bool,
    "int": int,
    "float": float,
    "complex": complex,
    "index": operator.index,
}


@pytest.mark.parametrize(
    ("policy", "taken"),
    [
        ("numpy", "bool"),  # asked: NumPy 2.4, JAX 0.10, TensorFlow 2.21
        ("jax", "bool"),
        ("tensorflow", "bool"),
        ("numpy@1", "bool int float complex"),  # NumPy 1.26
        ("torch", "bool int float complex index"),  # PyTorch 2.13, Paddle 2.6, MindSpore 2.10
        ("paddle", "bool int float complex index"),
        ("paddle@2.6", "bool int float complex index"),
        ("mindspore@2.10", "bool int float complex index"),
        ("onnx", "bool"),
        ("array_api", ""),
    ],
)
def test_an_array_of_one_element_becomes_a_scalar_where_the_framework_makes_one(
    policy: str, taken: str
) -> None:
    xp = pa.namespace(policy)
    for shape in ((1,), (1, 1)):
        x = xp.full(shape, 1, dtype=xp.int64)
        for name, convert in CONVERSIONS.items():
            if name in taken.split():
                assert convert(x) == 1
            else:
                with pytest.raises(TypeError, match=rf"{name}\(x\) needs a 0-d array, and x is of"):
                    convert(x)
    for shape in ((0,), (2,), (2, 0)):
        x = xp.zeros(shape, dtype=xp.int64)
        for name, convert in CONVERSIONS.items():
            kind = ValueError if name == "bool" and taken else TypeError
            with pytest.raises(kind, match="truth value" if kind is ValueError else "needs"):
                convert(x)
    assert bool(xp.asarray(0, dtype=xp.int64)) is False


@pytest.mark.parametrize(
    ("policy", "is_taken"),
    [
        ("numpy", False),  # asked: NumPy 2.4, JAX 0.10; whatever NumPy computes beneath
        ("jax", False),
        ("array_api", False),
        ("numpy@1", True),  # NumPy 1.26, PyTorch 2.13, Paddle 3.3, TensorFlow 2.21
        ("torch", True),
        ("paddle", True),
        ("paddle@3.3", True),
        ("tensorflow", True),
        ("tensorflow@all", True),
    ],
)
def test_an_array_of_one_element_is_written_at_one_element_where_the_framework_does(
    policy: str, is_taken: bool
) -> None:
    xp = pa.namespace(policy)
    for dtype, shape, key in product(
        (xp.float32, xp.bfloat16, xp.int4), ((1,), (1, 1)), (1, (1,), -1)
    ):
        if dtype not in as_policy(policy).dtypes:
            continue
        x, y = xp.zeros(2, dtype=dtype), xp.ones(shape, dtype=dtype)
        x[0:1] = y.reshape(1)  # so that the short way knows values of such a type
        if is_taken:
            x[key] = y
            assert x.tolist() == [1, 1]
            x[xp.asarray(1)] = y  # an int, too
        else:
            with pytest.raises(ValueError, match=r"does not broadcast to \(\), the shape"):
                x[key] = y
            assert x.tolist() == [1, 0]
        for count in (0, 2):
            with pytest.raises(ValueError, match=r"does not broadcast to \(\), the shape"):
                x[key] = xp.ones(count, dtype=dtype)
        x[1, ...] = y.reshape(1)
        assert x.tolist() == [1, 1]


def test_only_one_element_becomes_a_scalar() -> None:
    x = pa.asarray([1])
    assert x.item() == 1
    with pytest.raises(ValueError, match="needs one element, and x has 2"):
        pa.asarray([1, 2]).item()
    table = pa.asarray([[1, 2], [3, 4]], dtype=pa.int4)
    assert (table.item(2), table.item(0, 1), table.item((-1, -1))) == (3, 2, 4)
    with pytest.raises(IndexError):
        table.item(4)
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
    assert pa.zeros((2, 3, 4)).T.shape == np.zeros((2, 3, 4)).T.shape == (4, 3, 2)
    assert (pa.zeros(3).T.shape, pa.zeros(()).T.shape) == ((3,), ())
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


class Foreign:
    """An array of a library that knows every dtype of DLPack."""

    def __init__(self, x: pa.PArray) -> None:
        self.x = x

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.x.__dlpack_device__()

    def __dlpack__(self, **options: object) -> object:
        return self.x.__dlpack__(**options)  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype", CONCRETE, ids=str)
def test_dlpack_keeps_dtype_and_memory_where_both_sides_know_the_dtype(dtype: DType) -> None:
    x = pa.asarray([[1, 0, 1], [0, 1, 1]], dtype=dtype).mT[::2]
    for there in (Foreign(x), Foreign(x[1:, 1])):  # type: ignore[arg-type]
        back = pa.from_dlpack(there)
        assert repr(back) == repr(there.x)
        assert np.shares_memory(np.asarray(back), np.asarray(x))
        copied = pa.from_dlpack(there, copy=True)
        assert repr(copied) == repr(there.x)
        assert not np.shares_memory(np.asarray(copied), np.asarray(x))
        assert pa.asarray(there).dtype is dtype
    assert pa.from_dlpack(x).dtype is dtype


def test_dlpack_copies_what_goes_backwards() -> None:
    """PyTorch ends the process at a negative stride."""
    x = pa.asarray([[1, 2, 3], [4, 5, 6]], dtype=pa.bfloat16)
    backwards = x[:, ::-1]
    there = pa.from_dlpack(Foreign(backwards))  # type: ignore[arg-type]
    assert there.tolist() == [[3.0, 2.0, 1.0], [6.0, 5.0, 4.0]]
    assert not np.shares_memory(there._buffer, x._buffer)
    assert all(stride >= 0 for stride in there._buffer.strides)
    with pytest.raises(BufferError, match="goes backwards"):
        backwards.__dlpack__(copy=False)


@pytest.mark.parametrize("dtype", [d for d in CONCRETE if d not in DLPACKED], ids=str)
def test_what_a_consumer_cannot_know_is_refused(dtype: DType) -> None:
    x = pa.asarray([1, 1], dtype=dtype)
    if dtype.bits < 8:
        with pytest.raises(BufferError, match=r"byte an element.*x\.view\(pa\.uint8\)"):
            np.from_dlpack(x)
    else:
        with pytest.raises((RuntimeError, BufferError), match="dtype"):  # NumPy's own words
            np.from_dlpack(x)
    width = {1: pa.uint8, 2: pa.uint16, 4: pa.uint32}[dtype.storage.itemsize]
    bits = np.from_dlpack(x.view(width))
    assert np.shares_memory(bits, np.asarray(x))
    assert pa.asarray(bits).view(dtype).tolist() == x.tolist()


def test_dlpack_packed_several_a_byte_is_refused() -> None:
    from promoarray.backends import _dlpack

    class Packed(Foreign):
        def __dlpack__(self, **options: object) -> object:
            capsule = super().__dlpack__(max_version=(1, 1))
            _dlpack._header(capsule).flags = 0
            return capsule

    with pytest.raises(BufferError, match="int4 packed several a byte"):
        pa.from_dlpack(Packed(pa.asarray([1, 2], dtype=pa.int4)))


def test_read_only_arrays_are_copied_where_the_consumer_knows_no_flag() -> None:
    x = pa.broadcast_to(pa.asarray([1.0]), (1,))
    assert not np.from_dlpack(x).flags.writeable
    assert "dltensor" in repr(x.__dlpack__())
    with pytest.raises(BufferError, match="readonly"):
        x.__dlpack__(copy=False)


def test_dlpack_refuses_devices_and_streams_that_are_not_there() -> None:
    x = pa.asarray([1.0])
    with pytest.raises(BufferError, match="no stream"):
        x.__dlpack__(stream=1)
    with pytest.raises(BufferError, match="lies on the CPU"):
        x.__dlpack__(dl_device=(2, 0))
    assert "dltensor" in repr(x.__dlpack__(dl_device=(1, 0), max_version=(1, 0), copy=True))
    with pytest.raises(ValueError, match="unknown device 'tpu'"):
        pa.from_dlpack(np.ones(2), device="tpu")
    with pytest.raises(TypeError, match="does not speak DLPack"):
        pa.from_dlpack([1])


def test_unused_capsules_free_their_memory() -> None:
    import gc
    import weakref

    owner = np.ones(4, np.uint16)
    x = pa.asarray(owner).view(pa.bfloat16)
    gone = weakref.ref(owner)
    capsule = x.__dlpack__(max_version=(1, 0))
    del owner, x
    gc.collect(0)
    assert gone() is not None
    del capsule
    gc.collect(0)
    assert gone() is None


def test_torch_shares_every_dtype_it_has() -> None:
    torch = pytest.importorskip("torch")
    for dtype in CONCRETE:
        if dtype.bits < 8 or not hasattr(torch, dtype.name):
            continue
        x = pa.asarray([[1, 0, 1], [0, 1, 1]], dtype=dtype).mT
        tensor = torch.from_dlpack(x)
        assert tensor.dtype is getattr(torch, dtype.name)
        assert tensor.data_ptr() == np.asarray(x).ctypes.data
        back = pa.asarray(tensor)
        assert repr(back) == repr(x)
        assert np.shares_memory(np.asarray(back), np.asarray(x))


@pytest.mark.parametrize("dtype", CONCRETE, ids=str)
def test_a_view_keeps_the_bits(dtype: DType) -> None:
    x = pa.asarray([[1, 0, 1], [0, 1, 1]], dtype=dtype).mT
    width = dtype.storage.itemsize * 8
    if width > 64:
        with pytest.raises(ValueError, match="16 and 8 bytes"):
            x.view(pa.uint64)
        return
    codes = x.view(f"uint{width}")
    assert codes.dtype.name == f"uint{width}"
    assert np.shares_memory(np.asarray(codes), np.asarray(x))
    assert repr(codes.view(dtype)) == repr(x)  # equal, and a NaN is a NaN
    wider = pa.uint32 if width != 32 else pa.uint16
    with pytest.raises(ValueError, match="keeps the width"):
        x.view(wider)


@pytest.mark.parametrize(("dtype", "part"), [(32, 16), (64, 32), (128, 64)])
def test_a_view_of_complex_numbers_is_of_their_parts(dtype: int, part: int) -> None:
    x = pa.asarray([[1 + 2j, 3 - 0j], [5j, 7]], dtype=f"complex{dtype}")
    parts = x.view(f"float{part}")
    assert parts.tolist() == [[1, 2, 3, -0.0], [0, 5, 7, 0]]
    assert np.shares_memory(np.asarray(parts), np.asarray(x))
    assert repr(parts.view(x.dtype)) == repr(x)
    for fails, target in ((parts[:, :3], x.dtype), (x.mT, parts.dtype), (x[0, 0], parts.dtype)):
        with pytest.raises(ValueError, match="pairs of floats side by side"):
            fails.view(target)
    assert x.view() is not x
    assert repr(x.view()) == repr(x)


def test_sizes_and_strides_are_those_of_the_storage() -> None:
    x = pa.zeros((2, 3), dtype=pa.bfloat16)
    assert (x.itemsize, x.nbytes, x.strides, x.mT.strides) == (2, 12, (6, 2), (2, 6))
    assert pa.zeros(5, dtype=pa.int4).nbytes == 5


def test_an_array_is_referred_to_weakly() -> None:
    x, gone = pa.zeros(2), []
    for made in (x, x + x, pa.namespace("torch").zeros(2)):
        assert weakref.ref(made)() is made
    y = -x
    weakref.finalize(y, gone.append, 1)
    cache = weakref.WeakValueDictionary(x=y)
    del y, made
    assert (gone, dict(cache)) == ([1], {})


def test_a_view_refuses_codes_that_a_narrow_dtype_has_not() -> None:
    codes = pa.asarray([0, 16], dtype=pa.uint8)
    for narrow in (pa.int4, pa.uint2, pa.float4_e2m1fn, pa.bool):
        with pytest.raises(ValueError, match=f"{narrow.name} has no code beyond"):
            codes.view(narrow)
    assert codes[:1].view(pa.bool).tolist() == [False]
    assert codes.view(pa.float6_e3m2fn).shape == (2,)
    with pytest.raises(ValueError, match="strings have no bits"):
        pa.asarray(["a"]).view(pa.uint8)


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
    assert x.astype(dtype, copy=False) is x
    assert not np.shares_memory(np.asarray(x.astype(dtype)), np.asarray(x))
    assert pa.astype(x, "float64").tolist() == [1.0, 2.0]
    assert pa.astype(np.ones(2), dtype).dtype is dtype
    with pytest.raises(TypeError, match="astype takes an array"):
        pa.astype(1.0, dtype)


# --- what Python asks of numbers --------------------------------------------------------------


def test_a_single_element_is_formatted_as_python_does() -> None:
    x = pa.asarray(3.14159, dtype=pa.bfloat16)
    assert f"{x:.3f}" == f"{x.item():.3f}"
    assert f"{pa.asarray(255):#x}" == "0xff"
    assert f"{x}" == repr(x)
    assert f"{pa.zeros(2)}" == repr(pa.zeros(2))
    with pytest.raises(TypeError, match=r"only a 0-d array is formatted with '\.3f'"):
        f"{pa.zeros(2):.3f}"


def test_python_rounds_arrays_under_the_policy() -> None:
    x = pa.asarray([0.5, 1.5, -2.5], dtype=pa.float16)
    assert repr(round(x)) == repr(pa.round(x))
    with pytest.raises(TypeError, match=r"write round\(x\)"):
        round(x, 1)


def test_arrays_of_a_policy_that_nobody_finds_again_do_not_pickle() -> None:
    mine = as_policy("torch").derive("mine@1")
    x = pa.namespace(mine).asarray([1.5])
    with pytest.raises(pickle.PicklingError, match="'mine@1', which is not registered"):
        pickle.dumps(x)
    assert type(copy.deepcopy(x)) is type(x)
    kept = pickle.loads(pickle.dumps(pa.asarray(np.asarray(x))))
    assert kept.tolist() == [1.5]


def test_a_weak_type_is_stored_in_a_dtype_of_every_library() -> None:
    assert pa.PArray([1.5], dtype=pa.float16, weak_type=True).dtype is pa.float16
    with pytest.raises(ValueError, match="no weak type is stored in bfloat16"):
        pa.PArray([1.5], dtype=pa.bfloat16, weak_type=True)


def test_matrices_are_multiplied_in_place() -> None:
    x = pa.asarray([[1.0, 2.0], [3.0, 4.0]])
    same, buffer = x, np.asarray(x)
    x @= pa.asarray([[0.0, 1.0], [1.0, 0.0]])
    assert x is same
    assert buffer.tolist() == [[2.0, 1.0], [4.0, 3.0]]
    with pytest.raises(ValueError, match="shape"):
        x @= pa.ones((2, 3))
    assert np.asarray([[1.0, 1.0]]) @ x == pytest.approx(np.asarray([[6.0, 4.0]]))


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda x: x @ pa.ones((2, 2)),
            r"matmul: shapes \(2, 3\) and \(2, 2\) do not match: x1 has 3 columns, x2 has 2 rows",
        ),
        (lambda x: x @ pa.asarray(1.0), "a 0-d array is not a matrix"),
        (lambda x: pa.ones((2, 1, 3)) @ pa.ones((3, 3, 1)), "stacks of matrices do not broadcast"),
        (lambda x: pa.vecdot(x, pa.ones((2, 2))), "axis -1 has length 3 in x1 and 2 in x2"),
        (
            lambda x: pa.tensordot(x, x, axes=1),
            "axis 1 of x1 has length 3, axis 0 of x2 has length 2",
        ),
        (lambda x: pa.tensordot(x, x, axes=5), "axes=5, and x1 has 2 axes, x2 has 2"),
        (
            lambda x: pa.tensordot(x, x, axes=((0,), (7,))),
            "tensordot: axis 7 is out of bounds for array of dimension 2",
        ),
        (lambda x: x + pa.ones(4), "lengths 3 and 4 of axis -1 do not broadcast"),
        (lambda x: pa.add(x, pa.ones(4)), "lengths 3 and 4 of axis -1 do not broadcast"),
        (lambda x: x.__iadd__(pa.ones(4)), "lengths 3 and 4 of axis -1 do not broadcast"),
        (lambda x: pa.concat([x, pa.ones((2, 2))]), "only axis 0 may differ in length"),
        (lambda x: pa.stack([x, x[:1]]), "arrays to stack must have one shape"),
        (
            lambda x: pa.stack([x, x], axis=4),
            "stack: axis 4 is out of bounds for array of dimension 3",
        ),
        (lambda x: pa.clip(x, pa.ones(2), 3), "lengths 3 and 2 of axis -1 do not broadcast"),
        (
            lambda x: pa.where(x[:, :2] > 0, x, 1),
            r"a condition of shape \(2, 2\), lengths 2 and 3 of axis -1 do",
        ),
        (lambda x: pa.sum(x, axis=(0, -2)), r"sum: repeated axis in \(0, -2\)"),
        (
            lambda x: pa.unstack(x, axis=2),
            "unstack: axis 2 is out of bounds for array of dimension 2",
        ),
        (lambda x: pa.roll(x, (1, 2, 3), axis=(0, 1)), "roll: there are 3 shifts for 2 axes"),
        (lambda x: pa.squeeze(x, axis=1), r"squeeze: axis 1 of shape \(2, 3\) has length 3, not 1"),
        (
            lambda x: pa.permute_dims(x, (0,)),
            r"permute_dims: \(0,\) is not a permutation of the 2 axes",
        ),
        (
            lambda x: pa.moveaxis(x, (0, 1), 0),
            r"moveaxis: source \(0, 1\) and destination 0 differ in length",
        ),
        (lambda x: x.__setitem__(0, pa.ones(2)), r"\(2,\) does not broadcast to \(3,\)"),
        (lambda x: x.__setitem__((0, 0), pa.ones(1)), r"\(1,\) does not broadcast to \(\)"),
        *(  # ml_dtypes' "expected number", and NumPy's words of complex numbers
            (
                lambda x, d=dtype: x.astype(d).__setitem__((0, 0), pa.ones(2, dtype=d)),
                r"\(2,\) does not broadcast to \(\)",
            )
            for dtype in (pa.bfloat16, pa.int4, pa.complex64)
        ),
    ],
)
def test_shapes_that_do_not_fit_are_told_in_words(call: Any, said: str) -> None:
    for _ in range(2):  # the second time by the short way of the operators
        with pytest.raises(ValueError, match=said) as caught:
            call(pa.ones((2, 3)))
        assert "gufunc" not in str(caught.value)


AXES = {
    **{name: getattr(pa, name) for name in ("sum", "max", "all", "mean", "var", "argmin", "flip")},
    **{name: getattr(pa, name) for name in ("sort", "argsort", "squeeze", "count_nonzero", "diff")},
    **{name: getattr(pa, name) for name in ("cumulative_sum", "cumulative_prod", "unstack")},
    "roll": lambda x, axis: pa.roll(x, 1, axis=axis),
    "repeat": lambda x, axis: pa.repeat(x, 2, axis=axis),
    "moveaxis": lambda x, axis: pa.moveaxis(x, axis, 0),
    "take": lambda x, axis: pa.take(x, pa.asarray([0]), axis=axis),
    "vector_norm": lambda x, axis: pa.linalg.vector_norm(x, axis=axis),
    "fft": lambda x, axis: pa.fft.fft(x, axis=axis),
}


@pytest.mark.parametrize("name", AXES)
def test_an_axis_that_is_not_there_is_told_in_one_way(name: str) -> None:
    for shape in ((2, 3), (2,)):
        with pytest.raises(np.exceptions.AxisError) as caught:
            AXES[name](pa.ones(shape), axis=5)
        told = f"{name}: axis 5 is out of bounds for array of dimension {len(shape)}"
        assert str(caught.value) == told
    with pytest.raises(IndexError, match="axis 5 is out of bounds for array of dimension 3"):
        pa.expand_dims(pa.ones((2, 3)), axis=5)
    zero_d = pa.asarray(1.0)
    for axis in (0, -1):
        if name in REDUCED_ANYHOW:
            assert AXES[name](zero_d, axis=axis).shape == ()
            continue
        with pytest.raises(ValueError, match=r"dimension 0|one axis"):
            AXES[name](zero_d, axis=axis)
    with pytest.raises(ValueError, match=r"dimension 0|one axis"):
        AXES[name](zero_d, axis=1)


REDUCED_ANYHOW = {"sum", "max", "all", "argmin", "count_nonzero"}
"""What NumPy reduces along the first axis of an array that has none."""


@pytest.mark.parametrize(
    "name",
    ["sum", "max", "mean", "all", "argmin", "count_nonzero", "sort", "diff", "cumulative_sum"],
)
def test_an_axis_that_is_no_integer_is_told(name: str) -> None:
    for axis in ("x", 1.0):
        with pytest.raises(TypeError, match=rf"^{name} takes .* as axis, not {axis!r}"):
            getattr(pa, name)(pa.ones((2, 3)), axis=axis)


def test_text_of_fixed_width_is_always_copied() -> None:
    with pytest.raises(ValueError, match="needs a copy"):
        pa.asarray(np.array(["a"]), copy=False)


def test_negative_powers_of_integers_say_so() -> None:
    with pytest.raises(ValueError, match="negative integer powers"):
        _ = pa.asarray([2, 3]) ** pa.asarray([-1, 1])


def test_devices_are_the_cpu_and_nothing_else_here() -> None:
    x = pa.zeros(2, device="cpu")
    assert x.device == pa.zeros_like(x).device == "cpu"
    assert x.to_device("cpu")._buffer is x._buffer
    for call in (
        lambda: x.to_device("gpu"),
        lambda: pa.zeros(2, device="tpu"),
        lambda: pa.asarray(x, device="tpu"),
        lambda: pa.astype(x, pa.int8, device="tpu"),
        lambda: pa.full_like(x, 1, device="tpu"),
        lambda: pa.arange(2, device=3),  # type: ignore[arg-type]
    ):
        with pytest.raises(ValueError, match="unknown device"):
            call()
    with pytest.raises(ValueError, match="no stream"):
        x.to_device("cpu", stream=1)


@pytest.mark.parametrize("shape", [(1001,), (2, 600), (7, 200), (6, 200), (8, 8, 20), (1200, 1)])
@pytest.mark.parametrize("dtype", ["float64", "int16", "complex128", "bool"])
def test_long_arrays_print_as_numpys_do(shape: tuple[int, ...], dtype: str) -> None:
    values = np.random.default_rng(0).integers(-100, 100, shape).astype(dtype)
    text = np.array2string(values, separator=", ", prefix="PArray(", floatmode="unique")
    assert repr(pa.asarray(values)) == f"PArray({text}, dtype={dtype})"


def test_printing_decodes_no_more_than_it_shows() -> None:
    x = pa.zeros(1 << 24, dtype=pa.bfloat16)
    tracemalloc.start()
    assert "..." in repr(x)
    assert "..." in x._repr_html_()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1 << 20


def test_what_is_a_function_alone_is_named_as_one() -> None:
    x = pa.asarray([1, 2])
    with pytest.raises(AttributeError, match=r"no attribute 'exp'; write pa\.exp\(x\)$"):
        x.exp()  # type: ignore[attr-defined]
    for name in ("foo", "float32", "__cuda_array_interface__"):
        with pytest.raises(AttributeError, match=f"'PArray' object has no attribute '{name}'$"):
            getattr(x, name)
