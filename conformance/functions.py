"""Ask the real frameworks what their functions answer, one spelling of each beside the others.

``conformance/functions.txt`` pairs the names that recorded programs call. Each is asked of every
dtype: the dtypes and values of its results, a refusal, or that the CPU has no kernel for it. One
framework an environment::

    python conformance/functions.py torch paddle tensorflow jax_x64 jax_x32 numpy2 [--out FOLDER]
    python conformance/functions.py torch --only "one_*"   # these functions alone
    python conformance/functions.py numpy1          # where NumPy 1 is installed
    python conformance/functions.py --tables        # what promoarray itself knows of the answers

``golden/functions/<edition>.json`` has a line a function: from the dtype asked to ``i64:3,1``,
``-`` for a refusal and ``?`` where there is no kernel. Values stand where numbers are in a dtype of
`VALUED`, so that definitions that differ show.
"""

from __future__ import annotations

import contextlib
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache, reduce
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "oracles"))
import _ask  # noqa: E402 - it takes its own folder, whose files are named after frameworks, away

GOLDEN = HERE / "golden" / "functions"
REFUSED, NO_KERNEL = str(_ask.REFUSED), str(_ask.NO_KERNEL)
SCALARS = {"bool": True, "int": 2, "float": 2.5, "complex": 2.5 + 1j}
VALUED = frozenset({"b1", "u8", "i64", "f32", "c64", *SCALARS})
"""Dtypes whose values are kept too."""

_X: dict[str, tuple[list[Any], list[Any]]] = {
    "b": ([1, 0, 1, 1], [1, 1, 0, 1]),
    "u": ([3, 1, 2, 2], [2, 2, 3, 1]),
    "i": ([3, -1, 2, 2], [2, 2, -3, 1]),
    "f": ([2.5, -0.5, 0.5, 0.5], [2.0, 0.5, -3.0, 1.0]),
    "c": ([2.5 + 1j, -0.5, 0.5j, 0.5j], [2.0, 0.5 + 1j, -3.0, 1j]),
}
"""x and y of a kind of dtype: an even count, a tie, halves, both signs."""


def _split(text: str) -> tuple[str, ...]:
    return tuple(text.split())


class Row(NamedTuple):
    """One function: its name, and the call of it in each framework, "" where it has none."""

    name: str
    calls: dict[str, str]

    @property
    def of_numbers(self) -> bool:
        """Whether it makes arrays of Python numbers."""
        return any(re.search(r"\bk\b", call) for call in self.calls.values())


@cache
def rows() -> tuple[Row, ...]:
    """Read ``functions.txt``."""
    lines = (HERE / "functions.txt").read_text(encoding="utf-8").splitlines()
    found = [row for line in lines if line.strip() and line[0] != "#" for row in _rows(line)]
    theirs = _of_tensorflow(frozenset(row.name for row in found))
    for row in found:
        makes = "#k" * any(call.endswith("#k") for call in row.calls.values())
        call = theirs.get(row.name, "")
        row.calls["tensorflow"] = call and call + makes
    return tuple(found)


def _of_tensorflow(known: frozenset[str]) -> dict[str, str]:
    """TensorFlow's calls by the names of rows."""
    found = {}
    for line in (HERE / TENSORFLOW).read_text(encoding="utf-8").splitlines():
        if line.strip() and line[0] != "#":
            names, cell = (part.strip() for part in line.split(" | "))
            calls, each = cell.split(" "), names.split()
            listed = calls if len(calls) == len(each) and ", " not in cell else [cell] * len(each)
            found |= {name: one.replace("{}", name) for name, one in zip(each, listed, strict=True)}
    if found.keys() - known:
        raise ValueError(f"{TENSORFLOW} names no rows: {sorted(found.keys() - known)}")
    return found


FRAMEWORKS = ("torch", "paddle", "jax", "numpy")
TENSORFLOW = "functions_tensorflow.txt"
"""How TensorFlow spells the same functions, few of which have the usual names there."""
OF_A_DTYPE = "(dtype)"
"""Stands behind the name of a function that is asked to make an array of a dtype."""


