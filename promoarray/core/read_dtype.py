"""Dtypes that a program reads from arrays while policies are compared.

``x.dtype`` is then an object of its own, which knows what each other policy would have there: where
it is given to a function (``astype``, ``zeros``, ``result_type``), those policies go on with their
own dtype. It equals, hashes and pickles as the run's, and answers as the run's; observers are told
of each answer, as the program may branch on it.

Nothing within promoarray meets one: ``Array.dtype`` hands it to other code alone, and ``as_dtype``
takes the run's dtype of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from weakref import WeakValueDictionary

from promoarray.core.array_base import Array, storage_dtype
from promoarray.core.observers import observers_anywhere as observers
from promoarray.core.observers import tell
from promoarray.dtypes import DType
from promoarray.promotion.plan import Operand, Refusal
from promoarray.promotion.policy import Policy


class ReadDType(DType):
    """The run's dtype, and the dtypes of the policies that have another."""

    __slots__ = ("__weakref__", "answers", "default", "plain")
    plain: DType  # the run's
    answers: Mapping[str, DType]  # from the names of policies to their dtypes, weak ones included
    # whether it was read from the policy itself, as the dtype that Python numbers become
    default: bool

    def __new__(cls, plain: DType, answers: Mapping[str, DType], default: bool) -> ReadDType:
        """Make one; ``read_dtype`` has one object of all that are alike."""
        self = object.__new__(cls)
        for name, value in (("plain", plain), ("answers", answers), ("default", default)):
            object.__setattr__(self, name, value)  # the class is frozen
        return self

    def __init__(self, *given: object) -> None:
        """Fill no fields: they are asked for one by one."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DType) and self.plain.__eq__(other) is NotImplemented:
            return NotImplemented
        equal: bool = decided(lambda policy, one, two: one == two, self, other)
        return equal

    def __hash__(self) -> int:
        decided(lambda policy, dtype: dtype, self)  # a look-up finds another place, or none
        return hash(self.plain)

    def __repr__(self) -> str:
        return repr(self.plain)

    def __str__(self) -> str:
        return self.plain.name

    def __reduce__(self) -> tuple[Any, ...]:
        return self.plain.__reduce__()

    @property
    def part(self) -> DType:
        return self._like(lambda dtype: dtype.part)

    @property
    def complexified(self) -> DType | None:
        return self.plain.complexified and self._like(lambda dtype: dtype.complexified or dtype)

    def _like(self, make: Callable[[DType], DType]) -> DType:
        answers = {name: make(dtype) for name, dtype in self.answers.items()}
        return read_dtype(make(self.plain), answers, default=self.default)


ReadDType.__name__ = DType.__name__  # which is what messages call it, watched or not


def _told(name: str) -> Any:
    """An attribute of the run's dtype; observers are told where another policy's has another."""

    def read(self: ReadDType) -> Any:
        return decided(lambda policy, dtype: getattr(dtype, name), self)

    return property(read, doc=f"As of the run's dtype: {name}.")


_TOLD = (
    *("name", "code", "kind", "bits", "storage", "format", "weak", "itemsize", "type"),
    *("__numpy_dtype__", "dtype"),
)

for _name in _TOLD:
    if hasattr(DType, _name):
        setattr(ReadDType, _name, _told(_name))


_KEPT: WeakValueDictionary[tuple[object, ...], ReadDType] = WeakValueDictionary()
"""Those in use, one object of all that are alike: ``x.dtype is x.dtype``."""


def read_dtype(dtype: DType, answers: Mapping[str, DType], *, default: bool = False) -> DType:
    """Return what a program reads: the dtype itself where no policy has another.

    So it is too where nobody compares policies, and where dtypes are compared by identity.
    """
    differing = {name: each for name, each in answers.items() if each is not dtype}
    if not differing or not observers:
        return dtype
    from promoarray.core.identity import compared_by_identity

    read = ReadDType(dtype, differing, default)
    if compared_by_identity():
        decided(lambda policy, dtype: dtype, read)
        return dtype
    key = dtype, default, *differing.items()
    return _KEPT.setdefault(key, read)


def kept_dtype(x: Array) -> DType:
    """The dtype of an array for functions that are made of others, and give it on to them."""
    dtype = storage_dtype(x)
    return dtype if isinstance(x._type, DType) else x._type.read(dtype)


def plain(dtype: Any) -> Any:
    """The run's dtype of one that was read; all else as it is, in tuples too."""
    if isinstance(dtype, tuple):
        return tuple(map(plain, dtype))
    return dtype.plain if type(dtype) is ReadDType else dtype


def decided(ask: Callable[..., Any], *asked: Any, policy: Policy | None = None) -> Any:
    """Return what ``ask`` answers of a policy, the run's, and of plain dtypes and whatever else is
    asked about; observers are told if one of the dtypes was read from an array."""
    if not any(map(_read, asked)):
        return ask(policy, *asked)
    answer = ask(policy, *map(plain, asked))
    if observers:
        from promoarray.core.events import Decision

        tell(lambda observer: observer.on_decision(Decision(ask, asked, answer)))
    return answer


def _read(asked: Any) -> bool:
    if isinstance(asked, tuple):
        return any(map(_read, asked))
    return type(asked) is ReadDType


def answered(
    name: str,
    policy: Policy,
    operands: tuple[Any, ...],
    run: DType,
    ask: Callable[[Policy, tuple[Operand, ...]], DType | Refusal],
) -> DType:
    """Return the dtype that the run's policy answers, with the others' answers."""
    if not observers:
        return run
    from promoarray.core.events import Question

    question = Question(name, policy, operands, run, ask, {})
    tell(lambda observer: observer.on_question(question))
    return read_dtype(run, question.answers, default=not operands)
