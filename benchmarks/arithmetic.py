"""How fast operations between casts are: nanoseconds an element, and the ratio to PyTorch.

Run ``python benchmarks/arithmetic.py``. NumPy with ml_dtypes, promoarray and, where it is
installed, PyTorch take turns, all on one thread; what is measured is the CPU time of that thread.
Nothing is asserted: a time is a measurement, not a test.
"""

from __future__ import annotations

import argparse
import importlib
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from overhead import processor

import promoarray as pa
from promoarray import dtypes as dt

PAIRS = [
    ("bfloat16", "bfloat16"),
    ("float16", "float16"),
    ("bfloat16", "float16"),
    ("int8", "float32"),
    ("bfloat16", "float32"),
    ("float32", "float64"),
    ("int8", "int32"),
    ("float32", "float32"),
]


def torch_tensor(x: np.ndarray[Any, Any], name: str) -> Any:
    """The same numbers as a tensor; None without PyTorch."""
    try:
        torch = importlib.import_module("torch")
    except ImportError:
        return None
    torch.set_num_threads(1)
    bits = torch.from_numpy(x.view(f"u{x.itemsize}"))
    return bits.view(getattr(torch, name))


def main() -> None:
    """Measure and print."""
    pa.set_num_threads(1)
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--elements", type=int, default=1 << 22, help="of each array (4 Mi)")
    parser.add_argument("--rounds", type=int, default=15, help="turns of each pair (15)")
    options = parser.parse_args()
    n = options.elements
    numbers = np.random.default_rng(0).integers(-100, 100, n).astype(np.int8)

    print(f"{processor()}: add, {n} elements, one thread, fastest of {options.rounds} rounds")
    print(f"{'':22}{'promoarray':>12}{'numpy':>12}{'torch':>12}")
    for names in PAIRS:
        x, y = (numbers.astype(dt.as_dtype(name).storage) for name in names)
        a, b = pa.asarray(x), pa.asarray(y)
        candidates: dict[str, Callable[[], object]] = {
            "promoarray": lambda a=a, b=b: a + b,
            "numpy": lambda x=x, y=y: x + y,
        }
        if (left := torch_tensor(x, names[0])) is not None:
            right = torch_tensor(y, names[1])
            candidates["torch"] = lambda left=left, right=right: left + right
        fastest = dict.fromkeys(candidates, float("inf"))
        with pa.policy("torch"):
            for _ in range(options.rounds):
                for name, run in candidates.items():
                    try:
                        started = time.thread_time()
                        run()
                        fastest[name] = min(fastest[name], time.thread_time() - started)
                    except TypeError:  # NumPy has no bfloat16 + float16
                        continue
        cells = (fastest.get(w, float("inf")) / n * 1e9 for w in ("promoarray", "numpy", "torch"))
        line = "".join(f"{'-':>12}" if c == float("inf") else f"{c:9.3f} ns" for c in cells)
        print(f"{' + '.join(names):22}{line}")


if __name__ == "__main__":
    main()
