"""A stand-in for CuPy over NumPy's arrays, so that the backend runs without a GPU (README.md)."""

from cupy_standin.installation import (
    CompileException,
    CUDARuntimeError,
    OutOfMemoryError,
    Stream,
    exported,
    installed,
    launches,
    ndarray,
    trouble,
)

__all__ = [
    "CUDARuntimeError",
    "CompileException",
    "OutOfMemoryError",
    "Stream",
    "exported",
    "installed",
    "launches",
    "ndarray",
    "trouble",
]
