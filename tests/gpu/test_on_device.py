"""What only a GPU can show: skipped, with the reason, where there is none.

    pytest -m gpu                    all of it
    pytest -m "gpu and not slow"     what takes a minute; first kernels are compiled, then cached

The cases are those of the stand-in and more of them; the answers are compared with the CPU's.
"""

from __future__ import annotations

import hashlib
import pickle
from importlib import import_module
from pathlib import Path
from typing import Any

import dask_cases
import device_cases as cases
import numpy as np
import pytest
from formula_cases import wrong_formulas

import promoarray as pa
from promoarray import dtypes as dt
from promoarray.dtypes import CONCRETE, NATIVE, Kind
from promoarray.kernels import DEFAULT, Beyond, CastMode, ScaleRounding, ScaleZero

GPU = "cuda:0"
DIGESTS = Path(__file__).parents[2] / "conformance" / "golden" / "cast_digests.sha256"


def why_not() -> str:
    """Why nothing here can run, or ""."""
    try:
        return str(import_module("promoarray.backends.cupy").why_none())
    except ImportError as error:
        return str(error)


if why_not():
    pytest.skip(why_not(), allow_module_level=True)
pytestmark = pytest.mark.gpu


@pytest.fixture(scope="module")
def cupy() -> Any:
    return import_module("cupy")


def same(want: Any, got: Any) -> None:
    assert got.device.startswith("cuda")
    wrong = cases.different(want, got)
    assert not wrong, wrong


def _one_element_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have CuPy's own elementwise kernels run what contiguous arrays have better ones for."""
    from promoarray.backends.cupy.launch import Launch

    monkeypatch.setattr(Launch, "_packs", lambda self, operands, *_: self._strided(operands))


# --- Casts ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", CONCRETE, ids=str)
def test_every_cast_gives_the_bits_of_the_cpu(source: Any) -> None:
    """All values of sources of 16 bits and fewer, 65,536 of the others."""
    wrong = cases.wrong_casts("numpy", cases.casts((source,)), GPU, 1 << 16)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("policy", pa.list_policies())
