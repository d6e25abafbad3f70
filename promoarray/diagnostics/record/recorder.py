"""The recorder: what an adapter saw of a framework's operations, noted in a flow.

An adapter says what was done: the operation, the operands as *abstract arrays* and Python scalars,
and the dtype that the framework itself gave the result. The flow and its report are the same as for
programs written against promoarray. Since the framework's answer is known, each run also checks our
policy of that framework: where the two differ is *drift*.

A call that is like another at the same place is not looked at again, but counted
(``told_again``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, islice, zip_longest
from types import FrameType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from promoarray.core.array_base import type_of
from promoarray.core.call_site import of_promoarray, sites, standing_at
from promoarray.core.events import CastEvent, RefusalEvent, SetitemEvent
from promoarray.core.observers import notify_lock
from promoarray.core.operands import operand_of
from promoarray.diagnostics.ask.refusals import refused_of
from promoarray.diagnostics.edits.options import note_options
from promoarray.diagnostics.findings.results import MAX_SITES
from promoarray.diagnostics.model.abstract_array import AbstractArray, abstract_arrays_of
from promoarray.diagnostics.model.divergence import DefaultMade
from promoarray.diagnostics.model.final import MOST, final_of, leaves
from promoarray.diagnostics.model.flow import CALL, DEFAULT, MADE, OPERATION
from promoarray.diagnostics.model.noted import NotExamined
from promoarray.diagnostics.model.scalar_class import nearest, scalar_class
from promoarray.diagnostics.record._seen import Carried, KnownCalls
from promoarray.diagnostics.record.flow import FlowRecorder, Heard
from promoarray.diagnostics.record.report import (
    MOVE,
    REFUSES,
    Drift,
    RecordedReport,
    Warned,
)
from promoarray.diagnostics.record.written import cast_at_once, ends_alike
from promoarray.dtypes import BY_NAME, INTEGERS, WEAK, DType, float32, string, weak_int
from promoarray.operations import Form
from promoarray.promotion.plan import Refusal
from promoarray.promotion.policy import NO_OPTIONS, Policy

if TYPE_CHECKING:
    from promoarray.core.array_base import TypeRecord
    from promoarray.diagnostics.record.checks import Checks
    from promoarray.diagnostics.record.origins import Origins
    from promoarray.diagnostics.record.tape import Tape


class Result(NamedTuple):
    """What an operation made."""

    array: Any  # the framework's own array; None of one that the program does not have
    dtype: DType
    ndim: int


class Entering(NamedTuple):
    """An array of another library that the framework narrows as it takes it in."""

    array: Any  # with its values, as NumPy has them
    dtype: DType  # its own
    operand: int | None  # which operand of the call it is; None if it is a part of one


def _of_other_ints(home: Policy, policies: Iterable[Policy]) -> tuple[str, ...]:
    """Editions of the framework, by name, in which Python's ``int`` is another dtype."""
    family, own = home.name.partition("@")[0], home.strong(weak_int)
    return tuple(
        policy.name
        for policy in policies
        if policy.name.partition("@")[0] == family
        and not (policy.canonical or home.canonical)
        and policy.strong(weak_int) is not own
    )


