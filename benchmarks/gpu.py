"""Measure arrays on a GPU: casts against a copy, the cost of a launch, and operations.

Run ``python benchmarks/gpu.py`` where there is a GPU; ``--write`` puts the tables into docs/gpu.md.
Times are CUDA's own, the median of rounds in which what is compared takes turns; launches are timed
on the CPU. PyTorch stands beside if it is installed and sees the GPU. Nothing is asserted: a time
is a measurement, not a test.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from datetime import date
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

import promoarray as pa
from promoarray import dtypes as dt
from promoarray.dtypes import DType, Kind

PAGE = Path(__file__).resolve().parents[1] / "docs" / "gpu.md"
BEGIN, END = "<!-- benchmarks/gpu.py writes from here -->", "<!-- to here -->"
GOAL = 0.8
"""Of the bandwidth of a copy: what a cast of 2**28 elements should reach."""

NARROW = [d for d in dt.CONCRETE if d.kind is Kind.FLOAT and d.bits <= 8]
PAIRS = [
    *((dt.float32, d) for d in (*NARROW, dt.float16, dt.bfloat16, dt.int8, dt.int4, dt.float64)),
    *((d, dt.float32) for d in (*NARROW, dt.float16, dt.bfloat16, dt.int8, dt.int4, dt.float64)),
    *((dt.bfloat16, d) for d in (dt.float8_e4m3fn, dt.float8_e5m2, dt.float16)),
    *((dt.float16, d) for d in (dt.float8_e4m3fn, dt.bfloat16)),
    *((dt.int64, d) for d in (dt.float32, dt.bfloat16)),
]
OPERATIONS = [
    ("torch", "add", dt.bfloat16, dt.float16),
    ("torch", "add", dt.bfloat16, dt.bfloat16),
    ("torch", "multiply", dt.int8, dt.float32),
    ("torch", "add", dt.float32, dt.float32),
    ("paddle", "divide", dt.float16, dt.float16),
    ("numpy", "add", dt.float8_e5m2, dt.float8_e5m2),
]
Call = Callable[[], Any]
Row = list[str]


class Gpu:
    """CuPy, PyTorch if it is there, and what is measured with them."""

    def __init__(self, elements: int, rounds: int) -> None:
        self.cupy = import_module("cupy")
        self.elements, self.rounds = elements, rounds
        self.torch = self._torch()

    @staticmethod
    def _torch() -> Any:
        try:
            torch = import_module("torch")
        except ImportError:
            return None
        return torch if torch.cuda.is_available() else None

    def times(self, *calls: Call | None) -> list[float | None]:
        """Seconds each call takes on the GPU: they take turns."""
        events = [self.cupy.cuda.Event() for _ in range(2)]
        found: list[list[float]] = [[] for _ in calls]
        for turn in range(self.rounds + 2):
            for call, times in zip(calls, found, strict=True):
                if call is None:
                    continue
                events[0].record()
                call()
                events[1].record()
                events[1].synchronize()
                if turn > 1:  # the first compile and fill the pool of memory
                    times.append(self.cupy.cuda.get_elapsed_time(*events) / 1e3)
        return [statistics.median(times) if times else None for times in found]

    def sample(self, dtype: DType, size: int) -> Any:
        """Numbers around 1, on the GPU."""
        random = self.cupy.random.default_rng(0)
        values = random.standard_normal(size, dtype=np.float32)
        made = pa.asarray(values).astype(dtype)
        del values
        self.cupy.get_default_memory_pool().free_all_blocks()
        return made

    def by_torch(self, x: Any, target: DType) -> Call | None:
        """PyTorch's cast of the same memory; None where it has none."""
        torch = self.torch
        names = [getattr(torch, d.name, None) for d in (x.dtype, target)] if torch else [None]
        if None in names or min(x.dtype.bits, target.bits) < 8:
            return None
        width = x.dtype.storage.itemsize
        codes = torch.from_dlpack(x.view(f"uint{8 * width}" if width == 1 else f"int{8 * width}"))
        tensor = codes.view(names[0])
        try:
            tensor[:16].to(names[1])
        except (RuntimeError, NotImplementedError):
            return None
        return lambda: tensor.to(names[1])


# --- What is measured ----------------------------------------------------------------------------


def casts(gpu: Gpu) -> Iterator[Row]:
    """A row for each pair: GB/s, the share of a copy, PyTorch's GB/s."""
    n, rate = gpu.elements, _copy_rate(gpu)
    yield ["copy of float32", f"{rate / 1e9:.0f}", "1.00", ""]
    for source, into in PAIRS:
        x = gpu.sample(source, n)
        ours, theirs = gpu.times(lambda x=x, d=into: x.astype(d), gpu.by_torch(x, into))
        moved = (source.storage.itemsize + into.storage.itemsize) * n
        assert ours is not None
        share = moved / ours / rate
        yield [
            f"{source} to {into}",
            f"{moved / ours / 1e9:.0f}",
            f"{share:.2f}{'' if share >= GOAL else ' (below the goal)'}",
            "" if theirs is None else f"{moved / theirs / 1e9:.0f}",
        ]
        del x
        gpu.cupy.get_default_memory_pool().free_all_blocks()


def _copy_rate(gpu: Gpu) -> float:
    """Bytes a second, read and written."""
    whole = gpu.sample(dt.float32, gpu.elements)._buffer
    target = gpu.cupy.empty_like(whole)
    (seconds,) = gpu.times(lambda: gpu.cupy.copyto(target, whole))
    assert seconds is not None
    return 2 * whole.nbytes / seconds


