"""Start: importing promoarray, and what the first use of an operation under a policy takes."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from statistics import median

import numpy as np
from measure import OURS, Line, Options
from peers import Peer

import promoarray as pa
from promoarray.policies import as_policy

PLAIN = "numpy, ml_dtypes"
IMPORTS = {
    OURS: "import promoarray",
    "numpy": "import numpy",
    PLAIN: "import numpy, ml_dtypes",
}
FIRST = "import promoarray as pa; x = pa.zeros(4); pa.reshape(x, (2, 2)); pa.sort(x); x + x"
IMPORT_BUDGET, FIRST_BUDGET = 1.2, 60e-6

POLICIES = ("numpy", "numpy@1", "jax", "torch", "tensorflow", "paddle", "aclnn", "onnx")

OPERATIONS: dict[str, Callable[..., object]] = {
    "f32 + f32": lambda f32, h, mask: f32 + f32,
    "f32 * 1.5": lambda f32, h, mask: f32 * 1.5,
    "bf16 + bf16": lambda f32, h, mask: h + h,
    "f32 < f32": lambda f32, h, mask: f32 < f32,
    "-f32": lambda f32, h, mask: -f32,
    "exp(bf16)": lambda f32, h, mask: pa.exp(h),
    "where(mask, f32, f32)": lambda f32, h, mask: pa.where(mask, f32, f32),
    "sum(f32)": lambda f32, h, mask: pa.sum(f32),
    "f32.astype(bfloat16)": lambda f32, h, mask: f32.astype(pa.bfloat16),
}
_number = count()


def lines(peers: list[Peer], options: Options) -> Iterator[Line]:
    """Imports in fresh interpreters, then first uses, a line a policy."""
    rounds = 5 if options.quick else 12
    found = partial(imports, IMPORTS, rounds)
    yield Line("import promoarray", {}, {PLAIN: IMPORT_BUDGET}, found=found)
    found = partial(imports, {OURS: FIRST, PLAIN: IMPORTS[PLAIN]}, rounds)
    yield Line("import, and the first zeros, reshape, sort, +", {}, {PLAIN: None}, found=found)
    for name in POLICIES:
        first = partial(first_use, name)
        yield Line(f"first use under {name}", {}, {"": FIRST_BUDGET}, found=first)


def imports(statements: dict[str, str], rounds: int) -> dict[str, float]:
    """Time statements by CPU time, each in a fresh interpreter, the least of rounds."""
    found = dict.fromkeys(statements, float("inf"))
    # As an installed package has it: bytecode is written once, and read from then on.
    env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    for turn in range(rounds + 1):
        for name, statement in statements.items():
            code = f"from time import process_time as now\nt = now()\n{statement}\nprint(now() - t)"
            command = [sys.executable, "-P", "-c", code]  # what is installed, not what lies here
            run = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
            if turn:  # the first turn only fills the caches of the file system and of bytecode
                found[name] = min(found[name], float(run.stdout))
    return found


def first_use(name: str, rounds: int = 20) -> dict[str, float]:
    """Return the middle of the first uses of operations under a policy, each the least of rounds.

    A derived policy is a new one, of which nothing is kept yet; what all share was made before.
    """
    operands = (pa.asarray(np.ones(3, np.float32)), pa.ones(3, dtype=pa.bfloat16))
    operands += (pa.asarray(np.ones(3, bool)),)
    least = dict.fromkeys(OPERATIONS, float("inf"))
    for _ in range(rounds):
        with pa.policy(as_policy(name).derive(f"first-use-{next(_number)}")):
            for what, run in OPERATIONS.items():
                started = time.process_time()
                try:
                    run(*operands)
                except TypeError:  # the policy refuses it
                    continue
                least[what] = min(least[what], time.process_time() - started)
    return {OURS: median(took for took in least.values() if took < float("inf"))}
