"""What type checkers say of a user's program.

``python tests/test_typing.py`` writes ``promoarray/numpy_types.pyi`` and
``promoarray/namespace_types.pyi``, by which they know NumPy's functions and methods, and the
functions of a namespace.
"""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
from collections.abc import Iterator
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import promoarray as pa
from promoarray import array_methods
from promoarray.functions import HOMES
from promoarray.numpy_api import by_name_docs
from promoarray.numpy_api.table import rows
from promoarray.other_names import BY_NAME, NUMPYS, same_as

CONSUMER = Path(__file__).with_name("typed_consumer.py")
WRITTEN = Path(pa.__file__).with_name("namespace_types.pyi")
WRITTEN_OF_NUMPYS = Path(pa.__file__).with_name("numpy_types.pyi")
HEAD = '''"""Functions of a namespace, for type checkers and editors.

Written by ``tests/test_typing.py``.
"""

from promoarray import extras, numpy_types
from promoarray import fft as fourier
from promoarray import linalg as algebra
from promoarray.dtypes import DType
'''
HOME = {name: home.rpartition(".")[2] for name, home in HOMES.items()}
HEAD += f"from promoarray.functions import {', '.join(sorted({*HOME.values()}))}\n"


def declared(module: Any) -> Iterator[str]:
    """Yield a declaration of each name of a module that a namespace has, too."""
    xp = pa.namespace("numpy")
    for name in module.__all__ if module is not pa else sorted({*module.__all__} & {*dir(xp)}):
        value = getattr(module, name)
        if isinstance(value, pa.DType):
            yield f"    {name}: DType"
        elif isinstance(value, (float, str)):
            yield f"    {name}: {type(value).__name__}"
        elif module is pa and name in CHAPTERS:
            yield f"    {name}: {CHAPTERS[name]}"
        elif module is not pa or name in HOMES:
            home = {"fft": "fourier", "linalg": "algebra"}.get(module.__name__.split(".")[-1])
            yield f"    {name} = staticmethod({home or HOME[name]}.{name})"
        elif name in NUMPYS:
            home = "numpy_types" if name in BY_NAME else "extras"
            yield f"    {name} = staticmethod({home}.{name})"


CHAPTERS = {"fft": "Fft", "linalg": "Linalg"}


def written() -> str:
    """Return the functions of a namespace."""
    text = [HEAD]
    for chapter, name in CHAPTERS.items():
        title = f'class {name}:\n    """Functions of ``xp.{chapter}``."""\n'
        text += ["\n", title, *declared(getattr(pa, chapter))]
    text += ["\n", 'class Functions:\n    """Names of ``xp``."""\n', *declared(pa)]
    return "\n".join(text) + "\n"


NUMPYS_HEAD = '''"""Functions and methods that NumPy's users know, for type checkers and editors.

Written by ``tests/test_typing.py``: the parameters are those that the functions have.
"""

from collections.abc import Sequence
from typing import Any, Self
from typing import SupportsIndex as _Int

from promoarray.functions import elementwise
from promoarray.parray import AnyArray, AnyDType, Axes, Data, PArray
'''
TYPES = {
    "Data": "a a1 a2 ar ar1 ar2 arr ary arys b indices m other p q repeats v val values x",
    "Data | None": "sorter weights y",
    "AnyArray | None": "initial max min neginf posinf where",
    "AnyArray": "atol nan rtol",
    "Data | str": "value",
    "Axes": "axes axis",
    "_Int": "axis1 axis2 decimals k minlength offset",
    "_Int | Sequence[_Int]": "kth",
    "_Int | Sequence[_Int] | PArray": "indices_or_sections",
    "Sequence[Data] | PArray": "tup",
    "PArray": "out",
    "AnyDType": "dtype",
    "float": "correction ddof",
    "bool": "assume_unique copy equal_nan keepdims overwrite_input return_counts return_index "
    "return_inverse returned rowvar sorted stable subok wrap",
    "str": "casting kind method mode order side",
}
"""From a type to the parameters that have it, of every function."""
TYPE = {name: kind for kind, names in TYPES.items() for name in names.split()}
ONE_AXIS = {"append", "argmax", "argmin", "argsort", "array_split", "cumprod", "cumsum", "repeat"}
ONE_AXIS |= {"argpartition", "nanargmax", "nanargmin", "nancumprod", "nancumsum", "partition"}
ONE_AXIS |= {"sort", "split", "take"}
RETURNS = {"nonzero": "tuple[Self, ...]", "fill": "None", "sort": "None"}
RETURNS |= {"shape": "tuple[int, ...]", "size": "int", "ndim": "int", "unique": "Any"}
RETURNS |= dict.fromkeys(("atleast_1d", "atleast_2d", "atleast_3d"), "Any")
"""What is returned, where it is no array and its documentation does not say it in one word."""


def typed(function: str, parameter: Parameter, refused: bool) -> str:
    """A parameter with its type, as a stub has it."""
    name, default = parameter.name, parameter.default
    if name == "self":
        return name
    kind = "None" if refused and default is None else TYPE[name]
    if function == "fill_diagonal" and name == "a":  # which is written into
        kind = "PArray"
    if name == "axis" and function in ONE_AXIS:
        kind = "_Int"
    optional = default is None and not {"None", "Axes"} & {*kind.split()}
    optional |= name == "axis" and function.endswith("partition")
    starred = "*" if parameter.kind is parameter.VAR_POSITIONAL else ""
    ending = "" if default is parameter.empty else " = ..."
    return f"{starred}{name}: {kind}{' | None' if optional else ''}{ending}"


