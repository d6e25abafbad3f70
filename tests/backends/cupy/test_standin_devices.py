"""Devices, what goes wrong with them, and DLPack, on a machine that has no GPU.

gpu/cupy_standin/ says what the stand-in is and what it is not. The same is asked of a real GPU
in gpu/test_on_device.py.
"""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from typing import Any

import cupy_standin as standin
import numpy as np
import pytest
from here_and_there import GPU, on_gpu

import promoarray as pa
from promoarray.backends import backend_of
from promoarray.errors import DeviceError

# --- Devices -------------------------------------------------------------------------------------


def _devices() -> tuple[str, ...]:
    """Those of NumPy and CuPy: other tests of this process may have imported Dask."""
    return tuple(name for name in pa.__array_namespace_info__().devices() if name != "dask")


def test_devices_are_listed() -> None:
    assert _devices() == ("cpu", "cuda:0", "cuda:1")


def test_arrays_travel() -> None:
    x = pa.asarray([1.0, 2.0], dtype=pa.float8_e5m2)
    one = x.to_device("cuda:1")
    assert one.device == "cuda:1"
    assert one.to_device("cuda:1") is not None
    two = one.to_device("cuda:0")
    assert (two.device, two.dtype, two.tolist()) == ("cuda:0", pa.float8_e5m2, [1.0, 2.0])
    assert (one + one).device == "cuda:1"
    assert (one * 2).device == "cuda:1"
    assert one.T.to_device("cpu").tolist() == [1.0, 2.0] if one.ndim == 2 else True
    assert pa.sum(one).device == "cuda:1"
    assert pa.sort(one).device == "cuda:1"
    assert pa.asarray(one, copy=True).device == "cuda:1"
    assert one.astype(pa.float32).device == "cuda:1"


def test_arrays_of_two_devices_do_not_mix() -> None:
    x, y, z = (pa.ones(2, device=d) for d in ("cpu", "cuda:0", "cuda:1"))
    with pytest.raises(ValueError, match=r"cpu.* and .*cuda:0.* do not mix; write x.to_device"):
        x + y
    with pytest.raises(ValueError, match=r"write x.to_device\('cuda:0'\)"):
        y + z
    with pytest.raises(ValueError, match="do not mix"):
        y += z
    with pytest.raises(ValueError, match="do not mix"):
        y[0] = x[0]
    with pytest.raises(ValueError, match="do not mix"):
        y + np.ones(2)
    with pytest.raises(ValueError, match="do not mix"):
        pa.where(y > 0, z, z)
    with pytest.raises(ValueError, match="do not mix"):
        pa.concat([y, z])
    assert y.tolist() == [1.0, 1.0]


def test_numpy_does_not_copy_unasked() -> None:
    x = on_gpu([1.0])
    with pytest.raises(TypeError, match=r"lies on 'cuda:0'.*write x.to_device\('cpu'\)"):
        np.asarray(x)
    assert np.asarray(x.to_device("cpu")).tolist() == [1.0]


def test_streams() -> None:
    x = on_gpu(np.arange(3.0))
    standin.Stream.waited = 0
    assert x.to_device("cuda:1", stream=standin.Stream(7)).tolist() == [0.0, 1.0, 2.0]
    assert x.to_device("cuda:1", stream=7).device == "cuda:1"
    assert standin.Stream.waited == 2  # the other device waits for nobody by itself
    with pytest.raises(ValueError, match="no stream"):
        x.to_device("cpu", stream=7)


def test_unknown_devices() -> None:
    with pytest.raises(ValueError, match=r"unknown device 'cuda:7'. Write one of: 'cpu', 'cuda:0'"):
        pa.zeros(3, device="cuda:7")


def test_pickles_come_back_where_they_were() -> None:
    x = on_gpu([1.5, 2.5], pa.float8_e4m3fn)
    back = pickle.loads(pickle.dumps(x))
    assert (back.device, back.dtype, back.tolist()) == (GPU, pa.float8_e4m3fn, [1.5, 2.5])
    kept = pickle.dumps(x)
    standin.trouble.devices = standin.CUDARuntimeError("cudaErrorNoDevice: no CUDA-capable device")
    with pytest.raises(ValueError, match=r"no device 'cuda:0'"):
        pickle.loads(kept)


def test_files_and_packing(tmp_path: Path) -> None:
    x = on_gpu([1, -2, 3], pa.int4)
    pa.save(tmp_path / "x.npz", x=x)
    assert pa.load(tmp_path / "x.npz")["x"].tolist() == [1, -2, 3]
    packed = pa.pack(x)
    assert packed.device == GPU
    assert pa.unpack(packed, pa.int4, (3,)).tolist() == [1, -2, 3]


def test_reports_see_arrays_on_a_gpu() -> None:
    x = on_gpu([1, 2], pa.int8)
    assert "float64" in str(pa.explain("add", x, 1.5))
    with pa.trace() as trace:
        x + on_gpu([1.5], pa.float32)
    assert "int8" in str(trace)
    with pa.shadow("numpy", "torch") as report:
        x + 1.5
    assert "torch" in str(report)


# --- What goes wrong -----------------------------------------------------------------------------


def test_without_cupy(monkeypatch: pytest.MonkeyPatch) -> None:
    with standin.installed():
        monkeypatch.setitem(sys.modules, "cupy", None)
        with pytest.raises(ValueError, match=r"CuPy is not installed; write pip install"):
            pa.zeros(3, device=GPU)


def test_a_cupy_too_old() -> None:
    with standin.installed() as old:
        old.__version__ = "13.6.0"
        with pytest.raises(ValueError, match=r"CuPy 14 or later, and this is 13.6.0; write"):
            pa.zeros(3, device=GPU)


