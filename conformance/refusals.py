"""Ask a framework which dtypes its functions refuse, and whether ``why`` explains each refusal.

``python -m conformance.refusals torch|paddle|jax|tensorflow`` calls the framework's public
functions with samples that it takes, then with the dtype of one operand changed. Where it refuses
that, and takes the same values in the dtype before, ``promoarray why`` has to name the call with
its operands, and a change of dtypes with which it was run. The answers are written to
``golden/refusals``.

PyTorch's samples are those of its own tests (which need ``expecttest``); those of the others are
drawn: each function is called with arrays of several kinds until it takes some.
"""

from __future__ import annotations

import argparse
import copy
import importlib
import inspect
import os
import pickle
import re
import signal
import warnings
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from io import StringIO
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

GOLDEN = Path(__file__).parent / "golden" / "refusals"

CHANGES = {
    "torch": ("float64", "bfloat16", "int64", "int32", "bool", "complex64"),
    "paddle": ("float64", "float16", "int64", "int32", "bool", "complex64"),
    "jax": ("bfloat16", "float16", "int32", "int8", "bool", "complex64"),
    "tensorflow": ("float64", "float16", "int64", "int32", "bool", "complex64"),
}
"""The dtypes that an operand is changed to."""

MOST = 1 << 14
"""Elements of an operand; samples with more are left out."""


class Sample(NamedTuple):
    """A call that a framework takes."""

    name: str
    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


class Refusal(NamedTuple):
    """A refused dtype, with a change of dtypes that mends it; "" if none was found."""

    name: str
    operand: int
    dtype: str
    remedy: str


Group = Callable[[], Iterable[Sample]]
"""The samples of one function, which may end the process."""


# -- samples --------------------------------------------------------------------------------------


def samples_of_torch() -> Iterator[Group]:
    """Yield those of PyTorch's own tests, in place as well."""
    from torch.testing._internal.common_methods_invocations import op_db

    return (partial(_of_op, op) for op in op_db if op.name not in _LEFT_OUT)


def _of_op(op: Any) -> Iterator[Sample]:
    import torch

    dtype = torch.float32 if op.supports_dtype(torch.float32, "cpu") else torch.int64
    try:
        found = list(islice(op.sample_inputs("cpu", dtype), 3))
    except Exception:  # which needs another dtype, or what is not installed
        return
    name = op.name + (f".{op.variant_test_name}" if op.variant_test_name else "")
    for each in found:
        given = (each.input, *each.args)
        yield Sample(name, op.op, given, each.kwargs)
        if op.inplace_variant is not None and isinstance(each.input, torch.Tensor):
            yield Sample(f"{name}_", op.inplace_variant, given, each.kwargs)


_LEFT_OUT = frozenset({"item", "to", "new_empty", "empty_strided", "empty"})


def samples_of_paddle() -> Iterator[Group]:
    """Yield what Paddle's functions take of arrays that are drawn."""
    import paddle

    def array(values: Any, dtype: str) -> Any:
        return paddle.to_tensor(values, dtype=dtype)

    modules = {
        "paddle": paddle,
        "paddle.linalg": paddle.linalg,
        "paddle.nn.functional": paddle.nn.functional,
    }
    return _drawn(modules, _kinds(array, "int64"), _LEFT_OUT_PADDLE)


_LEFT_OUT_PADDLE = frozenset(
    [
        "save",
        "load",
        "summary",
        "flops",
        "disable_static",
        "enable_static",
        "seed",
        "set_printoptions",
        "to_tensor",
        "set_default_dtype",
        "batch",
        "set_device",
        "set_flags",
        "DataParallel",
        "no_grad",
    ]
)


