"""A stand-in for CuPy, so that the backend's Python runs where there is no GPU.

What it is. A module ``cupy`` over NumPy's arrays, with the functions, methods and parameters that
CuPy 14.2 has (standin_names.txt) and no others. Its arrays are of a type of their own and lie on
one of two devices. Kernels are carried out: ``ElementwiseKernel`` and ``RawKernel`` have their
texts compiled by g++ and run (standin_compiler.py). What CuPy refuses is refused: dtypes it lacks,
NumPy arrays among its own, conversion by ``__array__``. What it computes otherwise than NumPy it
computes so here: float32 subnormals are zero, the largest of infinities is finite, indices out of
bounds wrap round.

It is stricter than CuPy where a backend that obeys plans has no business: two dtypes never meet,
``astype`` never touches a float, the current device is that of the arrays, and memory that is read
is not memory that is written.

What it is not. No kernel is compiled for, or runs on, a GPU; nothing runs at the same time as
anything else, so a missing synchronization is not seen; sums are NumPy's sums. What CuPy's own
functions give on a GPU is tested there (test_on_device.py).
"""

from __future__ import annotations

import contextlib
import functools
import operator
import sys
from collections.abc import Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
from standin_compiler import elementwise, raw
from standin_names import recorded

NAMES = recorded()
DEVICES = 2

# --- Devices, streams, errors --------------------------------------------------------------------

_current = [0]


class CUDARuntimeError(RuntimeError):
    """As CuPy's: the name of the error, then what it means."""


class OutOfMemoryError(MemoryError):
    pass


class CompileException(Exception):
    pass


class Trouble:
    """What goes wrong from now on: an error to raise where the GPU is asked for something."""

    def __init__(self) -> None:
        self.error: Exception | None = None
        self.devices: int | Exception = DEVICES

    def strike(self) -> None:
        if self.error is not None:
            raise self.error


trouble = Trouble()


def _device_count() -> int:
    if isinstance(trouble.devices, Exception):
        raise trouble.devices
    return trouble.devices


class Device:
    def __init__(self, device: Any = None) -> None:
        self.id = _current[-1] if device is None else int(getattr(device, "id", device))

    def __enter__(self) -> Device:
        if not 0 <= self.id < _device_count():
            raise CUDARuntimeError("cudaErrorInvalidDevice: invalid device ordinal")
        _current.append(self.id)
        return self

    def __exit__(self, *exc: Any) -> None:
        _current.pop()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and other.id == self.id

    __hash__ = None  # type: ignore[assignment]


class Stream(contextlib.nullcontext[None]):
    waited = 0

    def __init__(self, ptr: int = 0) -> None:
        super().__init__()
        self.ptr = ptr

    def synchronize(self) -> None:
        Stream.waited += 1


# --- Arrays --------------------------------------------------------------------------------------

_OWN = {np.dtype(c) for c in "?bhilqBHILQefdFD"} | {np.dtype(ml_dtypes.bfloat16)}


def _supported(dtype: Any) -> np.dtype[Any]:
    found = np.dtype(dtype)
    if found not in _OWN:
        raise ValueError(f"Unsupported dtype {found}")
    return found


