"""Arrays on a GPU, on a machine that has none: CuPy's part is taken by a stand-in.

gpu/standin.py says what the stand-in is and what it is not. What is compared is what a user sees:
the same program on "cpu" and on "cuda:0". The same is asked of a real GPU in gpu/test_on_device.py.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent / "gpu"))

import device_cases as cases
import standin
import standin_compiler
import standin_names

import promoarray as pa
from promoarray import dtypes as dt
from promoarray.backends import backend_of
from promoarray.dtypes import CONCRETE, NATIVE, Kind
from promoarray.errors import DeviceError
from promoarray.policies.registry import as_policy

if standin_compiler.COMPILER is None:
    pytest.skip("g++, which compiles the kernels' texts, is not installed", allow_module_level=True)

GPU = "cuda:0"
FLOATS8 = tuple(d for d in CONCRETE if d.kind is Kind.FLOAT and d.bits == 8)


@pytest.fixture(scope="module")
def cupy() -> Iterator[Any]:
    with standin.installed() as module:
        yield module


@pytest.fixture(autouse=True)
def _well(cupy: Any) -> Iterator[None]:
    """Every test begins with a GPU in order."""
    standin.trouble.__init__()  # type: ignore[misc]
    yield
    standin.trouble.__init__()  # type: ignore[misc]


def compiled_together(function: Callable[..., Any], *args: Any) -> Any:
    """Run what launches many kernels: first to learn which, then with all of them compiled."""
    with standin_compiler.collecting():
        function(*args)
    return function(*args)


def on_gpu(values: Any, dtype: Any = None) -> Any:
    return pa.asarray(values, dtype=dtype, device=GPU)


def same(want: Any, got: Any) -> None:
    """The answers of the CPU and of the GPU, bit by bit."""
    assert got.device.startswith("cuda")
    wrong = cases.different(want, got)
    assert not wrong, wrong


# --- Buffers and dtypes --------------------------------------------------------------------------


def test_a_cupy_array_is_wrapped_where_it_lies(cupy: Any) -> None:
    x = cupy.asarray(np.arange(6, dtype=np.float32))
    a = pa.asarray(x)
    assert a._buffer is x
    assert (a.dtype, a.device, a.shape) == (pa.float32, "cuda:0", (6,))
    assert pa.asarray(a).device == "cuda:0"
    assert pa.namespace("torch").asarray(x).__array_namespace__().policy.name.startswith("torch")


def test_raw_cupy_arrays_enter_operations(cupy: Any) -> None:
    x = cupy.asarray(np.ones(3, np.int8))
    same(pa.asarray(np.ones(3, np.int8)) + 1.5, pa.add(x, 1.5))
    assert pa.result_type(x, 1.5) is pa.float64


@pytest.mark.parametrize("dtype", CONCRETE, ids=str)
def test_every_dtype_goes_there_and_back(dtype: Any) -> None:
    x = cases.array(dtype)
    there = x.to_device(GPU)
    back = there.to_device("cpu")
    assert there.dtype is back.dtype is dtype
    assert back._buffer.tobytes() == x._buffer.tobytes()
    held = there._buffer.dtype
    if dtype in NATIVE or dtype is dt.bfloat16:
        assert held == dtype.storage
    else:  # CuPy has no such dtype
        assert held.kind == "u"
        assert held.itemsize == dtype.storage.itemsize


def test_arrays_seen_through_ml_dtypes_are_adopted(cupy: Any) -> None:
    """``cupy_array.view(ml_dtypes.float8_e4m3fn)`` is allowed, but CuPy computes with no such."""
    x = cupy.asarray(np.array([0x38], np.uint8)).view(dt.float8_e4m3fn.storage)
    a = pa.asarray(x)
    assert a.dtype is pa.float8_e4m3fn
    assert a.tolist() == [1.0]
    assert a._buffer.dtype == np.uint8


def test_items_and_prints_are_values_not_codes() -> None:
    a = on_gpu([1.5, -0.25], pa.float8_e4m3fn)
    assert a.tolist() == [1.5, -0.25]
    assert repr(a) == "PArray([ 1.5 , -0.25], dtype=float8_e4m3fn)"
    assert float(a[0]) == 1.5
    assert a[1].item() == -0.25


def test_policies_by_value_see_values() -> None:
    with pa.policy("numpy@1"):
        wide, narrow = on_gpu(np.int64(300)), on_gpu(np.int64(3))
        x = on_gpu(np.ones(2, np.int8))
        assert (x + wide).dtype is pa.int16
        assert (x + narrow).dtype is pa.int8


def test_views_share_memory() -> None:
    a = on_gpu([1.0, 2.0], pa.float8_e4m3fn)
    codes = a.view(pa.uint8)
    codes[0] = 0
    assert a.tolist() == [0.0, 2.0]


def test_strings_stay_on_the_cpu() -> None:
    with pytest.raises(TypeError, match=r"a GPU holds no strings; write x.to_device\('cpu'\)"):
        pa.asarray(["1"]).to_device(GPU)


# --- Casts ---------------------------------------------------------------------------------------


def test_casts_give_the_bits_of_the_cpu() -> None:
    pairs = [(dt.float32, d) for d in CONCRETE if d is not dt.float32]
    pairs += [(d, dt.float32) for d in (*FLOATS8, dt.float16, dt.bfloat16, dt.int4, dt.uint64)]
    pairs += [(dt.float64, dt.bfloat16), (dt.int64, dt.bfloat16), (dt.complex64, dt.complex32)]
    pairs += [(dt.complex32, dt.float16), (dt.bool, dt.float8_e8m0fnu), (dt.float6_e2m3fn, dt.bool)]
    wrong = compiled_together(cases.wrong_casts, "numpy", pairs, GPU)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("policy", ["torch", "jax", "paddle", "aclnn@8.5", "onnx"])
def test_casts_obey_the_policy(policy: str) -> None:
    targets = (dt.float8_e4m3fn, dt.float8_e5m2, dt.int8, dt.uint8, dt.float8_e8m0fnu)
    pairs = [(dt.float32, target) for target in targets]
    wrong = compiled_together(cases.wrong_casts, policy, pairs, GPU)
    assert not wrong, "\n".join(wrong)


def test_quirks_that_no_kernel_knows_are_taken_on_the_cpu() -> None:
    pair = dt.float32, dt.uint8
    every = [as_policy(name) for name in pa.list_policies()]
    every = [p.with_quirks(*(quirk.name for quirk in p.cast.quirks)) for p in every]
    stepped = [policy for policy in every if policy.cast.plan(*pair).steps]
    assert stepped
    for policy in stepped[:3]:
        xp = pa.namespace(policy)
        x = xp.asarray(cases.array(dt.float32))
        same(xp.astype(x, dt.uint8), xp.astype(x.to_device(GPU), dt.uint8))


@pytest.mark.parametrize(
    "shape",
    [
        pytest.param(lambda x: x[::2, ::-3], id="strided and backwards"),
        pytest.param(lambda x: x.T, id="transposed"),
        pytest.param(lambda x: x[3, 5], id="0-d"),
        pytest.param(lambda x: x[:0], id="empty"),
        pytest.param(lambda x: x[None, :, ::2, None], id="new axes"),
        pytest.param(lambda x: pa.broadcast_to(x[:1], (4, 16)), id="broadcast"),
        pytest.param(lambda x: pa.permute_dims(pa.reshape(x, (4, 4, 16)), (2, 0, 1)), id="3-d"),
    ],
)
def test_every_layout(shape: Any) -> None:
    x = pa.reshape(pa.asarray(np.linspace(-300, 300, 256, dtype=np.float32)), (16, 16))
    here, there = shape(x), shape(x.to_device(GPU))
    same(here.astype(pa.float8_e5m2), there.astype(pa.float8_e5m2))
    same(here + here, there + there)
    same(here * 2, there * 2)
    same(pa.asarray(here, copy=True), pa.asarray(there, copy=True))


@pytest.mark.parametrize("order", ["C", "F"])
def test_large_contiguous_casts_take_the_kernel_for_them(
    order: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from promoarray.backends import cupy_launch

    monkeypatch.setattr(cupy_launch, "LARGE", 1 << 12)
    host = cases.values(dt.float32, size=1 << 14)[: 127 * 129].reshape(127, 129)
    here, there = pa.asarray(host), pa.asarray(host, device=GPU)
    if order == "F":
        here, there = here.T, there.T
    standin.launches.clear()
    for target in (pa.float8_e4m3fn, pa.bfloat16):
        same(here.astype(target), there.astype(target))
    assert len(standin.launches) == 2
    assert there.astype(pa.float8_e4m3fn)._buffer.flags.f_contiguous is (order == "F")
    standin.launches.clear()
    same(here[:, ::2].astype(pa.float8_e4m3fn), there[:, ::2].astype(pa.float8_e4m3fn))
    assert not standin.launches


# --- Operations ----------------------------------------------------------------------------------


def test_float32_arithmetic_is_that_of_the_cpu() -> None:
    """Subnormals, infinities and NaN included; CuPy itself takes float32 subnormals for zero."""
    asked = list(cases.operations("numpy", cases.NAMES, (dt.float32,), mixed=False))
    wrong = compiled_together(cases.disagreements, "numpy", asked, GPU)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("policy", ["numpy", "numpy@1", "jax", "torch", "tensorflow", "paddle"])
def test_mixed_and_narrow_operands_obey_the_policy(policy: str) -> None:
    dtypes = (dt.bfloat16, dt.float8_e4m3fn, dt.int8, dt.float32)
    asked = list(cases.operations(policy, ("add", "divide", "less"), dtypes, mixed=True))
    wrong = compiled_together(cases.disagreements, policy, asked, GPU)
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", CONCRETE, ids=str)
def test_every_operation_of_every_dtype(dtype: Any) -> None:
    asked = list(cases.operations("numpy", cases.NAMES, (dtype,), mixed=False))
    wrong = compiled_together(cases.disagreements, "numpy", asked, GPU)
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
@pytest.mark.parametrize("policy", pa.list_policies())
def test_every_policy(policy: str) -> None:
    names = "bool int8 uint8 int32 int64 float16 bfloat16 float32 float64 complex64 float8_e4m3fn"
    dtypes = tuple(dt.BY_NAME[name] for name in names.split())
    asked = list(cases.operations(policy, ("divide",), dtypes, mixed=True))
    wrong = compiled_together(cases.disagreements, policy, asked, GPU)
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
@pytest.mark.parametrize("source", CONCRETE, ids=str)
def test_every_cast(source: Any) -> None:
    wrong = compiled_together(cases.wrong_casts, "numpy", cases.casts((source,)), GPU)
    assert not wrong, "\n".join(wrong)


def test_a_plan_is_one_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []
    run = standin.elementwise
    monkeypatch.setattr(standin, "elementwise", lambda *a: (ran.append(a[1]), run(*a)))
    a, b = on_gpu([1.5, 2.0], pa.float16), on_gpu([0.5, 3.0], pa.bfloat16)
    with pa.policy("torch"):
        out = a * b
    assert len(ran) == 1
    assert (out.dtype, out.tolist()) == (pa.float32, [0.75, 6.0])
    ran.clear()
    assert (on_gpu([1, 2], pa.int8) + 1.5).tolist() == [2.5, 3.5]
    assert len(ran) == 1


def test_python_scalars_travel_with_the_launch() -> None:
    x = cases.array(dt.bfloat16)
    there = x.to_device(GPU)
    for scalar in (2, -1.5, True, float("nan"), 1e-40):
        same(x + scalar, there + scalar)
        same(scalar - x, scalar - there)
    same(x > 1.0, there > 1.0)


def test_integers_of_both_signs_compare_exactly() -> None:
    x, y = pa.asarray(np.array([-1, 2**62])), pa.asarray(np.array([2**64 - 1, 2**62], np.uint64))
    for name in ("equal", "less", "greater_equal"):
        function = getattr(pa, name)
        same(function(x, y), function(x.to_device(GPU), y.to_device(GPU)))
    same(x < 2**70, x.to_device(GPU) < 2**70)


def test_where_and_clip() -> None:
    x, y = cases.array(dt.bfloat16), cases.array(dt.bfloat16, 1)
    c = pa.isfinite(x)
    there = [v.to_device(GPU) for v in (c, x, y)]
    same(pa.where(c, x, y), pa.where(*there))
    same(pa.where(c, x, 2.0), pa.where(there[0], there[1], 2.0))
    same(pa.where(c, 1, 2), pa.where(there[0], 1, 2))
    same(pa.clip(x, -1, 1), pa.clip(there[1], -1, 1))
    same(pa.clip(x, max=0.5), pa.clip(there[1], max=0.5))


def test_negative_powers_of_integers_are_refused() -> None:
    with pytest.raises(ValueError, match="negative integer powers"):
        on_gpu([2, 3]) ** on_gpu([1, -1])
    with pytest.raises(ValueError, match="negative integer powers"):
        on_gpu([2, 3]) ** -1


def test_kernels_of_single_frameworks() -> None:
    x, y = pa.asarray(np.array([7, -7, 5], np.int32)), pa.asarray(np.array([2, 2, 0], np.int32))
    for policy in ("jax", "torch", "tensorflow", "paddle"):
        with pa.policy(policy):
            for name in ("floor_divide", "remainder", "bitwise_left_shift"):
                function = getattr(pa, name)
                want = cases.outcome(lambda f=function: f(x, y))
                got = cases.outcome(lambda f=function: f(x.to_device(GPU), y.to_device(GPU)))
                assert not cases.different(want, got), (policy, name)


def test_weakly_typed_arrays_stay_weak() -> None:
    xp = pa.namespace("jax")
    weak = xp.asarray(2.0).to_device(GPU)
    assert weak.weak_type
    out = xp.asarray([1.0], dtype=xp.bfloat16).to_device(GPU) * weak
    assert out.dtype is pa.bfloat16


def test_the_sign_of_complex_numbers() -> None:
    ends = [0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan]
    x = pa.asarray(np.array([complex(a, b) for a in ends for b in ends]))
    for dtype in (pa.complex64, pa.complex128):
        y = x.astype(dtype)
        assert cases.different(pa.sign(y), pa.sign(y.to_device(GPU)), places=4) == ""


def test_losses() -> None:
    x, y = (pa.asarray(np.linspace(-3, 3, 7, dtype=np.float32) * k) for k in (1, 2))
    for name in ("l1_loss", "mse_loss", "huber_loss"):
        loss = getattr(pa.extras, name)
        want = loss(x, y, reduction="none")
        same(want, loss(x.to_device(GPU), y.to_device(GPU), reduction="none"))


def test_in_place() -> None:
    x = on_gpu([1.0, 2.0], pa.bfloat16)
    buffer = x._buffer
    x += 0.5
    assert x._buffer is buffer
    assert x.tolist() == [1.5, 2.5]
    x += x[::-1]
    assert x.tolist() == [4.0, 4.0]
    spread = pa.broadcast_to(on_gpu([1.0]), (3,))
    with pytest.raises(ValueError, match="read-only"):
        spread += 1
    empty = pa.broadcast_to(on_gpu(np.empty((1, 0))), (3, 0))
    empty += 1
    y = on_gpu([1, 2])
    with pytest.raises(pa.PromotionError):
        y += 1.5
    assert y.tolist() == [1, 2]


# --- Reductions, order, sets ---------------------------------------------------------------------


def reduced(name: str, **options: Any) -> Callable[[Any], Any]:
    return lambda x: getattr(pa, name)(x, **options)


@pytest.mark.parametrize("name", ["max", "min", "argmax", "argmin"])
@pytest.mark.parametrize(
    "values",
    [
        [-np.inf, -np.inf],
        [np.inf, np.inf],
        [1e-40, 3e-40, -2e-40],
        [1.0, np.nan, 3.0],
        [-1.0, -np.nan, 3.0],
        [-0.0, -0.0],
        [2.0, 5.0, 5.0, 2.0],
    ],
    ids=str,
)
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
def test_extremes(name: str, values: list[float], dtype: str) -> None:
    """CuPy's own take float32 subnormals for zero, and the lowest number for -inf."""
    x = pa.asarray(np.array(values, np.float32), dtype=dtype)
    for options in ({}, {"axis": 0}, {"axis": -1, "keepdims": True}):
        run = reduced(name, **options)
        same(run(x), run(x.to_device(GPU)))


