"""Every cast kernel, without a GPU: it compiles for all of them, and its PTX gives the right bits.

What is compiled is the text CuPy itself would make (``cuda_compiler.py``); the PTX is executed by
``ptx``. The reference is the CPU's cast, which test_casts.py compares with exact arithmetic.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import cuda_compiler
import numpy as np
import ptx
import pytest
from cuda_cases import (
    GROUPS,
    PATTERNS,
    Transforms,
    differences,
    expected,
    group_name,
    pairs,
    patterns,
)
from cuda_compiler import ARCHITECTURES, EVERY
from sampled import sampled

from promoarray import dtypes as dt
from promoarray.dtypes import CONCRETE, DType, Kind
from promoarray.kernels import DEFAULT, CastMode
from promoarray.kernels.cuda.contiguous import RawSource, contiguous_kernel
from promoarray.kernels.cuda.kernel_source import KernelSource, cast_kernel

cuda_compiler.require(__name__)

every_group = pytest.mark.parametrize("group", GROUPS, ids=group_name)
THREADS = 128


def run_elementwise(module: ptx.Module, name: str, codes: np.ndarray, target: DType) -> np.ndarray:
    out = np.zeros(codes.size, target.storage)
    arguments = [ptx.strided(codes), ptx.strided(out), ptx.indexer(codes.shape)]
    ptx.launch(module, name, arguments, blocks=-(-codes.size // THREADS), threads=THREADS)
    return out


IN_TURNS = [each for older in ARCHITECTURES[:-1] for each in (older, ARCHITECTURES[-1])]
"""The newest GPU every other time."""

Cast = tuple[DType, DType, CastMode, Transforms]


def kernels_of(group: tuple[DType, ...]) -> dict[KernelSource, Cast]:
    """Every kernel of some sources, and the cast it is for."""
    casts = [(source, *cast) for source in group for cast in pairs(source)]
    return {cast_kernel(*cast): cast for cast in casts}


def in_turns(
    kernels: dict[KernelSource, Cast], group: int
) -> dict[Sequence[int], list[KernelSource]]:
    """Which kernels of a group are compiled for which architectures."""
    several = cuda_compiler.in_turn(group)
    found: dict[Sequence[int], list[KernelSource]] = {several: []}
    for turn, (kernel, (_, _, mode, transforms)) in enumerate(kernels.items()):
        plain = EVERY or (mode == DEFAULT and not transforms)
        chosen = several if plain else (IN_TURNS[turn % len(IN_TURNS)],)
        found.setdefault(chosen, []).append(kernel)
    return found


@pytest.mark.slow
@every_group
def test_every_cast_compiles_for_gpus_and_gives_the_bits_of_the_cpu(group, record_property):
    """The default cast of each pair compiles for the oldest GPU and the newest, and in turns for
    those between; other modes and transforms are other literals and statements in the same text, so
    each is compiled for one GPU in turn, and every other one for the newest, whose PTX NVRTC makes
    in another way; ``PROMOARRAY_EVERY_GPU=1`` compiles all for all. Every PTX that an architecture
    has to itself is executed.
    """
    kernels = kernels_of(group)
    wrong = []
    executed = 0
    compiled: Counter[int] = Counter()
    for architectures, chosen in in_turns(kernels, GROUPS.index(group)).items():
        for batch in cuda_compiler.batches(chosen):
            for text in cuda_compiler.compiled_for(batch, architectures):
                module = ptx.Module(text)
                executed += len(batch)
                for kernel in batch:
                    wrong += _wrong(module, kernel, kernels[kernel])
        compiled.update(dict.fromkeys(architectures, len(chosen)))
    assert not wrong
    for architecture, count in compiled.items():
        record_property(f"cast kernels compiled for sm_{architecture}", count)
    record_property("cast kernels", len(kernels))
    record_property("cast kernels executed as PTX, each text of a compiler", executed)


def _wrong(module: ptx.Module, kernel: KernelSource, cast: Cast) -> list[str]:
    source, target, *how = cast
    codes = patterns(source)
    assert codes.size == (PATTERNS if source.storage.itemsize > 1 else 256)
    got = run_elementwise(module, kernel.name, codes, target)
    return differences(codes, got, expected(codes, source, target, *how), kernel.name)


@pytest.mark.slow
@pytest.mark.parametrize("source", [dt.float32, dt.float64], ids=str)
def test_wide_casts_are_those_of_the_cpu_at_and_beside_every_tie(source):
    """Of float32 every upper half, of float64 every sign and exponent with many fractions; each
    with the lowest bits around each power of two, with which the targets take turns: in all of them
    one text looks at these.
    """
    floats = [d for d in CONCRETE if d.kind is Kind.FLOAT and d.bits in (8, 16, 32)]
    kernels = {cast_kernel(source, d): d for d in floats if d.bits < source.bits}
    module = ptx.Module(cuda_compiler.ptx_of(cuda_compiler.elementwise_texts(kernels)))
    width = source.bits - 16
    below = {0, 1, (1 << width) - 1, *((1 << k) + d for k in range(1, width) for d in (-1, 0, 1))}
    word = np.dtype(f"u{source.storage.itemsize}").type
    high = np.arange(1 << 16, dtype=word) << word(width)
    wrong = []
    for turn, (kernel, target) in enumerate(kernels.items()):
        low = np.array(sampled(sorted(below), 3, turn), word)
        for some in np.array_split(high, 4):
            codes = (some[:, None] | low).reshape(-1).view(source.storage)
            codes.flags.writeable = False
            got = run_elementwise(module, kernel.name, codes, target)
            want = expected(codes, source, target, DEFAULT)
            wrong += differences(codes, got, want, kernel.name)
    assert not wrong


# --- Contiguous arrays ---------------------------------------------------------------------------


def run_contiguous(
    module: ptx.Module, kernel: RawSource, codes: np.ndarray, target: DType, offset: int
):
    out = np.zeros(codes.size, target.storage)
    arguments = [codes, out, np.uint64(codes.size).tobytes()]
    blocks = kernel.blocks(codes.size)
    ptx.launch(module, kernel.name, arguments, blocks=blocks, threads=kernel.threads, offset=offset)
    return out


ONE_OF_EACH_WIDTH = (dt.int4, dt.float8_e4m3fn, dt.bfloat16, dt.float32, dt.float64)


@pytest.mark.slow
@pytest.mark.parametrize("source", [*ONE_OF_EACH_WIDTH, dt.complex32, dt.complex128], ids=str)
def test_contiguous_kernels_compile_and_give_the_bits_of_the_cpu(source, record_property):
    """The text of a cast is that of the elementwise kernel, which is tried under every mode."""
    kernels = {
        contiguous_kernel(cast_kernel(source, target)): target
        for target in (*ONE_OF_EACH_WIDTH, dt.complex64, dt.complex128)
        if target is not source
    }
    codes = np.resize(patterns(source), PATTERNS + 11)  # and some for the end
    codes.flags.writeable = False
    wrong = []
    for text in cuda_compiler.compiled_for(list(kernels), ARCHITECTURES, raw=True):
        module = ptx.Module(text)
        for kernel, target in kernels.items():
            got = run_contiguous(module, kernel, codes, target, offset=0)
            wrong += differences(codes, got, expected(codes, source, target, DEFAULT), kernel.name)
    assert not wrong
    record_property("contiguous kernels compiled for every GPU and run as PTX", len(kernels))


@pytest.mark.parametrize(
    ("source", "target"),
    [(dt.float32, dt.float8_e4m3fn), (dt.float8_e5m2, dt.float64), (dt.bfloat16, dt.int8)],
    ids=str,
)
def test_contiguous_kernels_take_any_length_and_any_first_element(source, target):
    kernel = contiguous_kernel(cast_kernel(source, target))
    text = cuda_compiler.raw_texts([kernel])
    module = ptx.Module(cuda_compiler.ptx_of(text, raw=True))
    block = kernel.threads * kernel.per_thread
    wrong = []
    for count in (1, 15, block - 1, block, block + 1, 2 * block):
        codes = np.resize(patterns(source), count)
        codes.flags.writeable = False
        for offset in (0, 8):
            got = run_contiguous(module, kernel, codes, target, offset)
            wrong += differences(codes, got, expected(codes, source, target, DEFAULT), f"{count}")
    assert not wrong


def test_contiguous_kernels_read_and_write_16_bytes_at_once():
    for source, target, read, written in (
        (dt.float32, dt.float8_e4m3fn, "ld.global.v4", "st.global.v4.u8"),
        (dt.float8_e4m3fn, dt.float32, "ld.global.v4.u8", "st.global.v4"),
    ):
        text = cuda_compiler.raw_texts([contiguous_kernel(cast_kernel(source, target))])
        code = cuda_compiler.ptx_of(text, raw=True)
        assert read in code
        assert written in code


# --- Layouts -------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", [dt.float8_e4m3fn, dt.float64, dt.complex64], ids=str)
def test_any_layout_is_cast(target):
    memory = patterns(dt.float32)[:6000].copy()
    memory.flags.writeable = False
    whole = memory.reshape(20, 30, 10)
    views = (
        whole[::2, ::-3, 1:],
        whole.transpose(2, 0, 1),
        np.broadcast_to(whole[:, :1], (20, 7, 10)),
    )
    kernel = cast_kernel(dt.float32, target)
    text = cuda_compiler.elementwise_text(kernel, ndim=3, contiguous=False)
    module = ptx.Module(cuda_compiler.ptx_of(text))
    for view in views:
        out = np.zeros(view.shape[::-1], target.storage)
        arguments = [ptx.Strided(view, memory), ptx.Strided(out.T, out), ptx.indexer(view.shape)]
        ptx.launch(module, kernel.name, arguments, blocks=4)  # fewer threads than elements
        given = np.ascontiguousarray(view)
        want = expected(given, dt.float32, target, DEFAULT)
        assert np.ascontiguousarray(out.T).tobytes() == want.tobytes()


def test_a_wrong_kernel_is_seen():
    """Ties that go away from even differ, though they are few."""
    kernel = cast_kernel(dt.float32, dt.float8_e4m3fnuz)
    right = "const Bits under_half = (one << (lost - 1)) - 1;"
    text = cuda_compiler.elementwise_text(kernel)
    assert text.count(right) == 1
    text = text.replace(right, "const Bits under_half = one << (lost - 1);")
    module = ptx.Module(cuda_compiler.ptx_of(text))
    codes = patterns(dt.float32)
    got = run_elementwise(module, kernel.name, codes, dt.float8_e4m3fnuz)
    assert differences(codes, got, expected(codes, dt.float32, dt.float8_e4m3fnuz, DEFAULT), "")