def _rows(line: str) -> Iterator[Row]:
    names, args, *cells = (cell.strip() for cell in line.split("|"))
    makes, args = args.startswith("k"), args.removeprefix("k")
    for number, name in enumerate(names.split()):
        calls = {}
        for framework, cell in zip(FRAMEWORKS, cells, strict=True):
            each = cell.split(" ")
            listed = each if len(each) == len(names.split()) and ", " not in cell else None
            one = (listed[number] if listed else cell).replace("{}", name)
            calls[framework] = "" if one == "-" else _call(one, name, args)
        of = f"{name}{OF_A_DTYPE}" if "dtype=d" in args else name
        yield Row(of, {f: f"{c}#k" if makes and c else c for f, c in calls.items()})


def _call(cell: str, name: str, args: str) -> str:
    """The whole call of a cell: it may leave out the name, or the arguments."""
    if cell.startswith("("):
        return name + cell
    return cell if "(" in cell or "[" in cell else (cell or name) + args


def find(places: Mapping[str, Any], path: str) -> Any:
    """The function that a call names: of a module it names, or the first place that has it."""
    head, _, rest = path.partition(".")
    tried = [(places[head], rest)] if head in places else [(p, path) for p in places.values()]
    for place, name in tried:
        try:
            return reduce(getattr, name.split("."), place) if name else place
        except AttributeError:
            continue
    raise MissingError(path)


class MissingError(Exception):
    """A framework has no function of a name."""


class Framework(NamedTuple):
    """What is asked of one framework.

    Attributes
    ----------
    meta : mapping
    places : mapping
        Modules by the names that calls have for them, in the order they are looked through.
    make : callable
        From nested lists and a dtype code to an array.
    code, values : callable
        The dtype of an array, and its numbers as a flat list.
    codes : tuple of str
    array : type
    no_kernel : str
        A pattern of errors that say so.
    """

    meta: Mapping[str, str]
    places: Mapping[str, Any]
    make: Callable[[Any, str], Any]
    code: Callable[[Any], str]
    values: Callable[[Any], list[Any]]
    codes: tuple[str, ...]
    array: Any
    no_kernel: str


def oracle(framework: Framework, which: str) -> _ask.Oracle:
    """The questions to one framework, as `_ask` carries them out."""

    def answer(code: str, call: str) -> str:
        text, names = _asked(framework.places, call)
        made = eval(text, names | _operands(framework.make, code))
        drawn = re.search(_DRAWN, call) is not None
        return ";".join(_shown(framework, x, code, drawn) for x in _results(made)) or "."

    refusal = _refusal(framework.no_kernel)
    sections = {
        row.name: _ask.Section(
            answer,
            _own(_codes_of(framework, row.calls[which])),
            {row.name: row.calls[which]},
            refusal,
        )
        for row in rows()
        if row.calls[which]
    }
    return _ask.Oracle(framework.meta, framework.code, sections, refusal)


def _codes_of(framework: Framework, call: str) -> tuple[str, ...]:
    """The dtypes and Python scalars that a call is asked for."""
    if call.endswith("#k"):
        return tuple(SCALARS)
    scalars = tuple(SCALARS) if re.search(r"\(x\)|\(x, y\)|\(x, 0\)$", call) else ()
    return (*framework.codes, *scalars)


_DRAWN = (
    r"rand|empty|multinomial|bernoulli|poisson\(|dropout\w*\((?!.*False)"
    r"|(normal|uniform|orthogonal|sparse|exponential|cauchy|geometric)_\("
)
"""Functions whose values follow from nothing that is asked."""


def _own(codes: tuple[str, ...]) -> dict[str, str]:
    return {code: code for code in codes}


_NO_METHOD = r"'(Tensor|paddle.Tensor|ArrayImpl|numpy.ndarray)' object has no attribute"


def _refusal(no_kernel: str) -> Callable[[Exception], str]:
    def said(error: Exception) -> str:
        if isinstance(error, MissingError) or re.search(_NO_METHOD, str(error)):
            return "."
        return NO_KERNEL if re.search(no_kernel, str(error)) else REFUSED

    return said


def _asked(places: Mapping[str, Any], call: str) -> tuple[str, dict[str, Any]]:
    """A call whose first name is a function, wherever that is; and what its names stand for."""
    first = re.match(r"[A-Za-z_][\w.]*(?=\()", call)
    if first is None or first[0].partition(".")[0] in OPERANDS:
        return call, dict(places)
    return f"_function{call[first.end() :]}", {**places, "_function": find(places, first[0])}


OPERANDS = frozenset(_split("a b d e i ii j k l m n o s t tt u v w w2 x y z"))


