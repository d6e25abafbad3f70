"""The arrays of the stand-in for CuPy, and NumPy's functions as CuPy has them."""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np

from cupy_standin.device import Device, current, trouble
from cupy_standin.names import recorded, recorded_loops

NAMES, LOOPS = recorded(), recorded_loops()

# --- Arrays --------------------------------------------------------------------------------------

_OWN = {np.dtype(c) for c in "?bhilqBHILQefdFD"} | {np.dtype(ml_dtypes.bfloat16)}


def supported(dtype: Any) -> np.dtype[Any]:
    found = np.dtype(dtype)
    if found not in _OWN:
        raise ValueError(f"Unsupported dtype {found}")
    return found


def flushed(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """What CuPy's kernels see of float32: they are compiled with -ftz=true."""
    if x.dtype == np.complex64:
        return flushed(np.ascontiguousarray(x).view(np.float32)).view(np.complex64).reshape(x.shape)
    if x.dtype != np.float32:
        return x
    return np.where(np.abs(x) < np.float32(2.0**-126), np.copysign(np.float32(0), x), x)


class Flags:
    def __init__(self, flags: Any) -> None:
        self.c_contiguous, self.f_contiguous = flags.c_contiguous, flags.f_contiguous
        self.owndata = flags.owndata


class ndarray:
    """An array of the stand-in; what it holds is ``_host``, which nobody else may touch.

    It is made of an array of NumPy's and a device, or as CuPy's are of a shape and a dtype.
    """

    __module__ = "cupy"
    __hash__ = None  # type: ignore[assignment]
    __array_ufunc__ = None
    __array_priority__ = 100

    def __init__(
        self,
        shape: Any,
        dtype: Any = None,
        memptr: None = None,
        strides: None = None,
        order: Any = "C",
    ) -> None:
        if isinstance(shape, np.ndarray):
            self._host, self._device = shape, current[-1] if dtype is None else dtype
            return
        trouble.strike()
        self._host, self._device = np.empty(shape, supported(dtype), order), current[-1]

    dtype = property(lambda self: self._host.dtype)
    shape = property(lambda self: self._host.shape)
    strides = property(lambda self: self._host.strides)
    ndim = property(lambda self: self._host.ndim)
    size = property(lambda self: self._host.size)
    itemsize = property(lambda self: self._host.itemsize)
    nbytes = property(lambda self: self._host.nbytes)
    flags = property(lambda self: Flags(self._host.flags))
    _c_contiguous = property(lambda self: self._host.flags.c_contiguous)
    device = property(lambda self: Device(self._device))
    data = property(lambda self: SimpleNamespace(device_id=self._device))
    T = property(lambda self: ndarray(self._host.T, self._device))
    mT = property(lambda self: ndarray(self._host.mT, self._device))
    real = property(
        lambda self: ndarray(self._host.real, self._device),
        lambda self, value: setattr(self._host, "real", value._host),
    )
    imag = property(
        lambda self: ndarray(self._host.imag, self._device),
        lambda self, value: setattr(self._host, "imag", value._host),
    )

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
        supported(self.dtype)
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
        target = supported(dtype)
        whole = self.dtype.kind in "biu" and target.kind in "biu"
        assert target == self.dtype or whole, f"CuPy's own cast of {self.dtype} to {target}"
        return here(self) or ndarray(self._host.astype(target, order, copy=copy))

    def fill(self, value: Any) -> None:
        if isinstance(value, np.ndarray) and value.ndim:
            raise ValueError("non-scalar numpy.ndarray cannot be used for fill")
        self._host.fill(value)

    def reshape(self, *shape: Any, order: str = "C", copy: Any = None) -> ndarray:
        shape = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
        return ndarray(self._host.reshape(shape, order=order, copy=copy), self._device)

    def __getitem__(self, key: Any) -> ndarray:
        supported(self.dtype)
        found = self._host[_key(self, key)]
        return ndarray(np.asarray(found, self.dtype), self._device)

    def __setitem__(self, key: Any, value: Any) -> None:
        trouble.strike()
        supported(self.dtype)
        if isinstance(value, np.ndarray) and value.ndim:
            raise ValueError("non-scalar numpy.ndarray cannot be used for fill")
        if isinstance(value, ndarray):
            together((self, value))
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
        return functools.partial(called, f"ndarray.{name}", getattr(np.ndarray, name), self)


class SkipNumPy(BufferError):
    """What the stand-in cannot do, because NumPy cannot."""


exported: list[tuple[ndarray, Any]] = []


def here(*arrays: ndarray) -> None:
    for x in arrays:
        if x._device != current[-1]:
            raise ValueError(
                "Array device must be same as the current device: "
                f"array device = {x._device} while current = {current[-1]}"
            )


def together(arrays: Any) -> None:
    here(*(x for x in arrays if isinstance(x, ndarray)))


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
    together((x, y))
    given = [flushed(v._host) if isinstance(v, ndarray) else v for v in (x, y)]
    return ndarray(flushed(np.asarray(function(*given))))


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "and_", "or_", "xor", "matmul"):
    _forward, _reflected = _binary(_name)
    setattr(ndarray, f"__{_name.rstrip('_')}__", _forward)
    setattr(ndarray, f"__r{_name.rstrip('_')}__", _reflected)
