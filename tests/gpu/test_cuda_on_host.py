"""The text of the cast kernels, compiled for the CPU, gives what the CPU extension gives.

CuPy's own indexing is in it: the arrays are strided, too.
"""

from __future__ import annotations

import cuda_compiler
import cuda_on_host
import numpy as np
import pytest
from cuda_cases import GROUPS, differences, expected, group_name, pairs, patterns
from sampled import sampled

from promoarray import dtypes as dt
from promoarray.dtypes import CONCRETE, Kind
from promoarray.kernels import DEFAULT, cast, dtype_args
from promoarray.kernels.cuda.contiguous import contiguous_kernel
from promoarray.kernels.cuda.kernel_source import cast_kernel

cuda_compiler.require()
cuda_on_host.require()


@pytest.mark.slow
@pytest.mark.parametrize("group", GROUPS, ids=group_name)
def test_the_text_of_every_cast_gives_the_bits_of_the_cpu(group, tmp_path, record_property):
    kernels = {
        cast_kernel(source, *cast): (source, *cast) for source in group for cast in pairs(source)
    }
    wrong = []
    for number, batch in enumerate(cuda_compiler.batches(kernels, at_once=len(kernels))):
        folder = tmp_path / str(number)  # one name is one library
        folder.mkdir()
        text = cuda_compiler.elementwise_texts(batch)
        library = cuda_on_host.built(text, [k.name for k in batch], folder)
        for kernel in batch:
            source, target, *how = kernels[kernel]
            codes = patterns(source)
            got = np.zeros(codes.size, target.storage)
            cuda_on_host.run(library, kernel.name, [codes, got])
            wrong += differences(codes, got, expected(codes, source, target, *how), kernel.name)
    assert not wrong
    record_property("cast kernels run as C++", len(kernels))


@pytest.mark.parametrize(
    ("source", "target"),
    [(dt.float32, dt.float8_e4m3fn), (dt.float64, dt.bfloat16), (dt.int8, dt.complex64)],
    ids=str,
)
def test_any_layout_is_cast(source, target, tmp_path):
    kernel = cast_kernel(source, target)
    text = cuda_compiler.elementwise_text(kernel, ndim=2, contiguous=False)
    library = cuda_on_host.built(text, [kernel.name], tmp_path)
    whole = np.resize(patterns(source), (40, 60))
    for view in (whole[::-2, 3::5], whole.T, np.broadcast_to(whole[:1], (7, 60))):
        out = np.zeros(view.shape[::-1], target.storage).T
        cuda_on_host.run(library, kernel.name, [view, out])
        given = np.ascontiguousarray(view)
        want = expected(given, source, target, DEFAULT)
        assert np.ascontiguousarray(out).tobytes() == want.tobytes()


def test_contiguous_kernels_take_any_length_and_any_first_element(tmp_path):
    source, target = dt.float32, dt.float8_e4m3fn
    kernel = contiguous_kernel(cast_kernel(source, target))
    library = cuda_on_host.built(cuda_compiler.raw_texts([kernel]), [kernel.name], tmp_path)
    block = kernel.threads * kernel.per_thread
    wrong = []
    for count, start in ((1, 0), (block, 0), (block, 1), (2 * block + 5, 0), (3 * block - 1, 3)):
        codes = np.resize(patterns(source), count + start)[start:]
        got = np.zeros(count + 64, np.uint8)
        addresses = [a.ctypes.data.to_bytes(8, "little") for a in (codes, got)]
        arguments = [*addresses, np.uint64(count).tobytes()]
        blocks = kernel.blocks(count)
        cuda_on_host.launch(library, kernel.name, arguments, blocks, kernel.threads)
        want = expected(codes, source, target, DEFAULT)
        wrong += differences(codes, got[:count].view(target.storage), want, f"{count}, {start}")
        assert not got[count:].any()
    assert not wrong


@pytest.mark.slow
@pytest.mark.parametrize("source", [dt.float32, dt.float64], ids=str)
def test_wide_casts_are_the_definition_at_and_beside_every_tie(source, tmp_path):
    """Of float32 every upper half, of float64 every sign and exponent with many fractions; each
    with the lowest bits around each power of two, with which the targets take turns: in all of them
    one text looks at these.
    """
    shorter = [d for d in CONCRETE if d.kind is Kind.FLOAT and d.bits in (8, 16, 32)]
    targets = [d for d in shorter if d.bits < source.bits]
    kernels = {cast_kernel(source, target): target for target in targets}
    text = cuda_compiler.elementwise_texts(kernels)
    library = cuda_on_host.built(text, [k.name for k in kernels], tmp_path)
    width = source.bits - 16
    below = {0, 1, (1 << width) - 1, *((1 << k) + d for k in range(1, width) for d in (-1, 0, 1))}
    word = np.dtype(f"u{source.storage.itemsize}").type
    high = np.arange(1 << 16, dtype=word) << word(width)
    wrong = []
    for turn, (kernel, target) in enumerate(kernels.items()):
        low = np.array(sampled(sorted(below), 3, turn), word)
        for some in np.array_split(high, 4):
            codes = (some[:, None] | low).reshape(-1)
            got = np.zeros(codes.size, target.storage)
            cuda_on_host.run(library, kernel.name, [codes.view(source.storage), got])
            want = np.empty_like(got)
            cast(codes, want, dtype_args(source), dtype_args(target), DEFAULT, False)
            wrong += differences(codes, got, want, kernel.name)
    assert not wrong
