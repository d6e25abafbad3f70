"""The kernels that look at values: they compile for every GPU, and their device code is right."""

from __future__ import annotations

import cuda_compiler
import numpy as np
import ptx
import pytest

from promoarray import dtypes as dt
from promoarray.kernels.cuda import values

cuda_compiler.require(__name__)

KERNELS = list(values.all_kernels())


@pytest.mark.slow
def test_they_compile_for_every_gpu(record_property):
    for batch in cuda_compiler.batches(KERNELS):
        for text in cuda_compiler.compiled_for(batch, cuda_compiler.ARCHITECTURES):
            assert all(cuda_compiler.function_of(text, kernel.name) for kernel in batch)
    record_property("kernels of values compiled for every GPU", len(KERNELS))


def run(kernel, *arrays, out):
    """Run a kernel by the interpreter of PTX."""
    code = cuda_compiler.ptx_of(cuda_compiler.elementwise_text(kernel))
    arguments = [*map(ptx.strided, [*arrays, out]), ptx.indexer(out.shape)]
    ptx.launch(ptx.Module(code), kernel.name, arguments, blocks=-(-out.size // 128))
    return out


def patterns(dtype):
    """Random floats, those that are special, and their neighbours."""
    random = np.random.default_rng(0)
    width = dtype.storage.itemsize
    codes = random.integers(0, 256, 4096 * width, np.uint8).view(f"u{width}")
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan, 1, -1], dtype.storage)
    edges = special.view(f"u{width}")
    one = edges.dtype.type(1)
    return np.concatenate([codes, edges, edges + one, edges - one]).view(dtype.storage)


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("dtype", list(values.INTEGERS), ids=str)
def test_integers_are_in_the_order_of_the_floats(dtype, largest):
    x = patterns(dtype)
    whole = values.INTEGERS[dtype].storage
    keys = run(values.to_order(dtype, largest=largest), x, out=np.zeros(x.shape, whole))
    nan = np.isnan(x)
    ends = np.iinfo(whole)
    assert (keys[nan] == (ends.max if largest else ends.min)).all()
    order = np.argsort(keys[~nan], kind="stable")
    line = x[~nan][order]
    assert (line[1:] >= line[:-1]).all()
    assert (np.diff(keys[~nan][order]) > 0).sum() == np.unique(
        x[~nan].view(f"u{whole.itemsize}")
    ).size - 1
    back = run(values.from_order(dtype, largest=largest), keys, out=np.zeros(x.shape, x.dtype))
    word = f"u{whole.itemsize}"
    assert (back.view(word)[~nan] == x.view(word)[~nan]).all()
    assert np.isnan(back[nan]).all()
    alike = values.to_order(dtype, largest=largest, zeros_alike=True)
    keys = run(alike, x, out=np.zeros(x.shape, whole))
    assert (keys[x == 0] == 0).all()
    line = x[~nan][np.argsort(keys[~nan], kind="stable")]
    assert (line[1:] >= line[:-1]).all()


@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "bfloat16"])
def test_the_next_float(name):
    dtype = dt.BY_NAME[name]
    word = f"u{dtype.storage.itemsize}"
    codes = np.arange(256, dtype=word) << (dtype.bits - 8)
    x, towards = (np.ascontiguousarray(v).reshape(-1) for v in np.meshgrid(codes, codes))
    given = [v.view(dtype.storage).astype(np.float32) for v in (x, towards)]
    unordered = np.isnan(given[0]) | np.isnan(given[1])
    flags = given[0] < given[1], given[0] == given[1], unordered
    kernel = values.next_code(dtype)
    out = run(kernel, x, towards, *flags, out=np.zeros(x.shape, word))
    want = np.nextafter(*(v.view(dtype.storage) for v in (x, towards))).view(word)
    assert (out[~unordered] == want[~unordered]).all()
    assert np.isnan(out[unordered].view(dtype.storage).astype(np.float32)).all()
