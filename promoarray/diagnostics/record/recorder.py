"""The recorder: what an adapter saw of a framework's operations, put to every policy.

An adapter says what was done: the operation, the operands as *abstract arrays* and Python scalars,
and the dtype that the framework itself gave the result. The shadow run and its report are the same
as for programs written against promoarray. Since the framework's answer is known, each run also
checks our policy of that framework: where the two differ is *drift*.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import zip_longest
from types import FrameType
from typing import TYPE_CHECKING, Any, NamedTuple

from promoarray.core.array_base import type_of
from promoarray.core.call_site import outside, standing_at
from promoarray.core.events import CastEvent, EntryEvent, OperationEvent, RefusalEvent, SetitemEvent
from promoarray.core.observers import notify_lock
from promoarray.core.operands import operand_of
from promoarray.diagnostics.model.abstract_array import AbstractArray
from promoarray.diagnostics.model.divergence import DefaultMade
from promoarray.diagnostics.record.cast_at_once import cast_at_once, ends_alike
from promoarray.diagnostics.record.entering import Entering, alike
from promoarray.diagnostics.record.recorder_base import RecorderBase
from promoarray.diagnostics.record.report import REFUSES, Drift
from promoarray.dtypes import BY_NAME, WEAK, DType, float32
from promoarray.operations import Form
from promoarray.promotion.plan import Plan, Refusal
from promoarray.promotion.policy import NO_OPTIONS, Policy

if TYPE_CHECKING:
    from promoarray.core.array_base import TypeRecord


class Result(NamedTuple):
    """What an operation made.

    Attributes
    ----------
    array : object
        The framework's own array.
    dtype : DType
    ndim : int
    """

    array: Any
    dtype: DType
    ndim: int


class Recorder(RecorderBase):
    """Puts recorded operations to every policy."""

    def saw(
        self,
        name: str,
        operands: Sequence[Any],
        result: Result,
        frame: FrameType,
        *,
        form: Form = Form.OPERATOR,
        options: Mapping[str, Any] = NO_OPTIONS,
        exact: bool = True,
        edited: bool | None = None,
        part_of: str = "",
        policy: Policy | None = None,
        more: Sequence[Result] = (),
    ) -> AbstractArray:
        """Record an operation.

        Parameters
        ----------
        name : str
            One of ``operations.OPERATIONS``.
        operands : sequence of AbstractArray and Python scalars
        result : Result
        frame : FrameType
            Where the program, or a library, did it.
        form : Form
        options : mapping
            What the operation takes besides.
        exact : bool
            Whether the framework did just this; False of a step that stands for a part of
            something greater, of which its own dtype is no evidence.
        edited : bool, optional
            Whether its operands are those of the call, in their order, so that they can be cast
            there; by default if it is exact.
        part_of : str
            The framework's function that it is a step of.
        policy : Policy, optional
            What it was done by, if not by the framework itself.
        more : sequence of Result
            What it made besides, such as the factors of a decomposition.

        Returns
        -------
        AbstractArray
            The result, to go on with.
        """
        given, home = tuple(operands), policy or self.home
        name = name if more else _ALONE.get(name, name)
        seen = tuple(operand_of(x, home) for x in given)
        decided = home.decide(name, seen, given, form, options=options)
        if isinstance(decided, Refusal):
            predicted, values = REFUSES, given
            plan = Plan(tuple(home.strong(o.type) for o in seen), None, result.dtype)
        else:
            plan, values = decided.plan, decided.values
            predicted = (plan.result if home.weak_arrays else home.strong(plan.result)).name
        if predicted != result.dtype.name:
            self.noted = True
            if exact and policy is None:
                drift = Drift(name, form, tuple(map(str, seen)), predicted, result.dtype.name)
                self._drifted(drift)
                self.heard.tells.append(partial(self._drifted, drift))
            plan = plan._replace(result=result.dtype)
        inplace = form is Form.INPLACE and isinstance(given[0], AbstractArray)
        made = given[0] if inplace else self._abstract_array.of(plan.result, result.ndim)
        pairs = tuple(zip_longest(plan.extra_results, more[: len(plan.extra_results)]))
        plan = plan._replace(extra_results=tuple(r.dtype if r else t for t, r in pairs))
        others = tuple(self._abstract_array.of(dtype, result.ndim) for dtype in plan.extra_results)
        event = OperationEvent(name, home, given, seen, plan, values, made, others, options, form)
        standing = exact if edited is None else edited, "" if part_of == name else part_of
        self._tell_operation(event, standing, frame)
        self._put(result.array, made._type)
        for other, abstract in zip(more, others, strict=False):
            self._put(other.array, abstract._type)
        for other in more[len(others) :]:  # which follows from no promotion, as counts and indices
            self.made(other)
        return made

    def _tell_operation(
        self, event: OperationEvent, standing: tuple[bool, str], frame: FrameType
    ) -> None:
        """Tell the observer of an operation."""
        tell = partial(self._observer.on_operation, event)
        self._tell(partial(self._as_written, standing, tell), frame)

    def refused(
        self,
        name: str,
        operands: tuple[Any, ...],
        options: Mapping[str, Any],
        form: Form,
        frame: FrameType,
        error: Exception,
        *,
        edited: bool,
    ) -> None:
        """Record an operation that the framework did not carry out, if our policy of it says why;
        see ``saw``."""
        home = self.home
        seen = tuple(operand_of(x, home) for x in operands)
        decided = home.decide(name, seen, operands, form, options=options)
        if isinstance(decided, Refusal):
            event = RefusalEvent(name, form, home, operands, seen, decided, options)
            self._refuse(event, error, frame, edited=edited)

    def not_stored(
        self, target: AbstractArray, value: Any, frame: FrameType, error: Exception
    ) -> None:
        """Record a Python number that the framework does not write into an array."""
        home, operands = self.home, (target, value)
        try:
            home.assigned(value, type_of(target._type))
        except (TypeError, ValueError, OverflowError) as why:
            seen = tuple(operand_of(x, home) for x in operands)
            event = RefusalEvent(
                "setitem", Form.INPLACE, home, operands, seen, Refusal(str(why)), {}
            )
            self._refuse(event, error, frame, edited=True)

    def _refuse(
        self, event: RefusalEvent, error: Exception, frame: FrameType, *, edited: bool
    ) -> None:
        why = event.refusal.reason.partition(" Write pa.")[0]  # the rest is promoarray's
        event = event._replace(refusal=event.refusal._replace(why=why))
        with notify_lock, standing_at(frame):
            refused = partial(self._observer.on_refused_by_framework, event, error)
            self._as_written((edited, ""), refused)

    def _drifted(self, drift: Drift) -> None:
        with notify_lock:
            self.report.drift[drift] += 1

    def cast(
        self,
        operand: AbstractArray,
        result: Result,
        frame: FrameType,
        values: Callable[[], Any] | None = None,
    ) -> None:
        """Record an explicit cast, ``x.to(dtype)``: from here on every policy has its dtype.

        Parameters
        ----------
        operand : AbstractArray
        result : Result
        frame : FrameType
        values : callable, optional
            Reads the operand's values into an array of its storage dtype; answers None where they
            cannot be read. Called where the policies' casts may make others of them.
        """
        source = type_of(operand._type)
        made = self._abstract_array.of(result.dtype, result.ndim)
        given = self._with_values(operand, result.dtype, values)
        event = CastEvent(self.home, given, made, source, result.dtype)
        self._tell(partial(self._observer.on_cast, event), frame)
        self._put(result.array, made._type)

    def _with_values(
        self, operand: AbstractArray, target: DType, values: Callable[[], Any] | None
    ) -> AbstractArray:
        """An operand of a cast: with its values, where policies may make others of them."""
        if values is not None and self._observer.may_cast_otherwise(self.home, operand, target):
            self.heard.lasting = False  # the next pass has other values
            data = values()
            if data is not None:
                return self._abstract_array._wrap(data, operand._type)
        return self._abstract_array.of(operand._type, operand.ndim)  # which does not hold the array

    def assigned(
        self,
        target: AbstractArray,
        value: Any,
        frame: FrameType,
        *,
        policy: Policy | None = None,
        values: Callable[[], Any] | None = None,
    ) -> None:
        """Record ``target[...] = value``, of an abstract array or a Python scalar; see ``cast``."""
        scalar = type(value) in WEAK
        if not scalar:
            value = self._with_values(value, type_of(target._type), values)
        source = WEAK[type(value)] if scalar else type_of(value._type)
        event = SetitemEvent(policy or self.home, target, value, source, type_of(target._type))
        self._tell(partial(self._observer.on_setitem, event), frame)

    def default(
        self,
        number: Any,
        result: Result,
        frame: FrameType,
        *,
        lone: bool,
        of_any: bool = False,
        function: str = "",
    ) -> None:
        """Record an array that was made of Python numbers like this one, with no dtype named.

        Parameters
        ----------
        number : bool, int, float or complex
        result : Result
        frame : FrameType
        lone : bool
            Whether it was made of one number alone.
        of_any : bool
            Whether its numbers are as good in any dtype: zeros, and those that were drawn.
        function : str
            The framework's function that made it.
        """
        if result.dtype is float32 and self._of_a_module(frame):
            return self.made(result)
        made = self._abstract_array.of(result.dtype, result.ndim)
        how = DefaultMade(WEAK[type(number)], lone, function)
        self._tell(partial(self._default, made, how, of_any), frame)
        self._put(result.array, made._type)

    def _of_a_module(self, frame: FrameType) -> bool:
        """Whether a framework's module makes its parameters there, which those of other frameworks
        make of float32, too: Flax with x64 as well."""
        folder = _MODULES.get(self.report.framework.partition(" ")[0])
        return folder is not None and folder in frame.f_code.co_filename.replace("\\", "/")

    def _default(self, made: AbstractArray, how: DefaultMade, of_any: bool) -> None:
        """Tell the observer, unless the program casts the array where it stands, and so to the same
        under every policy."""
        frame = outside()
        target = None if frame is None else cast_at_once(frame)
        every = [how.dtype(p) for p in (self.home, *self.report.policies)]
        if target is None or not (of_any or ends_alike(how.weak, target, every)):
            self._observer.on_default(how.weak, made, how.lone, how.function)

    def entered(self, arrays: Iterable[Entering], frame: FrameType, *, makes: bool = False) -> None:
        """Record arrays that the framework narrows: on these policies differ from here on.

        Parameters
        ----------
        arrays : iterable of Entering
        frame : FrameType
        makes : bool
            Whether the call makes an array of them, in a dtype that it can be asked for.
        """
        for dtype, ndim, data, operands in alike(arrays):
            slot = self._enter(dtype, ndim, data, () if makes else operands, frame)
            for x in data:
                self.carried.put(x, slot)

    def asked(self, dtype: DType, results: Iterable[Result], frame: FrameType) -> None:
        """Record arrays that the framework makes in a narrower dtype than the program asks for."""
        for result in results:
            slot = self._enter(dtype, result.ndim, (), None, frame)
            self.carried.put(result.array, slot)

    def _enter(
        self,
        source: DType,
        ndim: int,
        data: tuple[Any, ...],
        operands: tuple[int, ...] | None,
        frame: FrameType,
    ) -> DType | TypeRecord:
        made = self._abstract_array.of(self.home.canonical[source], ndim)
        event = EntryEvent(self.home, made, source, data, operands)
        with notify_lock, standing_at(frame):
            self._observer.on_entry(event)
        return made._type

    def ended(self, values: Mapping[str, Any]) -> None:
        """Note which results a program's globals are."""
        self._observer.ended(self.left(values))

    def left(self, values: Mapping[str, Any]) -> dict[str, AbstractArray]:
        """Those of a program's globals that were made by what is recorded."""
        slots = {name: self.carried.slot(x) for name, x in tuple(values.items())}
        return {
            name: self._abstract_array.of(slot, 1)
            for name, slot in slots.items()
            if slot is not None
            and not slot.dtype.weak  # of which the dtype stored is not known
            and not self._narrows(values[name])  # as that is no array of the framework's
        }

    def _narrows(self, x: Any) -> bool:
        dtype = BY_NAME.get(getattr(getattr(x, "dtype", None), "name", ""))
        return dtype in self.home.canonical

    def moved(self, array: Any, result: Result) -> None:
        """Record values that were moved: the result carries what the array does."""
        self._put(result.array, self.carried.get(array, result.dtype))

    def made(self, result: Result) -> None:
        """Record an array whose dtype the program named, or that it has from elsewhere."""
        self._put(result.array, result.dtype)


_MODULES = {"torch": "/torch/nn/", "paddle": "/paddle/nn/"}
"""From a framework to where its modules make their parameters."""

_ALONE = {"svd": "svdvals"}
"""What an operation of several results is if it was asked for one alone."""
