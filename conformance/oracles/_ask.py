"""What every oracle shares: the questions' names, and a way to ask them that survives a crash.

A framework's script describes one `Oracle` an edition and calls `main`. Each edition is asked in
a process of its own, because modes such as JAX's x64 or TensorFlow's NumPy behaviour are set once
a process; the process writes a journal, so that after an abort (some kernels take the interpreter
with them) a new one goes on behind the question that killed it. Frameworks are imported in the
function of an edition, so that the process that waits stays small.

    def edition() -> Oracle:
        import numpy
        arrays = {...}                                   # dtype code -> array
        return Oracle({"numpy": ...}, code, {**binary("function", F, arrays, arrays), ...})

    if __name__ == "__main__":
        main({"numpy2": edition})
"""

from __future__ import annotations

import argparse
import operator
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

_HERE = Path(__file__).resolve().parent
# The scripts are named after frameworks, which their folder must not hide.
sys.path[:] = [str(_HERE.parent), *(path for path in sys.path if Path(path).resolve() != _HERE)]
import python_operators  # noqa: E402
import tables  # noqa: E402

REFUSED, NO_KERNEL = "-", "?"

CODES = tables.CODES
DTYPES = tuple(name for name in CODES if name != "string" and not name.endswith("*"))
"""Dtype names to try, in the order tables list them; a framework has some of them."""


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


SCALARS = {"bool": True, "int": 1, "float": 1.0, "complex": 1 + 0j}

BINARY = _names(
    "add subtract multiply divide floor_divide remainder pow equal less logical_and bitwise_and"
    " maximum minimum where atan2 left_shift"
    " not_equal less_equal greater greater_equal logical_or logical_xor bitwise_or bitwise_xor"
    " right_shift hypot copysign nextafter logaddexp fmax fmin matmul concat stack"
)
"""Functions of two arrays. matmul wants (2, 2) arrays, concat and stack arrays only."""

ZERO_D = ("add", "divide", "pow", "less", "where", "maximum", "bitwise_and", "atan2")
MORE_ZERO_D = _names("hypot copysign logaddexp fmax subtract multiply equal floor_divide remainder")
"""Functions asked with one operand 0-d; `ZERO_D` with both as well."""

OPERATORS = python_operators.OPERATORS
"""Operators on the usual arrays; ask `operator.matmul` apart, on (2, 2) arrays."""

INPLACE = {
    name: python_operators.INPLACE[name]
    for name in _names(
        "add subtract multiply divide floor_divide remainder pow bitwise_and left_shift"
    )
}

UNARY = _names(
    "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp expm1 log log1p log2 log10"
    " sqrt square reciprocal abs negative positive sign signbit floor ceil trunc round"
    " isnan isinf isfinite conj real imag logical_not bitwise_invert"
)
REDUCE = _names("sum prod mean cumulative_sum cumulative_prod max min any all std var argmax")

LINEAR = {
    "linalg": _names(
        "cholesky det diagonal eigvals eigvalsh inv matrix_norm matrix_power matrix_rank pinv"
        " svdvals trace vector_norm eig eigh qr slogdet svd"
    ),
    "fft": _names("fft ifft fftn ifftn rfft rfftn ihfft irfft irfftn hfft fftshift ifftshift"),
    "sets": _names("unique_values unique_counts unique_inverse unique_all"),
    "sorting": _names("sort argsort"),
}
"""The chapters asked of one identity matrix; a result of several arrays is a column for each."""

CHAPTERS, IDENTITY = "linalg, fft, sets, sorting", "asked of the 3 x 3 identity matrix"

SEVERAL = {"eig": 2, "eigh": 2, "qr": 2, "slogdet": 2, "svd": 3}
SEVERAL |= {"unique_counts": 2, "unique_inverse": 2, "unique_all": 4}

LINEAR_PAIRS = _names("solve cross vecdot tensordot outer isin")
"""Functions of two identity matrices (outer of their first rows)."""

LINEAR_NAMES = (*LINEAR["linalg"], *LINEAR["fft"], *LINEAR["sorting"], *LINEAR_PAIRS)
"""All of them but the sets, which most frameworks spell otherwise."""

INTS = (
    *(-1, 0, 1, 127, 128, 255, 256, -128, -129, 1000, 32767, 32768, 65535, 65536),
    *(2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63 - 1, 2**63, 2**64 - 1, 2**64),
    *(-(2**31) - 1, -(2**63), -(2**63) - 1),
)
FLOATS = (0.5, 2.0, 65504.0, 65520.0, 1e5, 3.4e38, 1e39, 1e300, float("inf"), float("nan"), 1e-46)
VALUES: dict[str, int | float] = {repr(value): value for value in (*INTS, *FLOATS)}
"""Python scalars at the edges of the dtypes, for `scalars`."""


@dataclass(frozen=True)
class Section:
    """One table: `ask` of every row's object and every column's. A str answer is the cell."""

    ask: Callable[[Any, Any], Any]
    rows: Mapping[str, Any]
    columns: Mapping[str, Any]
    refusal: Callable[[Exception], str] | None = None
    skip: Callable[[str, str], bool] = lambda row, column: False


