"""The stand-in for CuPy has what CuPy has, refuses what CuPy refuses, and computes as it does."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import cupy_standin as standin
import numpy as np
import pytest
from cupy_standin import names

import promoarray as pa
from promoarray import dtypes as dt


@pytest.fixture(scope="module")
def cupy() -> Iterator[Any]:
    with standin.installed() as module:
        yield module


@pytest.fixture
def x(cupy: Any) -> Any:
    return cupy.asarray(np.ones(2, np.float32))


# --- What it has ---------------------------------------------------------------------------------


def test_it_has_the_names_that_cupy_has() -> None:
    """Where CuPy is installed; no GPU is needed to look."""
    with standin.installed():
        for name in [n for n in sys.modules if n.partition(".")[0] == "cupy"]:
            del sys.modules[name]
        real = pytest.importorskip("cupy", exc_type=ImportError)
        assert real.ndarray is not standin.ndarray
        if str(real.__version__) != "14.2.0":
            pytest.skip(f"the names are those of CuPy 14.2.0, not {real.__version__}")
        assert names.asked() == names.FILE.read_text(encoding="utf-8")


def test_it_is_cupy_only_while_it_is_installed() -> None:
    before = sys.modules.get("cupy")
    with standin.installed() as cupy:
        assert sys.modules["cupy"] is cupy
        assert pa.asarray(cupy.asarray(np.ones(1))).device == "cuda:0"
    assert sys.modules.get("cupy") is before


# --- What it refuses -----------------------------------------------------------------------------


def test_arrays_of_numpy_stay_apart(cupy: Any, x: Any) -> None:
    with pytest.raises(TypeError, match="Implicit conversion"):
        np.asarray(x)
    for use in (lambda v: x + v, lambda v: cupy.add(x, v), lambda v: cupy.stack([x, v])):
        with pytest.raises(TypeError, match="Unsupported type"):
            use(np.ones(2, np.float32))
    with pytest.raises(TypeError, match="NumPy array among the indices"):
        x[np.array([0])]


def test_dtypes_that_cupy_lacks(cupy: Any) -> None:
    for dtype in (dt.float8_e4m3fn.storage, dt.int4.storage, np.dtype("S1")):
        with pytest.raises(ValueError, match="Unsupported dtype"):
            cupy.empty(2, dtype)


def test_names_and_parameters_that_cupy_lacks(cupy: Any, x: Any) -> None:
    with pytest.raises(AttributeError, match="einsum_path"):
        cupy.einsum_path  # noqa: B018
    with pytest.raises(AttributeError, match="newbyteorder"):
        x.newbyteorder()
    with pytest.raises(TypeError, match="unexpected keyword"):
        cupy.sum(x, where=True)


def test_arrays_of_another_device_than_the_current_one(cupy: Any, x: Any) -> None:
    with cupy.cuda.Device(1), pytest.raises(ValueError, match="must be same as the current"):
        cupy.negative(x)
    with pytest.raises(standin.CUDARuntimeError, match="invalid device"), cupy.cuda.Device(2):
        pass


def test_a_value_that_is_not_a_scalar_is_no_index(x: Any) -> None:
    with pytest.raises(TypeError, match="cannot be interpreted as an integer"):
        range(x)


# --- Where it is stricter ------------------------------------------------------------------------


def test_it_never_promotes_nor_casts_floats(cupy: Any, x: Any) -> None:
    double = cupy.asarray(np.ones(2))
    for use in (lambda: x + double, lambda: cupy.add(x, double)):
        with pytest.raises(AssertionError, match="own promotion"):
            use()
    with pytest.raises(AssertionError, match="own cast"):
        x.astype(np.int32)
    with pytest.raises(AssertionError, match="own cast"):
        x[:] = double


def test_it_never_writes_what_it_reads(cupy: Any) -> None:
    row = cupy.asarray(np.arange(4.0))
    with pytest.raises(AssertionError, match="reads what it writes"):
        row[:-1] = row[1:]


# --- What it computes otherwise than NumPy -------------------------------------------------------


def test_subnormals_of_float32_are_zero(cupy: Any) -> None:
    assert (cupy.asarray(np.array([1e-40], np.float32)) == 0).item()
    assert not (cupy.asarray(np.array([1e-310])) == 0).item()


def test_its_loops_are_those_of_cupy(cupy: Any) -> None:
    large = cupy.asarray(np.array([2**62 + 1]))
    assert cupy.fmod(large, cupy.asarray(np.array([2**40]))).tolist() == [0]  # by float64
    assert cupy.equal(large, large).tolist() == [True]
    with pytest.raises(TypeError, match=r"Wrong type.*cupy_logical_and"):
        cupy.logical_and(*(cupy.asarray(np.ones(1, np.complex64)),) * 2)


def test_a_lone_negative_zero_loses_its_sign(cupy: Any) -> None:
    for x in (cupy.asarray(-0.0), cupy.full((), -0.0), cupy.asarray(np.float32(-0.0))):
        assert not np.signbit(x.get())
    assert np.signbit(cupy.asarray(np.array([-0.0])).get()).all()


def test_the_largest_of_infinities_is_finite(cupy: Any) -> None:
    infinite = cupy.asarray(np.array([-np.inf]))
    assert cupy.max(infinite).item() == np.finfo(np.float64).min


def test_indices_out_of_bounds_wrap_round(cupy: Any) -> None:
    values = cupy.asarray(np.arange(3))
    assert values[cupy.asarray(np.array([4]))].tolist() == [1]
    assert cupy.take(values, cupy.asarray(np.array([-4]))).tolist() == [2]


# --- What goes wrong -----------------------------------------------------------------------------


def test_trouble_strikes_where_the_gpu_is_asked(cupy: Any, x: Any) -> None:
    standin.trouble.error = standin.OutOfMemoryError("out of memory")
    try:
        with pytest.raises(MemoryError):
            cupy.negative(x)
    finally:
        standin.trouble.error = None
    assert cupy.negative(x).tolist() == [-1.0, -1.0]
