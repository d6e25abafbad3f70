"""The texts of the kernels for a GPU, which are made and held against the CPU without CuPy."""

from __future__ import annotations

import re
import subprocess
import sys
from itertools import product

import numpy as np
import pytest

from promoarray import dtypes as dt
from promoarray.dtypes import CONCRETE, DType, Kind
from promoarray.kernels import (
    DEFAULT,
    Beyond,
    CastMode,
    NanWithout,
    ScaleNegative,
    ScaleRounding,
    ScaleZero,
    ToInteger,
    cast,
    dtype_args,
)
from promoarray.kernels.cuda.contiguous import contiguous_kernel
from promoarray.kernels.cuda.fused import answer, fused_kernel
from promoarray.kernels.cuda.kernel_source import (
    cast_kernel,
    preamble,
    relevant,
    stored,
)
from promoarray.kernels.cuda.symbolic import CodeTransform, transformed
from promoarray.operations import OPERATIONS
from promoarray.promotion.cast_transforms import cast_codes, single
from promoarray.promotion.registry import as_policy, list_policies

REAL = [d for d in CONCRETE if d.kind is not Kind.COMPLEX]


def test_making_texts_imports_no_library_of_a_gpu(tmp_path):
    code = (
        "import sys; from promoarray import dtypes as dt; from promoarray.kernels.cuda "
        "import fused, kernel_source; kernel_source.fused_preamble();"
        "kernel_source.cast_kernel(dt.float32, dt.float8_e4m3fn);"
        "assert not {m for m in sys.modules if m.startswith(('cupy', 'cuda.', 'nvidia'))}"
    )
    # Elsewhere, for the source's own folder may not be compiled in place.
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path)


def test_kernels_take_what_cupy_can_hold():
    assert [stored(d) for d in (dt.bool, dt.float32, dt.complex128)] == [
        "bool", "float32", "complex128",
    ]  # fmt: skip
    assert [stored(d) for d in (dt.float16, dt.bfloat16, dt.complex32)] == [
        "uint16", "uint16", "uint32",
    ]  # fmt: skip
    for dtype in CONCRETE:
        assert np.dtype(stored(dtype)).itemsize == dtype.storage.itemsize
        if dtype.bits <= 8 and dtype not in dt.STANDARD:
            assert stored(dtype) == "uint8"
    for dtype in (dt.string, dt.weak_float):
        with pytest.raises(TypeError, match="no cast kernel"):
            stored(dtype)


def test_headers_are_pasted_whole_and_never_included():
    for text in (preamble(), contiguous_kernel(cast_kernel(dt.float32, dt.int8)).code):
        assert "#include" not in text
        assert "#pragma once" not in text
        assert "PROMOARRAY_CAST u64 cast(u64 code, Type source, Type target, CastMode mode)" in text


def random_rules(count: int) -> list[CastMode]:
    rng = np.random.default_rng(0)
    kinds = (Beyond, Beyond, bool, NanWithout, ToInteger)
    kinds += (ScaleRounding, ScaleNegative, ScaleZero, bool, bool)
    choices = [list(kind) if kind is not bool else [False, True] for kind in kinds]
    return [CastMode(*(c[rng.integers(len(c))] for c in choices)) for _ in range(count)]


def some_codes(dtype: DType) -> np.ndarray:
    rng = np.random.default_rng(dtype.bits)
    width = 8 * dtype.storage.itemsize
    codes = rng.integers(0, 1 << 64, 1200, np.uint64) >> np.uint64(64 - width)
    if dtype.kind is Kind.FLOAT and dtype.bits >= 16:
        layout = dtype.format
        ends = np.array([0, 1, layout.largest, layout.inf, layout.nan, layout.inf + 1], np.uint64)
        codes[:12] = np.concatenate([ends, ends | np.uint64(1 << dtype.bits - 1)])
        near = rng.standard_normal(600) * np.exp2(rng.integers(-30, 70, 600))
        with np.errstate(over="ignore"):
            held = near.astype(dtype.storage).view(f"u{dtype.storage.itemsize}")
        codes[600:] = held
    return codes.astype(f"u{dtype.storage.itemsize}")


@pytest.mark.parametrize("source", REAL, ids=str)
def test_what_a_rule_loses_on_the_way_to_a_kernel_does_not_matter(source):
    codes = some_codes(source)
    wrong = []
    for target, mode in product(REAL, random_rules(25)):
        results = []
        for each in (mode, relevant(source, target, mode)):
            out = np.empty(codes.shape, f"u{target.storage.itemsize}")
            cast(codes, out, dtype_args(source), dtype_args(target), each)
            results.append(out)
        if (results[0] != results[1]).any():
            wrong.append((str(target), mode))
    assert not wrong[:3]


def test_equal_names_have_equal_texts():
    """CuPy's cache and a test's one source of many kernels both rely on it."""
    seen: dict[str, str] = {}
    for source, target in product(CONCRETE, CONCRETE):
        for mode in (DEFAULT, *random_rules(6)):
            kernel = cast_kernel(source, target, mode)
            assert re.fullmatch(r"[A-Za-z_]\w*", kernel.name)
            assert seen.setdefault(kernel.name, kernel.operation) == kernel.operation
            assert kernel is cast_kernel(source, target, mode)
    assert len(set(seen.values())) > 0.9 * len(seen)


