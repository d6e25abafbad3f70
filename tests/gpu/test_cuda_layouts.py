"""Arrays that are broadcast, or parts of others, run over by packs.

Where their elements lie is told by ``layouts``; the code for GPUs is executed by ``ptx``.
"""

from __future__ import annotations

import cuda_compiler
import numpy as np
import ptx
import pytest
from cuda_cases import operand
from cuda_fused_cases import Case, plainly
from hypothesis import given
from hypothesis import strategies as st

from promoarray import dtypes as dt
from promoarray.kernels.cuda.contiguous import MOST_PACKED, spread_kernel
from promoarray.kernels.cuda.layouts import layout_of
from promoarray.promotion.plan import Plan

# --- Where elements lie --------------------------------------------------------------------------


@st.composite
def views(draw: st.DrawFn) -> list[np.ndarray]:
    """Two parts of arrays that broadcast together."""
    shape = draw(st.lists(st.integers(1, 5), min_size=0, max_size=5))
    found = []
    for _ in range(2):
        own = [1 if draw(st.integers(0, 3)) == 0 else n for n in shape]
        own = own[draw(st.integers(0, len(own))) :]
        gaps = [draw(st.sampled_from((0, 0, 0, 1))) for _ in own]
        whole = np.arange(int(np.prod([n + g for n, g in zip(own, gaps, strict=True)])))
        part = whole.reshape([n + g for n, g in zip(own, gaps, strict=True)])
        part = part[(*(slice(0, n) for n in own), ...)]
        if own and draw(st.integers(0, 3)) == 0:
            part = part[::-1]
        found.append(
            part.T if draw(st.integers(0, 5)) == 0 and part.ndim == len(shape) < 2 else part
        )
    return found


@given(views())
def test_steps_lead_to_the_elements_of_the_result(arrays):
    layout = layout_of([(x.shape, x.strides, x.itemsize) for x in arrays])
    if layout is None:
        return
    spread = np.broadcast_arrays(*arrays)
    assert layout.shape == spread[0].shape
    words = layout.steps["steps"].reshape(-1, layout.axes)
    lengths, steps = words[0], words[1:]
    assert lengths.prod() == spread[0].size
    assert lengths[-1] % layout.last == 0
    assert {*steps[:, -1].tolist()} <= {0, 1}
    places = np.indices(lengths).reshape(layout.axes, -1)
    for x, full, own in zip(arrays, spread, steps, strict=True):
        base = x.base if x.base is not None else x
        first = (x.ctypes.data - base.ctypes.data) // x.itemsize
        at = first + own @ places
        np.testing.assert_array_equal(base.reshape(-1)[at], full.reshape(-1))


def lies(*arrays: np.ndarray):
    return layout_of([(x.shape, x.strides, x.itemsize) for x in arrays])


def test_few_axes_are_left():
    x = np.zeros((4, 6, 8))
    assert lies(x, x)[1:3] == (1, MOST_PACKED)
    assert lies(x, x[0, 0])[1:3] == (2, 8)
    assert lies(x, x[:, :1, :1])[1:3] == (2, MOST_PACKED)
    assert lies(x, x[:1, :, :1])[1:3] == (3, 8)
    assert lies(x[:, :, :5])[1:3] == (2, 1)
    assert lies(x[0, 0, 0], x[0, 0, 0])[:3] == ((), 1, 1)


def test_what_is_left_to_cupy():
    x = np.zeros((4, 6, 8))
    assert lies(x[:, :, ::2]) is None  # elements in a row do not lie side by side
    assert lies(x, x.T.reshape(8, 24)[:4, :6, None]) is not None
    assert lies(x[0], x[1].T.copy().T) is None
    assert lies(x[:0]) is None
    assert lies(np.zeros((2,) * 10)[:, :1, :, :1, :, :1, :, :1, :, :1]) is None
    with pytest.raises(ValueError, match="broadcast"):
        lies(x, x[:, :5])


# --- The code for GPUs ---------------------------------------------------------------------------


class Part(ptx.Strided):
    """An array that begins within another, given by its address alone."""

    def record(self, address: int) -> bytes:
        return super().record(address)[:8]


_OPERANDS = {
    "a row for all": lambda x, y: (x[:, 4:36], y[0, :32]),
    "a column for all": lambda x, y: (x[:, :32], y[:, :1]),
    "columns that no pack fits": lambda x, y: (x[:, 1:32], y[:, 5:36]),
    "every second row": lambda x, y: (x[::2], y[1::2]),
    "rows from the last": lambda x, y: (x[::-1, :16], y[:, :16]),
    "one row of one column": lambda x, y: (x[0], y[:, 0:1]),
}


@pytest.mark.parametrize("how", _OPERANDS)
@pytest.mark.parametrize(
    ("held", "compute"),
    [((dt.bfloat16, dt.float32), dt.float32), ((dt.float8_e4m3fn, dt.int8), dt.float64)],
    ids=str,
)
def test_packs_of_any_layout_have_the_bits_of_the_cpu(how, held, compute):
    cuda_compiler.require()
    case = Case("add", held, Plan((compute,) * 2, compute, compute), plainly)
    memory = [operand(d, 1 << 11, seed)[: 50 * 40].reshape(50, 40) for seed, d in enumerate(held)]
    for each in memory:
        each.flags.writeable = False
    arrays = _OPERANDS[how](*memory)
    layout = lies(*arrays)
    kernel = spread_kernel(case.kernel, (False, False), layout.axes, layout.last)
    out = np.zeros(layout.shape, compute.storage)
    parts = [Part(x, whole) for x, whole in zip(arrays, memory, strict=True)]
    size = np.uint64(out.size).tobytes()
    given = [*parts, layout.steps.tobytes(), out, size]
    for architecture in (75, 100):
        text = cuda_compiler.compiled(cuda_compiler.raw_texts([kernel]), architecture, raw=True).ptx
        out[...] = 0
        blocks = kernel.blocks(out.size)
        ptx.launch(ptx.Module(text), kernel.name, given, blocks=blocks, threads=kernel.threads)
        full = [np.ascontiguousarray(x).reshape(-1) for x in np.broadcast_arrays(*arrays)]
        assert not case.wrong(full, out.reshape(-1))
