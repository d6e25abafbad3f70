"""How fast casts are: nanoseconds an element, and the ratio to a copy of the wider side.

Run ``python benchmarks/casts.py``. Every number is of rounds in which the copy, promoarray and the
others (ml_dtypes and NumPy by ``astype``; PyTorch and onnxruntime where they are installed) take
turns, all on one thread. ``--level 1`` takes the loops for an x86-64 level below the machine's own.
Nothing is asserted: a time is a measurement, not a test.

A result of 32 MiB and more is fresh memory each time, to all but onnxruntime, which keeps its own:
that it is faster to 64-bit types says how long the system takes to hand over pages.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
from overhead import level, processor

from promoarray import dtypes as dt
from promoarray import kernels
from promoarray.backends import numpy as backend
from promoarray.dtypes import DType, Kind
from promoarray.threads import set_num_threads

WIDE = [dt.float32, dt.float64, dt.float16, dt.bfloat16, dt.int32, dt.int64, dt.int8]
NARROW = [d for d in dt.CONCRETE if d.kind is Kind.FLOAT and d.bits <= 8]
INTEGERS = [dt.int8, dt.uint8, dt.int16, dt.int32, dt.uint32, dt.int64, dt.uint64, dt.bool]

Cast = Callable[[], object]


def pairs() -> Iterator[tuple[DType, DType]]:
    """List the pairs that matter: wide types to and from narrow floats, each other and integers."""
    for wide in WIDE:
        for target in (*NARROW, dt.int4):
            yield wide, target
            yield target, wide
        for target in dict.fromkeys((*WIDE, *INTEGERS)):
            if target is not wide:
                yield wide, target


def sample(dtype: DType, n: int) -> np.ndarray[Any, Any]:
    """Numbers around 1, or any integers of the type."""
    rng = np.random.default_rng(0)
    if dtype.kind is Kind.FLOAT:
        with np.errstate(all="ignore"):
            values = rng.standard_normal(n) * 4
            return np.abs(values).astype(dtype.storage)
    bits = rng.integers(0, 1 << min(dtype.bits, 8), n, np.uint8)
    if dtype.bits <= 8:
        return bits.view(dtype.storage)
    return (bits.astype(np.int64) << rng.integers(0, dtype.bits - 10, n)).astype(dtype.storage)


def by_torch(source: DType, target: DType, x: np.ndarray[Any, Any]) -> Cast | None:
    """Cast by PyTorch, from its own tensor."""
    try:
        torch = importlib.import_module("torch")
    except ImportError:
        return None
    torch.set_num_threads(1)
    before, after = getattr(torch, source.name, None), getattr(torch, target.name, None)
    if before is None or after is None or min(source.bits, target.bits) < 8:
        return None
    whole = getattr(torch, f"uint{x.itemsize * 8}")
    tensor = torch.from_numpy(x.view(f"u{x.itemsize}")).view(whole).view(before)
    try:
        tensor[:1].to(after)
    except (RuntimeError, NotImplementedError):
        return None
    return lambda: tensor.to(after)


def by_onnxruntime(source: DType, target: DType, x: np.ndarray[Any, Any]) -> Cast | None:
    """Cast by onnxruntime, a model of one node."""
    try:
        onnx, ort = importlib.import_module("onnx"), importlib.import_module("onnxruntime")
    except ImportError:
        return None
    names = {"FLOAT32": "FLOAT", "FLOAT64": "DOUBLE", "FLOAT8_E4M3FN": "FLOAT8E4M3FN"}
    names |= {f"FLOAT8_{n.upper()}": f"FLOAT8{n.upper()}" for n in ("e4m3fnuz", "e5m2", "e5m2fnuz")}
    kinds = [
        getattr(onnx.TensorProto, names.get(d.name.upper(), d.name.upper()), None)
        for d in (source, target)
    ]
    if None in kinds or min(source.bits, target.bits) < 8:
        return None
    node = onnx.helper.make_node("Cast", ["x"], ["y"], to=kinds[1])
    ends = [
        onnx.helper.make_tensor_value_info(n, k, [None]) for n, k in zip("xy", kinds, strict=True)
    ]
    graph = onnx.helper.make_graph([node], "cast", ends[:1], ends[1:])
    opset = onnx.helper.make_opsetid("", 21)
    model = onnx.helper.make_model(graph, opset_imports=[opset], ir_version=10)
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    try:
        session = ort.InferenceSession(model.SerializeToString(), options)
        value = ort.OrtValue.ortvalue_from_numpy_with_onnx_type(x.view(f"u{x.itemsize}"), kinds[0])
        session.run_with_ort_values(["y"], {"x": value})
    except Exception:  # whatever it raises, it has no such kernel
        return None
    return lambda: session.run_with_ort_values(["y"], {"x": value})


def by_astype(source: DType, target: DType, x: np.ndarray[Any, Any]) -> Cast | None:
    """Cast by ml_dtypes, or by NumPy where both types are NumPy's."""
    try:
        x[:1].astype(target.storage)
    except TypeError:
        return None
    return lambda: x.astype(target.storage)


