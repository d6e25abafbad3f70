"""array-api-compat's functions over CuPy, each on the device of its arrays or of ``device=``.

By themselves they run on the current device, whatever is asked for. ``arange`` and ``linspace`` of
floats are computed here, for CuPy rounds the product and the sum in them together.
"""

from __future__ import annotations

import math
from functools import cache, wraps
from typing import Any

import numpy as np

from promoarray import dtypes as dt
from promoarray.backends.cupy.device import cupy, guarded, home, place
from promoarray.backends.cupy.launch import Buffer, cast, operate
from promoarray.kernels.cast_mode import DEFAULT


class Functions:
    """A namespace of array-api-compat's, or a room of it."""

    def __init__(self, module: Any, own: dict[str, Any]) -> None:
        self._module, self._own = module, own

    def __getattr__(self, name: str) -> Any:
        found = self._own.get(name) or getattr(self._module, name)
        if isinstance(found, type(np)):
            found = Functions(found, {})
        elif callable(found) and not isinstance(found, type):
            found = _placed(found)
        self.__dict__[name] = found
        return found


def _placed(function: Any) -> Any:
    @guarded
    @wraps(function, updated=())
    def run(*args: Any, device: str | None = None, **options: Any) -> Any:
        with home(*args, *options.values()) if device is None else place(device):
            return function(*args, **options)

    return run


def arange(start: Any, stop: Any = None, step: Any = 1, **options: Any) -> Buffer:
    """``start + i * (start + step - start)``, as NumPy has it."""
    start, stop = (0, start) if stop is None else (start, stop)
    if not any(isinstance(v, float) for v in (start, stop, step)):
        return _compat().arange(start, stop, step, **options)
    apart = (start + step) - start
    return _line(max(0, math.ceil((stop - start) / step)), apart, start)


def linspace(start: Any, stop: Any, num: int, *, endpoint: bool = True) -> Buffer:
    """``i * ((stop - start) / parts) + start``, as NumPy has it."""
    if any(isinstance(v, complex) for v in (start, stop)) or num <= 0:
        return cupy.asarray(np.linspace(start, stop, num, endpoint=endpoint))
    parts = num - 1 if endpoint else num
    start, stop = float(start), float(stop)
    step = (stop - start) / parts if parts else math.nan
    if not step or not parts:  # an interval too small to be divided
        return cupy.asarray(np.linspace(start, stop, num, endpoint=endpoint))
    line = _line(num, step, start)
    if endpoint and num > 1:
        line[-1:] = _number(stop, line.dtype)
    return line


def _line(count: int, step: float, start: float) -> Buffer:
    index = cast(cupy.arange(count), dt.int64, dt.float64, DEFAULT)
    scaled = _float("multiply", index, step)
    return _float("add", scaled, start)


def _float(name: str, x: Buffer, number: float) -> Buffer:
    done = operate(name, (x, _number(number, x.dtype)), dt.float64)
    assert done is not None
    return done[0]


def _number(value: float, dtype: Any) -> Buffer:
    """A number without axes; CuPy's ``full`` makes 0 of -0."""
    return cupy.asarray(np.full(1, value, dtype)).reshape(())


def _compat() -> Any:
    import array_api_compat.cupy

    return array_api_compat.cupy


@cache
def functions() -> Functions:
    """The array API over CuPy."""
    return Functions(_compat(), {"arange": arange, "linspace": linspace})
