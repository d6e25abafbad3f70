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
from typing import Any, NamedTuple

Found = dict[str, tuple[str, str, tuple[int, ...], bytes]]
"""By name: the type of a value, its NumPy dtype, shape and bytes."""

DEPTH = 4
"""How deep containers are looked into."""


class Real(NamedTuple):
    """How a program ended there.

    Attributes
    ----------
    version : str
    final : dict
        By name: the type, the dtype and the values of its globals.
    output : str
    error : str
        What stopped it; "" if it ran to its end.
    """

    version: str
    final: dict[str, tuple[str, Any]]
    output: str
    error: str


def run(python: str, command: tuple[str, ...]) -> Real:
    """Run a program there, with no input.

    Parameters
    ----------
    python : str
        The interpreter.
    command : tuple of str
        The script or ``-m`` and the module, and its arguments.

    Raises
    ------
    OSError
        If there is no such interpreter.
    """
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
            return Real("", {}, done.stdout, lines[-1])
        with open(kept, "rb") as file:
            version, found = pickle.load(file)
    final = {
        name: (kind, np.frombuffer(data, dtype).reshape(shape))
        for name, (kind, dtype, shape, data) in found.items()
    }
    return Real(version, final, done.stdout, "" if not done.returncode else lines[-1])


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
    found: Found = {}
    for name, value in names.items():
        if not name.startswith("_"):
            _keep(found, name, value, DEPTH)
    with open(kept, "wb") as file:
        pickle.dump((np.__version__, found), file)


def _keep(found: Found, name: str, value: Any, depth: int) -> None:
    import numpy as np

    if isinstance(value, (np.ndarray, np.generic)):
        if value.dtype.kind in "biufc":
            data = np.ascontiguousarray(value)
            found[name] = f"numpy {value.dtype}", data.dtype.str, value.shape, data.tobytes()
    elif type(value) in (bool, int, float, complex):
        made = np.asarray(value)
        if made.dtype.kind in "biufc":
            found[name] = type(value).__name__, made.dtype.str, (), made.tobytes()
    elif depth and type(value) is dict:
        for key, each in value.items():
            if type(key) in (str, int):
                _keep(found, f"{name}[{key!r}]", each, depth - 1)
    elif depth and type(value) in (list, tuple):
        for number, each in enumerate(value):
            _keep(found, f"{name}[{number}]", each, depth - 1)


if __name__ == "__main__":
    main()
