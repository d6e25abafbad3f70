"""Every test here computes in its own thread; without Dask all are skipped."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

dask = pytest.importorskip("dask", reason="needs Dask: pip install 'promoarray[dask]'")
pytest.importorskip("dask.array", reason="needs Dask: pip install 'promoarray[dask]'")


@pytest.fixture(autouse=True)
def _synchronous() -> Iterator[None]:
    with dask.config.set(scheduler="synchronous"):
        yield
