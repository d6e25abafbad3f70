"""Start: importing promoarray, and what the first use of an operation under a policy takes."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from operator import imul
from statistics import median

import numpy as np
from measure import OURS, Line, Options
from peers import Peer

import promoarray as pa
from promoarray.policies import Policy, as_policy

PLAIN = "numpy, ml_dtypes"
IMPORTS = {
    OURS: "import promoarray",
    "numpy": "import numpy",
    PLAIN: "import numpy, ml_dtypes",
}
FIRST = "import promoarray as pa; x = pa.zeros(4); pa.reshape(x, (2, 2)); pa.sort(x); x + x"
IMPORT_BUDGET, FIRST_BUDGET = 1.2, 60e-6

POLICIES = ("numpy", "numpy@1", "jax", "torch", "tensorflow", "paddle", "aclnn", "onnx")

Operation = Callable[[pa.PArray, pa.PArray, pa.PArray], object]


def _assign(x: pa.PArray, value: object) -> None:
    x[:2] = value


OPERATIONS: dict[str, Operation] = {
    "f32 + f32": lambda f32, h, mask: f32 + f32,
    "f32 * 1.5": lambda f32, h, mask: f32 * 1.5,
    "bf16 + bf16": lambda f32, h, mask: h + h,
    "f32 + bf16": lambda f32, h, mask: f32 + h,
    "f32 < f32": lambda f32, h, mask: f32 < f32,
    "f32 == f32": lambda f32, h, mask: f32 == f32,
    "f32 ** 2": lambda f32, h, mask: f32**2,
    "f32 *= f32": lambda f32, h, mask: imul(f32, f32),
    "-f32": lambda f32, h, mask: -f32,
    "exp(bf16)": lambda f32, h, mask: pa.exp(h),
    "maximum(f32, f32)": lambda f32, h, mask: pa.maximum(f32, f32),
    "clip(f32, 0, 1)": lambda f32, h, mask: pa.clip(f32, 0, 1),
    "where(mask, f32, f32)": lambda f32, h, mask: pa.where(mask, f32, f32),
    "sum(f32)": lambda f32, h, mask: pa.sum(f32),
    "mean(f32)": lambda f32, h, mask: pa.mean(f32),
    "argmax(f32)": lambda f32, h, mask: pa.argmax(f32),
    "matmul(f32, f32)": lambda f32, h, mask: pa.matmul(f32, f32),
    "concat([f32, f32])": lambda f32, h, mask: pa.concat([f32, f32]),
    "sort(f32)": lambda f32, h, mask: pa.sort(f32),
    "reshape(f32, (3, 1))": lambda f32, h, mask: pa.reshape(f32, (3, 1)),
    "f32[0]": lambda f32, h, mask: f32[0],
    "f32[1:3]": lambda f32, h, mask: f32[1:3],
    "f32[mask]": lambda f32, h, mask: f32[mask],
    "f32[:2] = 1.0": lambda f32, h, mask: _assign(f32, 1.0),
    "f32[:2] = f32": lambda f32, h, mask: _assign(f32, f32[1:]),
    "f32.astype(bfloat16)": lambda f32, h, mask: f32.astype(pa.bfloat16),
    "zeros(3)": lambda f32, h, mask: pa.zeros(3),
    "arange(3)": lambda f32, h, mask: pa.arange(3),
    "asarray([1.5, 2.5])": lambda f32, h, mask: pa.asarray([1.5, 2.5]),
    "asarray(ndarray)": lambda f32, h, mask: pa.asarray(_ARRAY),
}
_ARRAY = np.ones(3, np.float32)
_number = count()


def lines(peers: list[Peer], options: Options) -> Iterator[Line]:
    """Imports in fresh interpreters, then first uses, a line a policy and one an operation."""
    rounds = 5 if options.quick else 12
    found = partial(imports, IMPORTS, rounds)
    yield Line("import promoarray", {}, {PLAIN: IMPORT_BUDGET}, found=found)
    found = partial(imports, {OURS: FIRST, PLAIN: IMPORTS[PLAIN]}, rounds)
    yield Line("import, and the first zeros, reshape, sort, +", {}, {PLAIN: None}, found=found)
    for name in POLICIES:
        first = partial(first_uses, name)
        yield Line(f"first use under {name}", {}, {"": FIRST_BUDGET}, found=first)
    for what in OPERATIONS:
        first = partial(first_of, what)
        yield Line(f"first {what}", {}, {"": FIRST_BUDGET}, found=first)


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


def first_uses(name: str, rounds: int = 20) -> dict[str, float]:
    """Return the middle of the first uses of operations under a policy, one after the other."""
    operands, least = _operands(), dict.fromkeys(OPERATIONS, float("inf"))
    for _ in range(rounds):
        with pa.policy(_fresh(name)):
            for what, run in OPERATIONS.items():
                least[what] = min(least[what], _timed(run, operands))
    return {OURS: median(took for took in least.values() if took < float("inf"))}


def first_of(what: str, rounds: int = 20) -> dict[str, float]:
    """Return the middle of the first use of an operation under policies that did nothing before."""
    operands, least = _operands(), dict.fromkeys(POLICIES, float("inf"))
    for name in POLICIES * rounds:
        with pa.policy(_fresh(name)):
            least[name] = min(least[name], _timed(OPERATIONS[what], operands))
    return {OURS: median(took for took in least.values() if took < float("inf"))}


def _operands() -> tuple[pa.PArray, pa.PArray, pa.PArray]:
    f32, mask = np.ones(3, np.float32), np.ones(3, bool)
    return pa.asarray(f32), pa.ones(3, dtype=pa.bfloat16), pa.asarray(mask)


def _fresh(name: str) -> Policy:
    """A policy of which nothing is kept yet; what all share was made before."""
    return as_policy(name).derive(f"first-use-{next(_number)}")


def _timed(run: Operation, operands: tuple[pa.PArray, pa.PArray, pa.PArray]) -> float:
    """The seconds of a call; infinite where the policy refuses it."""
    started = time.process_time()
    try:
        run(*operands)
    except TypeError:
        return float("inf")
    return time.process_time() - started
