"""Elementwise operations on a GPU, on a machine that has none.

gpu/cupy_standin/ says what the stand-in is and what it is not. The same is asked of a real GPU
in gpu/test_on_device.py.
"""

from __future__ import annotations

from typing import Any

import device_cases as cases
import numpy as np
import pytest
from cupy_standin import kernels as standin_kernels
from formula_cases import wrong_formulas
from here_and_there import GPU, compiled_together, on_gpu, same

import promoarray as pa
from promoarray import dtypes as dt
from promoarray.dtypes import CONCRETE, Kind
from promoarray.promotion.registry import as_policy

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


def test_a_lone_negative_zero_keeps_its_sign() -> None:
    for dtype in (pa.float32, pa.float64, pa.bfloat16, pa.complex128):
        x = pa.asarray(-0.0, dtype=dtype)
        same(x, x.to_device(GPU))
        same(x, pa.asarray(-0.0, dtype=dtype, device=GPU))
    assert pa.signbit(pa.full((2,), -0.0, device=GPU)).to_device("cpu").tolist() == [True, True]


@pytest.mark.parametrize(
    "compute",
    [
        pytest.param(
            d, marks=() if d.name in ("float32", "complex64", "int64") else pytest.mark.slow
        )
        for d in dt.STANDARD
    ],
    ids=str,
)
def test_kernels_of_single_frameworks(compute: Any) -> None:
    wrong = compiled_together(wrong_formulas, compute, GPU)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("policy", "names", "dtypes"),
    [
        ("torch", ("divide", "sign", "fmod", "matmul"), (dt.complex32, dt.float32, dt.int64)),
        ("mindspore@2.10", ("floor_divide", "remainder", "pow"), (dt.complex64, dt.int16)),
        ("paddle", ("remainder", "multiply", "max"), (dt.complex64, dt.bfloat16)),
        ("tensorflow", ("max", "mean", "floor_divide"), (dt.int8, dt.float32)),
        ("jax", ("floor_divide", "remainder", "bitwise_left_shift"), (dt.int32, dt.uint64)),
    ],
    ids=str,
)
def test_functions_of_single_frameworks(policy: str, names: Any, dtypes: Any) -> None:
    asked = list(cases.operations(policy, names, dtypes, mixed=True))
    wrong = compiled_together(cases.disagreements, policy, asked, GPU)
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
@pytest.mark.parametrize("policy", pa.list_policies())
def test_every_policy(policy: str) -> None:
    names = "bool int8 uint8 int32 int64 float16 bfloat16 float32 float64 float8_e4m3fn"
    names += " complex32 complex64"
    dtypes = tuple(dt.BY_NAME[name] for name in names.split())
    own = tuple(name for name in cases.NAMES if name in as_policy(policy).kernels)
    refused = NO_KERNELS.get(policy.partition("@")[0], ())
    asked = [
        (name, pair)
        for name, pair in cases.operations(policy, ("divide", *own), dtypes, mixed=True)
        if name not in ("pow", "atan2") or not any(d.kind is Kind.COMPLEX for d in pair)
        if not (name in refused and dt.bfloat16 in pair)
        if name != "exp"  # whose last digits are the GPU's own, as those of complex numbers are
    ]
    wrong = compiled_together(cases.disagreements, policy, asked, GPU)
    assert not wrong, "\n".join(wrong)


NO_KERNELS = {"mlx": ("floor_divide",), "tinygrad": ("divide", "floor_divide")}
"""Formulas each step of which rounds to bfloat16, whose arrays are codes to CuPy."""


@pytest.mark.parametrize(
    ("policy", "name"), [(policy, name) for policy, names in NO_KERNELS.items() for name in names]
)
def test_formulas_that_round_each_step_to_bfloat16_are_refused(policy: str, name: str) -> None:
    xp = pa.namespace(policy)
    x = xp.asarray([1.5, 2.0], dtype=xp.bfloat16).to_device(GPU)
    with pytest.raises(TypeError, match=r"there is no CuPy kernel for .* of bfloat16"):
        getattr(xp, name)(x, xp.asarray(3.0, dtype=xp.bfloat16).to_device(GPU))