def _operands(make: Callable[[Any, str], Any], code: str) -> dict[str, Any]:
    """The operands of a dtype, or of a Python scalar."""
    masks = {
        "i": make([0, 1, 1, 0], "i64"),
        "ii": make([[0, 1]], "i64"),
        "j": make([0, 1, 3, 2], "i64"),
        "l": make([1, 0], "i64"),
        "b": make([1, 0, 1, 1], "b1"),
        "w": make([0.25, 0.5], "f32"),
        "w2": make([0.5, 2.0], "f32"),
    }
    if code in SCALARS:
        y = make([2.0, 0.5, -3.0, 1.0], "f32")
        return masks | {"x": SCALARS[code], "k": SCALARS[code], "y": y}
    xs, ys = _X[code[0] if code[:2] != "bf" else "f"]
    pairs = [xs[:2], xs[2:]], [ys[:2], ys[2:]]
    image = [[[*xs], [*ys], [*xs], [*ys]], [[*ys], [*xs], [*ys], [*xs]]]
    return masks | {
        "x": make(xs, code),
        "v": make([1, 0, 0, 1] if code == "b1" else [4, 1, 2, 3], code),
        "a": make([*map(abs, xs)], code),
        "d": make(xs, code).dtype,
        "o": make([0, 0, 0, 0], code),
        "y": make(ys, code),
        "s": make(sorted(map(abs, xs)), code),
        "z": make(xs[0], code),
        "m": make(pairs[0], code),
        "n": make(pairs[1], code),
        "e": make([[2, 1], [1, 2]], code),
        "t": make([image], code),
        "tt": make([[*image, *image]], code),
        "u": make([0.25, 0.5, 0.75, 0.5], code),
    }


def _results(made: Any) -> list[Any]:
    if isinstance(made, (tuple, list)):
        return [x for x in made if x is not None]
    return [made]


def _shown(framework: Framework, x: Any, code: str, drawn: bool) -> str:
    """A result: its dtype, and its numbers where they are kept."""
    if not isinstance(x, framework.array):
        return f"!{type(x).__name__}"
    told = framework.code(x)
    if code not in VALUED or drawn:
        return told
    return told + ":" + ",".join(map(_number, framework.values(x)[:8]))


def _number(value: Any) -> str:
    if isinstance(value, complex):
        return f"{value.real + 0.0:.4g}{value.imag + 0.0:+.4g}j"
    if isinstance(value, float):
        return f"{value + 0.0:.4g}"
    return str(int(value))


# --- Frameworks -----------------------------------------------------------------------------------


def _torch() -> Framework:
    import torch

    torch.set_num_threads(1)
    places = {
        "F": torch.nn.functional,
        "torch": torch,
        "linalg": torch.linalg,
        "fft": torch.fft,
        "special": torch.special,
        "Tensor": torch.Tensor,
        "init": torch.nn.init,
    }
    names = {c: n for n, c in _ask.CODES.items() if n in _ask.DTYPES and hasattr(torch, n)}

    def make(data: Any, code: str) -> Any:
        if code[1:] in ("2", "4"):  # nothing is cast to them, but memory is read as them
            return torch.tensor(data).to(torch.uint8).view(getattr(torch, names[code]))
        made = torch.tensor(data, dtype=torch.float32 if code[0] == "f" else None)
        return made.to(getattr(torch, names[code]))

    def values(x: Any) -> list[Any]:
        wide = x.to(torch.complex128) if x.is_complex() else x.to(torch.float64)
        return list(
            wide.flatten().tolist()
            if x.dtype.is_floating_point or x.is_complex()
            else x.flatten().tolist()
        )

    return Framework(
        {"framework": f"torch {torch.__version__}"},
        places,
        make,
        lambda x: _ask.CODES[str(x.dtype).removeprefix("torch.")],
        values,
        _codes(names, rare=True),
        torch.Tensor,
        r"not implemented for|not supported for|does not support",
    )