def test_casts_obey_the_policy(policy: str) -> None:
    sources = (dt.float32, dt.float64, dt.bfloat16, dt.int64)
    narrow = [d for d in CONCRETE if d.bits <= 16 and d.kind is not Kind.COMPLEX]
    pairs = [(a, b) for a in sources for b in narrow if a is not b]
    wrong = cases.wrong_casts(policy, pairs, GPU, 1 << 14)
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
@pytest.mark.parametrize("kernel", ["for contiguous arrays", "for any layout"])
@pytest.mark.parametrize("mode", ["default", "saturate"])
@pytest.mark.parametrize(
    "dtype", [d for d in CONCRETE if d.kind is Kind.FLOAT and d.bits == 8], ids=str
)
def test_all_float32_have_the_digest_of_ml_dtypes(
    cupy: Any, dtype: Any, mode: str, kernel: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All 2**32 of them; tests/kernels/test_kernels.py asks the same of the CPU."""
    from promoarray.backends import cupy as backend

    if kernel == "for any layout":
        _one_element_a_thread(monkeypatch)
    digests = dict(line.rsplit(" ", 1) for line in DIGESTS.read_text().splitlines())
    cast_mode = (
        CastMode(overflow=Beyond.LARGEST, infinity=Beyond.LARGEST)
        if mode == "saturate"
        else DEFAULT
    )
    cast_mode = cast_mode._replace(
        scale_rounding=ScaleRounding.NEAREST_BUT_LOWEST_UP, scale_zero=ScaleZero.NAN
    )
    digest, chunk = hashlib.sha256(), 1 << 24
    first = cupy.arange(chunk, dtype=np.uint32)
    for start in range(0, 1 << 32, chunk):
        codes = first | np.uint32(start)
        cast = backend.cast(codes.view(np.float32), dt.float32, dtype, cast_mode)
        digest.update(cast.get())
    assert digest.hexdigest() == digests[f"{dtype} {mode}"]


@pytest.mark.slow
def test_more_than_2_to_31_elements(cupy: Any) -> None:
    """64-bit indices: contiguous, and with a step."""
    size = (1 << 31) + 4099
    free, _ = cupy.cuda.runtime.memGetInfo()
    if free < 6 * size:
        pytest.skip(f"needs {6 * size >> 30} GiB of memory, and {free >> 30} are free")
    x = pa.zeros(size, dtype=pa.float8_e5m2, device=GPU)
    x[-3:] = 1.5
    wide = x.astype(pa.bfloat16)
    assert wide[-4:].tolist() == [0.0, 1.5, 1.5, 1.5]
    del wide
    spread = pa.broadcast_to(x[-2:-1], (size,)).astype(pa.float8_e4m3fn)
    assert (spread[0].item(), spread[-1].item()) == (1.5, 1.5)
    total = pa.zeros(size, dtype=pa.int8, device=GPU) + pa.ones((), dtype=pa.int8, device=GPU)
    assert total[-1].item() == 1
    del spread, total, x
    cupy.get_default_memory_pool().free_all_blocks()


# --- Operations ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["for contiguous arrays", "for any layout"])
@pytest.mark.parametrize("dtype", CONCRETE, ids=str)
def test_every_operation_of_every_dtype(
    dtype: Any, kernel: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if kernel == "for any layout":
        _one_element_a_thread(monkeypatch)
    asked = list(cases.operations("numpy", cases.NAMES, (dtype,), mixed=False))
    wrong = cases.disagreements("numpy", asked, GPU)
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["add", "divide", "equal", "less", "maximum", "bitwise_and", "floor_divide"]
)
@pytest.mark.parametrize("policy", pa.list_policies())
def test_the_golden_set(policy: str, name: str) -> None:
    """Every pair of dtypes of every policy's tables: the dtype, the bits, and what is refused."""
    asked = list(cases.operations(policy, (name,), CONCRETE, mixed=True))
    wrong = cases.disagreements(policy, asked, GPU)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("compute", dt.STANDARD, ids=str)
def test_kernels_of_single_frameworks(compute: Any) -> None:
    wrong = wrong_formulas(compute, GPU)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("policy", ["numpy", "numpy@1", "jax", "torch", "paddle@3.3"])
def test_powers_by_one_exponent(policy: str) -> None:
    wrong = cases.wrong_powers(policy, (dt.float16, dt.bfloat16, dt.float32, dt.float64), GPU)
    assert not wrong, "\n".join(wrong)


def test_float32_subnormals_are_numbers() -> None:
    """CuPy itself compiles with -ftz=true."""
    x = pa.asarray(np.array([1e-40, -3e-45, 2e-38], np.float32))
    there = x.to_device(GPU)
    for run in (
        lambda v: v + v,
        lambda v: v - 1e-38,
        lambda v: v * 0.5,
        lambda v: v / 3,
        lambda v: v == 0,
        lambda v: pa.sqrt(pa.abs(v)),
        lambda v: v.astype(pa.float64),
        lambda v: pa.maximum(v, -v),
        pa.max,
        pa.argmin,
        pa.sort,
        pa.unique_values,
    ):
        same(run(x), run(there))


def test_a_lone_negative_zero_keeps_its_sign() -> None:
    """CuPy fills memory with 0 where a number is 0, or -0."""
    for dtype in (pa.float32, pa.float64, pa.bfloat16, pa.complex128):
        same(pa.asarray(-0.0, dtype=dtype), pa.asarray(-0.0, dtype=dtype, device=GPU))
    assert pa.signbit(pa.full((2,), -0.0, device=GPU)).to_device("cpu").tolist() == [True, True]


def test_products_are_not_contracted() -> None:
    """``x * y + z`` is two roundings, whoever compiles it."""
    random = np.random.default_rng(0)
    x, y, z = (pa.asarray(random.normal(size=4096).astype(np.float32)) for _ in range(3))
    there = [v.to_device(GPU) for v in (x, y, z)]
    same(x * y + z, there[0] * there[1] + there[2])
    same(pa.linspace(0.1, 0.7, 999), pa.linspace(0.1, 0.7, 999, device=GPU))
    same(pa.arange(0.1, 99.7, 0.1), pa.arange(0.1, 99.7, 0.1, device=GPU))


@pytest.mark.parametrize(
    "shape", [(), (0,), (3, 0, 2), (1,), (129,), (127, 129), (5, 4, 3, 2)], ids=str
)
def test_layouts(shape: tuple[int, ...]) -> None:
    size = int(np.prod(shape))
    x = pa.reshape(cases.array(dt.float32, size=max(size, 1))[:size], shape)
    there = x.to_device(GPU)
    for look in (
        lambda v: v,
        lambda v: v[..., None],
        lambda v: pa.permute_dims(v, tuple(range(v.ndim))[::-1]),
        lambda v: v[..., ::-2] if v.ndim else v,
        lambda v: pa.broadcast_to(v, (2, *v.shape)),
        lambda v: v[1:, ..., 1:] if v.ndim > 1 else v,
        lambda v: v[..., :1] if v.ndim else v,
        lambda v: v[::-1] if v.ndim else v,
    ):
        with np.errstate(all="ignore"):  # the patterns overflow, and only the CPU tells
            same(look(x).astype(pa.float8_e5m2), look(there).astype(pa.float8_e5m2))
            same(look(x) * look(x), look(there) * look(there))
        want, got = (
            cases.outcome(lambda v=v, f=look: f(v) + v.astype(pa.bfloat16)) for v in (x, there)
        )
        assert not cases.different(want, got)


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "float8_e4m3fn"])
def test_extremes(dtype: str) -> None:
    values = [[-np.inf, -np.inf], [np.inf, np.inf], [np.nan, 1.0], [1e-40, 2e-40], [-0.0, -0.0]]
    x = pa.asarray(np.array(values, np.float32), dtype=dtype)
    there = x.to_device(GPU)
    for name in ("max", "min", "argmax", "argmin"):
        for axis in (0, 1, None):
            same(getattr(pa, name)(x, axis=axis), getattr(pa, name)(there, axis=axis))