def test_a_thread_of_a_contiguous_kernel_takes_16_elements_at_most():
    kernel = contiguous_kernel(cast_kernel(dt.float32, dt.float8_e4m3fn))
    block = kernel.threads * kernel.per_thread
    assert kernel.per_thread == 16
    assert [kernel.blocks(n) for n in (0, 1, block, block + 1, 2**40)] == [
        0, 1, 1, 2, 2**40 // block,
    ]  # fmt: skip
    for source, target, size in (
        (dt.complex128, dt.complex64, 8),
        (dt.float64, dt.bool, 16),
        (dt.bfloat16, dt.float16, 16),
    ):
        assert contiguous_kernel(cast_kernel(source, target)).per_thread == size


# --- Operations ----------------------------------------------------------------------------------


def plainly(source: DType, target: DType) -> tuple[CastMode, tuple[CodeTransform, ...]]:
    return DEFAULT, ()


def fused(name: str, *operands: DType, compute: DType, result: DType, casts=plainly):
    return fused_kernel(name, operands, (compute,) * len(operands), compute, result, casts)


def test_a_kernel_is_made_of_a_plan():
    kernel = fused("add", dt.bfloat16, dt.float8_e4m3fn, compute=dt.float32, result=dt.bfloat16)
    assert kernel.in_params == "uint16 x0, uint8 x1"
    assert kernel.out_params == "uint16 y"
    assert "op::add(" in kernel.operation
    assert "#include" not in kernel.preamble
    chosen = fused("where", dt.int8, dt.int8, compute=dt.int8, result=dt.int8)
    assert chosen.in_params == "bool c, int8 x0, int8 x1"


def test_what_no_kernel_does_is_none():
    assert fused("matmul", dt.float32, dt.float32, compute=dt.float32, result=dt.float32) is None
    assert fused("sin", dt.int8, compute=dt.int8, result=dt.int8) is None
    assert fused("floor", dt.complex64, compute=dt.complex64, result=dt.complex64) is None


def test_a_cast_inside_a_kernel_takes_its_steps():
    casts = as_policy("mindspore").cast.plan
    assert casts(dt.float32, dt.uint32).transforms
    same = {"compute": dt.float32, "result": dt.uint32}
    kernel = fused("add", dt.float32, dt.float32, **same, casts=casts)
    plain = fused("add", dt.float32, dt.float32, **same)
    assert kernel.name != plain.name
    assert len(kernel.operation) > len(plain.operation)


# --- Transforms of casts --------------------------------------------------------------------------


def test_steps_are_written_with_the_types_of_numpy():
    """Python's numbers are weak in them, integers wrap around, and what moves is bits."""

    def transform(codes, source, target, out):
        wide = codes.astype(np.uint64) << np.uint64(3)
        few = np.where(codes > 7, out - np.uint8(1), out)
        size = np.abs(cast_codes(codes, source, dt.float64).view(np.float64))
        return np.where((size < 0.5) & ~(wide == 8), np.clip(few, 1, 9), few).astype(np.uint8)

    lines = transformed("x", "y", dt.uint8, dt.uint8, (transform,))
    text = "\n".join(lines)
    for written in (
        "const u64 s0 = (u64)x;",
        "const u64 s1 = (u64)(s0 << (u64)0x3ull);",
        "const bool s2 = (bool)(x > (u8)0x7u);",
        "const u8 s3 = (u8)(y - (u8)0x1u);",
        "const u8 s4 = s2 ? s3 : y;",
        "op::abs(",
        "op::less(s7, as_float(0x3fe0000000000000ull));",
    ):
        assert written in text
    assert lines[-2:] == [f"    y = s{len(lines) - 4};", "}"]


@pytest.mark.parametrize(
    "transform",
    [
        pytest.param(lambda x, s, t, y: np.sin(single(x, s)), id="sine"),
        pytest.param(lambda x, s, t, y: x.view(np.float64), id="view of another width"),
        pytest.param(lambda x, s, t, y: single(x, s).astype(np.int32), id="cast of a float"),
        pytest.param(lambda x, s, t, y: np.sort(x), id="sorting"),
        pytest.param(lambda x, s, t, y: np.add.reduce(x), id="reduction"),
    ],
)
def test_a_step_that_cannot_be_written_is_refused(transform):
    with pytest.raises(TypeError):
        transformed("x", "y", dt.uint8, dt.uint8, (transform,))


def test_every_step_of_every_policy_is_written():
    for name in list_policies():
        policy = as_policy(name)
        quirky = policy.with_quirks(*(quirk.name for quirk in policy.cast.quirks))
        for casts, source, target in product((policy.cast, quirky.cast), REAL, REAL):
            transforms = casts.plan(source, target).transforms if source is not target else ()
            assert not transforms or transformed("x", "y", source, target, transforms)


# --- Answers -------------------------------------------------------------------------------------


def test_answers_are_numpys():
    """What an operation's own result is called must be what the CPU's kernel gives."""
    from promoarray.backends import numpy as backend

    wrong = []
    for operation, compute in product(OPERATIONS.values(), dt.STANDARD):
        found = answer(operation.name, compute)
        if found is None or operation.arity not in (1, 2) or operation.name == "where":
            continue
        ones = (np.ones(3, compute.storage),) * operation.arity
        with np.errstate(all="ignore"):
            ((_, own),) = backend.call(operation.name, ones, compute)
        if own is not found:
            wrong.append((operation.name, str(compute), str(found), str(own)))
    assert not wrong
