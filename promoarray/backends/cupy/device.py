"""CuPy itself, its devices and its errors: what goes wrong is told with what to do about it.

CuPy runs a kernel on the current device, whatever device the arrays are on. So everything here
runs on the device of its buffers, and refuses buffers of two.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import wraps
from importlib import import_module
from typing import Any, TypeVar

from promoarray.errors import DeviceError, to_install

OLDEST = 14
"""The first CuPy that knows bfloat16 and promotes as NumPy 2."""


def _loaded() -> Any:
    try:
        cupy = import_module("cupy")
    except ImportError as error:
        if error.name == "cupy":
            remedy = f"write {to_install('cupy')} (cupy-cuda12x with CUDA 12)"
            raise ImportError(f"CuPy is not installed; {remedy}", name="cupy") from None
        raise
    major = str(cupy.__version__).partition(".")[0]
    if not major.isdecimal() or int(major) < OLDEST:
        raise ImportError(
            f"promoarray needs CuPy {OLDEST} or later, and this is {cupy.__version__}; write "
            f"pip install -U 'cupy-cuda13x>={OLDEST}' (cupy-cuda12x with CUDA 12)",
            name="cupy",
        )
    return cupy


cupy = _loaded()

Function = TypeVar("Function", bound=Callable[..., Any])

# --- Errors --------------------------------------------------------------------------------------

_FAILED = (
    cupy.cuda.memory.OutOfMemoryError,
    cupy.cuda.runtime.CUDARuntimeError,
    cupy.cuda.driver.CUDADriverError,
    cupy.cuda.compiler.CompileException,
)


def guarded(function: Function) -> Function:
    """Tell what CUDA says with a remedy: MemoryError where memory is short, else DeviceError."""

    @wraps(function)
    def run(*args: Any, **options: Any) -> Any:
        try:
            return function(*args, **options)
        except Exception as error:
            better = told(error)
            if better is None:
                raise
            raise better from error

    return run  # type: ignore[return-value]


def told(error: Exception) -> Exception | None:
    """The error to raise in the place of one of CUDA's or of its tools; None of all others."""
    if isinstance(error, _FAILED):
        return explained(error)
    if not isinstance(error, (RuntimeError, ImportError)):
        return None
    if _toolless(error):
        return DeviceError(f"{_first_line(error)} {_TOOLS}")
    if type(error).__module__.startswith("cupy_backends."):  # cuBLAS and its like
        return explained(error)
    return None


def explained(error: BaseException) -> Exception:
    """The error to raise in the place of one of CUDA's."""
    text = _first_line(error)
    if isinstance(error, MemoryError) or any(word in text for word in _NO_MEMORY):
        return MemoryError(
            f"the GPU has no memory left: {text} Nothing was written. Free arrays and write "
            "cupy.get_default_memory_pool().free_all_blocks(), compute in parts, or on the CPU: "
            "x.to_device('cpu')"
        )
    if isinstance(error, cupy.cuda.compiler.CompileException):
        return DeviceError(f"NVRTC does not compile a kernel: {text} {_TOOLS}")
    for name, remedy in _REMEDIES.items():
        if name in text:
            return DeviceError(f"{text} {remedy}")
    return DeviceError(f"the GPU failed: {text} {_LOST}")


def _first_line(error: BaseException) -> str:
    lines = [line for line in str(error).strip().splitlines() if line.strip(" =")]
    return (lines[0] if lines else type(error).__name__).rstrip(".;") + "."


def _toolless(error: Exception) -> bool:
    """Whether a library of CUDA is missing, or the headers that kernels are compiled with."""
    if isinstance(error, DeviceError):
        return False
    if isinstance(error, ImportError):
        return ".so" in str(error) or ".dll" in str(error)
    return type(error).__name__ == "DynamicLibNotFoundError" or "CUDA headers" in str(error)


_TOOLS = (
    "Install CUDA's libraries: pip install 'cupy-cuda13x[ctk]' (cupy-cuda12x[ctk] with CUDA 12)"
)
_NO_MEMORY = ("cudaErrorMemoryAllocation", "_STATUS_ALLOC_FAILED")
_LOST = (
    "The arrays on it are lost. Start Python again; CUDA_LAUNCH_BLOCKING=1 shows which line it was"
)
_REMEDIES = {
    "cudaErrorInsufficientDriver": (
        "There is no NVIDIA driver, or it is too old for this CuPy; install one, or the CuPy of "
        "your driver's CUDA: cupy-cuda12x or cupy-cuda13x"
    ),
    "cudaErrorNoDevice": "There is no GPU here, or CUDA_VISIBLE_DEVICES hides it",
    "cudaErrorInvalidDevice": "There are fewer GPUs: pa.__array_namespace_info__().devices()",
    "cudaErrorDevicesUnavailable": "Another process has the GPU to itself; wait for it",
    "cudaErrorNoKernelImageForDevice": "This CuPy was not built for this GPU; install another",
}

# --- Devices -------------------------------------------------------------------------------------


def count() -> int:
    """How many GPUs there are; 0 where CUDA has no driver, or fails."""
    try:
        return int(cupy.cuda.runtime.getDeviceCount())
    except RuntimeError:
        return 0


def why_none() -> str:
    """Why there is no GPU, and what to do; "" if there is one."""
    try:
        found = int(cupy.cuda.runtime.getDeviceCount())
    except RuntimeError as error:
        return str(explained(error))
    return "" if found else _REMEDIES["cudaErrorNoDevice"]


def place(device: str | None) -> AbstractContextManager[Any]:
    """Make a device the current one; None and "cuda" leave the one that is."""
    if device is None or device == "cuda":
        return nullcontext()
    context: AbstractContextManager[Any] = cupy.cuda.Device(int(device.removeprefix("cuda:")))
    return context


def home(*buffers: Any) -> AbstractContextManager[Any]:
    """Make the device of the buffers among the values the current one.

    Raises ValueError if they lie on two.
    """
    found = None
    for x in buffers:
        if not isinstance(x, cupy.ndarray):
            continue
        number = x.data.device_id
        if found is None:
            found = number
        elif number != found:
            raise ValueError(
                f"arrays on 'cuda:{found}' and 'cuda:{number}' do not mix; "
                f"write x.to_device('cuda:{found}')"
            )
    if found is None or found == cupy.cuda.runtime.getDevice():
        return _STAY
    context: AbstractContextManager[Any] = cupy.cuda.Device(found)
    return context


_STAY = nullcontext()