@dataclass(frozen=True)
class Oracle:
    """One edition of a framework: what it is, how answers read, and what to ask."""

    meta: Mapping[str, str]
    code: Callable[[Any], str]
    """Result to dtype code; raises if the result is no array."""
    sections: Mapping[str, Section]
    refusal: Callable[[Exception], str] = lambda error: REFUSED
    """Error to `-`, `?` or `?<code>`."""


def binary(
    prefix: str,
    functions: Mapping[str, Callable[[Any, Any], Any]],
    rows: Mapping[str, Any],
    columns: Mapping[str, Any],
    *,
    both_scalars: bool = True,
) -> dict[str, Section]:
    """Sections ``prefix/name``; Python scalars on both sides only if ``both_scalars``."""
    skip = _never if both_scalars else _both_scalars
    return {
        f"{prefix}/{name}": Section(f, rows, columns, None, skip) for name, f in functions.items()
    }


def promotion(
    functions: Mapping[str, Callable[[Any, Any], Any]],
    arrays: Mapping[str, Any],
    zeros_d: Mapping[str, Any],
    squares: Mapping[str, Any],
) -> dict[str, Section]:
    """Functions and operators of two arrays, of an array and a scalar, and of 0-d arrays.

    ``arrays``, ``zeros_d`` and ``squares`` have a dtype's array of shape (2,), () and (2, 2).
    """
    apart = ("matmul", "concat", "stack")
    plain = {name: function for name, function in functions.items() if name not in apart}
    joins = {name: functions[name] for name in ("concat", "stack")}
    zero_d = {name: functions[name] for name in ZERO_D}
    one_zero_d = zero_d | {name: functions[name] for name in MORE_ZERO_D if name in functions}
    operands, operands_0d = {**arrays, **SCALARS}, {**zeros_d, **SCALARS}
    return {
        **binary("function", plain, operands, operands),
        **binary("function", {"matmul": functions["matmul"]}, squares, squares),
        **binary("function", joins, arrays, arrays),
        **binary("operator", OPERATORS, operands, operands, both_scalars=False),
        **binary("operator", {"matmul": operator.matmul}, squares, squares),
        **binary("array_0d", one_zero_d, arrays, zeros_d),
        **binary("0d_array", one_zero_d, zeros_d, arrays),
        **binary("0d_0d", zero_d, operands_0d, operands_0d),
    }


def named(
    module: Any, names: Iterable[str], theirs: Mapping[str, str]
) -> dict[str, Callable[..., Any]]:
    """The functions that a module has of these names, or of its own names for them."""
    found = {name: getattr(module, theirs.get(name, name), None) for name in names}
    return {name: function for name, function in found.items() if function}


def unary(functions: Mapping[str, Callable[[Any], Any]], arrays: Mapping[str, Any]) -> Section:
    """One table of a family of one-argument functions: dtypes down, functions across."""
    return Section(lambda x, function: function(x), arrays, functions)


def linear(
    functions: Mapping[str, Callable[..., Any]], matrices: Mapping[str, Any]
) -> dict[str, Section]:
    """Sections of linear algebra, Fourier transforms, sets and sorting, of 3 x 3 identities."""

    def part(function: Callable[[Any], Any], index: int) -> Callable[[Any], Any]:
        return lambda x: function(x)[index]

    sections = {}
    for chapter, names in LINEAR.items():
        columns: dict[str, Callable[[Any], Any]] = {}
        for name in (name for name in names if name in functions):
            if name in SEVERAL:
                columns |= {f"{name}[{i}]": part(functions[name], i) for i in range(SEVERAL[name])}
            else:
                columns[name] = functions[name]
        if columns:
            sections[chapter] = unary(columns, matrices)
    pairs = {name: functions[name] for name in LINEAR_PAIRS if name in functions}
    return {**sections, **binary("function", pairs, matrices, matrices)}


def inplace(
    make: Callable[[str], Any],
    rows: Iterable[str],
    columns: Mapping[str, Any],
    functions: Mapping[str, Callable[[Any, Any], Any]] = INPLACE,
    prefix: str = "inplace",
) -> dict[str, Section]:
    """What the name ``x`` is after ``x += y``; ``make(code)`` gives a new array each time."""
    codes = {code: code for code in rows}
    return {
        f"{prefix}/{name}": Section(lambda code, y, f=f: f(make(code), y), codes, columns)
        for name, f in functions.items()
    }


def scalars(
    arrays: Mapping[str, Any],
    cell: Callable[[Any], str],
    values: Mapping[str, int | float] = VALUES,
) -> dict[str, Section]:
    """``scalars/add`` and ``scalars/less``; ``cell(result)`` is ``code:firstelement``."""
    return {
        f"scalars/{name}": Section(
            lambda x, y, f=f: cell(f(x, y)).replace(" ", ""), arrays, values, _error_name
        )
        for name, f in (("add", operator.add), ("less", operator.lt))
    }


