"""Operations fused with their casts, without a GPU: they compile for all, and give the CPU's bits.

As for the casts: the text is CuPy's own, and its PTX is executed by ``ptx``.
Arithmetic, comparisons, integers and casts must agree bit for bit, NaN included; functions of the
libraries lie within their tolerance of the exact result.
"""

from __future__ import annotations

from itertools import islice

import cuda_compiler
import numpy as np
import ptx
import pytest
from cuda_cases import operand
from cuda_fused_cases import COMPUTED, Case, alike, mixed, plainly

from promoarray import dtypes as dt
from promoarray.kernels.cuda.fused import fused_kernel
from promoarray.promotion.plan import Plan

cuda_compiler.require(__name__)
PIECES = 6
GROUPS = [*COMPUTED, *range(PIECES)]
every_group = pytest.mark.parametrize("group", GROUPS, ids=str)


def cases(group: dt.DType | int) -> list[Case]:
    """A group: operands of one dtype, or a piece of what policies mix."""
    if isinstance(group, dt.DType):
        return list(alike(group))
    return list(islice(mixed().values(), group, None, PIECES))


@pytest.mark.slow
@every_group
def test_every_operation_compiles_for_gpus_and_gives_the_bits_of_the_cpu(group, record_property):
    """For the oldest and the newest GPU, in turns for those between; each PTX is executed."""
    found = cases(group)
    architectures = cuda_compiler.in_turn(GROUPS.index(group))
    wrong = []
    executed = 0
    for batch in cuda_compiler.batches([case.kernel for case in found]):
        names = {kernel.name for kernel in batch}
        for text in cuda_compiler.compiled_for(batch, architectures):
            module = ptx.Module(text)
            executed += len(batch)
            for case in found:
                if case.kernel.name in names:
                    wrong += _run(module, case)
    assert not wrong
    record_property(f"fused kernels compiled for {architectures}", len(found))
    record_property("fused kernels executed as PTX, each text of a compiler", executed)


def _run(module: ptx.Module, case: Case) -> list[str]:
    given = case.arguments()
    out = np.zeros(given[0].size, case.plan.result.storage)
    arguments = [*map(ptx.strided, [*given, out]), ptx.indexer(out.shape)]
    ptx.launch(module, case.kernel.name, arguments, blocks=out.size // 128)
    return case.wrong(given, out)


@pytest.mark.parametrize(
    ("compute", "operands"),
    [
        (dt.float32, (dt.bfloat16, dt.float32)),
        (dt.complex128, (dt.float64, dt.complex128)),
        (dt.int8, (dt.int8, dt.int8)),
    ],
    ids=str,
)
def test_a_scalar_travels_with_the_launch(compute, operands):
    kernel = fused_kernel("add", operands, (compute,) * 2, compute, compute, plainly)
    text = cuda_compiler.elementwise_text(kernel, scalars=(1,))
    module = ptx.Module(cuda_compiler.ptx_of(text))
    x = operand(operands[0], 1 << 15, 0)[:500]
    scalar = np.array(3, operands[1].storage)
    out = np.zeros(x.size, compute.storage)
    arguments = [ptx.strided(x.copy()), scalar.tobytes(), ptx.strided(out), ptx.indexer(x.shape)]
    ptx.launch(module, kernel.name, arguments, blocks=4)
    case = Case("add", operands, Plan((compute,) * 2, compute, compute), plainly)
    assert not case.wrong([x, np.broadcast_to(scalar, x.shape)], out)


def test_clip_has_the_bounds_it_is_given():
    x = np.array([-3, 0, 7, np.nan], np.float32)
    low, high = np.full(4, -1, np.float32), np.full(4, 5, np.float32)
    for bounds, want in (
        ({"low": low}, [-1, 0, 7, np.nan]),
        ({"high": high}, [-3, 0, 5, np.nan]),
        ({"low": low, "high": high}, [-1, 0, 5, np.nan]),
    ):
        dtypes = (dt.float32,) * (1 + len(bounds))
        flags = dict.fromkeys(bounds, True)
        kernel = fused_kernel("clip", dtypes, dtypes, dt.float32, dt.float32, plainly, **flags)
        text = cuda_compiler.elementwise_texts([kernel])
        module = ptx.Module(cuda_compiler.ptx_of(text))
        out = np.zeros_like(x)
        arrays = [x, *bounds.values(), out]
        arguments = [*map(ptx.strided, arrays), ptx.indexer(x.shape)]
        ptx.launch(module, kernel.name, arguments, blocks=1)
        np.testing.assert_array_equal(out, np.array(want, np.float32))


def test_plain_arithmetic_would_flush_subnormals():
    """What the kernels avoid is there: the tool sees it."""
    kernel = fused_kernel(
        "add", (dt.float32,) * 2, (dt.float32,) * 2, dt.float32, dt.float32, plainly
    )
    text = cuda_compiler.elementwise_text(kernel)
    call = text.index("op::add(")
    plain = text[:call] + "op::plain(" + text[call + len("op::add(") :]
    plain = plain.replace(
        "// For all of them.", "PROMOARRAY_CAST float plain(float x, float y) { return x + y; }"
    )
    tiny = np.array([1e-40, 2e-40, 3e-39, 1.0], np.float32)
    sums = []
    for version in (text, plain):
        module = ptx.Module(cuda_compiler.ptx_of(version))
        out = np.zeros_like(tiny)
        arguments = [*map(ptx.strided, [tiny, tiny, out]), ptx.indexer(out.shape)]
        ptx.launch(module, kernel.name, arguments, blocks=1)
        sums.append(out)
    np.testing.assert_array_equal(sums[0], tiny + tiny)
    np.testing.assert_array_equal(sums[1], [0, 0, 0, 2])
