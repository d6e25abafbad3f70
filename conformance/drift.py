"""Ask every function of an installed framework that is recorded, and compare with our policy.

    python conformance/drift.py torch|paddle|jax|tensorflow [--x64] [--mode all|safe] [--calls N]

Each function that the tables know is called with arrays of every dtype, 0-d ones and Python
numbers, while it is recorded; each dtype that our policy gives otherwise is *drift*. Exit status 1
if some is not under a reason in ``departures.toml``, or if what stands there no longer drifts.
"""

from __future__ import annotations

import argparse
import operator
import random
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import departures

from promoarray.diagnostics.progress import Progress
from promoarray.diagnostics.record import block
from promoarray.diagnostics.record.recorder import Recorder
from promoarray.operations import OPERATIONS
from promoarray.policies import as_policy

HERE = Path(__file__).resolve().parent
NUMBERS = (True, 2, 0.5, 1j)
ANY = "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128"
UNSIGNED = "uint16 uint32 uint64"
X32 = "bool uint8 int8 int16 int32 float16 bfloat16 float32 complex64 uint16 uint32"
ZERO_D = "bool int64 float16 float64 complex64"
FACTORED = ("inv", "det", "qr", "svd", "cholesky", "eig", "fft", "pinv", "slogdet", "rank")
"""In the names of functions that Paddle must not be given a 0-d tensor: it may crash."""


class Asked(NamedTuple):
    """A framework, and what it is asked with.

    Attributes
    ----------
    names : dict of str to str
        From the names of its functions to operations.
    owners : dict of str to list
        By what stands before a name, where its function is found.
    array : callable
        Makes an array of ones, of a dtype and a shape.
    dtypes : str
    weak : list
        Weakly typed arrays, and those of other classes.
    carry_out : callable
        Carries out a function that makes calls.
    """

    names: dict[str, str]
    owners: dict[str, list[Any]]
    array: Callable[[str, tuple[int, ...]], Any]
    dtypes: str = f"{ANY} {UNSIGNED} float8_e4m3fn float8_e5m2"
    weak: tuple[Any, ...] = ()
    carry_out: Callable[[Callable[[], None]], Any] = lambda make: make()


def torch() -> Asked:
    """PyTorch."""
    module = import_module("torch")
    calls = import_module("promoarray.diagnostics.calls.common")
    return Asked(
        calls.operations("torch"),
        {
            "": [module, module.Tensor],
            "linalg_": [module.linalg],
            "fft_": [module.fft],
            "special_": [module.special],
        },
        lambda dtype, shape: module.ones(shape).to(getattr(module, dtype)),
    )


def paddle() -> Asked:
    """Paddle."""
    module = import_module("paddle")
    calls = import_module("promoarray.diagnostics.calls.common")
    return Asked(
        calls.operations("paddle"),
        {"": [module, module.linalg, module.fft, module.Tensor]},
        lambda dtype, shape: module.ones(shape, "float32").astype(dtype),
        ANY,
    )


def jax() -> Asked:
    """JAX, in the mode that it is in; functions are traced, and not compiled."""
    module = import_module("jax")
    jnp = module.numpy
    calls = import_module("promoarray.diagnostics.calls.common")
    wrapping = import_module("promoarray.diagnostics.record.jax.wrapping")
    return Asked(
        calls.operations("jax"),
        {name: [found] for name, found in wrapping.MODULES.items()},
        lambda dtype, shape: jnp.ones(shape, dtype),
        f"{ANY} {UNSIGNED}" if module.config.jax_enable_x64 else X32,
        (*(jnp.full((2, 2), x) for x in NUMBERS[1:]), jnp.asarray(1), jnp.asarray(2.0)),
        module.eval_shape,
    )


def tensorflow() -> Asked:
    """TensorFlow, in the mode that it is in."""
    module = import_module("tensorflow")
    calls = import_module("promoarray.diagnostics.calls.common")
    numbers = module.experimental.numpy
    promotes = import_module("tensorflow.python.framework.ops").is_auto_dtype_conversion_enabled()

    def array(dtype: str, shape: tuple[int, ...]) -> Any:
        return module.cast(module.ones(shape), dtype)

    dtypes = f"{ANY} {UNSIGNED}"
    weak = tuple(numbers.full(s, x) for s in ((2, 2), ()) for x in NUMBERS[1:]) if promotes else ()
    return Asked(
        calls.operations("tensorflow"),
        {
            "": [module, module.math, module.linalg, module.nn, module.bitwise],
            "signal.": [module.signal],
        },
        array,
        dtypes,
        (*weak, *(module.Variable(array(name, (2, 2))) for name in ZERO_D.split())),
    )


FRAMEWORKS = {"torch": torch, "paddle": paddle, "jax": jax, "tensorflow": tensorflow}


def functions(asked: Asked, name: str) -> Iterator[Callable[..., Any]]:
    """Whatever has a name, each once; of methods those in place as well."""
    met: list[Any] = []
    for prefix, owners in asked.owners.items():
        for owner in owners if name.startswith(prefix) else ():
            plain = name.removeprefix(prefix)
            found = [getattr(owner, plain, None)]
            if isinstance(owner, type):
                found.append(getattr(owner, f"{plain}_", None))
            new = [each for each in found if callable(each) and each not in met]
            met += new
            yield from new