def _paddle() -> Framework:
    import os
    from importlib.metadata import version

    os.environ.setdefault("GLOG_minloglevel", "4")
    import paddle

    paddle.set_device("cpu")
    # The dtypes themselves: by its name uint16 is what Paddle stores bfloat16 in.
    dtypes = {
        c: getattr(paddle, n)
        for n, c in _ask.CODES.items()
        if n in _ask.DTYPES and hasattr(paddle, n)
    }

    def values(x: Any) -> list[Any]:
        kind = str(x.dtype).removeprefix("paddle.")
        wide = "complex128" if kind[0] == "c" else "float64" if "float" in kind else "int64"
        return list(x.astype(wide).flatten().tolist())

    def code(x: Any) -> str:
        of_16_bits = x.dtype == dtypes["u16"]  # which prints as bfloat16
        return "u16" if of_16_bits else _ask.CODES[str(x.dtype).removeprefix("paddle.")]

    def make(data: Any, code: str) -> Any:
        wide = (
            "complex64"
            if code[0] == "c"
            else "int64"
            if code[0] in "iub" and code[:2] != "bf"
            else "float32"
        )
        return paddle.to_tensor(data, dtype=wide).astype(dtypes[code])

    return Framework(
        {"framework": f"paddlepaddle {version('paddlepaddle')}, CPU, dynamic graph"},
        {
            "paddle": paddle,
            "F": paddle.nn.functional,
            "linalg": paddle.linalg,
            "fft": paddle.fft,
            "Tensor": paddle.Tensor,
            "init": paddle.nn.init,
        },
        make,
        code,
        values,
        _codes(dtypes, rare=True),
        paddle.Tensor,
        r"of kernel `\w+` is not reg|is not supported when casting|no kernel|Unsupported data type",
    )


def _tensorflow() -> Framework:
    import os

    os.environ |= {"TF_CPP_MIN_LOG_LEVEL": "3", "TF_ENABLE_ONEDNN_OPTS": "0"}
    import ml_dtypes
    import numpy as np
    import tensorflow as tf

    def make(data: Any, code: str) -> Any:
        held = np.asarray(data).astype(getattr(ml_dtypes, names[code], names[code]))
        return tf.constant(held, dtype=names[code])

    names = {}
    for name, code in _ask.CODES.items():
        with contextlib.suppress(TypeError):
            names |= {code: name} if name in _ask.DTYPES and tf.as_dtype(name) else {}

    return Framework(
        {"framework": f"tensorflow {tf.__version__}, CPU, eager"},
        {"tf": tf},
        make,
        lambda x: _ask.CODES[x.dtype.name],
        lambda x: _listed(x.numpy()),
        _codes(names, rare=True),
        tf.Tensor,
        r"Could not find device for node|Cast \w+ to \w+ is not supported|UNIMPLEMENTED",
    )


def _jax(x64: bool) -> Framework:
    import jax

    jax.config.update("jax_enable_x64", x64)
    jax.config.update("jax_numpy_dtype_promotion", "standard")
    import jax.numpy as jnp
    import jax.scipy.special
    import ml_dtypes  # noqa: F401 - its dtypes by name
    import numpy as np

    kept = _codes({c: n for n, c in _ask.CODES.items() if n in _ask.DTYPES and hasattr(jnp, n)})
    names = {c: n for n, c in _ask.CODES.items() if c in kept}
    wide = () if x64 else ("i64", "u64", "f64", "c128")

    def make(data: Any, code: str) -> Any:
        return jnp.asarray(np.asarray(data), dtype=names[code])

    return Framework(
        {"framework": f"jax {jax.__version__}, CPU, {'x64' if x64 else 'x32'}"},
        {
            "jnp": jnp,
            "nn": jax.nn,
            "lax": jax.lax,
            "linalg": jnp.linalg,
            "fft": jnp.fft,
            "special": jax.scipy.special,
            "jax": jax,
        },
        make,
        lambda x: _ask.CODES[x.dtype.name] + "*" * bool(getattr(x, "weak_type", False)),
        _listed,
        tuple(c for c in kept if c not in wide),
        jax.Array,
        r"not implemented|Unsupported",
    )


def _numpy() -> Framework:
    import numpy as np

    names = {c: n for n, c in _ask.CODES.items() if n in _ask.DTYPES and hasattr(np, n)}
    if np.__version__[0] != "1":
        import ml_dtypes

        others = ("bfloat16", "float8_e4m3fn", "float8_e5m2")
        names |= {_ask.CODES[n]: n for n in others if hasattr(ml_dtypes, n)}
    names["b1"] = "bool"
    return Framework(
        {"framework": f"numpy {np.__version__}"},
        {"np": np, "linalg": np.linalg, "fft": np.fft},
        lambda data, code: np.asarray(data).astype(names[code]),
        lambda x: _ask.CODES[x.dtype.name],
        _listed,
        _codes(names),
        (np.ndarray, np.generic),
        r"^$",
    )


def _listed(x: Any) -> list[Any]:
    import numpy as np

    flat = np.asarray(x).ravel()
    wide = flat.astype(np.float64) if flat.dtype.kind in "fV" else flat
    return list(wide.tolist())


