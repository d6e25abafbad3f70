"""Observers, the events they are told and the answers they give.

None of it is loaded until something is told: while nobody observes, only a refusal is.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, NamedTuple

from promoarray.core.array_base import Array
from promoarray.dtypes import DType
from promoarray.operations import Form
from promoarray.promotion.plan import Operand, Plan, Refusal
from promoarray.promotion.policy import NO_OPTIONS, Policy


class OperationEvent(NamedTuple):
    """One operation that was carried out."""

    name: str
    policy: Policy
    operands: tuple[Any, ...]  # arrays and Python scalars
    seen: tuple[Operand, ...]  # the operands as the policy saw them
    plan: Plan
    values: tuple[Any, ...]  # the operands, the scalars among them as they were computed with
    result: Array  # the first operand if the operation was in place
    extra_results: tuple[Array, ...] = ()  # the further results of an operation that has several
    options: Mapping[str, Any] = NO_OPTIONS  # what the operation takes besides
    form: Form = Form.OPERATOR  # how it was written, so that other policies are asked the same
    # operands of other libraries, such as NumPy's scalars, as the program gave them, None for all
    # others; empty where there are none
    given: tuple[Any, ...] = ()

    @property
    def inplace(self) -> bool:
        """Whether the result was written into the first operand."""
        return self.form is Form.INPLACE and self.policy.inplace is not None


class SetitemEvent(NamedTuple):
    """A value written into an array: ``target[key] = value``."""

    policy: Policy
    target: Array
    value: Any
    # of the value, weak for a Python scalar; of the target
    source: DType
    dtype: DType
    given: Any = None  # the value as the program gave it, where it is another library's; else None


class CastEvent(NamedTuple):
    """An explicit cast: ``x.astype(dtype)`` without settings of its own."""

    policy: Policy
    array: Array
    result: Array
    source: DType
    target: DType
    # the dtype as the program gave it: one that it read from an array knows more
    asked: object = None
    # whether a function makes an array of the dtype, which casts nothing by itself:
    # ``sum(dtype=)``, ``asarray``, ``x.to(device, dtype)``
    made: bool = False


class QuantizeEvent(NamedTuple):
    """An array that was quantized, dequantized, or both."""

    name: str
    policy: Policy
    arrays: tuple[Array, ...]  # the array, and of its scale and zero point those that are arrays
    result: Array
    # from a policy and these arrays as it sees them (``Operand``) to what it makes of them: the
    # buffer and its dtype, or a ``Refusal``
    ask: Callable[[Policy, tuple[DType, ...]], Any]


class TakenEvent(NamedTuple):
    """Arrays that a function takes which no policy plans: it moves, picks or makes elements."""

    # as ``Policy.refuses`` and the lists of kernels have it: ``take``, ``getitem``,
    # ``zeros(dtype)``
    name: str
    policy: Policy
    operands: tuple[Any, ...]  # the arrays, or the dtype that is asked for
    given: tuple[Any, ...] = ()  # as of an ``OperationEvent``


class Again(NamedTuple):
    """What makes an array of Python numbers alone, under the policy that is in force then."""

    function: str
    numbers: tuple[Any, ...]  # what it is given, which tells it from others
    # from a dtype, or None, to the array; it raises what the function raises
    make: Callable[[DType | None], Array]


class MadeEvent(NamedTuple):
    """An array made in a dtype that the program asked for, or that its data have."""

    policy: Policy
    result: Array
    asked: object  # the dtype as the program gave it
    again: Again | None = None  # of Python numbers alone: what makes it again


class Decision(NamedTuple):
    """An answer about dtypes that the program read from arrays; it may branch on it."""

    ask: Callable[..., Any]  # what was asked, of a policy and plain dtypes
    # the dtypes, those that were read among them, and whatever else was asked about
    asked: tuple[Any, ...]
    answer: Any  # the run's


class Question(NamedTuple):
    """A dtype that the program asked the policy for, as by ``result_type``."""

    name: str
    policy: Policy
    operands: tuple[Any, ...]  # arrays, Python scalars and dtypes
    run: DType  # what the run's policy answers
    # what a policy answers for the operands as it sees them
    ask: Callable[[Policy, tuple[Operand, ...]], DType | Refusal]
    # from the names of other policies to what they go on with; observers add to it
    answers: dict[str, DType]


class RefusalEvent(NamedTuple):
    """An operation or an assignment that the policy refuses."""

    name: str  # the operation, or ``setitem``
    form: Form
    policy: Policy
    operands: tuple[Any, ...]  # arrays and Python scalars
    seen: tuple[Operand, ...]  # the operands as the policy saw them
    refusal: Refusal
    options: Mapping[str, Any] = NO_OPTIONS  # what the operation takes besides
    given: tuple[Any, ...] = ()  # as of an ``OperationEvent``


class Recovery(NamedTuple):
    """What is cast so that a refused operation goes on."""

    casts: Mapping[int, DType]  # from the operands that are cast to what they become
    result: DType | None = None  # what the result is cast to, that of an operation in place


class Repeat(NamedTuple):
    """What an observer does with all operations that are alike."""

    types: tuple[Any, ...]  # for each result what its type slot bears
    # called when one of them was carried out, in any thread; returns whether something new was
    # found
    tell: Callable[[], bool]


class Repeats:
    """Answers of an observer, by all that they hang on (``observer_cache.py``).

    Attributes
    ----------
    scalar : callable
        From a Python scalar to what those that the observer does not tell apart have in common.
    by_value : bool
        Whether it looks at the values of 0-d arrays, too.
    kept : dict
    """

    __slots__ = ("_parts", "by_value", "kept", "scalar")

    def __init__(self, scalar: Callable[[Any], Hashable], by_value: bool = False) -> None:
        self.scalar, self.by_value = scalar, by_value
        self.kept: dict[tuple[Any, ...], Any] = {}
        self._parts = 0

    def keep(self, key: tuple[Any, ...], known: Any) -> None:
        """Keep what is known; all is forgotten once there is too much of it."""
        self._parts += len(key)
        if self._parts > MOST_REPEATS:
            self.kept.clear()
            self._parts = len(key)
        self.kept[key] = known


MOST_REPEATS = 1 << 16
"""So long are the keys of all operations that are known to an observer: about ten parts of most,
four more for each array in a list."""


class Observer:
    """Is told of what happens; each method does nothing until a subclass defines it."""

    repeats: Repeats | None = None
    """Where it is kept what ``on_operation`` has returned; None if it returns nothing."""

    def on_operation(self, event: OperationEvent) -> Repeat | None:
        """Hear of one operation; may change the type of ``event.result``.

        May return what to do with those that are alike, of which it hears no more.
        """
        return None

    def on_write(self, event: OperationEvent | SetitemEvent) -> None:
        """Hear of an array that is about to be written to, in place or by an assignment.

        May raise, as nothing is written yet. Of an operation in place that is carried out again
        (``Repeat``) nothing is heard here.
        """

    def on_default(
        self, weak: DType, result: Array, lone: bool, function: str = "", again: Again | None = None
    ) -> None:
        """Hear of an array made of Python numbers (a lone one?): its dtype is a default."""

    def on_quantize(self, event: QuantizeEvent) -> None:
        """Hear of an array that was quantized; may change the type of the result."""

    def on_made(self, made: MadeEvent) -> None:
        """Hear of an array of a dtype that was asked for; may change its type."""

    def on_taken(self, event: TakenEvent) -> None:
        """Hear of arrays that were given to a function that no policy plans."""

    def on_decision(self, decision: Decision) -> None:
        """Hear of an answer about dtypes that the program read from arrays."""

    def on_question(self, question: Question) -> None:
        """Hear of a dtype that the program asked for; may add other policies' answers."""

    def on_setitem(self, assignment: SetitemEvent) -> None:
        """Hear of a value written into an array."""

    def on_cast(self, cast: CastEvent) -> None:
        """Hear of an explicit cast; may change the type of its result."""

    def on_refusal(self, event: RefusalEvent) -> Recovery | None:
        """Hear of a refusal; may answer what to cast."""
        return None

    def on_escape(self, escape: Any) -> None:
        """Hear of data about to leave the policy, an ``escape.Escape``; may raise."""