def test_extremes_of_integers_and_of_nothing() -> None:
    x = pa.reshape(cases.array(dt.int16), (16, 16))
    for name in ("max", "min", "argmax", "argmin"):
        for axis in (0, 1, None):
            run = reduced(name, axis=axis)
            same(run(x), run(x.to_device(GPU)))
        with pytest.raises(ValueError, match=r"zero-size|empty|no elements"):
            getattr(pa, name)(on_gpu(np.empty((0,), np.float32)))


@pytest.mark.parametrize("dtype", ["int8", "float32", "bfloat16", "float8_e5m2", "bool", "uint4"])
def test_sums(dtype: str) -> None:
    x = pa.asarray(np.arange(12).reshape(3, 4) % 4, dtype=dtype)
    there = x.to_device(GPU)
    for name in ("sum", "prod", "mean", "all", "any", "cumulative_sum", "std"):
        for axis in (1, 0) if name == "cumulative_sum" else (1, None):
            run = reduced(name, axis=axis)
            want, got = cases.outcome(lambda r=run: r(x)), cases.outcome(lambda r=run: r(there))
            assert not cases.different(want, got, places=4), name
    assert pa.cumulative_sum(there, axis=0, include_initial=True).shape == (4, 4)
    assert pa.count_nonzero(there).dtype is pa.int64


