"""The cache of executables, ``policy.executables``: what it holds, and by which keys.

The dispatcher puts them there, the fast path (``native/``) finds them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, NamedTuple

import numpy as np

from promoarray.core.array_base import Array
from promoarray.core.observers import observers_anywhere
from promoarray.dtypes import WEAK, WEAK_TYPES, DType, as_dtype
from promoarray.operations import Form
from promoarray.promotion.policy import NO_OPTIONS, Policy

Buffer = Any
Scalar = Callable[[Any], Any]
"""From a Python scalar to a 0-d buffer; None where a plan for its value has to be made first, and
the Executable for its value where there is another one, whose own answers with a buffer."""


class Executable(NamedTuple):
    """What one plan is on one back end. ``native/`` reads the fields in this order."""

    # from the operands' buffers, Python scalars as NumPy's of no axes, and the operation's options
    # to the buffer of the result, or to a tuple of them where it has several. It may answer None,
    # and leave it to the function. None where nothing runs: of index arrays and of ``asarray`` as
    # they are, and of answers about dtypes
    run: Any
    # how each operand that is a Python scalar becomes a buffer. Shorter than the operands where
    # ``run`` takes the others as they are
    scalars: tuple[Any, ...]
    # the type of the result; None where the result leaves the policy. Where nothing runs, the
    # answer itself, and ``...`` where that is the operand
    result: Any
    # the types of the further results of an operation that has several, where they are others
    extra_results: tuple[DType, ...]
    # the same without a frame of Python's, if there is such: it answers None where ``run`` has to
    # be asked
    kernel: Callable[..., Any] | None = None
    into: bool = False  # whether the result is written over the first operand


ValueClass = Callable[[Any], Hashable]
"""From a value to what values that have the same plan have in common."""


class Choice(NamedTuple):
    """The executables for operands of some types, where types alone do not decide.

    ``native/`` reads the fields in this order.
    """

    scalar: ValueClass | None  # from a Python scalar to the class of its value, where values decide
    flat: ValueClass | None  # the same of the values of arrays that have no axes
    # from what tells the operands apart (``told_apart``), or a call that moves values
    # (``move.py``), to an Executable
    by_case: dict[tuple[Any, ...], Executable]

    def keep(self, case: tuple[Any, ...], executable: Executable) -> None:
        """Keep an executable for a case; with too many cases it begins anew."""
        if len(self.by_case) >= MOST_CASES:
            self.by_case.clear()
        self.by_case[case] = executable


MOST_CASES = 4096
"""How many cases a Choice has executables for."""


def told_apart(operands: tuple[Any, ...], choice: Choice) -> tuple[Any, ...]:
    """What tells operands of the same types apart: the classes of the values of Python scalars and
    of arrays without axes; None of all others, dtypes too."""
    scalar, flat = choice.scalar, choice.flat
    case: list[Any] = []
    for x in operands:
        buffer = getattr(x, "_buffer", x)
        if type(x) in WEAK:
            case.append(scalar and scalar(x))
        else:
            is_flat = not isinstance(buffer, np.dtype) and getattr(buffer, "ndim", 1) == 0
            case.append(flat(buffer.item()) if flat and is_flat else None)
    return tuple(case)


def operation_key(
    written: str, operands: tuple[Any, ...], options: Mapping[str, Any] = NO_OPTIONS
) -> tuple[Any, ...] | None:
    """Key of the executable of an operation, which is written as "add="; None where types do not
    tell it: of other operands than Python scalars and arrays of one class in one library, and of
    options that are neither Python's own values nor arrays of that library.

    Arrays of another library than NumPy have its class behind, of which ``native/`` finds nothing.
    """
    arrays = [x for x in operands if type(x) not in WEAK]
    if len({*map(type, arrays)}) != 1 or not isinstance(arrays[0], Array):
        return None
    held = type(arrays[0]._buffer)
    types = types_of(*operands, held=held)
    if types is None or not plain(options, held):
        return None
    bounds = BOUNDS[options["low"], options["high"]] if "low" in options else ""
    return written + bounds, *types, *(() if held is np.ndarray else (held,))


BOUNDS = {
    (False, False): "",
    (True, False): " from",
    (False, True): " to",
    (True, True): " from to",
}
"""The bounds that ``clip`` has, which its plan looks at: "clip() from to"."""


def key_of_array(dtype: DType, buffer: Buffer) -> Any:
    """What an array is looked up by: its type, and whether it has axes; where the type is weak,
    what it is stored in, too, as the policy in force said when it was made."""
    held = (dtype, buffer.dtype) if dtype in _WEAK_TYPES else dtype
    return held if buffer.ndim else (held, None)


def key_part(x: Any) -> Any:
    """What an argument is looked up by, of functions that make arrays or answer about dtypes.

    As ``native/operands.cpp`` has it: of numbers in lists and tuples, which kinds there are, of a
    few arrays in them their types, and of a dtype its name. None where that does not tell what it
    is.
    """
    if type(x) in WEAK:
        return type(x)
    if type(x) in (list, tuple):
        kinds = kinds_in(x)
        return kinds if kinds < 1 << len(WEAK) else _types_in(x)
    if isinstance(x, Array):
        types = types_of(x)
        return types and types[0]
    if isinstance(x, (np.ndarray, np.generic)):
        return x.dtype if x.ndim else (x.dtype, None)
    if isinstance(x, (int, float, complex)):  # of a class derived from a number's
        return None
    return as_dtype(x).name


def kinds_in(data: Any) -> int:
    """The kinds of the numbers in nested lists and tuples, as bits; a higher one of all else."""
    if type(data) not in (list, tuple):
        return _KIND_BITS.get(type(data), 1 << len(WEAK))
    kinds = 0
    for item in data:
        kinds |= kinds_in(item)
    return kinds


def _types_in(members: Any) -> tuple[Any, ...] | None:
    """The types of a few arrays of one class; None of anything else."""
    if len(members) > MOST_JOINED or len({*map(type, members)}) > 1:
        return None
    return types_of(*members) if isinstance(members[0], Array) else None


MOST_JOINED = 8
"""Arrays of a list, of which the types are known one by one."""

_KIND_BITS: dict[type, int] = {kind: 1 << n for n, kind in enumerate(WEAK)}


def keep_function(
    policy: Policy,
    name: str,
    given: tuple[Any, ...],
    asked: object,
    executable: Executable,
    form: Form = Form.FUNCTION,
) -> Executable | None:
    """Keep what a function does with arguments of these types and a dtype that is asked for, where
    nobody observes; return what is kept, which may have been there before."""
    if observers_anywhere:
        return None
    parts = [key_part(x) for x in (*given, *(() if asked is None else (asked,)))]
    named = [part for part in parts if type(part) is str]
    if any(part is None for part in parts) or not all(map(policy.keeps_named, named)):
        return None  # NumPy's float64 equals None
    kept: Executable = policy.executables.setdefault((name + form, *parts), executable)
    return kept


_WEAK_TYPES = frozenset(WEAK_TYPES)


def types_of(*operands: Any, held: type = np.ndarray) -> tuple[Any, ...] | None:
    """What operands are looked up by one by one, whatever their classes; None where types do not
    tell what buffers of a class hold."""
    types: list[Any] = []
    for x in operands:
        if type(x) in WEAK:
            types.append(type(x))
        elif type(x._type) is DType and type(x._buffer) is held:
            types.append(key_of_array(x._type, x._buffer))
        else:
            return None
    return tuple(types)


def plain(options: Mapping[str, Any], held: type = np.ndarray) -> bool:
    """Whether options are Python's own values and arrays of one library."""
    return all(type(value) in _PLAIN_OPTIONS or type(value) is held for value in options.values())


_PLAIN_OPTIONS = frozenset({type(None), bool, int, float, str, tuple})
