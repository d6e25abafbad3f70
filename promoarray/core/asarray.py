"""Arrays of data that are there.

What Python numbers become is the policy's business (``policy.defaults``): a float is float64 to
NumPy, float32 to PyTorch. A dtype that is given, or that data already have, is kept, unless the
policy never holds it (float64 in JAX without x64).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from promoarray import dtypes as dt
from promoarray.backends import backend_of, find, on_device
from promoarray.backends.numpy.cast import caster, short_caster
from promoarray.core.array_base import Array, storage_dtype
from promoarray.core.cast import convert, explicit
from promoarray.core.executable_cache import Executable, keep_function, types_of
from promoarray.core.observers import observers_anywhere, tell
from promoarray.core.operands import wrap
from promoarray.dtypes import DType
from promoarray.errors import kind_of, quoted
from promoarray.kernels.float_state import in_default_float_state
from promoarray.operations import Form
from promoarray.promotion.in_force import get_policy

if TYPE_CHECKING:
    from typing import TypeVar

    from promoarray.core.events import Again

    AnyArray = TypeVar("AnyArray", bound=Array)


@in_default_float_state
def asarray(
    obj: Any,
    /,
    *,
    dtype: object = None,
    device: str | None = None,
    copy: bool | None = None,
    name: str = "asarray",
) -> Any:
    """Make an array, or wrap one without copying; see ``promoarray.asarray``.

    ``name`` is the function that does so, which may have a rule of its own for Python numbers.
    """
    own = obj._policy if isinstance(obj, Array) else None
    wanted = None if dtype is None else (own or get_policy()).named(dtype)
    if device is not None:
        on_device(device)  # an unknown one is told before anything is done
    source = _as_source(obj, copy)
    if source is None:
        if copy is False:
            raise ValueError("copy=False: Python numbers have to be copied into an array")
        from promoarray.core.from_python import keep_data
        from promoarray.core.python_data import from_python

        made = from_python(obj, wanted and canonical(wanted), name)
        if device is None and copy is None and name == "asarray":
            keep_data(obj, wanted, made)
        again = None
        if observers_anywhere and dtype is not None:
            from promoarray.core.python_data import again_from

            again = again_from(obj, name)
        return asked_for(made if device is None else made.to_device(device), dtype, again)
    target = canonical(wanted or source.dtype, source)
    # A weakly typed array is stored in a dtype, but is not of it.
    out = source if wanted is None and target is source.dtype else _cast(source, target)
    if observers_anywhere and wanted is not None and target is not source.dtype:
        from promoarray.core.events import CastEvent

        policy = out._policy or get_policy()
        event = CastEvent(policy, source, out, source.dtype, target, dtype, True)
        tell(lambda observer: observer.on_cast(event))
    elif observers_anywhere:
        asked_for(out, source.dtype if dtype is None and not isinstance(obj, Array) else dtype)
    if device is not None:
        out = out.to_device(device)
    shared = out._buffer is source._buffer and _is_shared(obj)
    if copy is False and not shared:
        raise ValueError(f"copy=False: {out.dtype} from {kind_of(obj)} needs a copy")
    if device is None and copy is not False and name == "asarray":
        _keep(obj, source, wanted, out, copy)
    # Other libraries were asked for a copy themselves.
    if copy and shared and (isinstance(obj, Array) or find(type(obj)) is not None):
        return out._wrap(backend_of(out._buffer).copy(out._buffer), out._type)
    return out


def _keep(obj: Any, source: Array, wanted: DType | None, out: Array, copy: bool | None) -> None:
    """Keep how arrays of a dtype, ours and NumPy's, become arrays of the one that is asked for."""
    held, dtype = storage_dtype(source), storage_dtype(out)
    if types_of(source) is None or dt.string in (held, dtype):
        return
    if not isinstance(obj, Array):
        if not isinstance(obj, np.generic) and type(obj) is not np.ndarray:
            return
        if obj.dtype != source._buffer.dtype:  # of the other byte order
            return
    policy = out._policy or get_policy()
    run: Any = np.ndarray.view
    kernel = None
    if held is not dtype:
        way = held, dtype, *policy.cast.plan(held, dtype)
        run, kernel = caster(*way), short_caster(*way)
    elif copy:
        run, kernel = backend_of(out._buffer).copy, np.ndarray.copy
    elif isinstance(obj, Array):
        run = None if out is obj else _itself
    result = ... if run is None else out._type
    executable, name = Executable(run, (), result, (), kernel), COPYING if copy else "asarray"
    keep_function(policy, name, (obj,), wanted, executable, Form.OPERATOR)


