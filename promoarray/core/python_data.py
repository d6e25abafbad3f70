"""Arrays of Python's own data: numbers, strings, and nested sequences of them.

A number becomes what the policy makes of its kind, and is rounded once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from promoarray import dtypes as dt
from promoarray.backends import common_backend
from promoarray.core.array_base import Array, storage_dtype
from promoarray.core.cast import convert
from promoarray.core.executable_cache import kinds_in
from promoarray.core.from_python import keep_joined
from promoarray.core.observers import observers_anywhere, tell
from promoarray.core.operands import array_class, as_operand, fitted, operands_of, plain_number
from promoarray.core.read_dtype import answered
from promoarray.dtypes import INTEGERS, WEAK, DType, as_dtype
from promoarray.errors import kind_of, quoted
from promoarray.operations import Form
from promoarray.promotion.in_force import get_policy
from promoarray.promotion.plan import Operand, Refusal
from promoarray.promotion.policy import Policy
from promoarray.promotion.scalars import Fit

if TYPE_CHECKING:
    from promoarray.core.events import Again


def from_python(obj: Any, dtype: DType | None, name: str = "asarray") -> Array:
    """Make an array of a number or string, or of nested sequences of them and of 0-d arrays;
    ``name`` is of the function that does so, which may have a rule of its own (``Policy.stored``).

    Raises TypeError if something else lies among them; ValueError if the sequences are ragged;
    OverflowError if an int does not fit ``dtype``.
    """
    if isinstance(obj, range) and (counted := _from_range(obj, dtype, name)) is not None:
        return counted
    return _from_nested(obj, dtype, name)


def _from_nested(obj: Any, dtype: DType | None, name: str) -> Array:
    """Make an array of a number or nested sequences by ``from_python``."""
    is_flat = type(obj) in (list, tuple) and WEAK.keys() >= {*map(type, obj)}
    try:
        leaves = list(obj if is_flat else _leaves(obj))
    except RecursionError:
        raise ValueError(f"{name}: the sequences are nested too deep for an array") from None
    classes = {*map(type, leaves)}
    if not WEAK.keys() >= classes:
        leaves = [*map(_plain, leaves)]
        classes = {*map(type, leaves)}
    if dtype is dt.string or classes == {str}:
        return _from_texts(obj, leaves, dtype)
    if not WEAK.keys() >= classes:
        return _from_arrays(obj, leaves, dtype)
    weak = max((WEAK[c] for c in classes), key=_category, default=dt.weak_float)
    policy = get_policy()
    own = dtype or policy.stored.dtype(name, tuple(leaves))
    target = own or policy.strong(weak)
    shape = (len(leaves),) if is_flat else _shape(obj)  # refuses ragged sequences
    buffer = _filled(shape, leaves, target, policy.stored.rule(name))
    lone = not isinstance(obj, (list, tuple, range))
    labelled = policy.weak_arrays and (lone or policy.stored.weak_lists)
    stays = labelled and own is None and weak is not dt.weak_bool
    out = Array.default._wrap(buffer, weak if stays else target)
    if dtype is None and observers_anywhere:
        again = again_from(obj, name)
        tell(lambda observer: observer.on_default(weak, out, lone, "", again))
    return out


def again_from(obj: Any, name: str) -> Again | None:
    """What makes an array of Python numbers again; None where other things are among them."""
    if not 0 < kinds_in(obj) < 1 << len(WEAK):
        return None
    from promoarray.core.events import Again

    return Again(name, (obj,), lambda dtype: from_python(obj, dtype, name))


def _plain(leaf: Any) -> Any:
    """An ``IntEnum`` member and its like as the number that it is; all else as it is."""
    if type(leaf) in WEAK or isinstance(leaf, np.generic):  # a bool is no int here
        return leaf
    number = plain_number(leaf)
    return leaf if number is NotImplemented else number


def _category(weak: DType) -> int:
    return weak.kind.category


def _from_range(numbers: range, dtype: DType | None, name: str) -> Array | None:
    """A range without a list of its ints, by what the policy makes of its ends.

    None of a short one, and where the ends themselves are not what is stored, or beyond int64.
    """
    _require_length(numbers)
    if len(numbers) < 3:
        return None
    ends = [numbers[0], numbers[-1]]
    if any(n not in _INT64 for n in (*ends, numbers.step)):
        return None
    try:
        made = from_python(ends, dtype, name)
    except OverflowError:
        if len(numbers) > _TOLD:
            raise
        return None  # which tells the first number that does not fit
    target = storage_dtype(made)
    if target.kind in INTEGERS and (target.bits < 8 or made._buffer.tolist() != ends):
        return None
    counted = np.arange(len(numbers), dtype=np.int64)
    counted *= numbers.step
    counted += numbers[0]
    if target is not dt.int64:
        counted = convert(get_policy(), counted, dt.int64, target)
    return made._wrap(counted, made._type)


_INT64 = range(-(2**63), 2**63)

_TOLD = 2**20
_LISTED = 2**30
"""More numbers are not made a list of, which is five times as large as their array."""


def _from_texts(obj: Any, leaves: list[Any], dtype: DType | None) -> Array:
    """Nested Python strings as an array of strings: ``astype`` makes numbers of them, or texts."""
    other = next((leaf for leaf in leaves if type(leaf) is not str), None)
    if other is not None or dtype not in (None, dt.string):
        made = f"string of the {kind_of(other)} {quoted(other)}"
        if other is None and dtype is not None:
            made = f"{dtype.name} of a string"
        raise TypeError(
            f"asarray makes no {made}; make an array of what it is and cast it with astype, under "
            "a policy that casts strings, such as 'onnx'"
        )
    shape = _shape(obj)  # refuses ragged sequences
    return Array.default._wrap(np.array(obj, dt.string.storage).reshape(shape), dt.string)


def _filled(shape: tuple[int, ...], leaves: list[Any], target: DType, fit: Fit) -> Any:
    """Python numbers as a buffer of a dtype, each rounded once."""
    leaves = [fit(leaf, target) for leaf in leaves]
    classes = {*map(type, leaves)}
    is_complex = complex in classes
    if target.kind in INTEGERS and target.bits >= 8 and classes == {int}:
        return np.array(leaves, target.storage).reshape(shape)
    if target.kind in INTEGERS and target.bits >= 8 and not is_complex:
        # Floats by the cast rule, and ints as they are: float64 does not hold each of them.
        exact = [leaf if type(leaf) is not float else 0 for leaf in leaves]
        out = np.array(exact, target.storage)
        at = [index for index, leaf in enumerate(leaves) if type(leaf) is float]
        if at:
            floats = np.array([leaves[index] for index in at])
            out[at] = convert(get_policy(), floats, dt.float64, target)
        return out.reshape(shape)
    natural = np.array(leaves, np.complex128 if is_complex else None).reshape(shape)
    if natural.dtype == object:  # ints beyond 64 bits
        try:
            natural = natural.astype(np.float64)
        except OverflowError:
            raise OverflowError(f"an int does not fit {target.name}, nor any float") from None
    return convert(get_policy(), natural, as_dtype(natural.dtype), target)


def _from_arrays(obj: Any, leaves: list[Any], dtype: DType | None) -> Array:
    """Nested sequences with 0-d arrays among the numbers: their common dtype, or the one given."""
    members = [as_operand(leaf) for leaf in leaves]
    for leaf, x in zip(leaves, members, strict=True):
        if x is NotImplemented:
            kind = kind_of(leaf)
            raise TypeError(f"asarray found a {kind} among the numbers: {quoted(leaf)}")
    cls = array_class(tuple(members))
    policy = cls._policy or get_policy()
    read = given = dtype
    if dtype is None:
        operands = operands_of(tuple(members), policy, policy.result_type, "concat", Form.FUNCTION)
        if policy.stored.strong_lists:
            operands = tuple(Operand(policy.strong(operand.type)) for operand in operands)
        common = policy.result_type(operands)
        if isinstance(common, Refusal):
            from promoarray.core.refusals import promotion_error

            raise promotion_error(policy, "stack", operands, common)
        dtype = policy.strong(common)
        read = answered("asarray", policy, tuple(members), dtype, Policy.result_type)
    flat = [
        x if type(x) in WEAK else convert(policy, x._buffer, storage_dtype(x), dtype)
        for x in members
    ]
    backend = common_backend(*flat)
    buffers = [
        backend.from_numpy(fitted(policy, x, dtype), dtype) if type(x) in WEAK else x for x in flat
    ]
    ((joined, _),) = backend.call("stack", tuple(buffers), dtype)
    shape = (*_shape(obj), *buffers[0].shape)
    out = cls._wrap(backend.move("reshape", joined, shape), dtype)
    if read is not dtype:
        from promoarray.core.events import MadeEvent

        tell(lambda observer: observer.on_made(MadeEvent(policy, out, read)))
    if type(obj) in (list, tuple):
        keep_joined(obj, given, out)
    return out


def _leaves(obj: Any) -> Iterator[Any]:
    if isinstance(obj, (list, tuple, range)):
        if isinstance(obj, range):
            _require_length(obj)
            if len(obj) > _LISTED:
                raise MemoryError(
                    f"asarray makes a list of {quoted(obj)} among others; write pa.stack of "
                    "pa.asarray(range(...))"
                )
        for item in obj:
            yield from _leaves(item)
    else:
        yield obj


def _require_length(numbers: range) -> None:
    try:
        len(numbers)
    except OverflowError:
        raise OverflowError(f"there is no array of as many numbers as {quoted(numbers)}") from None


def _shape(obj: Any) -> tuple[int, ...]:
    if not isinstance(obj, (list, tuple, range)):
        return ()
    inner = {_shape(item) for item in obj}
    if len(inner) > 1:
        raise ValueError("the sequences are ragged: rows of different lengths")
    return (len(obj), *(inner.pop() if inner else ()))
