"""Whole programs: imports, recorded programs, lazy arrays, and the build."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZipFile

from measure import OURS, Bound, Line, Options, Values

ROOT = Path(__file__).resolve().parents[1]

# --- import --------------------------------------------------------------------------------------

PLAIN = "numpy, ml_dtypes"
IMPORTS = {OURS: "import promoarray", PLAIN: "import numpy, ml_dtypes"}


def imports(options: Options) -> Iterator[Line]:
    """Yield the import, in fresh interpreters."""
    yield Line("import promoarray", partial(imported, 5), (Bound(1.5, (PLAIN,)),))


def imported(rounds: int) -> Values:
    """Return the least CPU time of each import; the first round fills the caches of files."""
    least = dict.fromkeys(IMPORTS, float("inf"))
    for turn in range(rounds + 1):
        for name, statement in IMPORTS.items():
            code = f"from time import process_time as now\nt = now()\n{statement}\nprint(now() - t)"
            command = [sys.executable, "-P", "-c", code]  # what is installed, not what lies here
            run = subprocess.run(command, capture_output=True, text=True, check=True)
            if turn:
                least[name] = min(least[name], float(run.stdout))
    return least


# --- recording -----------------------------------------------------------------------------------

TIMED = """
import os, time
{setup}
def step():
{body}
step()
started = time.process_time()
for _ in range({steps}):
    step()
with open(os.environ["BENCHMARK_SECONDS"], "a") as file:
    print(time.process_time() - started, file=file)
"""
_TRAINED = """
    global w
    y = {matmul}(x, w)
    error = y - 1.5
    w = w - 0.01 * {matmul}({transposed}, error)
    total = (error * error).mean() + y.std()
"""
PROGRAMS = {
    "torch": (
        "import torch\ntorch.set_num_threads(1)\nx, w = torch.ones(256, 256), torch.ones(256, 64)",
        _TRAINED.format(matmul="torch.matmul", transposed="x.T"),
        300,
    ),
    "paddle": (
        "import paddle\nx, w = paddle.ones([256, 256]), paddle.ones([256, 64])",
        _TRAINED.format(matmul="paddle.matmul", transposed="x.t()"),
        300,
    ),
    "jax": (
        "import jax.numpy as jnp\nx, w = jnp.ones((256, 256)), jnp.ones((256, 64))",
        _TRAINED.format(matmul="jnp.matmul", transposed="x.T"),
        300,
    ),
    "numpy": (
        "import numpy as np\nx, y = np.zeros(3), np.ones(3, np.float32)",
        "    z = y + x\n    z *= 1.5\n    x[1:] = y[1:]\n    np.exp(y)\n",
        5000,
    ),
    "promoarray": (
        "import promoarray as pa\nx, y = pa.ones(3), pa.ones(3, dtype=pa.int8)",
        "    s = x * 1.5\n    t = s + y\n    pa.sum(t)\n",
        5000,
    ),
}
"""Programs of each framework: what is set up, the body of a step, and how many steps."""
COMMANDS = {"compare": ("compare", "--fail-on", "none", "--policies", "onnx")}
"""What observes a program, with one policy."""
TIMES = {"numpy": 3.0, "promoarray": 3.0}
"""The bare run's time that it may take; 1.3 of the others."""


def recording(options: Options) -> Iterator[Line]:
    """Yield a program of each framework that is installed, observed and bare."""
    for framework, (setup, body, steps) in PROGRAMS.items():
        if find_spec(framework) is None:
            continue
        text = TIMED.format(setup=setup, body=body, steps=steps // (5 if options.quick else 1))
        for command, words in COMMANDS.items():
            run = partial(observed, text, words, 2 if options.quick else 3)
            bound = Bound(TIMES.get(framework, 1.3), ("bare",))
            yield Line(f"{command} a program of {framework}", run, (bound,))


def observed(text: str, words: tuple[str, ...], rounds: int) -> Values:
    """Return the least CPU time of a program's own loop, as a command runs it and bare."""
    with tempfile.TemporaryDirectory() as folder:
        program, seconds = Path(folder, "program.py"), Path(folder, "seconds")
        program.write_text(text, encoding="utf-8")
        runs = {OURS: ["-m", "promoarray", *words, str(program)], "bare": [str(program)]}
        least = {way: [] for way in runs}  # type: dict[str, list[float]]
        for _ in range(rounds):
            for way, command in runs.items():
                subprocess.run(
                    [sys.executable, *command],
                    env=os.environ | {"BENCHMARK_SECONDS": str(seconds)},
                    capture_output=True,
                    check=True,
                )
                *_, last = seconds.read_text().split()
                least[way].append(float(last))
        return {way: min(found) for way, found in least.items()}


# --- Dask ----------------------------------------------------------------------------------------

SIZES = ((10_000, 100, 1.5), (1_000_000, 8, 1.1))
"""Elements of a chunk, how many, and the bound."""


def dask_arrays(options: Options) -> Iterator[Line]:
    """Yield ``x * y + 1.5`` over lazy arrays, built and computed on one thread."""
    import dask
    import dask.array as da
    import numpy as np

    import promoarray as pa

    dask.config.set(scheduler="synchronous")
    for chunk, chunks, times in SIZES:
        values = np.random.default_rng(0).normal(size=chunk * chunks).astype(np.float32)
        plain_x, plain_y = (da.from_array(values, chunks=chunk).persist() for _ in range(2))
        x, y = pa.asarray(plain_x), pa.asarray(plain_y)
        calls: dict[str, Callable[[], object]] = {
            OURS: lambda x=x, y=y: (x * y + 1.5).compute(),
            "dask": lambda x=plain_x, y=plain_y: (x * y + np.float32(1.5)).compute(),
        }
        name = f"x * y + 1.5, {chunks} chunks of {chunk}"
        yield Line(name, calls, (Bound(times, ("dask",)),))


# --- build ---------------------------------------------------------------------------------------

BUILD_SECONDS, BUILD_BYTES = 90.0, 4e6


def build(options: Options) -> Iterator[Line]:
    """Yield the CPU time of building a wheel, and the bytes of its extension modules."""
    with tempfile.TemporaryDirectory() as folder:
        started = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", folder, str(ROOT)]
        subprocess.run(command, check=True, env=os.environ | {"CCACHE_DISABLE": "1"})
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        took = ended.ru_utime - started.ru_utime + ended.ru_stime - started.ru_stime
        (wheel,) = Path(folder).glob("*.whl")
        with ZipFile(wheel) as files:
            size = sum(
                f.file_size for f in files.infolist() if f.filename.endswith((".so", ".pyd"))
            )
    yield Line("a wheel from source", lambda: {OURS: took}, (Bound(BUILD_SECONDS),))
    yield Line("extension modules", lambda: {OURS: float(size)}, (Bound(BUILD_BYTES),), "byte")