COPYING = "asarray copy"
"""What ``asarray(..., copy=True)`` is kept under."""


def _itself(buffer: Any) -> Any:
    return buffer


def _is_shared(obj: Any) -> bool:
    """Whether wrapping ``obj`` leaves its memory where it is."""
    if isinstance(obj, np.ndarray):
        return obj.dtype.isnative and not isinstance(obj.dtype, np.dtypes.StrDType)
    return not isinstance(obj, np.generic)


def _as_source(obj: Any, copy: bool | None) -> Array | None:
    """Anything that is an array already; None for Python numbers and sequences."""
    if isinstance(obj, Array):
        return obj
    if type(obj) in (list, tuple):
        return None
    if isinstance(obj, (np.ndarray, np.generic)):
        if isinstance(obj.dtype, np.dtypes.StrDType):  # of fixed width
            obj = np.asarray(obj).astype(dt.string.storage)
        return wrap(obj)
    if find(type(obj)) is not None:
        return wrap(obj)
    if isinstance(obj, (int, float, complex, list, tuple, range, str)):
        return None
    if hasattr(obj, "__dlpack__"):
        try:
            found: Array = from_dlpack(obj, copy=copy)
            return found
        except (BufferError, RuntimeError):  # what has no name there may have one in NumPy
            if not hasattr(obj, "__array__"):
                raise
    if hasattr(obj, "__array__") or _has_buffer(obj):
        return wrap(np.array(obj, copy=copy))
    kind = kind_of(obj)
    raise TypeError(
        f"asarray takes numbers, sequences of them and arrays, not {kind}: {quoted(obj)}"
    )


def unbound(value: Any) -> Any:
    """Arrays without the binding to a namespace, also in nested sequences; all else as it is."""
    if isinstance(value, Array):
        bound = value._policy is not None
        return Array.default._wrap(value._buffer, value._type) if bound else value
    if type(value) in (list, tuple) and any(isinstance(v, (Array, list, tuple)) for v in value):
        try:
            return type(value)(map(unbound, value))
        except RecursionError:  # nested deeper than any array
            return value
    return value


def _has_buffer(obj: Any) -> bool:
    try:
        memoryview(obj)
    except TypeError:
        return False
    return not isinstance(obj, (bytes, bytearray))  # text, not numbers: say memoryview(...)


def asked_for(made: AnyArray, dtype: object, again: Again | None = None) -> AnyArray:
    """Tell observers of an array of a dtype that was asked for, if one was; return the array."""
    if observers_anywhere and dtype is not None:
        from promoarray.core.events import MadeEvent

        event = MadeEvent(made._policy or get_policy(), made, dtype, again)
        tell(lambda observer: observer.on_made(event))
    return made


def canonical(dtype: DType, x: Array | None = None) -> DType:
    policy = (x._policy if x is not None else None) or get_policy()
    return policy.canonical.get(dtype, dtype)


def _cast(x: Array, dtype: DType) -> Array:
    policy = x._policy or get_policy()
    if dt.string in (x.dtype, dtype):
        return x._wrap(explicit(policy, x._buffer, x.dtype, dtype), dtype)
    return x._wrap(convert(policy, x._buffer, storage_dtype(x), dtype), dtype)


_HOMES = {1: "cpu", 2: "cuda", 3: "cpu", 13: "cuda"}
"""Where the devices of DLPack's numbers are read: CPU, CUDA, CUDA's pinned and managed memory."""


def from_dlpack(x: Any, /, *, device: str | None = None, copy: bool | None = None) -> Any:
    """Wrap the memory of an array of another library; see ``promoarray.from_dlpack``."""
    if not hasattr(x, "__dlpack__"):
        raise TypeError(f"a {kind_of(x)} does not speak DLPack; write pa.asarray(x)")
    if isinstance(x, Array):
        return asarray(x, device=device, copy=copy)
    kind = int(x.__dlpack_device__()[0])
    if kind not in _HOMES:
        raise BufferError(f"promoarray reads no memory of DLPack's device {kind}; copy it to a CPU")
    buffer, dtype = on_device(device or _HOMES[kind]).from_dlpack(x, copy)
    out = Array.default._wrap(buffer, dtype)
    return out if device is None else out.to_device(device)
