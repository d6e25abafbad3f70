"""What type checkers say of a user's program.

``python tests/test_typing.py`` writes ``promoarray/namespace_types.py``, by which they know the
functions of a namespace.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import promoarray as pa
from promoarray.functions import HOMES
from promoarray.other_names import NUMPYS

CONSUMER = Path(__file__).with_name("typed_consumer.py")
WRITTEN = Path(pa.__file__).with_name("namespace_types.py")
HEAD = '''"""Functions of a namespace, for type checkers and editors; no program imports it.

Written by ``tests/test_typing.py``.
"""

from collections.abc import Callable
from typing import Any

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
            yield f"    {name}: Callable[..., Any]"


CHAPTERS = {"fft": "Fft", "linalg": "Linalg"}


def written() -> str:
    """Return the module."""
    text = [HEAD]
    for chapter, name in CHAPTERS.items():
        title = f'class {name}:\n    """Functions of ``xp.{chapter}``."""\n'
        text += ["\n", title, *declared(getattr(pa, chapter))]
    text += ["\n", 'class Functions:\n    """Names of ``xp``."""\n', *declared(pa)]
    return "\n".join(text) + "\n"


def test_type_checkers_know_every_name_of_a_namespace() -> None:
    def names(text: str) -> list[str]:
        return [
            line.strip()
            for line in text.splitlines()
            if " = " in line
            or line.endswith((": DType", ": float", ": str", ": Callable[..., Any]"))
        ]

    assert names(WRITTEN.read_text(encoding="utf-8")) == names(written())


@pytest.mark.slow
def test_mypy_knows_the_types_of_a_users_program(tmp_path: Path) -> None:
    api = pytest.importorskip("mypy.api")
    said, errors, status = api.run(["--strict", "--cache-dir", str(tmp_path), str(CONSUMER)])
    assert (status, errors) == (0, ""), said + errors


WRONG = """
import promoarray as pa

pa.mean("hello")
pa.add([1], 2)
xp = pa.namespace("torch")
xp.sum("hello")
xp.linalg.svd("hello")
pa.reshape(pa.zeros(3), "a")
pa.zeros("a")
pa.sum(pa.zeros(3), axis="a")
pa.zeros(3, dtype=5)
pa.linspace("a", 1, 2)
pa.cov("hello")
"""


@pytest.mark.slow
def test_mypy_refuses_what_is_no_array(tmp_path: Path) -> None:
    api = pytest.importorskip("mypy.api")
    (tmp_path / "wrong.py").write_text(WRONG)
    cache = ["--strict", "--cache-dir", str(tmp_path / "cache")]
    said, _, _ = api.run([*cache, str(tmp_path / "wrong.py")])
    lines = [int(line.split(":")[1]) for line in said.splitlines() if "[arg-type]" in line]
    assert lines == [4, 5, *range(7, 15)], said


if __name__ == "__main__":
    WRITTEN.write_text(written(), encoding="utf-8")
