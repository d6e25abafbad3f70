"""Backends: what holds the bits and runs the kernels, found from a buffer's type.

A backend obeys. What dtype a buffer has is known to the array it belongs to, and passed along:
a library that has no dtype for float8 holds it as unsigned integers of the same width, so nobody
asks a buffer. Every backend is a module with these names, and nothing else touches its library:

``name``
    ``"numpy"``.
``xp``
    The array API's functions over its buffers: array-api-compat's, imported when first used, or
    the library's own that are the same. Their ``device=`` takes the names of ``devices()``.
``devices() -> tuple[str, ...]``, ``device_of(buffer) -> str``
    ``"cpu"``; ``"cuda:0"`` and on.
``storage(dtype) -> dtype of the library``
    What holds a dtype. bool, the integers of 8 bits and more, float16 to float64, complex64 and
    complex128 (``dtypes.NATIVE``) are held as themselves in every backend; others need not be, but
    keep the width of ``dtype.storage`` in NumPy.
``adopt(x) -> tuple[buffer, DType or None]``
    A foreign array of the library as a buffer, in the machine's byte order and without a copy
    where none is needed, and the dtype it has, or None where promoarray has none.
``comparable(dtype) -> DType``
    A dtype that holds the same values, and that the library compares rightly.
``dtype_of(buffer) -> DType``
    Only for buffers known to hold a ``NATIVE`` dtype: a weak type's, or a kernel's result.
``from_numpy(array, dtype, device=None) -> buffer``, ``to_numpy(buffer, dtype) -> numpy.ndarray``
    From and to NumPy's storage of a dtype; NumPy's own share the memory.
``empty(shape, dtype, device=None)``, ``zeros(shape, dtype, device=None) -> buffer``
    New memory, unset or with every bit 0.
``cast(buffer, source, target, mode=DEFAULT, transforms=()) -> buffer``
    Cast in a mode of the kernels, then by the transforms of a ``CastPlan``; the same object if
    there is nothing to do.
``caster(source, target, mode, transforms) -> callable``
    The same for two different dtypes, made ready once; it takes the buffer.
``call(name, buffers, compute, **options) -> tuple[tuple[buffer, DType], ...]``
    Run the kernel of an operation on buffers that all hold ``compute`` (a ``NATIVE`` dtype, but for
    the families in ``promotion.plan.MOVES``, which move and compare values) and tell what dtype
    each result has; most operations have one. Python scalars and mixed operands never come here.
    Options that are arrays (``condition``, ``sorter``) are buffers.
``compile(name, held, plan, casts, low=False, high=False) -> callable``
    All of a plan made ready once, for operands whose buffers hold the dtypes ``held``; Python
    scalars are NumPy's arrays of no axes. ``casts(source, target)`` tells the mode and the
    transforms of a cast, ``low`` and ``high`` which bounds ``clip`` has. What it returns takes the
    buffers and the operation's options, and gives the buffer of the result, or a tuple of them
    where the operation has several, each stored as the plan says. Its attribute ``kernel``, if it
    has one, does the same without a frame of Python's, or answers None.
``short_caster(source, target, mode, transforms) -> callable or None``
    Only of NumPy's: the same of short buffers as ``caster``; of others it answers None.
``count_nonzero(buffer, dtype, axis, keepdims) -> buffer``
    Only of NumPy's: how many elements are not zero, in int64; not of strings.
``nonzero(buffer, dtype) -> tuple[buffer, ...]``
    Only of NumPy's: where they are, in int64; not of strings.
``sort_floats(buffer, dtype, axis, descending) -> buffer or None``
    Only of NumPy's: sorted as ``kernels.portable.linalg`` does, sooner; None where it is not.
``move(name, buffer, *args, **options) -> buffer``
    Run the function of ``xp`` that moves values and never looks at them, such as ``"reshape"``.
    Axes are counted from the first, and checked; what picks may be a buffer of int64.
``read(buffer, key) -> buffer``, ``write(buffer, key, value)``
    ``buffer[key]``, which stays an array, and ``buffer[key] = value``, whose value is a buffer of
    the same dtype. Keys hold ints, slices, Ellipsis, None, and buffers of bool or int64. A key that
    leads nowhere is an IndexError.
``writeable(buffer) -> bool``, ``copy(buffer, order) -> buffer``
    ``order`` is "C" or "K".
``to_device(buffer, device, stream) -> buffer``
    On one of its own ``devices()``.
``dlpack(buffer, dtype, **options) -> capsule``, ``dlpack_device(buffer) -> tuple[int, int]``
    Export, with the options of the array API's ``__dlpack__``.
``from_dlpack(x, copy) -> tuple[buffer, DType]``
    Import what lies on one of its devices.
``lazy``
    True of Dask's alone, whose buffers are graphs: nothing but ``to_numpy`` computes one. Where a
    length is not known before that, a shape has None.
``described(buffer) -> str``
    Only of a lazy one's: what a repr shows in place of values.

Nothing is imported for the user: CuPy's module is loaded when a CuPy array or a CUDA device is
seen, and only then.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from promoarray.backends import numpy as numpy_backend
from promoarray.errors import quoted, to_install

BY_CLASS: WeakKeyDictionary[type, Any] = WeakKeyDictionary([(np.ndarray, numpy_backend)])
"""The back ends of the classes of buffers that were met, None of those without one; a class that
nobody else holds goes, such as that of the arrays of a policy."""

_MODULES = {"cupy": "promoarray.backends.cupy", "dask": "promoarray.backends.dask"}
"""The backend of a library, by the first part of its arrays' module."""