def launches(gpu: Gpu) -> Iterator[Row]:
    """A row for each call on one element: microseconds on the CPU, CuPy's, PyTorch's."""
    x = pa.ones(1, dtype=pa.float32, device="cuda:0")
    narrow = x.astype(pa.bfloat16)
    raw = x._buffer
    tensor = gpu.torch.ones(1, device="cuda") if gpu.torch else None
    small = tensor.bfloat16() if gpu.torch else None
    f64, bf16 = np.float64, pa.bfloat16.storage
    with pa.policy("torch"):
        rows: list[tuple[str, Call, Call | None, Call | None]] = [
            ("a + b, float32", lambda: x + x, lambda: raw + raw, lambda: tensor + tensor),
            ("a + 1.5, float32", lambda: x + 1.5, lambda: raw + 1.5, lambda: tensor + 1.5),
            ("bfloat16 + float32", lambda: narrow + x, None, lambda: small + tensor),
            (
                "float32 to bfloat16",
                lambda: x.astype(pa.bfloat16),
                lambda: raw.astype(bf16),
                lambda: tensor.bfloat16(),
            ),
            (
                "float32 to float64",
                lambda: x.astype(pa.float64),
                lambda: raw.astype(f64),
                lambda: tensor.double(),
            ),
        ]
        for name, ours, cupys, torchs in rows:
            found = _launch(gpu, ours, cupys, torchs if gpu.torch else None)
            yield [name, *("" if t is None else f"{t * 1e6:.1f}" for t in found)]


def _launch(gpu: Gpu, *calls: Call | None, repeat: int = 2000) -> list[float | None]:
    """Seconds the CPU takes for each call; the GPU follows."""
    found: list[list[float]] = [[] for _ in calls]
    for turn in range(gpu.rounds + 1):
        for call, times in zip(calls, found, strict=True):
            if call is None:
                continue
            gpu.cupy.cuda.Device().synchronize()
            start = time.perf_counter()
            for _ in range(repeat):
                call()
            spent = time.perf_counter() - start
            if turn:
                times.append(spent / repeat)
    return [statistics.median(times) if times else None for times in found]


def operations(gpu: Gpu) -> Iterator[Row]:
    """A row for each operation with its casts: milliseconds, and PyTorch's."""
    n = gpu.elements >> 2
    for policy, name, *dtypes in OPERATIONS:
        xp = pa.namespace(policy)
        x, y = (xp.asarray(gpu.sample(d, n)) for d in dtypes)
        function = getattr(xp, name)
        theirs = _torch_pair(gpu, x, y, name) if policy == "torch" else None
        found = gpu.times(lambda f=function, x=x, y=y: f(x, y), theirs)
        title = f"{name}({dtypes[0]}, {dtypes[1]}) under {policy}"
        yield [title, *("" if t is None else f"{t * 1e3:.3f}" for t in found)]
        del x, y, function, theirs
        gpu.cupy.get_default_memory_pool().free_all_blocks()


def _torch_pair(gpu: Gpu, x: Any, y: Any, name: str) -> Call | None:
    if gpu.torch is None:
        return None
    a, b = (gpu.torch.from_dlpack(v) for v in (x, y))
    function = getattr(gpu.torch, name)
    return lambda: function(a, b)


# --- The page ------------------------------------------------------------------------------------


def machine(gpu: Gpu) -> str:
    """The card and what it runs with, in a sentence."""
    runtime = gpu.cupy.cuda.runtime
    card = runtime.getDeviceProperties(0)["name"].decode()
    driver, own = (
        "{}.{}".format(*divmod(number // 10, 100))
        for number in (runtime.driverGetVersion(), runtime.runtimeGetVersion())
    )
    torch = [f"PyTorch {gpu.torch.__version__}"] if gpu.torch else []
    words = [
        f"{date.today()}, {card}; CUDA driver {driver}, runtime {own}",
        *(f"promoarray {pa.__version__}", f"numpy {np.__version__}"),
        *(f"CuPy {gpu.cupy.__version__}", *torch, f"Python {platform.python_version()}"),
    ]
    return f"{', '.join(words)}."


def table(heads: Row, rows: list[Row]) -> str:
    """A table in Markdown, numbers to the right."""
    rule = ["---", *["---:"] * (len(heads) - 1)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (heads, rule, *rows))


def report(gpu: Gpu) -> str:
    """Measure everything."""
    power = gpu.elements.bit_length() - 1
    return "\n\n".join(
        [
            machine(gpu),
            f"Casts of 2**{power} elements; the goal is {GOAL:.0%} of a copy's bandwidth.",
            table(["", "GB/s", "of a copy", "PyTorch GB/s"], list(casts(gpu))),
            "One element: microseconds of the CPU until the next call.",
            table(["", "promoarray", "CuPy", "PyTorch"], list(launches(gpu))),
            f"An operation and its casts on 2**{power - 2} elements: milliseconds.",
            table(["", "promoarray", "PyTorch"], list(operations(gpu))),
        ]
    )


def main(arguments: list[str] | None = None) -> int:
    """Print the tables; with ``--write``, put them into the page too."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--elements", type=int, default=1 << 28, help="for casts (default 2**28)")
    parser.add_argument("--rounds", type=int, default=9, help="times each is measured")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name}, too")
    options = parser.parse_args(arguments)
    try:
        pa.zeros(1, device="cuda:0")
    except (ValueError, MemoryError, RuntimeError) as error:
        print(error, file=sys.stderr)
        return 2
    gpu = Gpu(options.elements, options.rounds)
    text = report(gpu)
    print(text)
    if options.write:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        _, _, after = rest.partition(END)
        PAGE.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
