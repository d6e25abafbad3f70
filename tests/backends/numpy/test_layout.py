"""Copies of long arrays of any layout: in rows, with the same bits, in memory of their own."""

import numpy as np
import pytest

import promoarray as pa
from promoarray.backends.numpy import layout
from promoarray.kernels import copy

LAYOUTS = {
    "columns": lambda x: x.reshape(512, -1).T,
    "columns, odd": lambda x: x[: 301 * 397].reshape(301, 397).T,
    "few columns": lambda x: x.reshape(-1, 8).T,
    "few rows": lambda x: x.reshape(3, -1).T,
    "columns with gaps": lambda x: x.reshape(256, -1)[:, ::2].T,
    "columns, backwards": lambda x: x.reshape(256, -1)[::-1, ::-1].T,
    "columns of one in two": lambda x: x.reshape(-1, 256)[::2].T,
    "backwards": lambda x: x[::-1],
    "rows backwards": lambda x: x.reshape(256, -1)[:, ::-1],
    "backwards with gaps": lambda x: x[::-3],
    "channels last": lambda x: x.reshape(3, 8, 64, -1).transpose(0, 2, 3, 1),
    "axes moved": lambda x: x.reshape(6, 8, 64, -1).transpose(3, 1, 0, 2),
    "repeated": lambda x: np.broadcast_to(x.reshape(256, -1).T, (2, x.size // 256, 256)),
    "in rows": lambda x: x.reshape(256, -1),
    "one": lambda x: x[5:6].reshape(()),
}


@pytest.fixture(params=["uint8", "uint16", "uint32", "uint64"])
def values(request):
    most = np.iinfo(request.param).max
    return np.random.default_rng(0).integers(0, most, 3 << 16, request.param)


@pytest.mark.parametrize("lies", LAYOUTS)
def test_the_kernel_copies_any_layout(values, lies):
    x = LAYOUTS[lies](values)
    made = np.empty(x.shape, x.dtype)
    copy(x, made)
    np.testing.assert_array_equal(made, x)


@pytest.mark.parametrize("lies", LAYOUTS)
def test_copies_are_in_rows_and_share_nothing(values, lies):
    x = pa.asarray(LAYOUTS[lies](values))
    ways = [lambda: pa.asarray(x, copy=True), lambda: pa.astype(x, x.dtype), x.copy] * 2
    for made in [way() for way in ways]:
        np.testing.assert_array_equal(made._buffer, x._buffer)
        assert made._buffer.flags.c_contiguous
        assert made._buffer.flags.writeable
        assert not np.may_share_memory(made._buffer, x._buffer)


@pytest.mark.parametrize("lies", LAYOUTS)
def test_reshape_copies_where_numpy_does(values, lies):
    buffer = LAYOUTS[lies](values)
    x, flat = pa.asarray(buffer), buffer.reshape(-1)
    for _ in range(2):
        made = pa.reshape(x, (-1,))._buffer
        np.testing.assert_array_equal(made, flat)
        assert made.strides == flat.strides
        assert np.may_share_memory(made, buffer) == np.may_share_memory(flat, buffer)


def test_reshape_of_columns_says_what_does_not_fit():
    x = pa.asarray(np.zeros((300, 400), np.int8)).T
    for _ in range(2):
        with pytest.raises(ValueError, match="reshape"):
            pa.reshape(x, (7, -1))


def test_flip_of_bytes_under_a_policy_that_copies():
    x = np.random.default_rng(0).integers(-128, 127, 1 << 17).astype(np.int8)
    with pa.policy("torch"):
        made = pa.flip(pa.asarray(x))._buffer
    np.testing.assert_array_equal(made, x[::-1])
    assert made.flags.c_contiguous


def test_narrow_floats_keep_the_bits_of_nan():
    codes = np.arange(1 << 16, dtype=np.uint16).reshape(256, 256)
    x = pa.asarray(codes.view(pa.bfloat16.storage)).T
    made = pa.asarray(x, copy=True)._buffer
    np.testing.assert_array_equal(made.view(np.uint16), codes.T)


@pytest.mark.parametrize("dtype", [">i4", "complex128", ">f8"])
def test_what_is_left_to_numpy(dtype):
    x = np.arange(1 << 16).reshape(256, 256).astype(dtype).T
    assert layout.in_rows(x) is None


@pytest.mark.parametrize(
    ("given", "made", "words"),
    [
        (np.zeros(4, "c16"), np.zeros(4, "c16"), "16 bytes"),
        (np.zeros(4, "i4"), np.zeros(4, "i8"), "different lengths"),
        (np.zeros(4, ">i4"), np.zeros(4, "i4"), "native byte order"),
        (np.zeros(4, "i4"), np.zeros(5, "i4"), "shape"),
    ],
)
def test_the_kernel_refuses(given, made, words):
    with pytest.raises(ValueError, match=words):
        copy(given, made)


def test_the_kernel_refuses_to_write_over_what_it_reads():
    x = np.zeros(8, np.int8)
    with pytest.raises(ValueError, match="overlap"):
        copy(x[::-1], x)
