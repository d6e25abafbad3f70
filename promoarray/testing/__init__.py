"""Assertions for tests of array code: ``pa.testing``.

Nothing here imports pytest; the plugin, in ``plugin/``, is loaded by pytest alone.
"""

from __future__ import annotations

from promoarray.testing.closeness import Tolerance, assert_allclose, tolerance
from promoarray.testing.same_dtypes import assert_same_dtypes

__all__ = ["Tolerance", "assert_allclose", "assert_same_dtypes", "tolerance"]
