"""Helpers of the creation functions: default dtypes, and buffers of one value."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from promoarray import dtypes as dt
from promoarray.backends import backend_of, is_lazy, on_device
from promoarray.backends import numpy as numpy_backend
from promoarray.core.array_base import storage_dtype
from promoarray.core.asarray import asked_for, canonical
from promoarray.core.cast import convert, scalar
from promoarray.core.executable_cache import Executable, keep_function
from promoarray.core.move import tell_taken
from promoarray.core.observers import observers_anywhere, tell
from promoarray.core.operands import as_array, as_operand, scalar_buffer
from promoarray.core.refusals import require_kernel
from promoarray.dtypes import INTEGERS, WEAK, DType, Kind
from promoarray.parray import PArray
from promoarray.promotion.answers import MADE_OF_DTYPE
from promoarray.promotion.in_force import get_policy
from promoarray.promotion.policy import Policy

if TYPE_CHECKING:
    from promoarray.core.events import Again


def default(weak: DType, dtype: object, name: str = "", values: tuple[Any, ...] = ()) -> DType:
    """The dtype asked for, or what the policy has for numbers or their weak type; one it holds."""
    policy = get_policy()
    if dtype is None and not values:
        return policy.once(_default, weak, name)
    given = None if dtype is None else policy.named(dtype)
    chosen = canonical(given or policy.stored.dtype(name, values) or policy.strong(weak))
    policy.stored.check(name, values, chosen)
    _require_made(policy, name, chosen, dtype)
    return chosen


def _require_made(policy: Policy, name: str, dtype: DType, given: object) -> None:
    """Refuse a dtype that a function makes no arrays of; errors as in ``require_kernel``.

    Observers hear of what was ``given``: the dtype, or the array that it is of.
    """
    require_kernel(policy, name + MADE_OF_DTYPE, dtype)
    if given is not None:
        asked = given if isinstance(given, (DType, PArray)) else dtype
        tell_taken(policy, name + MADE_OF_DTYPE, asked)


def _default(policy: Policy, weak: DType, name: str) -> DType:
    chosen = policy.stored.dtype(name, ()) or policy.strong(weak)
    found = policy.canonical.get(chosen, chosen)
    policy.stored.check(name, (), found)
    return found


def notified(out: PArray, weak: DType, dtype: object, again: Again | None = None) -> PArray:
    """Tell observers where the policy chose the dtype, and which was asked for elsewhere."""
    if not observers_anywhere:
        return out
    if dtype is None:
        tell(lambda observer: observer.on_default(weak, out, False, "", again))
    return asked_for(out, dtype, again)


def again(
    name: str, numbers: tuple[Any, ...], make: Callable[[DType | None], PArray]
) -> Again | None:
    """What makes an array of numbers again, for observers."""
    if not observers_anywhere:
        return None
    from promoarray.core.events import Again

    return Again(name, numbers, make)


def made(kind: str, shape: Any, dtype: object, device: str | None) -> PArray:
    """An array of zeros, of ones, or ``"empty"``: of unset values."""
    policy, target = get_policy(), default(dt.weak_float, dtype, kind)
    buffer = buffer_of(kind, shape, target, device, policy)
    if device is None:
        executable = Executable(_maker_of(kind, target, policy), (), target, ())
        keep_function(policy, kind, (shape,), dtype, executable)
    return notified(PArray._wrap(buffer, target), dt.weak_float, dtype)


def made_like(kind: str, x: Any, dtype: object, device: str | None) -> Any:
    """The same of the shape of another array."""
    array, row, where, policy = settings_like(x, dtype, device)
    _require_made(policy, f"{kind}_like", row, array if dtype is None else dtype)
    buffer = buffer_of(kind, array.shape, row, where, policy)
    if device is None:
        make = _maker_of(kind, row, policy)
        own = type_like(array, dtype, row)  # which may be weak
        executable = Executable(lambda b: make(b.shape), (None,), own, ())
        keep_function(policy, f"{kind}_like", (array,), dtype, executable)
    return wrapped_like(array, buffer, dtype, row)


def buffer_of(kind: str, shape: Any, dtype: DType, device: str | None, policy: Policy) -> Any:
    """A buffer of zeros, of ones, or of unset values."""
    value = _value(kind, dtype, policy)
    if value is not None:
        return filled(shape, value, dtype, device)
    return getattr(on_device(device), kind)(shape, dtype, device)


def _maker_of(kind: str, dtype: DType, policy: Policy) -> Callable[[Any], Any]:
    """From a shape to such a buffer of NumPy's."""
    value = _value(kind, dtype, policy)
    if value is not None:
        return partial(filled_here, value=value)
    return partial(getattr(np, kind), dtype=dtype.storage)


