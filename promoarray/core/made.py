"""How arrays are made of Python's numbers, or like others, kept as executables for the fast path.

Only of NumPy's buffers, where nobody observes, and of dtypes of ours: observers hear of the others.
"""

from __future__ import annotations

from collections.abc import Callable
from marshal import dumps
from typing import Any

from promoarray.core.array_base import Array
from promoarray.core.kept import Executable, Scalar, signature_of
from promoarray.core.observers import observers_anywhere
from promoarray.dtypes import WEAK, DType, as_dtype
from promoarray.operations import Form
from promoarray.promotion.in_force import get_policy
from promoarray.promotion.policy import Policy

Buffer = Any
Make = Callable[..., "Buffer | None"]
"""From what a function is given besides a dtype to a buffer; None, or an exception, leaves it to
the function."""


def keep_shaped(policy: Policy, name: str, asked: object, make: Make, result: DType) -> None:
    """Keep how a function makes arrays of any shape."""
    if not observers_anywhere:
        key = name + Form.FUNCTION, None, _read(asked)
        policy.executables[key] = Executable(make, (), result, ())


def keep_like(
    policy: Policy,
    name: str,
    array: Array,
    asked: object,
    make: Make,
    result: DType,
    number: tuple[type, Scalar] | None = None,
) -> None:
    """Keep how a function makes arrays like others of this type.

    Parameters
    ----------
    policy : Policy
    name : str
    array : Array
    asked : dtype_like or None
    make : callable
        It takes the buffer of the array, and of the number if there is one.
    result : DType
    number : tuple, optional
        The class of the number that the function is given, too, and how one becomes a buffer.
    """
    signature = signature_of(name + Form.FUNCTION, (array,))
    if signature is None or observers_anywhere:
        return
    if len(signature.key) > 2:  # of another library
        return
    given, scalars = ((), ()) if number is None else ((number[0],), (number[1],))
    wanted = () if asked is None else (_read(asked),)
    own = array._type if asked is None else result  # which may be weak
    known = Executable(make, (None, *scalars, *(... for _ in wanted)), own, ())
    policy.executables[*signature.key, *given, *wanted] = known


class Made:
    """What was made of numbers: a program asks for the same few again and again."""

    def __init__(self, *_: object) -> None:
        self._kept: dict[bytes, Buffer] = {}

    def find(self, *numbers: Any) -> Buffer | None:
        """What was made of these numbers, of their classes and to the bit."""
        return self._kept.get(dumps(numbers, _WITHOUT_REFERENCES))

    def copy(self, *numbers: Any) -> Buffer | None:
        """A copy of it."""
        found = self.find(*numbers)
        return None if found is None else found.copy()

    def keep(self, buffer: Buffer, *numbers: Any) -> None:
        """Keep what is short, and nobody else writes to."""
        if buffer.nbytes > _SHORT:
            return
        if len(self._kept) >= _MOST:
            self._kept.clear()
        kept = buffer.copy()
        kept.flags.writeable = False
        self._kept[dumps(numbers, _WITHOUT_REFERENCES)] = kept


_MOST, _SHORT = 256, 1 << 10
_WITHOUT_REFERENCES = 2
"""The version of ``marshal`` whose bytes hang on values alone."""


def keep_made(
    policy: Policy,
    name: str,
    numbers: tuple[Any, ...],
    asked: object,
    buffer: Buffer,
    result: DType,
    make_of: Callable[[Made], Make],
) -> None:
    """Keep what a function has made of numbers, and that it was kept.

    What it makes of numbers of some classes may hang on their values: then only what is of the
    first one's dtype.
    """
    if observers_anywhere or any(type(number) not in WEAK for number in numbers):
        return
    highest = max(map(type, numbers), key=_CLASSES.index)
    key = name + Form.FUNCTION, highest, _read(asked)
    made = policy.once(Made, *key, result)
    known = policy.executables.setdefault(key, Executable(make_of(made), (), result, ()))
    if known.result is result:
        made.keep(buffer, *numbers)


_CLASSES = list(WEAK)


def keep_copy(
    name: str, numbers: tuple[Any, ...], asked: object, out: Array, make_of: Callable[[Made], Make]
) -> None:
    """Keep what a function has made of numbers alone, so that it is copied the next time: where
    none of them is so large that NumPy may have warned of it."""
    if not isinstance(out._type, DType):
        return
    if all(type(n) is int or (type(n) is float and abs(n) <= _HELD_BY_FLOAT16) for n in numbers):
        policy = out._policy or get_policy()
        keep_made(policy, name, numbers, asked, out._buffer, out._type, make_of)


_HELD_BY_FLOAT16 = 60000.0
"""Of what is beyond 65504, the largest float16, NumPy may warn."""


def _read(asked: object) -> DType | None:
    return None if asked is None else as_dtype(asked)
