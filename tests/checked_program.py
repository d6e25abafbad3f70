"""Programs of PyTorch, Paddle and JAX in a block of ``pa.check``."""

from __future__ import annotations

import importlib.util
import linecache
import runpy
import warnings
from pathlib import Path
from typing import Any

import pytest

import promoarray as pa

HEADS = {
    "numpy": "import numpy as np\nimport ml_dtypes\n",
    "torch": "import torch\n",
    "jax": "import jax\nimport jax.numpy as jnp\n",
    "paddle": "import paddle\n",
}


def require(framework: str) -> None:
    if importlib.util.find_spec(framework) is None:
        pytest.skip(f"needs {framework}: pip install 'promoarray[test-{framework}]'")


def checked(
    tmp_path: Path,
    framework: str,
    text: str,
    names: dict[str, Any] | None = None,
    kinds: tuple[str, ...] = (),
    **how: Any,
) -> Any:
    """The report of a program, which runs in a block."""
    require(framework)
    path = tmp_path / "program.py"
    path.write_text(HEADS[framework] + text)
    linecache.checkcache()
    code = compile(path.read_text(), str(path), "exec")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        importlib.import_module(framework)
    names = {"__name__": "__main__"} if names is None else names
    with pa.check(*kinds, framework=framework, **how) as report:
        if framework == "numpy":  # whose functions are looked at that are in modules
            names.update(runpy.run_path(str(path)))
        else:
            exec(code, names)
    return report