OTHERS = {"astype": by_astype, "torch": by_torch, "onnxruntime": by_onnxruntime}


def measure(source: DType, target: DType, n: int, rounds: int) -> dict[str, float]:
    """Time a cast by all who can: the fastest round of each, in nanoseconds an element."""
    x = sample(source, n)
    wide = source if source.storage.itemsize >= target.storage.itemsize else target
    y = x if wide is source else np.zeros(n, wide.storage)
    candidates: dict[str, Cast] = {
        "copy": y.copy,
        "promoarray": lambda: backend.cast(x, source, target),
    }
    for name, make in OTHERS.items():
        if (run := make(source, target, x)) is not None:
            candidates[name] = run
    fastest = dict.fromkeys(candidates, float("inf"))
    with np.errstate(all="ignore"):
        for turn in range(rounds + 1):
            for name, run in candidates.items():
                started = time.thread_time()  # CPU time: other processes do not count
                run()
                taken = time.thread_time() - started
                if turn:  # the first turn only fills caches and pools
                    fastest[name] = min(fastest[name], taken)
    return {name: seconds / n * 1e9 for name, seconds in fastest.items()}


def row(name: str, times: dict[str, float]) -> str:
    """Write one line: our time, its ratio to the copy, and how many times longer others take."""
    own = times["promoarray"]
    cells = [f"{own:8.3f} ns {own / times['copy']:6.2f}x"]
    for other in OTHERS:
        cells.append(f"{times[other] / own:11.1f}x" if other in times else f"{'-':>12}")
    return f"{name:34}{''.join(cells)}"


def plot(results: dict[str, dict[str, float]], path: Path, title: str) -> None:
    """Draw the casts between float32 and the narrow floats as ratios to the copy."""
    plt = importlib.import_module("matplotlib.pyplot")
    shown = [d.name for d in NARROW] + ["bfloat16", "float16", "int8"]
    fig, panels = plt.subplots(1, 2, figsize=(11, 5.5), sharey=True, layout="constrained")
    for axes, names, label in (
        (panels[0], [f"float32 to {n}" for n in shown], "from float32"),
        (panels[1], [f"{n} to float32" for n in shown], "to float32"),
    ):
        for k, who in enumerate(("promoarray", *OTHERS)):
            points = [
                (i + 0.18 * (k - 1), results[name][who] / results[name]["copy"])
                for i, name in enumerate(names)
                if who in results.get(name, {})
            ]
            if points:
                axes.plot(*zip(*points, strict=True), "os^D"[k], label=who)
        axes.set_xticks(range(len(shown)), shown, rotation=60, ha="right")
        axes.set_yscale("log")
        axes.axhline(1, color="gray", linewidth=0.8)
        axes.grid(axis="y", alpha=0.3)
        axes.set_title(label)
    panels[0].set_ylabel("time / time to copy the wider side")
    panels[1].legend(frameon=False)
    fig.suptitle(title)
    fig.savefig(path, dpi=150)


def main() -> None:
    """Measure and print."""
    set_num_threads(1)
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--elements", type=int, default=1 << 22, help="of each array (4 Mi)")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each pair (5)")
    parser.add_argument("--only", default="", help="pairs whose text has this, as 'float32 to '")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw a picture (matplotlib)")
    parser.add_argument("--level", type=int, default=kernels.levels()[-1], help="x86-64 level")
    options = parser.parse_args()
    kernels.use_level(options.level)

    found = {"python": platform.python_version(), "numpy": np.__version__}
    found |= {"ml_dtypes": ml_dtypes.__version__, "promoarray": version("promoarray")}
    for name in ("torch", "onnxruntime"):
        try:
            found[name] = version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "not installed"
    machine = {"cpu": processor(), "cores": os.cpu_count(), "simd": level(), **found}
    machine["level"] = f"{options.level} of {kernels.levels()}"
    if hasattr(os, "getloadavg"):  # others' work makes all of it slower
        machine["load"] = f"{os.getloadavg()[0]:.1f}"
    if not options.json:
        for key, value in machine.items():
            print(f"{key:12}{value}")
        print(f"\n{options.elements} elements, one thread, fastest of {options.rounds} rounds")
        print(f"{'':34}{'promoarray':>11}{'copy':>8}" + "".join(f"{o:>12}" for o in OTHERS))

    results = {}
    for source, target in dict.fromkeys(pairs()):
        name = f"{source.name} to {target.name}"
        if options.only in name:
            results[name] = measure(source, target, options.elements, options.rounds)
            if not options.json:
                print(row(name, results[name]), flush=True)
    if options.json:
        print(json.dumps({"machine": machine, "nanoseconds": results}, indent=2))
    if options.plot:
        plot(
            results,
            options.plot,
            f"Casts, {options.elements} elements, one thread, {processor()}, level {options.level}",
        )


if __name__ == "__main__":
    main()
