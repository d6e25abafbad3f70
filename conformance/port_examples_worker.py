"""Runs a program and writes what it ends with, for `port_examples.py` and `port_numpy.py`.

``python port_examples_worker.py torch PROGRAM`` in the environment of the framework, with
array-api-compat on its path for PyTorch and NumPy, has the framework in promoarray's place; ``plain
PROGRAM`` has the program as it is. The answer is a JSON line: from the name of each global to its
dtype, its shape and its values, or the error that stopped the program.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import types
import warnings
from importlib import import_module
from typing import Any

import numpy as np

MODULES = {"torch": "array_api_compat.torch", "jax": "jax.numpy", "numpy": "array_api_compat.numpy"}


def namespace(framework: str) -> types.ModuleType:
    """The framework's own array namespace under promoarray's name, with ml_dtypes' dtypes."""
    if framework == "jax":
        import_module("jax").config.update("jax_enable_x64", True)
    real = import_module(MODULES[framework])

    class Shim(types.ModuleType):
        def __getattr__(self, name: str) -> Any:
            found = getattr(real, name, None)
            return getattr(import_module("ml_dtypes"), name) if found is None else found

    return Shim("promoarray")


def ended(framework: str, program: str) -> dict[str, Any]:
    """Run a program; return its arrays and numbers."""
    if framework != "plain":
        sys.modules["promoarray"] = namespace(framework)
    names: dict[str, Any] = {"__name__": "__main__", "__file__": program}
    with open(program, "rb") as file:
        code = compile(file.read(), program, "exec")
    warnings.simplefilter("ignore")
    error = ""
    with contextlib.redirect_stdout(io.StringIO()), np.errstate(all="ignore"):
        try:
            exec(code, names)
        except Exception as stopped:
            error = f"{type(stopped).__name__}: {stopped}".split("\n")[0]
    found = {name: told for name, value in names.items() if (told := _told(value)) is not None}
    return {"error": error, "final": found}


def _told(value: Any) -> Any:
    if type(value) in (bool, int, float):
        return [type(value).__name__, [], [float(value)]]
    if not (hasattr(value, "dtype") and hasattr(value, "shape")) or isinstance(
        value, (type, types.ModuleType)
    ):
        return None
    dtype = str(getattr(value.dtype, "name", value.dtype)).removeprefix("torch.")
    if type(value).__module__.startswith("torch"):
        value = value.to(import_module("torch").float64)
    wide = np.asarray(value).astype(np.float64)
    is_own = type(value).__module__ == "numpy" and sys.argv[1] not in ("numpy", "plain")
    kind = "numpy " * is_own
    return [kind + dtype, list(wide.shape), wide.ravel().tolist()]


if __name__ == "__main__":
    print(json.dumps(ended(*sys.argv[1:])))
