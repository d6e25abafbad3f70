"""A session that hands what a rewritten program computes to the checks of the run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

from promoarray.core.call_site import is_library
from promoarray.diagnostics.calls.numpy import STORES
from promoarray.diagnostics.losses.again import Again, Change
from promoarray.diagnostics.losses.examined import Operand, Values, lost, lost_in_cast
from promoarray.diagnostics.model.lost import DIGITS, NAN, OVERFLOW, RANGE, WRAP, Loss
from promoarray.diagnostics.record.checks import Checks, sources_of
from promoarray.diagnostics.record.flow import Produced
from promoarray.diagnostics.record.met import Met
from promoarray.diagnostics.record.numpy.looks import (
    ADD_FIRST,
    AGAIN,
    AT,
    CAST,
    CHOOSE,
    FUNCTION,
    GLANCES,
    MAKE,
    NOTHING,
    OF_FLOATS,
    STORE,
    Looks,
    glance_of,
    how_again,
    looks_of,
)
from promoarray.diagnostics.record.numpy.numpy1_emulation import program_frame
from promoarray.diagnostics.record.numpy.operand import ARRAYS, Callee, dtype_of
from promoarray.diagnostics.record.numpy.recomputed import (
    added_in_order,
    changed_of,
    exact_range,
    function_of,
    in_dtype,
    is_whole_array,
    standing_still,
    whole_operands,
)
from promoarray.diagnostics.record.numpy.session import Session, guarded
from promoarray.diagnostics.record.numpy.values import (
    FOLDS,
    LONG,
    cast_to,
    copied,
    given_of,
    has_number,
    is_held,
    is_product,
    list_values,
    looked,
    number_or_values,
    operands_of,
    options_of,
    result_values,
    target_of,
    values_of,
    where_computed,
)
from promoarray.diagnostics.record.updates import fed
from promoarray.dtypes import BITS
from promoarray.operations import OPERATIONS, Family


class Before(NamedTuple):
    """What was there before an operation that writes over it."""

    operands: Sequence[Any]
    slots: Sequence[Any]


class CheckedSession(Session):
    """A session that looks at values, too; the hook asks for its methods by name."""

    @property
    def _checks(self) -> Checks:
        checks: Checks | None = self.recorder.checks
        assert checks is not None
        return checks

    @property
    def checks(self) -> int:
        """What is looked at: any values, integers, floats (``native/hook.h``)."""
        kinds = self._checks.asked.kinds
        return 1 + 2 * (WRAP in kinds) + 4 * bool(kinds & OF_FLOATS)

    @guarded
    def looks(self, callee: Callee) -> int:
        """Return how the hook looks at a function; -1 of one whose values lose nothing.

        It is the number of its arguments, beyond which it writes into one, and 0 if it writes at
        once; and how it is seen at a glance that nothing was lost, times 256.
        """
        found = looks_of(looked(callee))
        if found.way == NOTHING:
            return -1
        ufunc = getattr(np, callee.name, None)
        count = 0 if found.way == AT else ufunc.nin if isinstance(ufunc, np.ufunc) else 64
        is_hidden = callee.outer or looked(callee) in ADD_FIRST  # in what the hook sees
        glance = "" if is_hidden or self._checks.asked.shadow else glance_of(found, looked(callee))
        return count + 256 * (GLANCES.index(glance) if glance else 0)

    def passed(self, name: str, place: tuple[int, ...], times: int) -> None:
        """Count operations at which the hook has seen that they lost nothing."""
        self._checks.kept(name, place, times)

    @guarded
    def before(self, target: Any, value: Any) -> Before | None:
        """Keep what an operator in place writes over."""
        if dtype_of(target) is None:
            return None
        slot = self.recorder.carried.slot
        shares = isinstance(value, np.ndarray) and np.may_share_memory(value, target)
        operands = copied(target), copied(value) if shares else value
        return Before(operands, (slot(target), slot(value)))

    @guarded
    def overwritten(
        self, place: Any, passes: int, callee: Callee, args: Any, kwargs: Any, *_: Any
    ) -> Before | None:
        """Keep the arguments that a call writes over."""
        target = target_of(callee, args, kwargs)
        if not isinstance(target, np.ndarray) or dtype_of(target) is None:
            return None
        shared = [isinstance(x, np.ndarray) and np.may_share_memory(x, target) for x in args]
        kept = [copied(x) if own else x for x, own in zip(args, shared, strict=True)]
        return Before(kept, [self.recorder.carried.slot(x) for x in args[:3]])

    @guarded
    def operated(
        self,
        place: tuple[int, ...],
        passes: int,
        name: str,
        given: Sequence[Any],
        in_place: bool,
        before: Before | None,
        made: Any,
        frame: FrameType,
    ) -> None:
        """Look at an operator."""
        if before is None and in_place and isinstance(given[0], np.ndarray):
            return  # nobody knows what was there
        kind = getattr(getattr(made, "dtype", None), "kind", "")
        if kind in ("i", "u") and _ignores_wraps(frame):  # it can but wrap
            self._checks.kept(name, place, passes + 1)
            return
        slot = self.recorder.carried.slot
        if before is None:
            before = Before(given, tuple(map(slot, given)))
        operands, result = operands_of(before.operands), values_of(made)
        if not operands or result is None:
            return
        met = self._met(name, place, passes, frame)
        of_matrices = name == "multiply" and any(isinstance(x, np.matrix) for x in given)
        met.operation = "matmul" if of_matrices and not has_number(operands) else name
        met.operands, met.results = operands, (result,)
        met.sources = sources_of(before.slots)
        first = operands[0]
        if in_place and isinstance(first, Values):
            met.before = first
            met.target = made if isinstance(made, np.ndarray) else None  # scalars are made anew
        else:
            met.fed = _fed(before.slots, slot(made))
        self._look(met)

    @guarded
    def called(
        self,
        place: tuple[int, ...],
        passes: int,
        callee: Callee,
        args: Sequence[Any],
        kwargs: dict[str, Any],
        before: Before | None,
        made: Any,
        frame: FrameType,
    ) -> None:
        """Look at a call."""
        looks = looks_of(looked(callee))
        given = args if before is None else before.operands
        slot = self.recorder.carried.slot
        slots = [slot(x) for x in args[:3]] if before is None else before.slots
        met = self._met(callee.name, place, passes, frame)
        met.sources = sources_of(slots)
        if looks.way == STORE:
            return self._stores(met, callee.name, args, kwargs)
        if looks.way == AT:
            return self._added(met, args, given)
        met.results = result_values(made)
        if not met.results:
            return None
        if looks.way in (CAST, MAKE):
            return self._cast(met, callee.name, given, kwargs)
        return self._computed(met, looks, callee, given, kwargs, made)

    @guarded
    def stored(
        self, place: tuple[int, ...], passes: int, target: Any, value: Any, frame: FrameType
    ) -> None:
        """Look at ``target[key] = value``, which casts the value."""
        if getattr(value, "dtype", None) == target.dtype or is_held(value, target.dtype):
            return
        met = self._met("__setitem__", place, passes, frame)
        met.sources = sources_of([self.recorder.carried.slot(value)])
        self._stores_value(met, target, value)

    # -- kinds of calls ---------------------------------------------------------------------------

    def _computed(
        self, met: Met, looks: Looks, callee: Callee, given: Any, kwargs: Any, made: Any
    ) -> None:
        operands: list[Operand]
        where, whole = kwargs.get("where"), met.results[0].dtype.kind in BITS
        family = OPERATIONS[looks.operation].family if looks.operation else None
        is_partial = "initial" in kwargs or (where is not None and family in FOLDS)
        is_again = looks.way == AGAIN and not is_product(callee.name, given)
        if is_again and callee.name == "pad" and kwargs.get("reflect_type") != "odd":
            value = kwargs.get("constant_values", kwargs.get("end_values"))
            if value is not None and isinstance(given[0], np.ndarray):
                self._stores_value(met, given[0], np.ravel(value))
            return None
        if whole and (is_again or (is_partial and family is Family.SUM)):
            self._again(met, callee, whole_operands(given, kwargs), given, kwargs)
            return None
        arrays: list[Any] = [
            x for x in (*given, *kwargs.values()) if isinstance(x, (np.ndarray, np.generic))
        ]
        if callee.name in ADD_FIRST and arrays and all(map(is_whole_array, arrays)):
            operands = whole_operands(arrays, {})
            if self._again(met, callee, operands, given, kwargs, goes_on=True):
                return None
        if looks.way == FUNCTION or is_partial or not looks.operation:
            arrays = [x for x in (*given, *kwargs.values()) if isinstance(x, (*ARRAYS, list))]
            operands = [x for x in map(number_or_values, arrays) if isinstance(x, Values)]
        else:
            met.operation = looks.operation
            met.options = options_of(looks.operation, given, kwargs)
            operands = operands_of(given_of(callee, looks.operation, given, kwargs))
            if met.operation == "matmul" and has_number(operands):
                met.operation = "multiply"
        if where is not None:
            made_as = met.results[0].dtype
            operands = [where_computed(x, where, made_as) for x in operands]
            met.results = [where_computed(x, where, made_as) for x in met.results]
        if not any(isinstance(x, Values) for x in operands):
            return None
        if family in FOLDS and whole:  # which are cast before
            operands = [cast_to(x, met.results[0].dtype) for x in operands]
        met.operands = operands
        if met.operation == "mean" and whole:  # whose sum is computed in that dtype
            met.name = met.operation = "sum"
            met.results = result_values(np.sum(*given, **(kwargs | {"out": None})))
        running = added_in_order(met) if callee.name in ("sum", "nansum") else None
        if running or met.operation == "cumulative_sum":
            met.number = self._checks.passed(met)
            self._noted(met, standing_still(running or met))
        if given and made is given[0] and isinstance(operands[0], Values):
            met.before = operands[0]
        else:
            slot = self.recorder.carried.slot
            met.fed = _fed([slot(x) for x in given[:2]], slot(made))
        if family in CHOOSE:
            return self._chosen(met)
        if self._checks.asked.shadow and met.before is None:
            met.again = partial(in_dtype, callee, given, kwargs)
        return self._look(met)

    def _chosen(self, met: Met) -> None:
        """Look at the digits that operands lose which are chosen from."""
        kinds = self._checks.asked.kinds & {DIGITS}
        result = met.results[0]
        if kinds and any(x.dtype is not result.dtype for x in met.operands if type(x) is Values):
            how: Any = {"kinds": kinds, "bound": self._checks.asked.bound}
            self._noted(met, lost(met.operation, met.operands, result, **how))

    def _again(
        self,
        met: Met,
        callee: Callee,
        operands: Sequence[Operand],
        given: Any,
        kwargs: Any,
        *,
        goes_on: bool = False,
    ) -> bool:
        """Carry out a function of integers once more, if its result may not fit; answer whether
        something wraps. Where it ``goes_on``, the result is looked at for other losses."""
        function = function_of(looked(callee))
        if WRAP not in self._checks.asked.kinds or function is None or not operands:
            return False
        met.operands = operands
        again = partial(changed_of, function, given, kwargs)
        made = Again(again, operands, **how_again(looked(callee)))
        return self._noted_again(met, made, goes_on=goes_on)

    def _noted_again(self, met: Met, again: Again, *, goes_on: bool = False) -> bool:
        met.silenced = _silenced(met)
        with np.errstate(all="ignore"):
            return self._checks.again(met, again, goes_on=goes_on)

    def _cast(self, met: Met, name: str, given: Any, kwargs: Any) -> None:
        result = met.results[0]
        if name in ("arange", "linspace"):
            return self._ranged(met, name, given, kwargs)
        if name in ("full", "full_like"):
            value = kwargs.get("fill_value", given[1] if len(given) > 1 else None)
            source = number_or_values(value)
        else:
            x = given[0] if given else kwargs.get("object", kwargs.get("a"))
            if isinstance(x, (list, tuple)) and len(x) > LONG:
                return
            source = number_or_values(x)
        if source is None or (isinstance(source, Values) and source.dtype is result.dtype):
            return
        met.operands = (source,)
        self._look(met, self._checks.cast)

    def _ranged(self, met: Met, name: str, given: Any, kwargs: Any) -> None:
        """Look at the numbers of a range, of which the program names the dtype."""
        exact = exact_range(name, given, kwargs, met.results[0])
        if exact is not None:
            kinds = self._checks.asked.kinds & {RANGE, DIGITS}
            self._noted(met, lost_in_cast(exact, met.results[0], kinds=kinds))

    def _stores(self, met: Met, name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        place, at, keyword, _ = STORES[name]
        assert place is not None
        target = args[place] if place < len(args) else None
        value = args[at] if at < len(args) else kwargs.get(keyword)
        if isinstance(target, np.ndarray) and value is not None:
            met.sources = sources_of([self.recorder.carried.slot(value)])
            self._stores_value(met, target, value)

    def _stores_value(self, met: Met, target: np.ndarray[Any, Any], value: Any) -> None:
        source = number_or_values(value)
        if source is None or dtype_of(target) is None:
            return
        if isinstance(source, Values) and source.dtype is dtype_of(target):
            return
        made = np.empty(source.array.shape if isinstance(source, Values) else (), target.dtype)
        try:
            with np.errstate(all="ignore"):
                made[...] = value
        except Exception:  # as NumPy will say
            return
        result = values_of(made)
        if result is not None and result.array.size:
            met.operands, met.results = (source,), (result,)
            self._look(met, self._checks.cast)

    def _added(self, met: Met, args: Sequence[Any], given: Sequence[Any]) -> None:
        """Look at ``np.add.at(x, indices, y)``."""
        ufunc, after = getattr(np, met.name.partition(".")[0]), values_of(args[0])
        if after is None or after.dtype.kind not in BITS:
            return
        target, key, *others = given
        met.results, met.operands = (after,), whole_operands([target, *others], {})
        where = [list_values(x) for x in (key if isinstance(key, tuple) else (key,))]

        def again(change: Change) -> Any:
            x = change(target)
            ufunc.at(x, key, *(change(y) if is_whole_array(y) else y for y in others))
            return x

        every = [*met.operands, *filter(None, where)]
        self._noted_again(met, Again(again, every, **how_again(met.name)))

    # -- parts ------------------------------------------------------------------------------------

    def _met(self, name: str, place: tuple[int, ...], passes: int, frame: FrameType) -> Met:
        """An operation where the program stands."""
        if passes:
            self._checks.kept(name, place, passes)
        return Met(name, "", (), (), program_frame(frame), place, (), framework="numpy")

    def _noted(self, met: Met, losses: Iterable[Loss]) -> None:
        met.silenced = _silenced(met)
        with np.errstate(all="ignore"):
            self._checks.noted(met, losses)

    def _look(self, met: Met, look: Callable[[Met], None] | None = None) -> None:
        met.silenced = _silenced(met)
        with np.errstate(all="ignore"):
            (look or self._checks.operation)(met)


_USUAL_STATE = {"divide": "warn", "over": "warn", "under": "ignore", "invalid": "warn"}


def _silenced(met: Met) -> frozenset[str]:
    """What the program says it means, by ``np.errstate`` or ``np.seterr``."""
    state = np.geterr()
    if state == _USUAL_STATE:
        return frozenset()
    found = set()
    if state["over"] == "ignore":
        found.add(OVERFLOW)
        if met.frame is None or _ignores_wraps(met.frame):
            found.add(WRAP)
    if state["invalid"] == "ignore":
        found |= {NAN, RANGE}
    if state["divide"] == "ignore" and met.operation not in ("add", "subtract", "multiply"):
        found.add(OVERFLOW)
    return frozenset(found)


def _ignores_wraps(frame: FrameType) -> bool:
    """Whether the program means integers to wrap; what a library ignores is no word of it."""
    is_ignored = np.geterr()["over"] == "ignore"
    return is_ignored and not is_library(program_frame(frame).f_code.co_filename)


def _fed(slots: Sequence[Any], made: Any) -> int | None:
    """Return which operand is what the same line made in the pass before."""
    own = made.context[0] if isinstance(made, Produced) else None
    lines = [x.context[0] if isinstance(x, Produced) else -1 for x in slots[:2]]
    return lines.index(own) if own in lines else fed(sources_of(slots), made)