def operands(asked: Asked, operation: str, arrays: list[Any]) -> Iterator[tuple[Any, ...]]:
    """What an operation is called with."""
    either = [*arrays, *NUMBERS]
    if operation in ("concat", "stack"):
        yield from (([a, b],) for a, b in product(arrays, arrays))
    elif operation == "clip":
        yield from ((a, low, b) for a, b in product(arrays, either) for low in (b, None))
    elif operation == "where":
        condition = asked.array("bool", (2, 2))
        yield from ((condition, a, b) for a, b in product(either, either))
    elif operation == "matrix_power":
        yield from ((a, 2) for a in arrays)
    elif OPERATIONS[operation].arity == 1:
        yield from ((a,) for a in arrays)
    else:
        yield from product(arrays, either)
        yield from product(NUMBERS, arrays)


OPERATORS = tuple(
    getattr(operator, name)
    for name in (
        *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and_", "lshift"),
        *("eq", "lt", "iadd", "imul", "itruediv", "ifloordiv", "imod", "ipow", "iand", "ilshift"),
    )
)


def ask(framework: str, calls: int | None = None) -> Any:
    """Record every function of a framework.

    Parameters
    ----------
    framework : str
        One of ``FRAMEWORKS``.
    calls : int, optional
        Of each function so many calls, picked at random; by default all.

    Returns
    -------
    RecordedReport
    """
    asked = FRAMEWORKS[framework]()
    dtypes = asked.dtypes.split()
    full = [asked.array(name, (2, 2)) for name in dtypes]
    zero_d = [asked.array(name, ()) for name in ZERO_D.split() if name in dtypes]
    full += [x for x in asked.weak if len(x.shape)]
    zero_d += [x for x in asked.weak if not len(x.shape)]
    names = sorted(asked.names.items())
    version = import_module(framework).__version__
    known, against = block.FRAMEWORKS[framework], (as_policy("numpy@2"),)
    recorder = Recorder(known.home(version), against, framework=f"{framework} {version}")
    with (  # without origins, for which each call that fails is tried again
        Progress(framework) as progress,
        block.recording(known, recorder),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        for number, (name, operation) in enumerate(names):
            progress.step(f"{framework}: {name}", number / len(names))
            if name.startswith("__"):
                continue
            small = framework == "paddle" and any(part in name for part in FACTORED)
            arrays = full if small else full + zero_d
            for function in functions(asked, name):
                _call_all(asked, function, operands(asked, operation, arrays), calls)
        for function in OPERATORS:
            _call_all(asked, function, operands(asked, "add", full + zero_d), calls)
        for function in (operator.neg, operator.pos, operator.abs, operator.invert):
            _call_all(asked, function, ((x,) for x in full + zero_d), calls)
    return recorder.report


def _call_all(asked: Asked, function: Any, given: Iterator[Any], most: int | None) -> None:
    chosen = list(given)
    if most is not None and len(chosen) > most:
        chosen = random.Random(0).sample(chosen, most)

    def make() -> None:
        for args in chosen:
            own = [x.clone() if hasattr(x, "clone") else x for x in args]
            with suppress(Exception):  # what the framework refuses has no dtype
                function(*own)

    asked.carry_out(make)


def judge(report: Any) -> tuple[list[str], list[str]]:
    """Tell what drifts without a reason, and which patterns nothing matches any more."""
    known = [each for each in departures.read("drift") if each.is_about(report.run.name)]
    patterns = [pattern for each in known for pattern in each.patterns]
    lines = {str(each): (each.operation, ", ".join(each.operands)) for each in report.drift}
    used = {
        pattern: [
            line for line, said in lines.items() if departures.matches(pattern, said, "drift")
        ]
        for pattern in patterns
    }
    explained = {said for found in used.values() for said in found}
    return sorted(set(lines) - explained), [p for p, found in used.items() if not found]


def main() -> int:
    """Ask, and print what drifts."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("framework", choices=FRAMEWORKS)
    parser.add_argument("--x64", action="store_true", help="JAX with 64-bit dtypes")
    parser.add_argument("--calls", type=int, help="of each function so many, at random")
    parser.add_argument("--mode", choices=("all", "safe"), help="TensorFlow's, of NumPy behaviour")
    options = parser.parse_args()
    if options.x64:
        import_module("jax").config.update("jax_enable_x64", True)
    if options.mode:
        numbers = import_module("tensorflow").experimental.numpy
        numbers.experimental_enable_numpy_behavior(dtype_conversion_mode=options.mode)
    report = ask(options.framework, options.calls)
    new, gone = judge(report)
    gone = [] if options.calls else gone
    print(f"{report.operations} operations of {report.framework} under {report.run.name}")
    print(*new, *(f"no longer drifts: {pattern}" for pattern in gone), sep="\n")
    return bool(new or gone)


if __name__ == "__main__":
    sys.exit(main())