for _name in ("lt", "le", "gt", "ge", "eq", "ne", "lshift", "rshift"):
    setattr(ndarray, f"__{_name}__", _binary(_name)[0])


def _unary(name: str) -> Any:
    function = getattr(operator, name)
    return lambda self: ndarray(function(flushed(self._host)), self._device)


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


def called(name: str, function: Any, *args: Any, **options: Any) -> Any:
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
    together(arrays)
    for x in arrays:
        supported(x.dtype)
    plain = {x.dtype for x in arrays if x.dtype != bool and short not in _INDEXED}
    counted = short in ("where", "searchsorted") and len(arrays) == 3
    assert len(plain) < 2 or counted or name == "linalg.pinv", (
        f"CuPy's own promotion of {plain} in {name}"
    )
    trouble.strike()
    if short in _INDEXED:
        args = (args[0], _wrapped(args[0], args[1], *args[2:], **options), *args[2:])
    given = _host(args, short), {k: _host(v, short) for k, v in options.items()}
    if name in LOOPS and len(arrays) == len(args):
        return _made(_looped(name, function, *given[0], **given[1]), short)
    return _made(function(*given[0], **given[1]), short)


def _looped(name: str, function: Any, *given: Any, **options: Any) -> Any:
    """A function of elements by CuPy's own loop, the first that takes the dtypes."""
    for loop in LOOPS[name]:
        if all(_taken(x.dtype, letter) for x, letter in zip(given, loop.takes, strict=True)):
            break
    else:
        raise TypeError(f"Wrong type {[str(x.dtype) for x in given]} for arguments of cupy_{name}")
    takes = "d" * len(given) if loop.by_double else loop.takes
    held = [
        x if letter == "E" else x.astype(letter) for x, letter in zip(given, takes, strict=True)
    ]
    made = function(*held, **options)
    if len(loop.makes) > 1 or loop.makes == "E":
        return made
    return made.astype(loop.makes)


def _taken(dtype: np.dtype[Any], letter: str) -> bool:
    return dtype.char == letter if "E" in (dtype.char, letter) else np.can_cast(dtype, letter)


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
        return value._host if name in _MOVES else flushed(value._host)
    if isinstance(value, (list, tuple)):
        return type(value)(_host(part, name) for part in value)
    return value


def _made(value: Any, name: str) -> Any:
    if isinstance(value, (np.ndarray, np.generic)):
        kept = np.asarray(value)
        return ndarray(kept if name in _MOVES else flushed(kept))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_made(part, name) for part in value))
    if isinstance(value, (list, tuple)):
        return type(value)(_made(part, name) for part in value)
    return value


def extreme(function: Any, least: str) -> Any:
    """CuPy starts from the lowest finite number, so an infinity that is alone is lost (#7424)."""

    def run(x: Any, *args: Any, **options: Any) -> Any:
        found = np.asarray(function(x, *args, **options))
        if x.dtype.kind != "f":
            return found
        lowest = getattr(np.finfo(x.dtype), least)
        return np.where(np.isinf(found) & (np.sign(found) == np.sign(lowest)), lowest, found)

    return run