def _flushed(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """What CuPy's kernels see of float32: they are compiled with -ftz=true."""
    if x.dtype == np.complex64:
        return (
            _flushed(np.ascontiguousarray(x).view(np.float32)).view(np.complex64).reshape(x.shape)
        )
    if x.dtype != np.float32:
        return x
    return np.where(np.abs(x) < np.float32(2.0**-126), np.copysign(np.float32(0), x), x)


class Flags:
    def __init__(self, flags: Any) -> None:
        self.c_contiguous, self.f_contiguous = flags.c_contiguous, flags.f_contiguous
        self.owndata = flags.owndata


class ndarray:
    """An array of the stand-in; what it holds is ``_host``, which nobody else may touch."""

    __module__ = "cupy"
    __hash__ = None  # type: ignore[assignment]
    __array_ufunc__ = None
    __array_priority__ = 100

    def __init__(self, host: np.ndarray[Any, Any], device: int | None = None) -> None:
        self._host = host
        self._device = _current[-1] if device is None else device

    dtype = property(lambda self: self._host.dtype)
    shape = property(lambda self: self._host.shape)
    strides = property(lambda self: self._host.strides)
    ndim = property(lambda self: self._host.ndim)
    size = property(lambda self: self._host.size)
    itemsize = property(lambda self: self._host.itemsize)
    nbytes = property(lambda self: self._host.nbytes)
    flags = property(lambda self: Flags(self._host.flags))
    device = property(lambda self: Device(self._device))
    T = property(lambda self: ndarray(self._host.T, self._device))
    mT = property(lambda self: ndarray(self._host.mT, self._device))
    real = property(lambda self: ndarray(self._host.real, self._device))
    imag = property(lambda self: ndarray(self._host.imag, self._device))

    def __array__(self, dtype: Any = None) -> Any:
        raise TypeError(
            "Implicit conversion to a NumPy array is not allowed. "
            "Please use `.get()` to construct a NumPy array explicitly."
        )

    def get(
        self, stream: Any = None, order: str = "C", out: Any = None, blocking: bool = True
    ) -> Any:
        trouble.strike()
        return self._host.copy(order)

    def item(self) -> Any:
        return self.get().item()

    def tolist(self) -> Any:
        return self.get().tolist()

    def view(self, dtype: Any = None, type: Any = None) -> ndarray:
        return ndarray(self._host.view() if dtype is None else self._host.view(dtype), self._device)

    def copy(self, order: str = "C") -> ndarray:
        _supported(self.dtype)
        trouble.strike()
        return ndarray(self._host.copy(order))  # on the current device

    def astype(
        self,
        dtype: Any,
        order: str = "K",
        casting: Any = None,
        subok: Any = None,
        copy: bool = True,
    ) -> ndarray:
        target = _supported(dtype)
        whole = self.dtype.kind in "biu" and target.kind in "biu"
        assert target == self.dtype or whole, f"CuPy's own cast of {self.dtype} to {target}"
        return _here(self) or ndarray(self._host.astype(target, order, copy=copy))

    def fill(self, value: Any) -> None:
        if isinstance(value, np.ndarray) and value.ndim:
            raise ValueError("non-scalar numpy.ndarray cannot be used for fill")
        self._host.fill(value)

    def reshape(self, *shape: Any, order: str = "C", copy: Any = None) -> ndarray:
        shape = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape
        return ndarray(self._host.reshape(shape, order=order, copy=copy), self._device)

    def __getitem__(self, key: Any) -> ndarray:
        _supported(self.dtype)
        found = self._host[_key(self, key)]
        return ndarray(np.asarray(found, self.dtype), self._device)

    def __setitem__(self, key: Any, value: Any) -> None:
        trouble.strike()
        _supported(self.dtype)
        if isinstance(value, np.ndarray) and value.ndim:
            raise ValueError("non-scalar numpy.ndarray cannot be used for fill")
        if isinstance(value, ndarray):
            _together((self, value))
            assert value.dtype == self.dtype, f"CuPy's own cast of {value.dtype} to {self.dtype}"
            same = value._host.ctypes.data == self._host.ctypes.data
            assert same or not np.may_share_memory(value._host, self._host), "reads what it writes"
            value = value._host
        if self.size:  # NumPy would not write into what is broadcast, be it empty
            self._host[_key(self, key)] = value

    def __len__(self) -> int:
        return len(self._host)

    def __iter__(self) -> Iterator[ndarray]:
        return (self[i] for i in range(len(self)))

    def __bool__(self) -> bool:
        return bool(self.get())

    def __int__(self) -> int:
        return int(self.get())

    def __index__(self) -> int:
        raise TypeError("'ndarray' object cannot be interpreted as an integer")

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, self._device

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: Any = None,
        dl_device: Any = None,
        copy: Any = None,
    ) -> Any:
        if copy is True:
            raise BufferError("copy=True only supported for copy to CPU.")
        if self.dtype == ml_dtypes.bfloat16:
            raise SkipNumPy  # NumPy, which makes the capsule here, has no name for it
        exported.append((self, stream))
        return self._host.__dlpack__(max_version=max_version)

    def __getattr__(self, name: str) -> Any:
        if f"ndarray.{name}" not in NAMES:
            raise AttributeError(f"'cupy.ndarray' object has no attribute {name!r}")
        return functools.partial(_called, f"ndarray.{name}", getattr(np.ndarray, name), self)


