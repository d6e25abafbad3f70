"""Backends: what holds the bits and runs the kernels, found from a buffer's type.

A backend is a module with the same few functions: ``dtype_of``, ``native``, ``cast``, ``scalar``,
``call``. Nothing is imported for the user: CuPy's module is loaded when a CuPy buffer is seen.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from promoarray.backends import numpy as numpy_backend

_BY_TYPE: dict[type, Any] = {np.ndarray: numpy_backend}


def backend_of(buffer: object) -> Any:
    """Return the backend of a buffer.

    Raises
    ------
    TypeError
        If no backend holds buffers of this type.
    """
    try:
        return _BY_TYPE[type(buffer)]
    except KeyError:
        if isinstance(buffer, np.ndarray):
            return numpy_backend
        raise TypeError(
            f"no backend holds a {type(buffer).__module__}.{type(buffer).__qualname__}; "
            "write pa.asarray(np.asarray(x))"
        ) from None