def test_sums_of_floats_under_a_policy() -> None:
    x = on_gpu(np.full(4096, 0.1), pa.float16)
    with pa.policy("torch"):
        assert abs(float(pa.sum(x)) - 409.6) < 0.5  # accumulated in float32
    assert pa.sum(x).dtype is pa.float16


@pytest.mark.parametrize("dtype", ["float32", "float8_e4m3fn", "int4", "complex64", "bfloat16"])
def test_sorting_and_sets(dtype: str) -> None:
    x = cases.array(dt.BY_NAME[dtype])
    there = x.to_device(GPU)
    same(pa.sort(x), pa.sort(there))
    same(pa.argsort(x, descending=True), pa.argsort(there, descending=True))
    for want, got in zip(pa.unique_all(x), pa.unique_all(there), strict=True):
        same(want, got)
    same(pa.isin(x, x[:7]), pa.isin(there, there[:7]))


def test_subnormals_are_told_apart() -> None:
    x = pa.asarray(np.array([1e-40, 2e-40, 0, 1e-40], np.float32))
    same(pa.unique_values(x), pa.unique_values(x.to_device(GPU)))
    y = pa.sort(x)
    same(pa.searchsorted(y, x), pa.searchsorted(y.to_device(GPU), x.to_device(GPU)))
    same(x == 0, x.to_device(GPU) == 0)
    same(x.astype(pa.bool), x.to_device(GPU).astype(pa.bool))
    assert [i.tolist() for i in pa.nonzero(x.to_device(GPU))] == [[0, 1, 3]]