def samples_of_jax() -> Iterator[Group]:
    """Yield what JAX's functions take of arrays that are drawn, and calls of control flow."""
    import jax
    from jax import lax
    from jax import numpy as jnp

    def array(values: Any, dtype: str) -> Any:
        return jnp.asarray(values, dtype=dtype)

    modules = {
        "jax.numpy": jnp,
        "jax.numpy.linalg": jnp.linalg,
        "jax.lax": lax,
        "jax.nn": jax.nn,
        "jax.scipy.special": jax.scipy.special,
    }
    kinds = _kinds(array, "int32")
    yield from _drawn(modules, kinds, _LEFT_OUT_JAX)
    x, i, m = kinds["x"], kinds["i"], kinds["m"]
    more: dict[str, tuple[Any, ...]] = {
        "scan": (lambda c, y: (c + y, c), x[0], x),
        "cond": (m[0, 0], lambda a, b: a + b, lambda a, b: a, x, x),
        "fori_loop": (0, 3, lambda n, c: c + x, x),
        "while_loop": (lambda c: c.sum() < 9, lambda c: c + x, x),
        "dynamic_update_slice": (x, x[:1], (0, 0)),
        "dynamic_slice": (x, (i[0], i[0]), (1, 1)),
        "dot_general": (x, x, (((1,), (0,)), ((), ()))),
        "conv": (x[None, None], x[None, None], (1, 1), "SAME"),
        "reduce": (x, x[0, 0], lambda a, b: a + b, (0,)),
        "select": (m, x, x),
        "clamp": (x[0, 0], x, x[1, 1]),
        "concatenate": ([x, x], 0),
        "pad": (x, x[0, 0], [(1, 1, 0), (0, 0, 0)]),
        "switch": (i[0], [lambda a: a, lambda a: a * 2], x),
    }
    for name, args in more.items():
        yield partial(iter, [Sample(f"jax.lax.{name}", _later(lax, name), args, {})])


_LEFT_OUT_JAX = frozenset(
    ["save", "load", "savez", "frombuffer", "fromfile", "fromfunction", "printoptions"]
)


def samples_of_tensorflow() -> Iterator[Group]:
    """Yield what TensorFlow's functions take of arrays that are drawn."""
    import tensorflow as tf

    def array(values: Any, dtype: str) -> Any:
        return tf.constant(values, dtype=dtype)

    modules = {"tf": tf, "tf.math": tf.math, "tf.linalg": tf.linalg, "tf.nn": tf.nn}
    return _drawn(modules, _kinds(array, "int32"), _LEFT_OUT_TENSORFLOW)


_LEFT_OUT_TENSORFLOW = frozenset(
    ["device", "function", "group", "init_scope", "no_op", "numpy_function", "print"]
)


def _kinds(array: Callable[[Any, str], Any], index: str) -> dict[str, Any]:
    values = [[0.9, 0.2, 0.1], [0.3, 0.8, 0.2], [0.1, 0.4, 0.7]]
    return {
        "x": array(values, "float32"),
        "i": array([0, 1, 2], index),
        "m": array([[True, False, True]] * 3, "bool"),
        "n": 1,
        "v": array(values[0], "float32"),
        "l": [array(values, "float32"), array(values, "float32")],
        "s": (3, 3),
    }


_TRIED = (
    *("x", "xx", "xi", "ix", "mxx", "xv", "xn", "l", "xs", "xni", "xin", "xxx", "m"),
    *(
        "mx",
        "i",
        "ii",
        "xix",
        "xnix",
        "xxxx",
        "xvvv",
        "ln",
        "nx",
        "xnn",
        "iix",
        "xxn",
        "vv",
        "xmx",
        "v",
    ),
)
"""Kinds of arguments, a letter each."""


def _drawn(
    modules: dict[str, Any], kinds: dict[str, Any], left_out: frozenset[str]
) -> Iterator[Group]:
    """Yield for each function the first two kinds of arguments that it takes."""
    for prefix, module in modules.items():
        for name in sorted(n for n in dir(module) if not n.startswith("_")):
            found = getattr(module, name)
            if not callable(found) or inspect.isclass(found) or name in left_out:
                continue
            every = (tuple(kinds[each] for each in letters) for letters in _TRIED)
            yield partial(_taken, f"{prefix}.{name}", _later(module, name), list(every))


def _taken(name: str, function: Callable[..., Any], every: list[Any]) -> Iterator[Sample]:
    taken = (args for args in every if _runs(function, args, {}))
    return (Sample(name, function, args, {}) for args in islice(taken, 2))


