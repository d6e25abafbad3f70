"""CuPy's part is taken by the stand-in of gpu/cupy_standin/, anew for each module."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import cupy_standin as standin
import pytest


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