def test_products_of_matrices() -> None:
    x = pa.asarray(np.arange(6).reshape(2, 3), dtype=pa.bfloat16)
    y = pa.asarray(np.arange(12).reshape(3, 4), dtype=pa.bfloat16)
    there = x.to_device(GPU), y.to_device(GPU)
    same(x @ y, there[0] @ there[1])
    same(pa.tensordot(x, y, axes=1), pa.tensordot(*there, axes=1))
    same(pa.vecdot(x, x), pa.vecdot(there[0], there[0]))
    same(pa.linalg.outer(x[0], y[0]), pa.linalg.outer(there[0][0], there[1][0]))
    same(pa.diff(y), pa.diff(there[1]))
    same(pa.diff(y > 3), pa.diff(there[1] > 3))


def test_linear_algebra_and_transforms() -> None:
    x = pa.asarray(np.array([[2.0, 1.0], [1.0, 3.0]], np.float32))
    there = x.to_device(GPU)
    assert cases.different(pa.linalg.inv(x), pa.linalg.inv(there), places=8) == ""
    assert cases.different(pa.linalg.det(x), pa.linalg.det(there), places=8) == ""
    assert cases.different(pa.fft.fft(x), pa.fft.fft(there), places=8) == ""
    same(pa.linalg.diagonal(x), pa.linalg.diagonal(there))
    same(pa.linalg.trace(x), pa.linalg.trace(there))
    same(pa.linalg.matrix_rank(x), pa.linalg.matrix_rank(there))
    assert cases.different(pa.linalg.pinv(x), pa.linalg.pinv(there), places=64) == ""
    narrow = x.astype(pa.bfloat16)
    for run in (pa.linalg.vector_norm, pa.linalg.matrix_norm):
        assert cases.different(run(narrow), run(narrow.to_device(GPU)), places=2) == ""