class Recorder:
    """Notes operations of a framework, and what its arrays carry.

    Several libraries of one run have a recorder each: what their arrays carry, the flow and the
    report are those of the first one, ``beside``.
    """

    def __init__(
        self,
        home: Policy,
        policies: tuple[Policy, ...],
        *,
        framework: str = "",
        max_sites: int = MAX_SITES,
        guarded: Callable[..., Any] = lambda function, *given: function(*given),
        heard_again: Callable[[], object] = lambda: None,
        origins: Origins | None = None,
        checks: Checks | None = None,
        tape: Tape | None = None,
        beside: Recorder | None = None,
    ) -> None:
        # calls what looks at the program's calls; where a program must go on whatever goes wrong
        # here, it answers None then
        self.guarded = guarded
        # hears that the program goes on: of NumPy's calls once in some thousand that are alike
        self.heard_again = heard_again
        self.home = home  # the policy of the framework itself
        self.origins = origins  # keeps what made every array, if that is asked for
        self.checks = checks  # looks at the values of every operation, if that is asked for
        self.tape = tape  # keeps every call with its values, if that is asked for
        self.heard: Heard = Heard() if beside is None else beside.heard
        self.carried: Carried = Carried(DType) if beside is None else beside.carried
        # from each library that is recorded in this run to what describes an array of its; None if
        # an object is none
        self.describe: dict[str, Callable[[Any], Result | None]] = (
            {} if beside is None else beside.describe
        )
        # what is known of calls (``watcher.py``), and what forgets that elsewhere
        self.known = KnownCalls(scalar_class, *nearest())
        self.forgetting: list[Callable[[], object]] = []
        self.version = framework  # with its name: "torch 2.13.0"
        if beside is None:
            report = RecordedReport(home, policies, max_sites=max_sites, framework=framework)
            self.begin_again(report)
        else:
            self.begin_again(beside.report, beside.flow)
        self.noted = False  # whether the framework did otherwise than its policy since this was set
        # whether the program has set the default dtype, so that it is no longer one it did not name
        self.default_named = False
        self._passes: Counter[Hashable] = Counter()
        self._abstract_array = abstract_arrays_of(home)

    # -- the run ----------------------------------------------------------------------------------

    def begin_again(self, report: RecordedReport, flow: FlowRecorder | None = None) -> None:
        """Fill another report from here on."""
        self.forget_calls()  # whose counts belong to the report before
        self.report, self._counted = report, False
        asked = [p for p in report.policies if p.name not in report.halves or self.of_numpy]
        # whether some policy looks at the values of 0-d arrays
        self.by_value = any(policy.by_value is not None for policy in asked)
        self.known.by_value = self.by_value
        self.of_other_ints = _of_other_ints(self.home, asked)
        self.flow: FlowRecorder = flow or FlowRecorder(report, self.framework, self.heard)

    def go_on(self, before: FlowRecorder) -> None:
        """Go on with an earlier flow in another report, with nothing counted."""
        self.flow = before
        before.begin_again(self.report)

    @property
    def by_step(self) -> bool:
        """Whether values are read, so that what is compiled else is computed step by step."""
        return self.checks is not None or self.tape is not None

    @property
    def framework(self) -> str:
        """The module of the framework."""
        return self.version.partition(" ")[0]

    @property
    def of_numpy(self) -> bool:
        """Whether it records NumPy."""
        return self.framework == "numpy"

    def beside(self, library: str) -> bool:
        """Whether another library is recorded in this run."""
        return library in self.describe and library != self.framework

    def elsewhere(self, x: Any) -> Result | None:
        """An array of NumPy's, or of another library that is recorded in this run; else None."""
        if isinstance(x, (np.ndarray, np.generic)):
            dtype = BY_NAME.get(x.dtype.name)
            return None if dtype is None else Result(x, dtype, x.ndim)
        found = (describe(x) for describe in self.describe.values())
        return next(filter(None, found), None)

    def taken(self, found: Result) -> AbstractArray:
        """Return an operand that is another library's array; of a weak one its own dtype."""
        slot = self.carried.get(found.array, found.dtype)
        return self._abstract_array.of(found.dtype if type_of(slot).weak else slot, found.ndim)

    def took(self, found: Result, result: Result) -> None:
        """Record the values of another library's array that are moved; see ``moved``."""
        if found.dtype is result.dtype:
            self._put(result.array, self.taken(found)._type)
        else:
            self.made(result)

    def settle(self, home: Policy) -> bool:
        """Take the policy of the mode that the framework is in, unless something is recorded.

        Returns
        -------
        bool
            Whether it is the policy of this run.
        """
        if home is not self.home and not self._counted:
            self.home = self.report.run = home
            self.forget_calls()
            self._abstract_array = abstract_arrays_of(home)
        return home is self.home

    def names_default(self) -> None:
        """Note that the program sets the default dtype, which it names by that."""
        self.default_named = True
        self.forget_calls()

    def forget_calls(self) -> None:
        """Forget what is known of calls, as what they are told has changed."""
        self.flush()
        self.known.forget()
        for forget in self.forgetting:
            forget()

    def ended(self, values: Mapping[str, Any]) -> None:
        """Note which results a program's globals are, and what these hold."""
        self.flow.ended(self.left(values))
        note_options(self.flow.flow.operations, values)

    def left(self, values: Mapping[str, Any]) -> dict[str, AbstractArray]:
        """Those of a program's globals, and of what they hold, that were made by what is
        recorded."""
        every = (leaves(name, x, self._made) for name, x in tuple(values.items()))
        return dict(islice(chain.from_iterable(every), MOST))

    def _made(self, x: Any) -> AbstractArray | None:
        slot = self.carried.slot(x)
        if slot is None or self._narrows(x):  # as that is no array of the framework's
            return None
        return self._abstract_array.of(slot, 1)

    def _narrows(self, x: Any) -> bool:
        dtype = BY_NAME.get(getattr(getattr(x, "dtype", None), "name", ""))
        return dtype in self.home.canonical

    # -- what is counted and noted ----------------------------------------------------------------

    def count(self, kind: str, name: str, times: int = 1) -> None:
        """Count calls of the framework among those of a kind."""
        self._counted = True
        with notify_lock:
            self.report.calls[kind, name] += times

    def flush(self) -> None:
        """Count calls that were met again (``Known``) since this was asked last."""
        for known, times in self.known.taken():
            self.told_again(known, times)

    def told_again(self, known: Any, times: int) -> None:
        """Count so many calls that are like another at the same place, and all they tell."""
        self.counted_again(known, times)
        for tell in known.tells:
            tell(times)

    def counted_again(self, known: Any, times: int) -> None:
        """Count so many calls, of which was told what is told besides."""
        with notify_lock:
            if known.kind:
                self.report.calls[known.kind, known.name] += times
            for operation in known.operations:
                operation.count += times

    def moved_again(self, name: str, times: int) -> None:
        """Count so many parts and views of arrays."""
        self.count(MOVE, name, times)

    def unexamined(
        self,
        what: str,
        why: str,
        frame: FrameType,
        *,
        called: bool = False,
        policies: tuple[str, ...] = (),
    ) -> NotExamined:
        """Note what was computed, or may have been, and that no policy is asked about, or not some.

        If it is the call in hand (``called``), those that are like it count, too.
        """
        with standing_at(frame):
            left = NotExamined(what, why, *sites(), policies)
        if called:
            self.heard.tells.append(partial(self._left_open, left))
        self._left_open(left)
        return left

    def _left_open(self, left: NotExamined, times: int = 1) -> None:
        with notify_lock:
            self.report.unexamined[left] += times

    def wrapped(self, made: Any) -> Result | None:
        """Return a tensor that NumPy made last, of which was noted that no policy is asked."""
        tensor = None if self.heard.wrapped is None else self.heard.wrapped[1]()
        return None if tensor is None or tensor is not made else self.elsewhere(made)

    def take_back(self) -> None:
        """Take that note back, as the operation is recorded."""
        left, self.heard.wrapped = self.heard.wrapped, None
        if left is not None:
            with notify_lock:
                self.report.unexamined -= Counter(left[:1])

    def warned(self, text: str, frame: FrameType) -> None:
        """Note a warning of the framework's own; see ``unexamined``."""
        with notify_lock, standing_at(frame):
            self.report.warned[Warned(text, sites()[1])] += 1

    def _drifted(self, drift: Drift, times: int = 1) -> None:
        with notify_lock:
            self.report.drift[drift] += times

    # -- arrays -----------------------------------------------------------------------------------

    def abstract(
        self, array: Any, dtype: DType, ndim: int, value: Callable[[], Any] | None = None
    ) -> AbstractArray:
        """Return an operand: what a live array of the framework carries."""
        return self._abstract_array.of(self.carried.get(array, dtype), ndim, value)

    def moved(self, array: Any, result: Result) -> None:
        """Record values that were moved: the result carries what the array does. One of which
        nothing is known, as no library that is recorded made it, comes in there."""
        slot = self.carried.get(array, result.dtype)
        if slot is result.dtype and self.origins is not None:
            return self.made(result, inner=True)
        return self._put(result.array, slot)

    def made(self, result: Result, *, inner: bool = False) -> None:
        """Record an array whose dtype the program named, or that it has from elsewhere; of one that
        the framework makes for itself (``inner``) no policy is asked."""
        call = self.heard.call
        if self.origins is None or call is None:
            return self._put(result.array, result.dtype)
        options = {"named": call.named, "kind": call.kind, "inner": inner}
        what: Any = MADE, call.name, self.home, call.looked_at, (result.dtype,), not result.ndim
        with notify_lock, standing_at(call.frame):
            (slot,) = self.flow.record(*what, options=options)
        return self._put(result.array, slot)

    def failed(self, call: Any, error: Exception, function: Any, args: Any, kwargs: Any) -> None:
        """Note a call that failed, if origins are kept."""
        if self.origins is not None and call is not None:
            self.origins.failed(call, error, function, args, kwargs)

    def named(self, result: Result, frame: FrameType, function: str = "") -> None:
        """Record an array that a function makes in a dtype the program names, which some policies
        narrow; what ``empty`` finds in memory is not compared."""
        inner = self._of_the_framework(frame)
        self.made(result, inner=inner)
        if inner:
            return
        if any(result.dtype in policy.canonical for policy in self.report.policies):
            self.asked(result.dtype, (result,), frame)
            if "empty" not in function:
                self._held(result, frame)

    def _held(self, result: Result, frame: FrameType) -> None:
        """Compare the values of a result with those in the dtypes that policies have instead."""
        if all(result.dtype not in policy.canonical for policy in self.report.policies):
            return
        place = frame.f_code, frame.f_lasti
        self._passes[place] += 1
        if self._passes[place] > PASSES:  # a loop goes on at the speed of calls that are known
            return
        self.heard.lasting = False  # the next pass has other values
        final = final_of(result.array)
        if final is not None and final.values is not None:
            with notify_lock, standing_at(frame):
                self.flow.compared.held(final.values, result.dtype)

    def _put(self, array: Any, slot: DType | TypeRecord) -> None:
        """Note what an array carries."""
        if array is not None:
            self.heard.arrays.add(id(array))
            self.carried.put(array, slot)

    # -- operations -------------------------------------------------------------------------------

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
        """Record an operation, and return its result, to go on with.

        Parameters
        ----------
        name, operands, form, options
            As a policy is asked about it.
        result, more
            What it made, and what besides, such as the factors of a decomposition.
        frame : FrameType
            Where the program, or a library, did it.
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
        """
        if not more and self._counts(operands, result, frame):
            self.made(result, inner=True)
            return self._abstract_array.of(result.dtype, result.ndim)
        given, home = tuple(operands), policy or self.home
        name = name if more else _ALONE.get(name, name)
        seen = tuple(operand_of(x, home) for x in given)
        decided = home.decide(name, seen, given, form, options=options)
        dtype, predicted = result.dtype, REFUSES
        extra: tuple[DType, ...] = ()
        if not isinstance(decided, Refusal):
            dtype, extra = decided.plan.result, decided.plan.extra_results
            predicted = (dtype if home.weak_arrays else home.strong(dtype)).name
        if predicted != result.dtype.name:
            dtype, self.noted = result.dtype, True
            if exact and policy is None:
                drift = Drift(name, form, tuple(map(str, seen)), predicted, dtype.name)
                self._drifted(drift)
                self.heard.tells.append(partial(self._drifted, drift))
        also = zip_longest(extra, more[: len(extra)])
        dtypes = dtype, *(each.dtype if each else other for other, each in also)
        inplace = form is Form.INPLACE and isinstance(given[0], AbstractArray)
        made = given[0] if inplace else self._abstract_array.of(dtype, result.ndim)
        with notify_lock, standing_at(frame):
            first, *others = self.flow.record(
                *(OPERATION, name, home, given, dtypes, not made.ndim),
                form=form,
                options=options,
                edited=exact if edited is None else edited,
                part_of="" if part_of == name else part_of,
            )
        made._type = first
        self._put(result.array, first)
        if name in _MODULAR and result.dtype.kind in INTEGERS:
            self._held(result, frame)
        for each, slot in zip(more, others, strict=False):
            self._put(each.array, slot)
        for each in more[len(others) :]:  # which follows from no promotion, as counts and indices
            self.named(each, frame)
        return made

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
            home.assigning(value, type_of(target._type))
        except (TypeError, ValueError, OverflowError) as why:
            seen = tuple(operand_of(x, home) for x in operands)
            event = RefusalEvent("setitem", Form.INPLACE, home, operands, seen, Refusal(str(why)))
            self._refuse(event, error, frame, edited=True)

    def _refuse(
        self, event: RefusalEvent, error: Exception, frame: FrameType, *, edited: bool
    ) -> None:
        why = event.refusal.reason.partition(" Write pa.")[0]  # the rest is promoarray's
        event = event._replace(refusal=event.refusal._replace(why=why))
        with notify_lock, standing_at(frame):
            refused = refused_of(event, self.report.policies, self.framework, error)
            self.report.refuse(refused if edited else replace(refused, edit=""))

    def called(
        self,
        name: str,
        operand: AbstractArray | None,
        keywords: Collection[str],
        ruled: bool,
        frame: FrameType,
    ) -> None:
        """Record a call by its name, for what else than promotion frameworks do otherwise.

        Told are the array that it takes first, the parameters that it names, and whether it is
        recorded as an operation, of which a rule says what is refused. A loader of data puts
        batches together in its own way, which no other framework has, as Flax counts its keys.
        """
        if any(_stands_in(frame, folder) for folder in _UNNAMED.get(self.framework, ())):
            return
        given = () if operand is None else (operand,)
        options = {"keywords": sorted(keywords), "ruled": ruled}
        with notify_lock, standing_at(frame):
            self.flow.record(CALL, name, self.home, given, (), True, options=options)

    # -- casts, assignments, and arrays of no other -----------------------------------------------

    def cast(
        self,
        operand: AbstractArray,
        result: Result,
        frame: FrameType,
        values: Callable[[], Any] | None = None,
        *,
        made: bool = False,
    ) -> None:
        """Record an explicit cast, ``x.to(dtype)``: from here on every policy has its dtype.

        Parameters
        ----------
        values : callable, optional
            Reads the operand's values into an array of its storage dtype; answers None where they
            cannot be read. Called where the policies' casts may make others of them.
        made : bool
            Whether it makes an array elsewhere, as ``x.to(device, dtype)``.
        """
        if self._counts((operand,), result, frame):
            return self.made(result, inner=True)
        cast = self._abstract_array.of(result.dtype, result.ndim)
        given, source = self._with_values(operand, result.dtype, values), type_of(operand._type)
        event = CastEvent(self.home, given, cast, source, result.dtype, made=made)
        with notify_lock, standing_at(frame):
            self.flow.on_cast(event)
        self._put(result.array, cast._type)

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
        dtype, source = type_of(target._type), WEAK.get(type(value))
        if source is None:
            value = self._with_values(value, dtype, values)
            source = type_of(value._type)
        with notify_lock, standing_at(frame):
            self.flow.on_setitem(SetitemEvent(policy or self.home, target, value, source, dtype))

    def _with_values(
        self, operand: AbstractArray, target: DType, values: Callable[[], Any] | None
    ) -> AbstractArray:
        """An operand of a cast: with its values, where policies may make others of them."""
        compared, cast = self.flow.compared, (self.home, operand, target)
        if values is not None and target is not string and compared.may_differ(*cast):
            self.heard.within = compared.alike_within(*cast)
            if self.heard.within is None:
                self.heard.lasting = False  # the next pass has other values
            data = values()
            if data is not None:
                return self._abstract_array._wrap(data, operand._type)
        return self._abstract_array.of(operand._type, operand.ndim)  # which does not hold the array

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

        Where the program casts it as it stands, it is the same under every policy.

        Parameters
        ----------
        lone : bool
            Whether it was made of one number alone.
        of_any : bool
            Whether its numbers are as good in any dtype: zeros, and those that were drawn.
        function : str
            The framework's function that made it.
        """
        slot: Any = result.dtype
        if (slot is float32 and self._of_a_module(frame)) or self._of_the_framework(frame):
            return self.made(result, inner=True)
        how, target = DefaultMade(WEAK[type(number)], lone, function), cast_at_once(frame)
        every = (how.dtype(p) for p in (self.home, *self.report.policies))
        if target is None or not (of_any or ends_alike(how.weak, target, every)):
            options = {"weak": how.weak.code, "lone": lone, "function": function}
            what: Any = DEFAULT, "", self.home, (), (slot,), not result.ndim
            with notify_lock, standing_at(frame):
                (slot,) = self.flow.record(*what, options=options)
            if not of_any:
                self._held(result, frame)
        return self._put(result.array, slot)

    def _of_the_framework(self, frame: FrameType) -> bool:
        """Whether a framework makes an array of its own there, of which nothing is compared: Keras,
        in a dtype that it gives it with each of the frameworks that it can be run with; a loader of
        data, which seeds itself and draws the order."""
        folders = _INNER.get(self.framework, ())
        inner = any(_stands_in(frame, folder) for folder in folders)
        while not inner and self.framework == "tensorflow" and frame.f_back:
            if not (_stands_in(frame, _TENSORFLOW) or of_promoarray(frame)):
                break  # what Keras calls is made of other functions
            frame = frame.f_back
            inner = any(_stands_in(frame, folder) for folder in folders)
        return inner

    def _counts(self, operands: Iterable[Any], result: Result, frame: FrameType) -> bool:
        """Whether a framework computes with integers of its own: with shapes, counts and seeds."""
        if result.dtype.kind not in INTEGERS or self.framework not in _INNER:
            return False
        types = (x._type for x in operands if isinstance(x, AbstractArray))
        whole = all(type_of(x).kind in INTEGERS or type_of(x).name == "bool" for x in types)
        return whole and self._of_the_framework(frame)

    def _of_a_module(self, frame: FrameType) -> bool:
        """Whether a framework's module makes its parameters there, which those of other frameworks
        make of float32, too: Flax with x64 as well."""
        folder = _MODULES.get(self.framework)
        return folder is not None and _stands_in(frame, folder)

    def entered(self, arrays: Iterable[Entering], frame: FrameType, *, makes: bool = False) -> None:
        """Record arrays that the framework narrows: on these policies differ from here on.

        Parameters
        ----------
        makes : bool
            Whether the call makes an array of them, in a dtype that it can be asked for.
        """
        alike: dict[tuple[DType, int], list[Entering]] = {}
        for each in arrays:
            alike.setdefault((each.dtype, int(each.array.ndim > 0)), []).append(each)
        for (dtype, ndim), some in alike.items():
            whole = tuple(each.operand for each in some if each.operand is not None)
            operands = () if makes else whole if len(whole) == len(some) else None
            data = tuple(each.array for each in some)
            slots = map(self.carried.slot, data if self.beside("numpy") else ())
            given = next(filter(None, slots), None)
            slot = self._entered(dtype, ndim, data, operands, frame, given)
            for x in data:
                self.carried.put(x, slot)

    def asked(self, dtype: DType, results: Iterable[Result], frame: FrameType) -> None:
        """Record arrays that the framework makes in a narrower dtype than the program asks for."""
        for result in results:
            self.carried.put(result.array, self._entered(dtype, result.ndim, (), None, frame))

    def _entered(
        self,
        source: DType,
        ndim: int,
        data: tuple[Any, ...],
        operands: tuple[int, ...] | None,
        frame: FrameType,
        given: TypeRecord | None = None,
    ) -> DType | TypeRecord:
        made = self._abstract_array.of(self.home.canonical.get(source, source), ndim)
        before = () if given is None else (self._abstract_array.of(given, ndim),)
        with notify_lock, standing_at(frame):
            self.flow.entered(self.home, made, source, data, operands, before)
        return made._type


def _stands_in(frame: FrameType, folder: str) -> bool:
    return folder in frame.f_code.co_filename.replace("\\", "/")


_INNER = {
    "tensorflow": (
        *("/tensorflow/python/distribute/", "/tensorflow/python/data/util/random_seed.py"),
        "/keras/src/",
    ),
    "torch": ("/torch/utils/data/dataloader.py", "/torch/utils/data/sampler.py"),
    # Flax counts its keys and steps in uint32
    "jax": ("/flax/nnx/rnglib.py", "/flax/nnx/training/optimizer.py"),
}
"""From a framework to where it makes arrays that are no part of what a program computes."""

_TENSORFLOW = "/tensorflow/python/"

_UNNAMED = {"torch": ("/torch/utils/data/",), "jax": _INNER["jax"]}
"""From a framework to where it calls functions that are no part of what a program computes."""

_MODULES = {"torch": "/torch/nn/", "paddle": "/paddle/nn/"}
"""From a framework to where its modules make their parameters."""

PASSES = 64
"""So many passes of a line are looked at for values that a policy without 64 bits loses."""

_MODULAR = {
    *("add", "subtract", "multiply", "negative", "pow", "square", "dot", "matmul"),
    *("sum", "prod", "cumsum", "cumprod", "cumulative_sum", "cumulative_prod"),
}
"""Operations of integers that have the same low bits in every width."""

_ALONE = {"svd": "svdvals"}
"""What an operation of several results is if it was asked for one alone."""
