"""Products of integers against NumPy's, at every level; of narrow floats in panels and whole."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import promoarray as pa
from promoarray import kernels
from promoarray.backends.numpy import products
from promoarray.backends.numpy.kernels import kernel_of
from promoarray.dtypes import DType

INTEGERS = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"]
LENGTHS = st.sampled_from([0, 1, 2, 3, 4, 5, 7, 16, 33, 65, 130])


@pytest.fixture(params=kernels.levels(), scope="module")
def level(request: pytest.FixtureRequest) -> Iterator[int]:
    before = kernels.use_level(request.param)
    yield request.param
    kernels.use_level(before)


def laid_out(data: st.DataObject, x: Any) -> Any:
    """The same numbers in another layout."""
    way = data.draw(st.sampled_from(["rows", "columns", "back", "apart", "misaligned"]))
    if way == "columns":
        return np.asfortranarray(x)
    if way == "back":
        return x[..., ::-1].copy()[..., ::-1]
    if way == "apart":
        return np.repeat(x, 2, axis=-1)[..., ::2]
    if way == "misaligned":
        return np.frombuffer(b"\0" + x.tobytes(), np.uint8)[1:].view(x.dtype).reshape(x.shape)
    x.flags.writeable = False
    return x


@given(data=st.data())
def test_integers_multiply_as_in_numpy(level: int, data: st.DataObject) -> None:
    storage, m, k, n = (data.draw(each) for each in (st.sampled_from(INTEGERS), *[LENGTHS] * 3))
    stacks = [((), ()), ((2,), ()), ((2, 1), (3,)), ((0,), (1,)), ((), (2, 2))]
    of_x, of_y = data.draw(st.sampled_from(stacks))
    random = np.random.default_rng(data.draw(st.integers(0, 9)))
    ends = np.iinfo(storage)
    x, y = (
        random.integers(ends.min, ends.max, shape, storage, endpoint=True)
        for shape in ((*of_x, m, k), (*of_y, k, n))
    )
    x, y = laid_out(data, x), laid_out(data, y)
    if m and data.draw(st.booleans()):
        x = x[..., 0, :]
    if n and data.draw(st.booleans()):
        y = y[..., 0] if y.ndim > 1 else y
    x = x if not of_x or x.ndim > 1 else x[None]
    try:
        wanted = np.matmul(x, y)
    except ValueError:  # a stack of vectors is a matrix of another shape
        with pytest.raises(ValueError, match=r"broadcast|mismatch|operand"):
            products.integer_matmul(x, y)
        return
    found = np.asarray(products.integer_matmul(x, y))
    assert (found.dtype, found.shape) == (wanted.dtype, np.shape(wanted))
    assert np.array_equal(found, wanted)


STORAGES = ["b1", "i1", "u8", "f2", "f4", "f8", "c8", "c16"]
PAIRED = [-1, 0, 1, 2, 3, True, ((0,), (1,)), ((-1, 0), (0, 2)), ([], []), (2, 0), (np.int64(2), 0)]
UNPAIRED = [4, ((0,), (0, 1)), ((0,), (9,)), ((1, 1), (1, 1)), ((0, 1), (0, 1)), ((0,),)]


def tensordot(storage: str) -> Any:
    """The kernel of a dtype."""
    compute = pa.asarray(np.ones(1, storage)).dtype
    return kernel_of("tensordot", compute)


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("axes", PAIRED, ids=str)
def test_tensors_contract_as_in_numpy_to_the_bit(storage: str, axes: Any) -> None:
    random = np.random.default_rng(0)
    lengths = {
        2: ((3, 4, 5), (4, 5, 3)),
        3: ((3, 4, 5),) * 2,
        "((0,), (1,))": ((3, 4, 5), (4, 3, 5)),
    }
    lengths["((-1, 0), (0, 2))"] = (3, 4, 5), (5, 4, 3)
    of_x, of_y = lengths.get(axes if type(axes) is int else str(axes), ((3, 4, 5), (5, 4, 3)))
    x, y = (random.normal(0, 50, shape).astype(storage) for shape in (of_x, of_y))
    for left, right in (
        (x, y),
        (np.asfortranarray(x), y),
        (x, y[..., ::-1]),
        (np.repeat(x, 2, axis=0)[::2], np.asfortranarray(y)),
    ):
        wanted = np.tensordot(left, right, axes)
        found = tensordot(storage)(left, right, axes=axes)
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
        assert found.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("count", [0, 1, 2, 3, 8, 31, 130])
def test_tensors_of_any_length_contract_as_in_numpy(storage: str, count: int) -> None:
    random = np.random.default_rng(1)
    shapes = [((count,), (count,), 1), ((count, 2), (2,), 1), ((), (count,), 0)]
    shapes += [((2, count), (count, 3), 1), ((count,), (2,), 0), ((2, 2, count), (2, count, 3), 2)]
    for of_x, of_y, axes in shapes:
        x, y = (np.asarray(random.normal(0, 50, s)).astype(storage) for s in (of_x, of_y))
        wanted = np.tensordot(x, y, axes)
        found = tensordot(storage)(x, y, axes=axes)
        assert (found.shape, found.tobytes()) == (wanted.shape, wanted.tobytes())


@pytest.mark.parametrize("axes", UNPAIRED, ids=str)
def test_tensors_that_do_not_meet_are_refused(axes: Any) -> None:
    for storage in STORAGES:
        x = np.ones((3, 4, 5), storage)
        for _ in range(2):
            with pytest.raises((ValueError, IndexError)):
                tensordot(storage)(x, x[:, :2], axes=axes)
            with pytest.raises((ValueError, IndexError)):
                pa.tensordot(pa.asarray(x), pa.asarray(x[:, :2]), axes=axes)


@pytest.mark.parametrize("dtype", [pa.bfloat16, pa.float16, pa.float8_e4m3fn], ids=str)
@pytest.mark.parametrize(
    ("of_x", "of_y"), [((7, 9), (9, 5)), ((2, 5, 40), (40, 3)), ((1, 90), (2, 90, 1))]
)
def test_panels_multiply_as_the_whole(
    dtype: DType, of_x: Any, of_y: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = np.random.default_rng(0)
    x, y = (  # whole numbers, so that no sum is rounded in whatever order
        pa.asarray(random.integers(-2, 3, shape)).astype(dtype) for shape in (of_x, of_y)
    )
    whole = x @ y
    monkeypatch.setattr(products, "SCRATCH", 4 * 90)
    panels = x @ y
    assert panels.dtype is whole.dtype
    assert np.asarray(panels).tobytes() == np.asarray(whole).tobytes()
    turned = x @ pa.asarray(np.asfortranarray(np.asarray(y)))
    assert np.asarray(turned).tobytes() == np.asarray(whole).tobytes()
    with pytest.raises(ValueError, match="do not match"):
        x @ y[..., :1, :]


@pytest.mark.parametrize("dtype", [pa.bfloat16, pa.float16], ids=str)
def test_vectors_multiply_in_parts_as_the_whole(
    dtype: DType, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = np.random.default_rng(0)
    x, y = (pa.asarray(random.normal(size=(2, 5, 30))).astype(dtype) for _ in range(2))
    given = [(x, y, -1), (x, y, 2), (x, y, 1), (x, y[:1], -1), (x, y[:, ::-1], -1), (x, x, 0)]
    whole = [pa.vecdot(*each[:2], axis=each[2]) for each in given]
    for least in (1, 70):
        monkeypatch.setattr(products, "AT_ONCE", least)
        parts = [pa.vecdot(*each[:2], axis=each[2]) for each in given]
        for one, other in zip(parts, whole, strict=True):
            assert one.dtype is other.dtype
            assert np.asarray(one).tobytes() == np.asarray(other).tobytes()


def test_products_of_narrow_floats_take_eight_mebibytes_beside_the_result() -> None:
    for of_x, of_y in (((1, 4096), (4096, 1024)), ((3, 1 << 20), (1 << 20, 1))):
        x, y = pa.ones(of_x, dtype=pa.bfloat16), pa.ones(of_y, dtype=pa.bfloat16)
        x[:, :1] @ y[:1]
        tracemalloc.start()
        out = x @ y
        beside = tracemalloc.get_traced_memory()[1] - out._buffer.nbytes
        tracemalloc.stop()
        assert beside < 8 << 20
        assert float(pa.max(out)) == float(pa.min(out)) == of_x[1]


WRONG = [
    ({"right": np.ones((1, 3, 2), np.int8)}, "axis 2 of left is 2 long, axis 1 of right is 3"),
    ({"left": np.ones((2, 2, 2), np.int8)}, "axis 0 of left is 2 long"),
    ({"left": np.ones((2, 2), np.int8)}, "left has 2 axes, not 3"),
    ({"left": np.ones((1, 2, 2), np.int16)}, "left has elements of 2 bytes"),
    ({"row": kernels.dtype_args(pa.float32)}, "row is not that of integers"),
    ({"row": kernels.dtype_args(pa.int4)}, "row is not that of integers"),
    ({"result": np.ones((1, 2, 4), np.int8)[..., ::2]}, "contiguous"),
]


@pytest.mark.parametrize(("wrong", "said"), WRONG)
def test_wrong_matrices_are_told(wrong: dict[str, Any], said: str) -> None:
    out = np.full((1, 2, 2), 7, np.int8)
    given = {"left": np.ones((1, 2, 2), np.int8), "right": np.ones((1, 2, 2), np.int8)}
    given |= {"result": out, "row": kernels.dtype_args(pa.int8), **wrong}
    with pytest.raises((ValueError, BufferError), match=said):
        kernels.multiply(**given)
    with pytest.raises(ValueError, match="overlap"):
        kernels.multiply(out, out, out, kernels.dtype_args(pa.int8))
    assert (out == 7).all()