def _value(kind: str, dtype: DType, policy: Policy) -> Any:
    """A buffer of the value that is written to each element; None where memory comes with it."""
    if kind == "ones":
        return scalar_buffer(policy.cast, 1, dtype)
    if kind == "zeros" and dtype is dt.float8_e8m0fnu:  # its code 0 is 2**-127, and 0.0 mostly NaN
        return scalar(policy, 0.0, dtype)
    return None


def as_read(value: Any, dtype: object, name: str) -> tuple[Any, object]:
    """The number of one element and the dtype for it, where the policy's function reads it off."""
    policy = getattr(value, "_policy", None) or get_policy()
    reads, entered = policy.stored.reads, as_operand(value)
    if isinstance(entered, PArray):
        tell_taken(policy, name, entered)
    if type(value) in WEAK or name not in reads or not hasattr(value, "item"):
        return value, dtype
    return value.item(), reads[name] if dtype is None else dtype


def filled_here(shape: Any, value: Any) -> Any:
    """A buffer of NumPy's of one value."""
    out = np.empty(shape, value.dtype)
    numpy_backend.write(out, ..., value)
    return out


def filled(shape: Any, value: Any, dtype: DType, device: str | None) -> Any:
    """A buffer of one value, which is a buffer of NumPy's."""
    backend = on_device(device)
    buffer = backend.empty(shape, dtype, device)
    backend.write(buffer, ..., backend.from_numpy(value, dtype, device))
    return buffer


def full_of(shape: Any, value: PArray) -> PArray:
    """An array of one value, which is an array without axes."""
    backend = backend_of(value._buffer)
    buffer = backend.empty(shape, value.dtype, value.device)
    backend.write(buffer, ..., value._buffer)
    return value._wrap(buffer, value._type)


def fill_like(buffer: Any, value: Any) -> Any:
    """A buffer of NumPy's of one value, of the shape of another."""
    return filled_here(buffer.shape, value)


def settings_like(x: Any, dtype: object, device: str | None) -> tuple[PArray, DType, str, Policy]:
    """An array, and the dtype, the device and the policy of what is made like it."""
    array = as_array(x, "a ..._like function")
    policy = array._policy or get_policy()
    row = canonical(array.dtype if dtype is None else policy.named(dtype), array)
    return array, row, array.device if device is None else device, policy


def wrapped_like(x: PArray, buffer: Any, dtype: object, row: DType) -> Any:
    """A buffer of some dtype as what is made like an array."""
    return asked_for(x._wrap(buffer, type_like(x, dtype, row)), dtype)


def type_like(x: PArray, dtype: object, row: DType) -> Any:
    """The type of what is made like an array: weak if that is, where no dtype is given and the
    policy has none of its own for that of the array."""
    return x._type if dtype is None and row is storage_dtype(x) else row


def cast_values(
    values: Any,
    weak: DType,
    dtype: object,
    target: DType,
    device: str | None,
    name: str = "",
    again: Again | None = None,
) -> PArray:
    """Cast wide values to a dtype, by the policy's rule for what a function of that name stores."""
    backend = on_device(device)
    if values.dtype == object:  # Python ints, some beyond int64
        source = dt.uint64 if target is dt.uint64 else dt.float64
        ends = [min(values, default=0), max(values, default=0)]
    else:
        source = backend.dtype_of(values)
        ends = []
        if name and source.kind is Kind.COMPLEX:
            ends = values[:1].tolist() or [0j]
        elif name and target.kind in INTEGERS and source is not target and values.size:
            ends = [values.min().item(), values.max().item()]  # NaN is both
    fit = get_policy().stored.rule(name)
    for end in ends if name else ():
        fit(end, target)
    if values.dtype == object:
        values = values.astype(source.storage)
    if isinstance(values, np.ndarray) or is_lazy(backend):  # which has ranges that are no buffers
        values = backend.from_numpy(values, source, device)
    made = PArray._wrap(convert(get_policy(), values, source, target), target)
    return notified(made, weak, dtype, again)