@pytest.mark.parametrize("dtype", ["int32", "float32", "bfloat16", "float8_e5m2", "int4", "bool"])
def test_sums_sorts_and_sets(dtype: str) -> None:
    x = cases.array(dt.BY_NAME[dtype])
    if x.dtype.kind is Kind.FLOAT:
        x = pa.asarray(np.random.default_rng(0).random(size=256), dtype=dtype)  # none cancels
    there = x.to_device(GPU)
    for name in ("sum", "mean", "std", "any", "all"):
        want, got = (cases.outcome(lambda v=v, n=name: getattr(pa, n)(v)) for v in (x, there))
        assert not cases.different(want, got, places=64), name
    same(pa.sort(x), pa.sort(there))
    same(pa.argsort(x, descending=True), pa.argsort(there, descending=True))
    for want, got in zip(pa.unique_all(x), pa.unique_all(there), strict=True):
        same(want, got)


def test_products_of_matrices() -> None:
    random = np.random.default_rng(0)
    for dtype in (dt.float32, dt.bfloat16, dt.float16, dt.float64, dt.int8):
        x = pa.asarray(random.integers(-8, 8, (33, 65)), dtype=dtype)
        there = x.to_device(GPU)
        same(x @ x.T, there @ there.T)  # of small integers, which are exact


# --- Indices, streams, devices -------------------------------------------------------------------


