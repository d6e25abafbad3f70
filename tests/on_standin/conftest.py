"""CuPy's part is taken by the stand-in of gpu/standin.py, anew for each module."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "gpu"))

import standin


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