# --- Shapes and indices --------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float8_e4m3fn", "complex32", "float32", "bfloat16"])
def test_values_move(dtype: str) -> None:
    x = pa.reshape(cases.array(dt.BY_NAME[dtype]), (4, -1))
    there = x.to_device(GPU)
    index = pa.asarray([2, 0, -1])
    moves: list[Callable[[Any], Any]] = [
        lambda x: pa.reshape(x, (-1,)),
        lambda x: pa.permute_dims(x, (1, 0)),
        lambda x: pa.flip(x, axis=1),
        lambda x: pa.roll(x, 3),
        lambda x: pa.tile(x, (2, 1)),
        lambda x: pa.repeat(x, 2, axis=0),
        lambda x: pa.repeat(x, pa.asarray([1, 0, 2, 1]).to_device(x.device), axis=0),
        lambda x: pa.concat([x, x], axis=1),
        lambda x: pa.stack([x, x]),
        lambda x: pa.expand_dims(x, axis=1),
        lambda x: pa.take(x, index, axis=0),
        lambda x: pa.tril(x),
        lambda x: pa.meshgrid(x[0], x[1])[1],
        lambda x: pa.unstack(x)[2],
        lambda x: x.T,
        lambda x: x.mT,
    ]
    for move in moves:
        same(move(x), move(there))


