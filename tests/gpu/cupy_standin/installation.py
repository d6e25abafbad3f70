"""Make the stand-in for CuPy, put it in CuPy's place and take it out again.

README.md says what it is and what it cannot show.
"""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from cupy_standin.arrays import NAMES, called, exported, extreme, here, ndarray, supported
from cupy_standin.device import (
    CompileException,
    CUDARuntimeError,
    Device,
    OutOfMemoryError,
    Stream,
    current,
    device_count,
    trouble,
)
from cupy_standin.kernels import ElementwiseKernel, RawKernel, launches

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

_BORROWED = (
    *("bool_", "intp", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *(
        "float16",
        "float32",
        "float64",
        "complex64",
        "complex128",
        "dtype",
        "integer",
        "generic",
        "complexfloating",
    ),
    *("inf", "nan", "pi", "e", "newaxis"),
    *("can_cast", "finfo", "iinfo", "issubdtype", "isdtype", "broadcast_shapes"),
)
"""What is NumPy's in CuPy, too."""

# --- The module ----------------------------------------------------------------------------------


def _asarray(a: Any, dtype: Any = None, order: Any = None, *, blocking: bool = False) -> ndarray:
    trouble.strike()
    if isinstance(a, ndarray):
        here(a)
        assert dtype is None or np.dtype(dtype) == a.dtype
        return a
    held = np.array(a, dtype, order="K" if order is None else order)
    supported(held.dtype)
    if not held.ndim and not held:
        held = np.zeros_like(held)  # CuPy fills memory with 0 where a number is 0, or -0
    return ndarray(held)


def _array(obj: Any, dtype: Any = None, copy: Any = True, **options: Any) -> ndarray:
    made = _asarray(obj, dtype)
    return made.copy() if copy and made is obj else made


def _new(function: Any) -> Any:
    def run(shape: Any, dtype: Any = float, order: str = "C") -> ndarray:
        trouble.strike()
        return ndarray(function(shape, supported(dtype), order))

    return run


def _full(shape: Any, fill_value: Any, dtype: Any = None, order: str = "C") -> ndarray:
    assert isinstance(fill_value, (bool, int, float, complex))
    return ndarray(np.full(shape, fill_value if fill_value else 0, dtype, order))


def _from_dlpack(array: Any, *, device: Any = None, copy: Any = None) -> ndarray:
    kind, number = array.__dlpack_device__()
    if kind == 1:
        raise TypeError("CPU arrays cannot be directly imported to CuPy.")

    class OnHost:
        """The memory that plays a GPU's, as NumPy may see it."""

        def __dlpack_device__(self) -> tuple[int, int]:
            return 1, 0

        def __dlpack__(self, **options: Any) -> Any:
            options.pop("dl_device", None)
            return array.__dlpack__(stream=1, max_version=(1, 3), copy=copy)

    return ndarray(np.from_dlpack(OnHost()), number)


def _where(condition: Any, x: Any = None, y: Any = None) -> Any:
    return np.where(condition, x, y)


def module() -> ModuleType:
    """Make the stand-in for ``cupy``."""
    cupy = ModuleType("cupy")
    modules = {"": (cupy, np), "linalg": (ModuleType("cupy.linalg"), np.linalg)}
    modules["fft"] = (ModuleType("cupy.fft"), np.fft)
    for full in NAMES:
        module, _, name = full.rpartition(".")
        if module == "ndarray" or not hasattr(modules[module][1], name):
            continue
        function = getattr(modules[module][1], name)
        if name in ("max", "amax", "min", "amin"):
            function = extreme(function, "min" if "max" in name else "max")
        wrapped = functools.partial(called, full, function)
        functools.update_wrapper(wrapped, function, assigned=("__name__", "__doc__"), updated=())
        setattr(modules[module][0], name, wrapped)
    for kind in ("max", "min"):
        method = extreme(getattr(np.ndarray, kind), "min" if kind == "max" else "max")
        setattr(ndarray, kind, functools.partialmethod(_method, kind, method))
    for name in _BORROWED:
        setattr(cupy, name, getattr(np, name))
    linalg, fft = modules["linalg"][0], modules["fft"][0]
    linalg.LinAlgError = np.linalg.LinAlgError  # type: ignore[attr-defined]
    errors = SimpleNamespace(
        CUDARuntimeError=CUDARuntimeError,
        getDeviceCount=device_count,
        getDevice=lambda: current[-1],
    )
    cuda = SimpleNamespace(
        Device=Device,
        Stream=Stream,
        ExternalStream=Stream,
        get_current_stream=Stream,
        runtime=errors,
        driver=SimpleNamespace(CUDADriverError=type("CUDADriverError", (RuntimeError,), {})),
        memory=SimpleNamespace(OutOfMemoryError=OutOfMemoryError),
        compiler=SimpleNamespace(CompileException=CompileException),
    )
    replaced = {
        "__version__": "14.2.0",
        "__path__": [],
        "ndarray": ndarray,
        "ElementwiseKernel": ElementwiseKernel,
        "RawKernel": RawKernel,
        "asarray": _asarray,
        "array": _array,
        "empty": _new(np.empty),
        "zeros": _new(np.zeros),
        "ones": _new(np.ones),
        "full": _full,
        "from_dlpack": _from_dlpack,
        "cuda": cuda,
        "linalg": linalg,
        "fft": fft,
        "exceptions": np.exceptions,
    }
    for name, value in replaced.items():
        setattr(cupy, name, value)
    return cupy


def _method(self: ndarray, name: str, function: Any, *args: Any, **options: Any) -> Any:
    return called(f"ndarray.{name}", function, self, *args, **options)


_REPLACED = ("cupy", "array_api_compat.cupy", "promoarray.backends.cupy")


def _taken_out() -> dict[str, ModuleType]:
    """Take CuPy and all that is made over it out of the modules, and out of their packages."""
    taken = {name: m for name, m in sys.modules.items() if name.startswith(_REPLACED)}
    for full in taken:
        del sys.modules[full]
        package, _, name = full.rpartition(".")
        vars(sys.modules.get(package, ModuleType("none"))).pop(name, None)
    return taken


def _put_back(modules: dict[str, ModuleType]) -> None:
    sys.modules.update(modules)
    for full, one in modules.items():
        package, _, name = full.rpartition(".")
        if package in sys.modules:
            setattr(sys.modules[package], name, one)


@contextlib.contextmanager
def installed() -> Iterator[ModuleType]:
    """Put the stand-in in the place of CuPy, for the backend, which is loaded anew, too."""
    import promoarray.backends as backends

    taken, before = _taken_out(), dict(backends.BY_CLASS)
    cupy = module()
    sys.modules |= {
        "cupy": cupy,
        "cupy.linalg": cupy.linalg,
        "cupy.fft": cupy.fft,
        "cupy.cuda": cupy.cuda,
        "cupy.cuda.device": cupy.cuda,
    }
    try:
        yield cupy
    finally:
        backends.BY_CLASS.clear()
        backends.BY_CLASS.update(before)
        _taken_out()
        _put_back(taken)
        trouble.__init__()  # type: ignore[misc]