def _codes(names: Mapping[str, Any], *, rare: bool = False) -> tuple[str, ...]:
    """Those of the asked dtypes that a framework has."""
    return tuple(code for code in (*CODES, *RARE * rare) if code in names)


CODES = _split("b1 u8 i8 i16 i32 i64 u16 u32 u64 f16 bf16 f32 f64 c64 c128 f8_e4m3fn f8_e5m2")
RARE = _split("i2 i4 u2 u4 c32 f8_e4m3fnuz f8_e5m2fnuz f8_e8m0fnu f8_e4m3b11fnuz f4_e2m1fn")
"""Dtypes that frameworks have few kernels for; asked where the kernels are the question."""

EDITIONS: dict[str, Callable[[], _ask.Oracle]] = {
    "torch": lambda: oracle(_torch(), "torch"),
    "paddle": lambda: oracle(_paddle(), "paddle"),
    "tensorflow": lambda: oracle(_tensorflow(), "tensorflow"),
    "jax_x64": lambda: oracle(_jax(True), "jax"),
    "jax_x32": lambda: oracle(_jax(False), "jax"),
    "numpy2": lambda: oracle(_numpy(), "numpy"),
    "numpy1": lambda: oracle(_numpy(), "numpy"),
}


SUFFIX = ".json"
Sections = Mapping[str, Mapping[tuple[str, str], str]]


def write(path: Path, meta: Mapping[str, str], sections: Sections) -> None:
    """Write what was answered, a function a line; what the framework does not have is left out."""
    lines = [f'"meta": {json.dumps(dict(meta))}']
    for name, cells in sections.items():
        # Of a function that is missing an operand of a rare dtype may lack the kernel to be copied.
        if set(cells.values()) != {"."} and cells.get(("f32", name)) != ".":
            lines.append(f"{json.dumps(name)}: {json.dumps({c: a for (c, _), a in cells.items()})}")
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def read(path: Path) -> tuple[dict[str, str], dict[str, dict[tuple[str, str], str]]]:
    """Read a file back, without functions that are asked no more."""
    found = json.loads(path.read_text(encoding="utf-8"))
    asked = {row.name for row in rows()}
    answers = {n: {(c, n): a for c, a in found[n].items()} for n in found if n in asked}
    return found["meta"], answers


@cache
def _read(edition: str) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = json.loads(
        (GOLDEN / f"{edition}.json").read_text(encoding="utf-8")
    )
    return found


def meta(edition: str) -> dict[str, str]:
    """Who was asked."""
    return _read(edition)["meta"]


@cache
def golden(edition: str) -> dict[str, dict[str, str]]:
    """What an edition answered, by function and dtype."""
    return {name: cells for name, cells in _read(edition).items() if name != "meta"}


POLICIES = HERE.parent / "promoarray" / "policies"
TABLES = {
    "torch": "torch/functions.txt",
    "torch_cuda": "torch/functions_cuda.txt",
    "paddle": "paddle/functions.txt",
    "tensorflow": "tensorflow/functions.txt",
    "jax_x64": "jax/functions_x64.txt",
    "jax_x32": "jax/functions_x32.txt",
    "numpy2": "numpy/functions_2.txt",
    "numpy1": "numpy/functions_1.txt",
}
"""What promoarray itself has of the answers of an edition: their dtypes."""


def table(edition: str) -> str:
    """The dtypes of the answers, functions that answer alike in one line."""
    asked = {code for cells in golden(edition).values() for code in cells}
    codes = tuple(code for code in (*CODES, *RARE, *SCALARS) if code in asked)
    alike: dict[str, list[str]] = {}
    for name, cells in golden(edition).items():
        row = (re.sub(r":[^;]*", "", cells.get(code, ".")) for code in codes)
        alike.setdefault(re.sub(r"( \.)+$", "", " ".join(row)), []).append(name)
    lines = [f"{cells}\n  {' '.join(names)}\n" for cells, names in alike.items()]
    return f"# {meta(edition)['framework']}\n{' '.join(codes)}\n{''.join(lines)}"


if __name__ == "__main__":
    if sys.argv[1:] == ["--tables"]:
        for edition, name in TABLES.items():
            (POLICIES / name).write_text(table(edition), encoding="utf-8")
    else:
        _ask.main(EDITIONS, GOLDEN, sys.modules[__name__])