KEYS = [
    1,
    (slice(None), -1),
    (..., None, slice(1, 4)),
    (slice(None, None, -2), slice(5, 1, -1)),
    (np.array([0, 2, -1]),),
    (np.array([[0], [2]]), np.array([1, 3])),
    (slice(1, 3), np.array([4, -4])),
    (np.arange(4) % 2 == 0,),
    (slice(None), np.arange(6) > 2),
    (np.arange(24).reshape(4, 6) % 5 == 0,),
    True,
    (),
]


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_reads_and_writes(key: Any) -> None:
    values = np.arange(24, dtype=np.float32).reshape(4, 6)
    x, y = pa.asarray(values.copy()), on_gpu(values)
    parts = key if isinstance(key, tuple) else (key,)
    mine = tuple(pa.asarray(p) if isinstance(p, np.ndarray) else p for p in parts)
    theirs = tuple(p.to_device(GPU) if isinstance(p, pa.PArray) else p for p in mine)
    mine, theirs = (mine, theirs) if isinstance(key, tuple) else (mine[0], theirs[0])
    same(x[mine], y[theirs])
    x[mine], y[theirs] = 7, 7
    same(x, y)
    x[mine], y[theirs] = x[mine] + 1, y[theirs] + 1
    same(x, y)


@pytest.mark.parametrize(
    "key", [6, np.array([0, 4]), np.array([-5]), np.ones(3, np.bool), (0, 0, 0)], ids=str
)
def test_keys_that_lead_nowhere(key: Any) -> None:
    """CuPy itself wraps indices round."""
    x = on_gpu(np.zeros((4, 6)))
    with pytest.raises(IndexError, match=r"out of bounds|too many|mask"):
        x[key]
    with pytest.raises(IndexError, match=r"out of bounds|too many|mask"):
        x[key] = 1.0
    assert not pa.any(x)
    with pytest.raises(IndexError, match="out of bounds"):
        pa.take(x, on_gpu([4]), axis=0)


