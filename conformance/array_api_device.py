"""promoarray as array-api-tests sees it with ``--device``: new arrays lie there by default.

Everything else is promoarray's own. The device is in PROMOARRAY_TESTED_DEVICE; new arrays on "dask"
lie in blocks of PROMOARRAY_TESTED_CHUNK elements along every axis, where that is set.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import promoarray
from promoarray import *  # noqa: F403

DEVICE = os.environ.get("PROMOARRAY_TESTED_DEVICE", "cuda:0")
CHUNK = int(os.environ.get("PROMOARRAY_TESTED_CHUNK", 0))


def _placed(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def run(*args: Any, device: str | None = None, **options: Any) -> Any:
        made = function(*args, device=DEVICE if device is None else device, **options)
        return made.rechunk(CHUNK) if CHUNK and made.ndim and made.device == "dask" else made

    return run


_MAKERS = ("arange", "asarray", "empty", "eye", "full", "linspace", "ones", "zeros")
globals().update({name: _placed(getattr(promoarray, name)) for name in _MAKERS})

fft = SimpleNamespace(**{name: getattr(promoarray.fft, name) for name in promoarray.fft.__all__})
fft.fftfreq, fft.rfftfreq = map(_placed, (promoarray.fft.fftfreq, promoarray.fft.rfftfreq))


def __array_namespace_info__() -> Any:
    """What promoarray says of itself, but for the default device."""
    info = promoarray.__array_namespace_info__()

    class Here(type(info)):  # type: ignore[misc]
        def default_device(self) -> str:
            return DEVICE

    return Here(info.policy)


def __getattr__(name: str) -> Any:
    return getattr(promoarray, name)