@pytest.mark.parametrize(
    ("trouble", "said"),
    [
        ("cudaErrorInsufficientDriver: driver version is insufficient", "driver, or it is too old"),
        ("cudaErrorNoDevice: no CUDA-capable device is detected", "CUDA_VISIBLE_DEVICES"),
        (0, "CUDA_VISIBLE_DEVICES"),
    ],
)
def test_without_a_gpu(trouble: Any, said: str) -> None:
    standin.trouble.devices = standin.CUDARuntimeError(trouble) if trouble else 0
    with pytest.raises(ValueError, match=f"there is no device 'cuda:0'.*{said}"):
        pa.zeros(3, device=GPU)
    assert _devices() == ("cpu",)


class CublasError(RuntimeError):
    """As that of cuBLAS, which CuPy raises as it comes."""

    __module__ = "cupy_backends.cuda.libs.cublas"


def test_out_of_memory_writes_nothing() -> None:
    x = on_gpu([1.0, 2.0])
    standin.trouble.error = standin.OutOfMemoryError("Out of memory allocating 1,024 bytes")
    with pytest.raises(MemoryError, match=r"no memory left.*free_all_blocks"):
        x += 1
    with pytest.raises(MemoryError, match="no memory left"):
        x.astype(pa.float16)
    standin.trouble.error = CublasError("CUBLAS_STATUS_ALLOC_FAILED")
    with pytest.raises(MemoryError, match="no memory left"):
        x @ x
    standin.trouble.error = None
    assert x.tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (standin.CUDARuntimeError("cudaErrorIllegalAddress: an illegal memory"), "Start Python"),
        (standin.CUDARuntimeError("cudaErrorNoKernelImageForDevice: no image"), "not built for"),
        (standin.CompileException("error: no such thing"), r"NVRTC.*pip install"),
        (RuntimeError("Failed to find CUDA headers. Please install"), "pip install"),
        (ImportError("libcublas.so.13: cannot open shared object file"), r"pip install.*\[ctk\]"),
        (CublasError("CUBLAS_STATUS_EXECUTION_FAILED"), "the GPU failed.*Start Python"),
    ],
)
def test_a_gpu_that_fails(error: Exception, said: str) -> None:
    x = on_gpu([1.0, 2.0])
    standin.trouble.error = error
    with pytest.raises(DeviceError, match=said):
        x + x


def test_dtypes_promoarray_lacks(cupy: Any) -> None:
    class Structured(standin.ndarray):
        pass

    x = Structured(np.zeros(2, [("a", "f4")]))
    with pytest.raises(TypeError, match="not a dtype promoarray knows"):
        pa.asarray(x)


# --- DLPack --------------------------------------------------------------------------------------


class Producer:
    """An array of another library on the GPU."""

    def __init__(self, array: Any) -> None:
        self._array = array

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 0

    def __dlpack__(self, **options: Any) -> Any:
        options.pop("stream", None)
        return self._array.__dlpack__(**options)


def test_dlpack_out() -> None:
    standin.exported.clear()
    x = on_gpu([1.0, 2.0], pa.float32)
    assert x.__dlpack_device__() == (2, 0)
    x.__dlpack__(stream=5, max_version=(1, 0))
    assert standin.exported[0][0] is x._buffer
    assert standin.exported[0][1] == 5
    x.__dlpack__(stream=5, max_version=(1, 0), copy=True)
    assert standin.exported[1][0] is not x._buffer
    host = np.from_dlpack(x.to_device("cpu"))
    assert host.tolist() == [1.0, 2.0]
    with pytest.raises(BufferError, match="takes a copy"):
        x.__dlpack__(dl_device=(1, 0), copy=False)
    with pytest.raises(BufferError, match="this array lies on"):
        x.__dlpack__(dl_device=(2, 1))


def test_dlpack_has_names_for_narrow_dtypes() -> None:
    """A consumer that may not know them is told to take the bits."""
    on_gpu([1.0], pa.float8_e4m3fn).__dlpack__(max_version=(1, 0))
    x = on_gpu([1], pa.int4)
    with pytest.raises(BufferError, match=r"write x.view\(pa.uint8\)"):
        x.__dlpack__(max_version=(1, 0))
    x.view(pa.uint8).__dlpack__(max_version=(1, 0))
    assert pa.from_dlpack(Producer(x.to_device("cpu"))).dtype is pa.int4


def test_dlpack_in() -> None:
    values = np.arange(4, dtype=np.float32)
    x = pa.from_dlpack(Producer(values))
    assert (x.device, x.dtype, x.tolist()) == ("cuda:0", pa.float32, [0.0, 1.0, 2.0, 3.0])
    narrow = pa.from_dlpack(Producer(pa.asarray([1.5], dtype=pa.bfloat16)))
    assert (narrow.dtype, narrow.tolist()) == (pa.bfloat16, [1.5])
    there = pa.from_dlpack(values, device="cuda:1")
    assert there.device == "cuda:1"
    with pytest.raises(BufferError, match="takes a copy"):
        pa.from_dlpack(values, device=GPU, copy=False)


# --- How the backend is found --------------------------------------------------------------------


def test_backends_are_found_by_type(cupy: Any) -> None:
    assert backend_of(cupy.asarray(np.ones(1))).name == "cupy"


def test_the_namespace_that_array_api_tests_are_run_on() -> None:
    """conformance/array_api.py --device cuda:0."""
    import array_api_device as xp

    assert xp.asarray([1, 2]).device == xp.zeros(3).device == xp.fft.fftfreq(3).device == GPU
    assert xp.zeros(3, device="cpu").device == "cpu"
    assert xp.__array_namespace_info__().default_device() == GPU
    assert xp.add is pa.add