def test_memory_that_overlaps() -> None:
    x = on_gpu(np.arange(5))
    x[1:] = x[:-1]
    assert x.tolist() == [0, 0, 1, 2, 3]


# --- Creation ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda **o: pa.zeros((2, 3), **o), id="zeros"),
        pytest.param(lambda **o: pa.ones(3, dtype=pa.float8_e4m3fn, **o), id="ones"),
        pytest.param(lambda **o: pa.zeros(3, dtype=pa.float8_e8m0fnu, **o), id="zeros of a scale"),
        pytest.param(lambda **o: pa.full((2,), 1.5, dtype=pa.bfloat16, **o), id="full"),
        pytest.param(lambda **o: pa.arange(7, **o), id="arange"),
        pytest.param(lambda **o: pa.arange(0.1, 3.7, 0.1, **o), id="arange of floats"),
        pytest.param(lambda **o: pa.arange(-0.5, 9, 2, **o), id="arange of both"),
        pytest.param(lambda **o: pa.arange(2**64 - 3, 2**64, dtype=pa.uint64, **o), id="uint64"),
        pytest.param(lambda **o: pa.linspace(0.1, 0.7, 31, **o), id="linspace"),
        pytest.param(lambda **o: pa.linspace(-1, 2, 8, endpoint=False, **o), id="no endpoint"),
        pytest.param(lambda **o: pa.linspace(1, 1, 3, **o), id="linspace of one value"),
        pytest.param(lambda **o: pa.linspace(0, 1j, 5, **o), id="linspace of complex"),
        pytest.param(lambda **o: pa.linspace(0, 1, 0, **o), id="linspace of nothing"),
        pytest.param(lambda **o: pa.eye(3, k=1, **o), id="eye"),
        pytest.param(lambda **o: pa.asarray([1, 2], **o), id="asarray"),
        pytest.param(lambda **o: pa.asarray([0.1, 2], dtype=pa.float4_e2m1fn, **o), id="float4"),
        pytest.param(lambda **o: pa.fft.fftfreq(5, **o), id="fftfreq"),
    ],
)
def test_creation(make: Any) -> None:
    same(make(), make(device=GPU))
    assert make(device="cuda:1").device == "cuda:1"


def test_like() -> None:
    x = on_gpu([[1.0, 2.0]], pa.bfloat16)
    for name in ("zeros_like", "ones_like", "empty_like"):
        assert getattr(pa, name)(x).device == GPU
        assert getattr(pa, name)(x, device="cpu").device == "cpu"
    assert pa.full_like(x, 3).tolist() == [[3.0, 3.0]]


def test_random_lines_are_those_of_numpy() -> None:
    random = np.random.default_rng(3)
    for start, stop, step in random.normal(0, 10, (50, 3)):
        if (stop > start) == (step > 0) and abs((stop - start) / step) < 1e4:
            same(pa.arange(start, stop, step), pa.arange(start, stop, step, device=GPU))
        same(pa.linspace(start, stop, 37), pa.linspace(start, stop, 37, device=GPU))


# --- Devices -------------------------------------------------------------------------------------