def test_reads_and_writes() -> None:
    values = np.arange(24, dtype=np.float32).reshape(4, 6)
    for key in (
        (slice(None, None, -1), 2),
        (np.array([0, -1]),),
        (np.array([[0], [2]]), np.array([1, 3])),
        (values % 5 == 0,),
        (slice(None), np.arange(6) > 2),
    ):
        x, y = pa.asarray(values.copy()), pa.asarray(values, device=GPU)
        same(x[key], y[key])
        x[key], y[key] = x[key] + 1, y[key] + 1
        same(x, y)
    y = pa.asarray(values, device=GPU)
    with pytest.raises(IndexError, match="out of bounds"):
        y[np.array([4])]
    y[1:] = y[:-1]
    assert y[:, 0].tolist() == [0.0, 0.0, 6.0, 12.0]


def test_every_dtype_goes_there_and_back() -> None:
    for dtype in CONCRETE:
        x = cases.array(dtype)
        back = x.to_device(GPU).to_device("cpu")
        assert back.dtype is dtype
        assert back._buffer.tobytes() == x._buffer.tobytes()
        pickled = pickle.loads(pickle.dumps(x.to_device(GPU)))
        assert (pickled.dtype, pickled.device) == (dtype, GPU)


def test_streams(cupy: Any) -> None:
    """Everything runs in CuPy's current stream."""
    x = pa.asarray(np.arange(1 << 20, dtype=np.float32), device=GPU)
    cupy.cuda.Device(0).synchronize()
    with cupy.cuda.Stream(non_blocking=True) as stream:
        y = (x * 2 + 1).astype(pa.float64)
        stream.synchronize()
    assert y[-1].item() == 2 * ((1 << 20) - 1) + 1


def test_two_devices(cupy: Any) -> None:
    if cupy.cuda.runtime.getDeviceCount() < 2:
        pytest.skip("there is one GPU")
    x, y = pa.ones(4, dtype=pa.bfloat16, device="cuda:0"), pa.ones(4, device="cuda:1")
    with pytest.raises(ValueError, match="do not mix"):
        x + y
    assert (y + y).device == pa.sum(y).device == pa.sort(y).device == "cuda:1"
    assert x.to_device("cuda:1").tolist() == [1.0] * 4


def test_memory_that_runs_out() -> None:
    x = pa.ones(4, device=GPU)
    with pytest.raises(MemoryError, match=r"no memory left.*free_all_blocks"):
        pa.empty(1 << 45, device=GPU)
    x += 1
    assert x.tolist() == [2.0] * 4


# --- Other libraries -----------------------------------------------------------------------------


def test_blocks_of_lazy_arrays(cupy: Any) -> None:
    pytest.importorskip("dask")
    wrong = dask_cases.wrong(cupy)
    assert not wrong, "\n".join(wrong)


def test_torch_shares_the_memory(cupy: Any) -> None:
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("this PyTorch sees no GPU")
    x = pa.asarray([1.0, 2.0], dtype=pa.bfloat16, device=GPU)
    tensor = torch.from_dlpack(x)
    assert tensor.dtype is torch.bfloat16
    assert tensor.data_ptr() == x._buffer.data.ptr
    back = pa.from_dlpack(tensor * 2)
    assert (back.dtype, back.device, back.tolist()) == (pa.bfloat16, GPU, [2.0, 4.0])
    codes = pa.asarray([1.5], dtype=pa.float8_e4m3fn, device=GPU).view(pa.uint8)
    assert torch.from_dlpack(codes).view(torch.float8_e4m3fn).float().item() == 1.5


def test_jax_shares_the_memory() -> None:
    jax = pytest.importorskip("jax")
    if not any(device.platform == "gpu" for device in jax.devices()):
        pytest.skip("this JAX sees no GPU")
    x = pa.asarray([1.0, 2.0], dtype=pa.bfloat16, device=GPU)
    y = jax.dlpack.from_dlpack(x)
    assert str(y.dtype) == "bfloat16"
    assert pa.from_dlpack(y).tolist() == [1.0, 2.0]


def test_cupy_arrays_enter_as_they_are(cupy: Any) -> None:
    for dtype in NATIVE:
        x = cupy.zeros(3, dtype=dtype.storage)
        a = pa.asarray(x)
        assert a.dtype is dtype
        assert a._buffer is x
