"""All that a test can tell of a call's answer: what two ways of one call must have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import promoarray as pa


def outcome(run: Callable[..., Any], *given: Any, **options: Any) -> Any:
    """Every result, an array to the bit; or the error in full."""
    try:
        out = run(*given, **options)
    except Exception as error:
        return type(error), str(error)
    return (type(out), [_told(x) for x in out]) if isinstance(out, tuple | list) else _told(out)


def _told(x: Any) -> Any:
    if not isinstance(x, pa.PArray):
        return x
    buffer = x._buffer
    return type(x), x._type, type(buffer), x.shape, buffer.dtype, buffer.tobytes()