class SkipNumPy(BufferError):
    """What the stand-in cannot do, because NumPy cannot."""


exported: list[tuple[ndarray, Any]] = []


def _here(*arrays: ndarray) -> None:
    for x in arrays:
        if x._device != _current[-1]:
            raise ValueError(
                "Array device must be same as the current device: "
                f"array device = {x._device} while current = {_current[-1]}"
            )


def _together(arrays: Any) -> None:
    _here(*(x for x in arrays if isinstance(x, ndarray)))


def _key(x: ndarray, key: Any) -> Any:
    """A key as NumPy takes it; indices out of bounds wrap round."""
    parts, axis, found = key if isinstance(key, tuple) else (key,), 0, []
    axes = sum(
        p.ndim if isinstance(p, ndarray) and p.dtype == bool else 1
        for p in parts
        if p is not None and p is not Ellipsis and not isinstance(p, bool)
    )
    for part in parts:
        if isinstance(part, (np.ndarray, list)):
            raise TypeError("a NumPy array among the indices")
        if part is Ellipsis:
            axis += x.ndim - axes
        elif isinstance(part, ndarray) and part.dtype == bool:
            axis += part.ndim
            part = part._host
        elif isinstance(part, ndarray):
            part = part._host % max(x.shape[axis], 1)
            axis += 1
        elif part is not None and not isinstance(part, bool):
            axis += 1
        found.append(part)
    return tuple(found) if isinstance(key, tuple) else found[0]


def _binary(name: str) -> Any:
    function = getattr(operator, name)

    def run(self: ndarray, other: Any) -> Any:
        return _computed(function, self, other)

    def reflected(self: ndarray, other: Any) -> Any:
        return _computed(lambda x, y: function(y, x), self, other)

    return run, reflected


def _computed(function: Any, x: ndarray, y: Any) -> ndarray:
    if isinstance(y, np.ndarray):
        raise TypeError(f"Unsupported type {type(y)}")
    if isinstance(y, (ndarray, np.generic)):
        assert x.dtype == y.dtype, f"CuPy's own promotion of {x.dtype} and {y.dtype}"
    _together((x, y))
    given = [_flushed(v._host) if isinstance(v, ndarray) else v for v in (x, y)]
    return ndarray(_flushed(np.asarray(function(*given))))


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "and_", "or_", "xor", "matmul"):
    _forward, _reflected = _binary(_name)
    setattr(ndarray, f"__{_name.rstrip('_')}__", _forward)
    setattr(ndarray, f"__r{_name.rstrip('_')}__", _reflected)
for _name in ("lt", "le", "gt", "ge", "eq", "ne", "lshift", "rshift"):
    setattr(ndarray, f"__{_name}__", _binary(_name)[0])


def _unary(name: str) -> Any:
    function = getattr(operator, name)
    return lambda self: ndarray(function(_flushed(self._host)), self._device)


for _name in ("neg", "invert", "abs"):
    setattr(ndarray, f"__{_name}__", _unary(_name))

# --- Functions -----------------------------------------------------------------------------------

_MOVES = frozenset(
    (
        *("reshape", "transpose", "swapaxes", "moveaxis", "rollaxis", "permute_dims", "ravel"),
        *("expand_dims", "squeeze", "flip", "roll", "repeat", "tile", "flatten", "diagonal"),
        *("stack", "concatenate", "concat", "broadcast_to", "broadcast_arrays", "copy"),
        *("take", "take_along_axis", "sort", "argsort", "ascontiguousarray", "may_share_memory"),
    )
)
"""Functions that keep every bit of a float32."""

_INDEXED = frozenset({"take", "take_along_axis"})