def telling_errors(
    sections: Mapping[str, Section], refusal: Callable[[Exception], str]
) -> dict[str, Section]:
    """Sections whose refusals tell the error's name: an overflow is not a rule."""

    def told(error: Exception) -> str:
        return NO_KERNEL if refusal(error)[:1] == NO_KERNEL else _error_name(error)

    return {name: replace(section, refusal=told) for name, section in sections.items()}


def ask(
    oracle: Oracle, done: Iterable[tuple[str, str, str]] = (), journal: Path | None = None
) -> dict[str, tables.Cells]:
    """Ask everything not ``done``; note each question in ``journal`` before and after."""
    answered, answers = set(done), {name: {} for name in oracle.sections}
    with open(journal or os.devnull, "a", encoding="utf-8") as log, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, section in oracle.sections.items():
            for row, x in section.rows.items():
                for column, y in section.columns.items():
                    if (name, row, column) in answered or section.skip(row, column):
                        continue
                    log.write(f"{name}\t{row}\t{column}")
                    log.flush()
                    cell = answers[name][row, column] = _cell(oracle, section, x, y)
                    log.write(f"\t{cell}\n")
    return answers


def main(
    editions: Mapping[str, Callable[[], Oracle]],
    folder: Path = Path(tables.__file__).parent / "golden",
    form: Any = tables,
) -> None:
    """Ask the named editions (all by default) and write ``OUT/<edition>.txt``.

    ``form`` is a module that reads and writes files of answers, with their ``SUFFIX``.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("editions", nargs="*", default=list(editions))
    parser.add_argument("--out", type=Path, default=folder)
    parser.add_argument("--only", nargs="*", default=[], help="sections to ask anew; * and ?")
    parser.add_argument("--journal", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.journal:
        warnings.simplefilter("ignore")
        _work(_part(editions[options.editions[0]](), options.only), options.journal)
        return
    for edition in options.editions:
        path = options.out / (edition + form.SUFFIX)
        meta, answers = _drive(edition, options.only)
        if options.only and path.exists():
            said, known = form.read(path)
            meta, answers = {**said, **meta}, {**known, **answers}
        options.out.mkdir(parents=True, exist_ok=True)
        form.write(path, meta, answers)
        cells = sum(map(len, answers.values()))
        print(f"{edition}: {len(answers)} sections, {cells} cells", flush=True)


def _part(oracle: Oracle, only: Iterable[str]) -> Oracle:
    """The oracle with the sections that match, or with all of them."""
    patterns = tuple(only) or ("*",)
    kept = {n: s for n, s in oracle.sections.items() if any(fnmatchcase(n, p) for p in patterns)}
    return replace(oracle, sections=kept)


def _drive(edition: str, only: Iterable[str]) -> tuple[dict[str, str], dict[str, tables.Cells]]:
    with tempfile.TemporaryDirectory() as folder:
        journal, asked = Path(folder, "journal"), -1
        while True:
            command = [sys.executable, sys.argv[0], edition, "--journal", str(journal)]
            command += ["--only", *only]
            status = subprocess.run(command, check=False).returncode
            if not status:
                break
            text = journal.read_text(encoding="utf-8") if journal.exists() else ""
            if len(text) <= asked or (status > 0 and (not text or text.endswith("\n"))):
                sys.exit(f"{edition}: the worker failed with {status}, not in a question")
            asked = len(text)
            if not text.endswith("\n"):
                print(f"{edition}: crash in {text.splitlines()[-1].split()}", flush=True)
                with journal.open("a", encoding="utf-8") as log:
                    log.write(f"\t{NO_KERNEL}\n")
        return _read(journal)


def _work(oracle: Oracle, journal: Path) -> None:
    if not journal.exists():
        noted = dict(oracle.meta) | ({CHAPTERS: IDENTITY} if "linalg" in oracle.sections else {})
        meta = (f"# {key}: {value}\n" for key, value in noted.items())
        journal.write_text("".join(meta), encoding="utf-8")
    done = _read(journal)[1]
    ask(oracle, [(name, *pair) for name in done for pair in done[name]], journal)
    os._exit(0)  # a framework that aborts while it is torn down has answered all the same


def _read(journal: Path) -> tuple[dict[str, str], dict[str, tables.Cells]]:
    meta: dict[str, str] = {}
    answers: dict[str, tables.Cells] = {}
    for line in journal.read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            key, value = line[2:].split(": ", 1)
            meta[key] = value
        else:
            name, row, column, cell = line.split("\t")
            answers.setdefault(name, {})[row, column] = cell
    return meta, answers


def _cell(oracle: Oracle, section: Section, x: Any, y: Any) -> str:
    try:
        answer = section.ask(x, y)
        return answer if isinstance(answer, str) else oracle.code(answer)
    except Exception as error:  # whatever a framework raises is its answer
        return (section.refusal or oracle.refusal)(error)


def _error_name(error: Exception) -> str:
    return f"!{type(error).__name__}"


def _never(row: str, column: str) -> bool:
    return False


def _both_scalars(row: str, column: str) -> bool:
    return row in SCALARS and column in SCALARS