def stub(name: str, function: Any, refused: set[str], returns: str) -> str:
    """A function as a stub has it."""
    parameters = []
    for each in signature(function).parameters.values():
        if each.kind is each.KEYWORD_ONLY and not any(p.startswith("*") for p in parameters):
            parameters.append("*")
        parameters.append(typed(name, each, each.name in refused))
    return f"def {name}({', '.join(parameters)}) -> {RETURNS.get(name, returns)}: ..."


def written_of_numpys() -> str:
    """Return NumPy's functions and methods."""
    said = by_name_docs.entries()
    lines = [NUMPYS_HEAD]
    for name in BY_NAME:
        taken = rows()[name].parameters
        refused = {p.name for p in taken if p.how == "refused" and p.taken <= {""}}
        kind = said[name].returns.partition(" |")[0].replace("list of PArray", "list[PArray]")
        lines.append(stub(name, getattr(pa, name), refused, kind.removesuffix(" of bool")))
    lines.append("")
    for name in dir(np):
        if (ours := same_as(name)) and not isinstance(getattr(pa, ours), pa.DType):
            lines.append(f"{name} = elementwise.{ours}")
    lines.append("\nclass _Methods:")
    for row in array_methods._TABLE.strip().splitlines():
        name = row.split()[0]
        lines.append(f"    {stub(name, getattr(pa.PArray, name), {'out'}, 'Self')}")
    return "\n".join(lines) + "\n"


def test_type_checkers_know_every_name_of_a_namespace() -> None:
    def plain(text: str) -> str:
        return re.sub(r"\s|,(?=\s*\))|[()]", "", text)

    assert plain(WRITTEN.read_text(encoding="utf-8")) == plain(written())
    if np.lib.NumpyVersion(np.__version__) >= "2.4.0":  # which tells the signatures of all it has
        assert plain(WRITTEN_OF_NUMPYS.read_text(encoding="utf-8")) == plain(written_of_numpys())


@pytest.mark.slow
def test_mypy_knows_the_types_of_a_users_program(tmp_path: Path) -> None:
    api = pytest.importorskip("mypy.api")
    said, errors, status = api.run(["--strict", "--cache-dir", str(tmp_path), str(CONSUMER)])
    assert (status, errors) == (0, ""), said + errors


WRONG = """
pa.add([1], 2)
pa.reshape(pa.zeros(3), "a")
pa.zeros("a")
pa.zeros(3, dtype=5)
pa.linspace("a", 1, 2)
pa.pad(x, "a")
pa.histogram(x, bins="auto")
pa.gradient(x, "a")
pa.einsum("i", "a")
pa.median(x, axis="a")
pa.cumsum(x, axis=(0, 1))
pa.split(x, "a")
pa.percentile(x, "a")
pa.nansum(x, dtype=5)
pa.bincount(x, minlength=1.5)
pa.fill_diagonal([[1]], 2)
pa.arccos("hello")
pa.power(x, "a")
x.sum(axis="a")
x.mean(dtype=5)
x.std(ddof="a")
x.argmax(axis=(0, 1))
x.clip("a")
x.dot("a")
x.round("a")
x.take("a")
x.transpose("ab")
"""
NO_ARRAY_FIRST = {"__array_namespace_info__", "array", "asarray", "can_cast", "einsum", "finfo"}
NO_ARRAY_FIRST |= {"iinfo", "isdtype", "promote_types", "result_type"}
"""Functions that take a text, or whose first argument may be one."""


def mypy_says(program: str, folder: Path) -> list[str]:
    """Return the lines of a program of which mypy says that an argument is wrong."""
    api = pytest.importorskip("mypy.api")
    (folder / "program.py").write_text(program, encoding="utf-8")
    cache = ["--strict", "--cache-dir", str(folder / "cache")]
    said, errors, _ = api.run([*cache, str(folder / "program.py")])
    assert errors == ""
    found = re.findall(r"(?m)^\S*program.py:(\d+): error: .*\[(?:arg-type|call-arg|misc)\]$", said)
    return [program.splitlines()[int(line) - 1] for line in dict.fromkeys(found)]


@pytest.mark.slow
def test_mypy_refuses_what_is_no_array(tmp_path: Path) -> None:
    """A text for the first array of every function, and other arguments of each family."""
    names = sorted({*HOMES, *NUMPYS} - NO_ARRAY_FIRST)
    names += [f"{home}.{name}" for home in CHAPTERS for name in getattr(pa, home).__all__]
    wrong = WRONG.split("\n")[1:-1]
    wrong += [f'{space}.{name}("hello")' for space in ("pa", "xp") for name in names]
    head = ["import promoarray as pa", 'x, xp = pa.zeros(3), pa.namespace("torch")']
    assert mypy_says("\n".join([*head, *wrong]), tmp_path) == wrong


@pytest.mark.slow
def test_mypy_takes_the_examples_of_numpys_functions(tmp_path: Path) -> None:
    """Those of their documentation and of the page for NumPy's users."""
    examples = [entry.examples for entry in by_name_docs.entries().values()]
    head = "import numpy as np\nimport promoarray as pa\nfrom promoarray import *\n"
    page = Path(__file__).parents[1] / "docs" / "numpy.md"
    if page.exists():
        examples.append(page.read_text(encoding="utf-8").replace("```", ""))
    found = [x for text in examples for x in doctest.DocTestParser().get_examples(text)]
    right = "".join(example.source for example in found if example.exc_msg is None)
    assert len(right.splitlines()) > 80
    assert mypy_says(head + right, tmp_path) == []


if __name__ == "__main__":
    WRITTEN.write_text(written(), encoding="utf-8")
    WRITTEN_OF_NUMPYS.write_text(written_of_numpys(), encoding="utf-8")
    files = [str(WRITTEN), str(WRITTEN_OF_NUMPYS)]
    subprocess.run([sys.executable, "-m", "ruff", "format", *files], check=True)