def _called(name: str, function: Any, *args: Any, **options: Any) -> Any:
    """Call NumPy's function as CuPy's, with no more parameters than that has."""
    parameters = NAMES[name]
    unknown = [p for p in options if p not in parameters and f"**{p}" not in parameters]
    takes_any = any(p.startswith("**") for p in parameters)
    if unknown and not takes_any:
        raise TypeError(f"{name}() got an unexpected keyword argument {unknown[0]!r}")
    count = len(args) - name.startswith("ndarray.")
    if not any(p.startswith("*") for p in parameters) and count > len(parameters):
        raise TypeError(f"{name}() takes {len(parameters)} positional arguments, not {count}")
    short = name.rpartition(".")[2]
    arrays = [x for x in _flat([args, list(options.values())]) if isinstance(x, ndarray)]
    _together(arrays)
    for x in arrays:
        _supported(x.dtype)
    plain = {x.dtype for x in arrays if x.dtype != bool and short not in _INDEXED}
    counted = short in ("where", "searchsorted") and len(arrays) == 3
    assert len(plain) < 2 or counted or name == "linalg.pinv", (
        f"CuPy's own promotion of {plain} in {name}"
    )
    trouble.strike()
    if short in _INDEXED:
        args = (args[0], _wrapped(args[0], args[1], *args[2:], **options), *args[2:])
    given = _host(args, short), {k: _host(v, short) for k, v in options.items()}
    return _made(function(*given[0], **given[1]), short)


def _wrapped(x: ndarray, index: Any, axis: Any = None, out: Any = None, mode: Any = None) -> Any:
    assert isinstance(index, ndarray)
    length = x.size if axis is None else x.shape[axis]
    return ndarray(index._host % max(length, 1), index._device)


def _flat(value: Any) -> Iterator[Any]:
    if isinstance(value, (list, tuple)):
        for part in value:
            yield from _flat(part)
    elif isinstance(value, np.ndarray):
        raise TypeError(f"Unsupported type {type(value)}")
    else:
        yield value


def _host(value: Any, name: str) -> Any:
    if isinstance(value, ndarray):
        return value._host if name in _MOVES else _flushed(value._host)
    if isinstance(value, (list, tuple)):
        return type(value)(_host(part, name) for part in value)
    return value


def _made(value: Any, name: str) -> Any:
    if isinstance(value, (np.ndarray, np.generic)):
        kept = np.asarray(value)
        return ndarray(kept if name in _MOVES else _flushed(kept))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_made(part, name) for part in value))
    if isinstance(value, (list, tuple)):
        return type(value)(_made(part, name) for part in value)
    return value


def _extreme(function: Any, least: str) -> Any:
    """CuPy starts from the lowest finite number, so an infinity that is alone is lost (#7424)."""

    def run(x: Any, *args: Any, **options: Any) -> Any:
        found = np.asarray(function(x, *args, **options))
        if x.dtype.kind != "f":
            return found
        lowest = getattr(np.finfo(x.dtype), least)
        return np.where(np.isinf(found) & (np.sign(found) == np.sign(lowest)), lowest, found)

    return run


# --- Kernels -------------------------------------------------------------------------------------


class ElementwiseKernel:
    """Compiled by g++ and run, with CuPy's broadcasting."""

    def __init__(
        self,
        in_params: str,
        out_params: str,
        operation: str,
        name: str = "kernel",
        reduce_dims: bool = True,
        preamble: str = "",
    ) -> None:
        assert name.isidentifier(), name
        self._in, self._out = (
            [tuple(p.split()) for p in each.split(",")] for each in (in_params, out_params)
        )
        assert "i" not in [p[1] for p in self._in + self._out]
        for dtype, _ in self._in + self._out:
            _supported(dtype)
        self._operation, self._preamble = operation, preamble

    def __call__(self, *args: Any) -> Any:
        trouble.strike()
        parameters = self._in + self._out
        assert len(args) == len(parameters), "give the output: its layout is promoarray's business"
        _together(args)
        held = []
        for x, (dtype, name) in zip(args, parameters, strict=True):
            if isinstance(x, np.ndarray):
                raise TypeError(f"Unsupported type {type(x)}")
            host = x._host if isinstance(x, ndarray) else np.asarray(x, dtype)
            assert host.dtype == np.dtype(dtype), f"{name} is {dtype}, and {host.dtype} is given"
            held.append(host)
        shape = np.broadcast_shapes(*(x.shape for x in held))
        outs = held[len(self._in) :]
        if any(out.shape != shape for out in outs):
            raise ValueError("Out shape is mismatched")
        for out in outs:
            assert not any(np.may_share_memory(out, x) for x in held[: len(self._in)])
        if 0 in shape:
            return args[-1]
        read = [True] * len(self._in) + [False] * len(self._out)
        lines = [(d, n, r) for (d, n), r in zip(parameters, read, strict=True)]
        spread = [np.broadcast_to(x, shape) for x in held]
        elementwise(self._preamble, self._operation, lines, spread)
        return args[-1]


