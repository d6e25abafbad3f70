"""A sum of a product that is rounded once, without a GPU: what complex arithmetic is made of there.

PTX is executed by ``ptx`` and compared with what the CPU makes of sums and products.
"""

from __future__ import annotations

import cuda_compiler
import numpy as np
import ptx
import pytest
from cuda_cases import differences
from cuda_fused_cases import plainly

from promoarray import dtypes as dt
from promoarray.kernels.cuda.fused import fused_kernel
from promoarray.kernels.portable.steps import fused

cuda_compiler.require(__name__)
PATTERNS = 1 << 14

every_dtype = pytest.mark.parametrize("held", [dt.float32, dt.float64], ids=str)


def kernel_of(held: dt.DType):
    return fused_kernel("fma", (held,) * 3, (held,) * 3, None, held, plainly)


def operands(held: dt.DType) -> list[np.ndarray]:
    """Numbers of all sizes whose products float64 holds, subnormals of float32 among them; half of
    the sums lose what the product has."""
    random = np.random.default_rng(11)
    size = 300 if held is dt.float64 else 74
    x, y = (
        np.ldexp(random.normal(size=PATTERNS), random.integers(-size, size, PATTERNS)) for _ in "xy"
    )
    z = -x * y * np.where(random.random(PATTERNS) < 0.5, 1, random.normal(size=PATTERNS))
    with np.errstate(over="ignore", under="ignore"):
        given = [a.astype(held.storage) for a in (x, y, z)]
    for a in given:
        a[:8] = [0.0, -0.0, 1.0, np.inf, -np.inf, np.nan, 2.0, -1.0]
        random.shuffle(a[:8])
    return given


def on_cpu(given: list[np.ndarray]) -> np.ndarray:
    with np.errstate(all="ignore"):
        found = fused(np, *given)
    found[np.isnan(found)] = np.nan
    return found


def is_nan_alike(found: np.ndarray) -> np.ndarray:
    found[np.isnan(found)] = np.nan
    return found


@every_dtype
def test_the_code_for_gpus_rounds_once(held):
    kernel, given = kernel_of(held), operands(held)
    text = cuda_compiler.elementwise_text(kernel)
    for architecture in (90, 100):
        module = ptx.Module(cuda_compiler.compiled(text, architecture).ptx)
        out = np.zeros_like(given[0])
        arrays = [ptx.strided(a) for a in (*given, out)]
        ptx.launch(module, kernel.name, [*arrays, ptx.indexer(out.shape)], blocks=PATTERNS // 128)
        assert not differences(given[0], is_nan_alike(out), on_cpu(given), f"fma of {held}")
