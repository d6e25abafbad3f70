"""CuPy's part is taken by the stand-in of gpu/cupy_standin/, anew for each module."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import cupy_standin as standin
import pytest
from cupy_standin import compiler


@pytest.fixture(scope="session", autouse=True)
def _kernels(tmp_path_factory: pytest.TempPathFactory) -> None:
    """All workers of pytest-xdist share what each of them compiles."""
    own = tmp_path_factory.getbasetemp()
    compiler.folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "kernels"
    compiler.folder.mkdir(exist_ok=True)


@pytest.fixture(scope="module")
def cupy() -> Iterator[Any]:
    with standin.installed() as module:
        yield module


@pytest.fixture(autouse=True)
def _well(cupy: Any) -> Iterator[None]:
    """Every test begins with a GPU in order."""
    standin.trouble.__init__()  # type: ignore[misc]
    yield
    standin.trouble.__init__()  # type: ignore[misc]