def _later(module: Any, name: str) -> Callable[..., Any]:
    """A module's function, as it is found when it is called: a recorder may stand in its place."""

    def called(*args: Any, **kwargs: Any) -> Any:
        return getattr(module, name)(*args, **kwargs)

    return called


SAMPLES = {
    "torch": samples_of_torch,
    "paddle": samples_of_paddle,
    "jax": samples_of_jax,
    "tensorflow": samples_of_tensorflow,
}


# -- calls ----------------------------------------------------------------------------------------


def _runs(function: Callable[..., Any], args: Any, kwargs: Any) -> bool:
    try:
        _call(function, args, kwargs)
    except Exception:
        return False
    return True


def _call(function: Callable[..., Any], args: Any, kwargs: Any) -> None:
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        function(*args, **kwargs)


class Asked:
    """A framework, whose arrays are changed."""

    def __init__(self, name: str) -> None:
        from promoarray.diagnostics.record.block import FRAMEWORKS

        self.name, self.module = name, importlib.import_module(name)
        self.version = self.module.__version__
        self.framework = FRAMEWORKS[name]
        self.kind: Any = importlib.import_module(self.framework.adapter).Recording.kind

    def leaves(self, x: Any) -> Iterator[Any]:
        """Yield the arrays of arguments, each once."""
        met: set[int] = set()
        waiting = [x]
        while waiting:
            each = waiting.pop(0)
            if isinstance(each, self.kind.tensor):
                if id(each) not in met:
                    met.add(id(each))
                    yield each
            elif isinstance(each, dict):
                waiting[:0] = each.values()
            elif type(each) in (list, tuple):
                waiting[:0] = each

    def with_(self, x: Any, other: dict[int, Any]) -> Any:
        """Return arguments with other arrays in the place of some, and copies of the rest."""
        if isinstance(x, self.kind.tensor):
            return (
                other[id(x)] if id(x) in other else self.kind.copy(x, self.kind.dtypes.get(x.dtype))
            )
        if isinstance(x, dict):
            return {key: self.with_(each, other) for key, each in x.items()}
        if type(x) in (list, tuple):
            return type(x)(self.with_(each, other) for each in x)
        return copy.copy(x)

    def refusals(self) -> Iterator[Refusal]:
        """Yield every refusal of a dtype, with what was found to mend it."""
        from promoarray.diagnostics.record.block import recording
        from promoarray.diagnostics.record.recorder import Recorder

        name, home = f"{self.name} {self.version}", self.framework.home(self.version)
        recorder = Recorder(home, (), framework=name)
        with recording(self.framework, recorder):
            for group in SAMPLES[self.name]():
                ask = partial(self._asked, recorder, group)
                yield from _apart(ask) if self.name == "paddle" else ask()

    def _asked(self, recorder: Any, group: Group) -> Iterator[Refusal]:
        from promoarray.diagnostics.record.origins import Origins

        for sample in group():
            for n, dtype, given in self._refused(sample):
                recorder.origins = Origins()  # of what is known to be refused alone
                remedy = _explained(recorder, sample.function, *given)
                recorder.origins = None
                if remedy is not None:
                    yield Refusal(sample.name, n, dtype, remedy)

    def _refused(self, sample: Sample) -> Iterator[tuple[int, str, Any]]:
        """Yield the changes of a sample that are refused, with the arguments."""
        whole = (sample.args, sample.kwargs)
        operands = list(self.leaves(whole))
        if any(_elements(x) > MOST for x in operands):
            return
        if not _runs(sample.function, *self.with_(whole, {})):
            return
        for n, x in enumerate(operands):
            for dtype in CHANGES[self.name]:
                changed = self._changed(x, dtype)
                if changed is not None and self._is_refused(sample, x, changed):
                    yield n, dtype, self.with_(whole, {id(x): changed})

    def _changed(self, x: Any, dtype: str) -> Any:
        from promoarray.dtypes import BY_NAME

        if _dtype_of(x) == dtype:
            return None
        try:
            made = self.kind.copy(x, BY_NAME[dtype])
        except Exception:
            return None
        return made if _dtype_of(made) == dtype else None

    def _is_refused(self, sample: Sample, x: Any, changed: Any) -> bool:
        """Whether a dtype is refused, and not the values, as they are without fractions."""
        whole = (sample.args, sample.kwargs)
        if _runs(sample.function, *self.with_(whole, {id(x): changed})):
            return False
        back = self._changed(changed, _dtype_of(x))
        return back is not None and _runs(sample.function, *self.with_(whole, {id(x): back}))


