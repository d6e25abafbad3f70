"""Powers by exponents that frameworks have a way of their own for, without a GPU: the CPU's bits.

PTX is executed by ``ptx`` and compared with the CPU's back end, which takes the kernel of the same
name and one exponent.
"""

from __future__ import annotations

import cuda_compiler
import numpy as np
import ptx
import pytest
from cuda_cases import differences, operand
from cuda_fused_cases import ULPS, plainly

from promoarray import dtypes as dt
from promoarray.backends import numpy as backend
from promoarray.kernels.cuda.fused import fused_kernel
from promoarray.promotion.plan import Plan

cuda_compiler.require(__name__)
EXACT = {
    "single_pow": (0.5, 2),
    "plain_pow": (0.5, 2),
    "whole_shortcut_pow": (-1, 2),
    "root_shortcut_pow": (0.5,),
    "shortcut_pow": (-1, 0, 0.5, 1, 2),
    "multiplied_pow": (-2, -1, -0.5, 0, 0.5, 1, 2, 3),
    "integer_pow": (-7, -2, -1, 0, 1, 2, 3, 10, 1e30, np.inf),
}
"""By kernel, the exponents whose powers are no function of a library."""
ON_CPU = {"single_pow": "pow"}
PATTERNS = 1 << 12

every_kernel = pytest.mark.parametrize("name", EXACT)
every_dtype = pytest.mark.parametrize("held", [dt.float32, dt.float64, dt.bfloat16], ids=str)


def made(name: str, held: dt.DType):
    compute = held if held.bits >= 32 else dt.float32
    plan = Plan((held, held), None if compute is held else compute, held)
    return fused_kernel(name, (held, held), plan.inputs, plan.compute, held, plainly), plan


def on_cpu(name: str, held: dt.DType, plan: Plan, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    run = backend.compile(ON_CPU.get(name, name), (held, held), plan, plainly)
    with np.errstate(all="ignore"):
        return run(x, y)


def bases(held: dt.DType) -> np.ndarray:
    x = operand(held, PATTERNS, 3)
    x.flags.writeable = False
    return x


@every_dtype
@every_kernel
def test_the_code_for_gpus_gives_the_bits_of_the_cpu(name, held):
    kernel, plan = made(name, held)
    text = cuda_compiler.elementwise_text(kernel, scalars=(1,))
    x, wrong = bases(held), []
    for architecture in (90, 100):
        module = ptx.Module(cuda_compiler.compiled(text, architecture).ptx)
        for exponent in EXACT[name]:
            y, out = np.array(exponent, held.storage), np.zeros_like(x)
            travels = y.view(f"u{y.itemsize}").tobytes()
            given = [ptx.strided(x), travels, ptx.strided(out), ptx.indexer(x.shape)]
            ptx.launch(module, kernel.name, given, blocks=PATTERNS // 128)
            wrong += differences(x, out, on_cpu(name, held, plan, x, y), f"{name} by {exponent}")
    assert not wrong


@pytest.mark.parametrize("held", ULPS, ids=str)
@every_kernel
def test_other_powers_are_near_the_exact_ones(name, held):
    if name == "integer_pow":
        pytest.skip("all of its exponents are integers")
    kernel, _ = made(name, held)
    module = ptx.Module(cuda_compiler.ptx_of(cuda_compiler.elementwise_text(kernel)))
    random = np.random.default_rng(0)
    x = np.exp(random.normal(0, 3, PATTERNS)).astype(held.storage)
    y = random.normal(0, 4, PATTERNS).astype(held.storage)
    out = np.zeros_like(x)
    given = [*map(ptx.strided, (x, y, out)), ptx.indexer(x.shape)]
    ptx.launch(module, kernel.name, given, blocks=PATTERNS // 128)
    wider = np.float64 if held is dt.float32 else np.longdouble
    exact = np.power(x.astype(wider), y.astype(wider))
    error = np.abs(out.astype(wider) - exact) / np.spacing(exact.astype(held.storage)).astype(wider)
    assert error.max() <= ULPS[held]
