"""NumPy and ml_dtypes, imported with room on the stack.

CPython keeps the frames of Python code in chunks of 16 KiB. Where one is full it maps another, and
unmaps it once the call returns: at each call that is made from there. NumPy's imports stand so deep
in one another that they reach the end of a chunk, and two thousand chunks took a tenth of the time
of ``import promoarray``, as many as it happened to start from. A frame that no chunk has room for
is given a larger one, and what it calls lies there.
"""

from __future__ import annotations


def _import_numpy() -> None:
    import ml_dtypes  # noqa: F401
    import numpy  # noqa: F401


_WORDS = 1 << 12
"""The length of the frame, 32 KiB: its chunk is of 64, as each is twice as long as the last."""

_import_numpy.__code__ = _import_numpy.__code__.replace(co_stacksize=_WORDS)
_import_numpy()