def _dtype_of(x: Any) -> str:
    """The name of an array's dtype, of torch.float32 and <dtype: 'float32'>."""
    return re.findall(r"\w+", str(x.dtype))[-1]


def _apart(ask: Callable[[], Iterable[Refusal]]) -> list[Refusal]:
    """Ask in a process of its own, which Paddle may end, or never come back from."""
    out, into = os.pipe()
    child = os.fork()
    if not child:
        try:
            signal.alarm(60)
            os.close(out)
            with os.fdopen(into, "wb") as file:
                pickle.dump(list(ask()), file)
        finally:  # an error of its own is no reason to go on here
            os._exit(0)
    os.close(into)
    with os.fdopen(out, "rb") as file:
        answer = file.read()
    os.waitpid(child, 0)
    found: list[Refusal] = pickle.loads(answer) if answer else []
    return found


def _elements(x: Any) -> int:
    total = 1
    for n in x.shape:
        total *= n
    return total


def _explained(recorder: Any, function: Callable[..., Any], args: Any, kwargs: Any) -> str | None:
    """Return the change of dtypes that is found; "" if none is, None if nothing was refused."""
    from promoarray.diagnostics.record.block import failed_in

    try:
        _call(function, args, kwargs)
    except Exception as error:
        failed = failed_in(recorder, error)
        if failed is None or not failed.remedies:
            return ""
        return " ".join(f"{n}={dtype}" for n, dtype in failed.remedies[0])
    return None


# -- the file -------------------------------------------------------------------------------------


def is_held_out(name: str) -> bool:
    """Whether a function is one of the half that was not looked at while ``why`` was written."""
    return zlib.crc32(name.rstrip("_").encode()) % 2 == 1


def share(found: list[Refusal], *, held_out: bool) -> tuple[int, int]:
    """Return how many refusals of a half are explained, and of how many."""
    half = [each for each in found if is_held_out(each.name) is held_out]
    return sum(bool(each.remedy) for each in half), len(half)


def text_of(framework: str, version: str, found: list[Refusal]) -> str:
    """Return the answers as a file's text."""
    rows: dict[tuple[str, int, str], list[str]] = defaultdict(list)
    for each in found:
        if each.dtype not in rows[each.name, each.operand, each.remedy]:
            rows[each.name, each.operand, each.remedy].append(each.dtype)
    lines = [f"# {framework}: {version}", f"# how: python -m conformance.refusals {framework}"]
    lines += [
        "# function, operand, refused dtypes: operand=dtype of a call that runs; - of none",
        "",
    ]
    lines += [
        f"{name}  {operand}  {' '.join(dtypes)}: {remedy or '-'}"
        for (name, operand, remedy), dtypes in sorted(rows.items())
    ]
    return "\n".join(lines) + "\n"


def read(path: Path) -> list[Refusal]:
    """Return the answers of a file."""
    found = []
    for line in path.read_text().splitlines():
        if line and not line.startswith("#"):
            asked, _, remedy = line.rpartition(": ")
            name, operand, *dtypes = asked.split()
            remedy = "" if remedy == "-" else remedy
            found += [Refusal(name, int(operand), dtype, remedy) for dtype in dtypes]
    return found


def main() -> None:
    """Write a framework's file, and print the shares that are explained."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("framework", choices=SAMPLES)
    parser.add_argument("--out", type=Path, default=GOLDEN)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    asked = Asked(args.framework)
    found = list(dict.fromkeys(asked.refusals()))
    args.out.mkdir(parents=True, exist_ok=True)
    path = args.out / f"{args.framework}.txt"
    path.write_text(text_of(args.framework, asked.version, found))
    for held_out in (False, True):
        explained, every = share(read(path), held_out=held_out)
        which = "held out" if held_out else "looked at"
        print(f"{which}: {explained} of {every}, {explained / max(every, 1):.1%}")


if __name__ == "__main__":
    main()