@pytest.mark.slow
@pytest.mark.parametrize("source", CONCRETE, ids=str)
def test_every_cast(source: Any) -> None:
    wrong = compiled_together(cases.wrong_casts, "numpy", cases.casts((source,)), GPU)
    assert not wrong, "\n".join(wrong)


def test_a_plan_is_one_kernel() -> None:
    ran = standin_kernels.launches
    a, b = on_gpu([1.5, 2.0], pa.float16), on_gpu([0.5, 3.0], pa.bfloat16)
    ran.clear()
    with pa.policy("torch"):
        out = a * b
    assert len(ran) == 1
    assert (out.dtype, out.tolist()) == (pa.float32, [0.75, 6.0])
    x = on_gpu([1, 2], pa.int8)
    ran.clear()
    assert (x + 1.5).tolist() == [2.5, 3.5]
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


@pytest.mark.parametrize("policy", ["numpy", "numpy@1", "jax", "torch"])
def test_powers_by_one_exponent(policy: str) -> None:
    dtypes = (dt.bfloat16, dt.float32)
    wrong = compiled_together(cases.wrong_powers, policy, dtypes, GPU)
    assert not wrong, "\n".join(wrong)


def test_powers_without_shortcuts_are_one_kernel() -> None:
    ran = standin_kernels.launches
    x = on_gpu([-np.inf, -0.0, 4.0], pa.bfloat16)
    for policy in ("jax", "paddle"):
        with pa.policy(policy):
            ran.clear()
            root = x**0.5
            assert len(ran) == 1, policy
            assert [str(each) for each in root.tolist()] == ["inf", "0.0", "2.0"]


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


def test_steps_are_part_of_fused_kernels() -> None:
    xp = pa.namespace("jax+flushes-subnormals")
    x, y = xp.asarray(cases.array(dt.bfloat16)), xp.asarray(cases.array(dt.float64, 1))
    with np.errstate(all="ignore"):  # the patterns overflow, and only the CPU tells
        same(x * y, x.to_device(GPU) * y.to_device(GPU))


def test_an_operation_done_again_is_only_launched(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel is kept by the types of the operands; the policy is not asked again."""
    from promoarray.promotion.policy import Policy

    x, y = on_gpu([1.5, 2.0], pa.bfloat16), on_gpu([0.5, 3.0], pa.float32)
    first = x + y, x * 2, y > 1, pa.sqrt(x)
    monkeypatch.setattr(Policy, "decide", lambda *a, **o: pytest.fail("decided again"))
    again = x + y, x * 2, y > 1, pa.sqrt(x)
    for want, got in zip(first, again, strict=True):
        assert (want.dtype, want.tolist()) == (got.dtype, got.tolist())
    assert (x[:, None] + y).shape == (2, 2)
    monkeypatch.undo()
    with pytest.raises(ValueError, match=r"\(2,\).*\(3,\)"):
        x + on_gpu([1, 2, 3], pa.float32)
    small = on_gpu([1], pa.int8)
    assert (small + 1).tolist() == [2]
    with pytest.raises(OverflowError, match="1000 does not fit int8"):
        small + 1000
    assert (small < 1000).tolist() == [True]
    with pa.policy("torch"):
        assert (x + y).dtype is pa.float32
        assert (x + y[0]).dtype is pa.bfloat16
    with pa.trace() as trace:
        x + y
    assert "bfloat16" in str(trace)


def test_no_kernel_is_kept_for_an_array_that_a_shadow_run_disputes() -> None:
    """Its record is one of its own: whatever is kept by it is not found again for another array."""
    with pa.shadow("torch"):
        disputed = on_gpu([1, 2], pa.int8) / on_gpu([2, 2], pa.int8)
    assert disputed._type is not disputed.dtype
    assert (disputed + disputed).tolist() == [1.0, 2.0]
    assert not any(disputed._type in key for key in pa.get_policy().executables)


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
