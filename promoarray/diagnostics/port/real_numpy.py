"""The values that a program ends with in a real NumPy 1, if an interpreter with one is given.

Its Python runs this file as it is: it imports nothing of promoarray there.
"""

from __future__ import annotations

import os
import pickle
import runpy
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from promoarray.diagnostics.model.final import Final

DEPTH = 4
"""How deep containers are looked into."""


class Real(NamedTuple):
    """How a program ended there."""

    version: str
    final: dict[str, Final]  # the values of its globals
    error: str  # what stopped it; "" if it ran to its end


def run(python: str, command: tuple[str, ...]) -> Real:
    """Run a program with an interpreter, with no input: a script, or ``-m`` and a module, and its
    arguments."""
    import numpy as np

    with tempfile.TemporaryDirectory(prefix="promoarray-") as folder:
        kept = os.path.join(folder, "final")
        done = subprocess.run(
            [python, __file__, kept, *command],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        lines = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
        if not os.path.exists(kept):
            return Real("", {}, lines[-1])
        with open(kept, "rb") as file:
            version, found = pickle.load(file)
    final = {
        name: _final(kind, np.frombuffer(data, dtype).reshape(shape))
        for name, kind, dtype, shape, data in found
    }
    return Real(version, final, lines[-1] if done.returncode else "")


def _final(kind: str, values: Any) -> Final:
    """A global of the run: arrays are ``numpy float64`` there, numbers ``float``."""
    from promoarray.diagnostics.model.final import NUMPY, PYTHON, Final

    library, _, dtype = kind.rpartition(" ")
    return Final(dtype, values.shape, values, library=NUMPY if library else PYTHON)


def main() -> None:
    """Run the program in place of this file, and keep what it ends with."""
    import numpy as np

    kept, sys.argv = sys.argv[1], sys.argv[2:]
    module = sys.argv[0] == "-m"
    del sys.argv[: int(module)]
    sys.path[0] = os.getcwd() if module else os.path.dirname(os.path.abspath(sys.argv[0]))
    start: Any = runpy.run_module if module else runpy.run_path
    options: dict[str, Any] = {"alter_sys": True} if module else {}
    names = start(sys.argv[0], run_name="__main__", **options)
    public = ((name, value) for name, value in names.items() if not name.startswith("_"))
    found = [each for name, value in public for each in _kept(name, value, DEPTH)]
    with open(kept, "wb") as file:
        pickle.dump((np.__version__, found), file)


def _kept(name: str, value: Any, depth: int) -> Iterator[tuple[Any, ...]]:
    """Yield the name, type, NumPy dtype, shape and bytes of each value."""
    import numpy as np

    array = isinstance(value, (np.ndarray, np.generic))
    if array or type(value) in (bool, int, float, complex):
        made = np.ascontiguousarray(value) if array else np.asarray(value)
        if made.dtype.kind in "biufc":
            kind = f"numpy {made.dtype}" if array else type(value).__name__
            yield name, kind, made.dtype.str, np.shape(value), made.tobytes()
    elif depth and type(value) is dict:
        for key, each in value.items():
            if type(key) in (str, int):
                yield from _kept(f"{name}[{key!r}]", each, depth - 1)
    elif depth and type(value) in (list, tuple):
        for number, each in enumerate(value):
            yield from _kept(f"{name}[{number}]", each, depth - 1)


if __name__ == "__main__":
    main()