def test_devices_are_listed() -> None:
    assert pa.__array_namespace_info__().devices() == ("cpu", "cuda:0", "cuda:1")


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
    with pytest.raises(ValueError, match=r"no device 'cuda:7' here; there is 'cpu', 'cuda:0'"):
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
    assert pa.__array_namespace_info__().devices() == ("cpu",)


def test_out_of_memory_writes_nothing() -> None:
    x = on_gpu([1.0, 2.0])
    standin.trouble.error = standin.OutOfMemoryError("Out of memory allocating 1,024 bytes")
    with pytest.raises(MemoryError, match=r"no memory left.*free_all_blocks"):
        x += 1
    with pytest.raises(MemoryError, match="no memory left"):
        x.astype(pa.float16)
    standin.trouble.error = None
    assert x.tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (standin.CUDARuntimeError("cudaErrorIllegalAddress: an illegal memory"), "Start Python"),
        (standin.CUDARuntimeError("cudaErrorNoKernelImageForDevice: no image"), "not built for"),
        (standin.CompileException("error: no such thing"), r"NVRTC.*pip install"),
        (RuntimeError("Failed to find CUDA headers. Please install"), "pip install"),
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
    with pytest.raises(TypeError, match="no dtype promoarray knows"):
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


# --- The stand-in itself -------------------------------------------------------------------------


def test_the_stand_in_refuses_what_cupy_refuses(cupy: Any) -> None:
    x = cupy.asarray(np.ones(2, np.float32))
    with pytest.raises(TypeError, match="Implicit conversion"):
        np.asarray(x)
    with pytest.raises(TypeError, match="Unsupported type"):
        x + np.ones(2, np.float32)
    with pytest.raises(ValueError, match="Unsupported dtype"):
        cupy.empty(2, dt.float8_e4m3fn.storage)
    with pytest.raises(TypeError, match="unexpected keyword"):
        cupy.sum(x, where=True)
    with pytest.raises(AttributeError, match="einsum_path"):
        cupy.einsum_path  # noqa: B018
    with pytest.raises(AssertionError, match="own cast"):
        x.astype(np.int32)
    assert (cupy.asarray(np.array([1e-40], np.float32)) == 0).item()


def test_the_stand_in_has_what_cupy_has() -> None:
    """Where CuPy is installed; no GPU is needed to look."""
    with standin.installed():
        for name in [n for n in sys.modules if n.partition(".")[0] == "cupy"]:
            del sys.modules[name]
        real = pytest.importorskip("cupy", exc_type=ImportError)
        assert real.ndarray is not standin.ndarray
        if str(real.__version__) != "14.2.0":
            pytest.skip(f"the names are those of CuPy 14.2.0, not {real.__version__}")
        assert standin_names.asked() == standin_names.FILE.read_text(encoding="utf-8")


def test_backends_are_found_by_type(cupy: Any) -> None:
    assert backend_of(cupy.asarray(np.ones(1))).name == "cupy"


def test_shapes_that_do_not_fit_are_told_as_on_the_cpu() -> None:
    for device in ("cpu", GPU):
        with pytest.raises(ValueError, match=r"\(2,\).*\(3,\)"):
            pa.ones(2, device=device) + pa.ones(3, device=device)


def test_results_have_the_layout_of_their_operands() -> None:
    x = on_gpu(np.ones((3, 4), np.float32)).T
    y = on_gpu(np.ones((3, 4)), pa.bfloat16).T
    assert (x + y)._buffer.flags.f_contiguous
    assert (x * 2)._buffer.flags.f_contiguous
    assert (x + pa.ones((4, 3), device=GPU))._buffer.flags.c_contiguous


def test_the_namespace_that_array_api_tests_are_run_on() -> None:
    """conformance/array_api.py --device cuda:0."""
    import array_api_device as xp

    assert xp.asarray([1, 2]).device == xp.zeros(3).device == xp.fft.fftfreq(3).device == GPU
    assert xp.zeros(3, device="cpu").device == "cpu"
    assert xp.__array_namespace_info__().default_device() == GPU
    assert xp.add is pa.add
