"""Zarr: every dtype comes back from NumPy's arrays and lazy ones; what is not whole is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from docstring_examples import wrong_examples

import promoarray as pa
from promoarray import dtypes as dt
from promoarray.dtypes import CONCRETE, DType

zarr = pytest.importorskip("zarr")
da = pytest.importorskip("dask.array")

STORED = [dtype for dtype in CONCRETE if dtype is not dt.string]


def every_value(dtype: DType) -> pa.PArray:
    """All codes of a small dtype, some of a large one."""
    if dtype.bits <= 8:
        codes = np.arange(1 << dtype.bits, dtype=np.uint8).reshape(2, -1)
        return pa.PArray._wrap(
            (codes & 1 if dtype is dt.bool else codes).view(dtype.storage), dtype
        )
    data = np.random.default_rng(0).integers(0, 256, 24 * dtype.bits // 8, np.uint8)
    return pa.PArray._wrap(data.view(dtype.storage).reshape(2, -1), dtype)


def bits(x: Any) -> bytes:
    return np.ascontiguousarray(np.asarray(x.to_device("cpu"))).tobytes()


def same(a: pa.PArray, b: pa.PArray) -> bool:
    return (a._type, a.shape, bits(a)) == (b._type, b.shape, bits(b))


@pytest.mark.parametrize("dtype", STORED, ids=str)
def test_every_dtype_comes_back_from_eager_and_lazy(tmp_path: Path, dtype: DType) -> None:
    x = every_value(dtype)
    chunks = (x.shape[1] // 2 + 1, 2)
    pa.to_zarr(x.T, tmp_path / "eager", chunks=chunks)
    assert same(pa.from_zarr(tmp_path / "eager", device="cpu"), x.T)
    lazy = pa.from_zarr(tmp_path / "eager")
    assert lazy.device == "dask"
    pa.to_zarr(lazy, tmp_path / "lazy")
    assert zarr.open_array(tmp_path / "lazy").chunks == chunks
    assert same(pa.from_zarr(tmp_path / "lazy"), x.T)


@pytest.mark.parametrize("shape", [(), (0, 4), (5,)])
def test_no_axes_and_no_elements(tmp_path: Path, shape: tuple[int, ...]) -> None:
    for dtype in (pa.bfloat16, pa.int4):
        x = pa.ones(shape, dtype=dtype)
        for name, each in {"eager": x, "lazy": x.to_device("dask")}.items():
            pa.to_zarr(each, tmp_path / dtype.name / name)
            assert same(pa.from_zarr(tmp_path / dtype.name / name), x)


def test_weak_types_come_back(tmp_path: Path) -> None:
    with pa.policy("jax"):
        x = pa.asarray(2.5)
        assert x.weak_type
        pa.to_zarr(x, tmp_path / "x")
    assert same(pa.from_zarr(tmp_path / "x", device="cpu"), x)


def test_uneven_blocks_become_chunks_of_one_shape(tmp_path: Path) -> None:
    values = np.arange(20, dtype=np.int16)
    x = pa.asarray(da.from_array(values, chunks=((3, 7, 10),)))
    pa.to_zarr(x, tmp_path / "x")
    found = zarr.open_array(tmp_path / "x")
    assert found.chunks == (10,)
    assert np.array_equal(found[...], values)


def test_a_store_of_ones_own(tmp_path: Path) -> None:
    store: dict[str, Any] = {}
    pa.to_zarr(pa.asarray([1.5]), store)
    assert same(pa.from_zarr(store), pa.asarray([1.5]))
    with pytest.raises(Exception, match="exists"):
        pa.to_zarr(pa.asarray([2.5]), store)


def test_nothing_is_left_of_what_fails(tmp_path: Path) -> None:
    def broken(block: Any) -> Any:
        raise ArithmeticError("half way")

    pa.to_zarr(pa.asarray([1]), tmp_path / "x")
    lazy = da.ones(8, chunks=2).map_blocks(broken, dtype=float, meta=np.empty(0))
    for place in ("x", "new"):
        with pytest.raises(ArithmeticError):
            pa.to_zarr(pa.asarray(lazy), tmp_path / place, overwrite=True)
    assert [path.name for path in tmp_path.iterdir()] == ["x"]
    assert same(pa.from_zarr(tmp_path / "x"), pa.asarray([1]))
    pa.to_zarr(pa.asarray([2]), tmp_path / "x", overwrite=True)
    assert same(pa.from_zarr(tmp_path / "x"), pa.asarray([2]))
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_what_is_there_stays(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    for overwrite, words in ((False, "overwrite=True"), (True, "no zarr array")):
        with pytest.raises(FileExistsError, match=words):
            pa.to_zarr(pa.asarray([1]), tmp_path / "notes", overwrite=overwrite)
    assert (tmp_path / "notes").is_dir()


def test_what_cannot_be_stored(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"pa\.save"):
        pa.to_zarr(pa.asarray(["a"], dtype=pa.string), tmp_path / "x")
    with pytest.raises(ValueError, match="do not fit"):
        pa.to_zarr(pa.ones((2, 2)), tmp_path / "x", chunks=(2,))
    assert not (tmp_path / "x").exists()


def test_what_is_no_store() -> None:
    x = pa.asarray([1, 2])
    words = r"takes a path, a URL or a zarr\.abc\.store\.Store, not"
    for call in (lambda: pa.to_zarr(x, x), lambda: pa.from_zarr(x), lambda: pa.from_zarr(None)):
        with pytest.raises(TypeError, match=words):
            call()


def broken(path: Path, **about: Any) -> None:
    pa.to_zarr(pa.asarray([1, 2, 3], dtype=pa.int4), path, chunks=(1,))
    zarr.open_array(path).attrs["promoarray"] = {"format": 1, "dtype": "int4", **about}


@pytest.mark.parametrize(
    ("about", "words"),
    [
        ({"format": 2}, "version 2"),
        ({"dtype": "float7"}, "'float7' is not a dtype"),
        ({"dtype": ["int4"]}, "is not a dtype"),
        ({"dtype": "string"}, "is not a dtype"),
        ({"dtype": "float32"}, "float32 is stored as uint8"),
        ({"weak_type": "weak_float"}, "contradicts"),
    ],
)
def test_attributes_that_say_something_else(
    tmp_path: Path, about: dict[str, Any], words: str
) -> None:
    broken(tmp_path / "x", **about)
    with pytest.raises(ValueError, match=words):
        pa.from_zarr(tmp_path / "x")


def test_arrays_that_are_not_whole(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no zarr array"):
        pa.from_zarr(tmp_path / "x")
    broken(tmp_path / "x")
    zarr.open_array(tmp_path / "x")[1] = 200  # more than four bits
    with pytest.raises(ValueError, match="4 bits"):
        pa.from_zarr(tmp_path / "x", device="cpu")
    with pytest.raises(ValueError, match="4 bits"):
        pa.from_zarr(tmp_path / "x").to_device("cpu")
    (tmp_path / "x" / "c" / "2").unlink()
    with pytest.raises(ValueError, match="1 of its 3 chunks"):
        pa.from_zarr(tmp_path / "x")
    (tmp_path / "x" / "zarr.json").write_text("{")
    with pytest.raises(ValueError, match="cannot read"):
        pa.from_zarr(tmp_path / "x")
    zarr.create_array(tmp_path / "y", data=np.ones(3))
    with pytest.raises(ValueError, match="not promoarray's"):
        pa.from_zarr(tmp_path / "y")


def test_examples_print_what_they_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    wrong = wrong_examples((pa.from_dask, pa.from_zarr, pa.to_zarr))
    assert not wrong, wrong