_ARRAYS = {"dask": ("dask.array", "Array")}
"""What a library calls its arrays, where that is not ``library.ndarray``."""


def find(kind: type) -> Any:
    """Return the backend of a class of buffers, or None."""
    try:
        return BY_CLASS[kind]
    except KeyError:
        return BY_CLASS.setdefault(kind, _loaded(kind))


def _loaded(kind: type) -> Any:
    if issubclass(kind, np.ndarray):
        return numpy_backend
    for base in kind.__mro__:  # a subclass may be of any module
        library = base.__module__.partition(".")[0]
        if library in _MODULES and issubclass(kind, _array_class(library)):
            return import_module(_MODULES[library])
    if kind.__module__.startswith(f"{__name__}."):  # a back end's own class of buffers
        return import_module(kind.backend)  # type: ignore[attr-defined]
    return None


def _array_class(library: str) -> Any:
    """The class of a library's arrays; none of what it has besides, if that is not imported."""
    module, name = _ARRAYS.get(library, (library, "ndarray"))
    return getattr(sys.modules.get(module), name, ())


def backend_of(buffer: object) -> Any:
    """Return the backend of a buffer.

    Raises TypeError if no backend holds buffers of this type.
    """
    found = find(type(buffer))
    if found is None:
        raise TypeError(
            f"no backend holds a {type(buffer).__module__}.{type(buffer).__qualname__}; "
            "write pa.asarray(np.asarray(x))"
        )
    return found


def is_lazy(backend: Any) -> bool:
    """Whether a backend's buffers are computed later: ``lazy`` among its names."""
    return getattr(backend, "lazy", False)


def common_backend(*values: object) -> Any:
    """Return the one backend of the buffers among values; NumPy's where there are none.

    Raises ValueError if buffers of two libraries are among them.
    """
    found = {backend.name: backend for v in values if (backend := find(type(v))) is not None}
    if found.keys() == {"numpy", "dask"}:  # what is in memory goes into the graph
        return found["dask"]
    if len(found) > 1:
        devices = sorted({find(type(v)).device_of(v) for v in values if find(type(v))})
        raise ValueError(
            f"arrays on {' and '.join(devices)} do not mix; write x.to_device({devices[0]!r})"
        )
    return next(iter(found.values()), numpy_backend)


def on_device(device: str | None) -> Any:
    """Return the backend whose arrays lie on a device; None means "cpu".

    Raises ValueError if the device is unknown, or is not at hand.
    """
    if device is None or device == "cpu":
        return numpy_backend
    if isinstance(device, str) and device.startswith("cuda"):
        try:
            backend = import_module(_MODULES["cupy"])
        except ImportError as error:
            raise ValueError(f"there is no device {quoted(device)}: {error}") from None
        there = backend.devices()
        if device in there or (device == "cuda" and there):
            return backend
        if not there:
            raise ValueError(f"there is no device {quoted(device)}: {backend.why_none()}")
    if device == "dask":
        try:
            return import_module(_MODULES["dask"])
        except ImportError as error:
            raise ValueError(
                f"there is no device 'dask': {error}. Write {to_install('dask')}"
            ) from None
    known = ", ".join(map(repr, devices()))
    raise ValueError(f"unknown device {quoted(device)}. Write one of: {known}")


def devices() -> tuple[str, ...]:
    """List the devices at hand: the CPU, and those of libraries the program has imported."""
    found = list(numpy_backend.devices())
    for library, module in _MODULES.items():
        if _ARRAYS.get(library, (library,))[0] in sys.modules:
            try:
                found += import_module(module).devices()
            except ImportError:  # the library is a ruin, as CuPy without CUDA can be
                continue
    return tuple(found)