class RawKernel:
    def __init__(self, code: str, name: str, options: tuple[str, ...] = ()) -> None:
        self._code, self._name = code, name

    def __call__(
        self, grid: tuple[int, ...], block: tuple[int, ...], args: tuple[Any, ...]
    ) -> None:
        trouble.strike()
        x, y, n = args
        _together((x, y))
        assert isinstance(n, np.uint64)
        assert n == x.size == y.size
        assert (x.flags.c_contiguous and y.flags.c_contiguous) or (
            x.flags.f_contiguous and y.flags.f_contiguous
        )
        launches.append(self._name)
        raw(self._code, self._name, grid[0], block[0], x._host, y._host, int(n))


launches: list[str] = []
"""The raw kernels that were launched."""

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
        _here(a)
        assert dtype is None or np.dtype(dtype) == a.dtype
        return a
    held = np.array(a, dtype, order="K" if order is None else order)
    _supported(held.dtype)
    return ndarray(held)


def _array(obj: Any, dtype: Any = None, copy: Any = True, **options: Any) -> ndarray:
    made = _asarray(obj, dtype)
    return made.copy() if copy and made is obj else made


def _new(function: Any) -> Any:
    def run(shape: Any, dtype: Any = float, order: str = "C") -> ndarray:
        trouble.strike()
        return ndarray(function(shape, _supported(dtype), order))

    return run


def _full(shape: Any, fill_value: Any, dtype: Any = None, order: str = "C") -> ndarray:
    assert isinstance(fill_value, (bool, int, float, complex))
    return ndarray(np.full(shape, fill_value, dtype, order))


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
    rooms = {"": (cupy, np), "linalg": (ModuleType("cupy.linalg"), np.linalg)}
    rooms["fft"] = (ModuleType("cupy.fft"), np.fft)
    for full in NAMES:
        room, _, name = full.rpartition(".")
        if room == "ndarray" or not hasattr(rooms[room][1], name):
            continue
        function = getattr(rooms[room][1], name)
        if name in ("max", "amax", "min", "amin"):
            function = _extreme(function, "min" if "max" in name else "max")
        wrapped = functools.partial(_called, full, function)
        functools.update_wrapper(wrapped, function, assigned=("__name__", "__doc__"), updated=())
        setattr(rooms[room][0], name, wrapped)
    for kind in ("max", "min"):
        method = _extreme(getattr(np.ndarray, kind), "min" if kind == "max" else "max")
        setattr(ndarray, kind, functools.partialmethod(_method, kind, method))
    for name in _BORROWED:
        setattr(cupy, name, getattr(np, name))
    linalg, fft = rooms["linalg"][0], rooms["fft"][0]
    linalg.LinAlgError = np.linalg.LinAlgError  # type: ignore[attr-defined]
    errors = SimpleNamespace(CUDARuntimeError=CUDARuntimeError, getDeviceCount=_device_count)
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
    return _called(f"ndarray.{name}", function, self, *args, **options)


_ROOMS = ("cupy", "array_api_compat.cupy", "promoarray.backends.cupy")


def _taken_out() -> dict[str, ModuleType]:
    """Take CuPy and all that is made over it out of the modules, and out of their packages."""
    taken = {name: m for name, m in sys.modules.items() if name.startswith(_ROOMS)}
    for full in taken:
        del sys.modules[full]
        package, _, name = full.rpartition(".")
        vars(sys.modules.get(package, ModuleType("none"))).pop(name, None)
    return taken


def _put_back(modules: dict[str, ModuleType]) -> None:
    for full, one in modules.items():
        sys.modules[full] = one
        package, _, name = full.rpartition(".")
        if package in sys.modules:
            setattr(sys.modules[package], name, one)


@contextlib.contextmanager
def installed() -> Iterator[ModuleType]:
    """Put the stand-in in the place of CuPy, for the backend, which is loaded anew, too."""
    import promoarray.backends as backends

    taken, before = _taken_out(), dict(backends._BY_TYPE)
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
        backends._BY_TYPE.clear()
        backends._BY_TYPE.update(before)
        _taken_out()
        _put_back(taken)
        trouble.__init__()  # type: ignore[misc]
