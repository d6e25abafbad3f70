"""Calls of a framework, handed to the checks of the run with their values."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import CodeType, FrameType
from typing import Any, NamedTuple

import numpy as np

from promoarray.diagnostics.calls.common import (
    OF_A_DTYPE,
    STRUCTURE,
    Words,
    is_reflected,
    plain,
)
from promoarray.diagnostics.calls.tables import names
from promoarray.diagnostics.losses.again import Again, Change
from promoarray.diagnostics.losses.elements import counts, is_whole
from promoarray.diagnostics.losses.elements import plain as plain_values
from promoarray.diagnostics.losses.examined import Values
from promoarray.diagnostics.losses.floats import SCALED
from promoarray.diagnostics.model.flow import Source
from promoarray.diagnostics.model.lost import RANGE, WIDENING, WRAP
from promoarray.diagnostics.record.call import Call, flat
from promoarray.diagnostics.record.checks import Checks, sources_of
from promoarray.diagnostics.record.flow import Produced
from promoarray.diagnostics.record.met import Met
from promoarray.diagnostics.record.screen import Fed, Screen
from promoarray.diagnostics.record.updates import fed, leads_to
from promoarray.dtypes import BY_NAME, INTEGERS, Kind
from promoarray.operations import OPERATIONS
from promoarray.promotion.policy import NO_OPTIONS


class Sort(NamedTuple):
    """What is to be looked at of the calls of a name."""

    way: str  # one of those below
    operation: str = ""  # promoarray's
    writes: bool = False  # whether it writes into its first argument
    reflected: bool = False


OPERATION, FUNCTION, AGAIN, CAST, STORE, MAKE, NOTHING = (
    *("operation", "function", "again", "cast", "store"),
    *("make", "nothing"),
)

_NOTHING = names("""
    where concat stack concatenate clip sign floor ceil trunc round isnan isinf isfinite
    equal not_equal less less_equal greater greater_equal logical_and logical_or logical_not
    maximum minimum max min argmax argmin argsort sort all any
""")
"""Operations that choose among their values, or answer truths and places: they lose none."""

_RUNNING = {
    "cumsum": "cumulative_sum",
    "cumprod": "cumulative_prod",
    "nansum": "nansum",
    "nancumsum": "nancumsum",
}
"""Functions of which the losses know what their results are made of, under the losses' names."""

_AGAIN = names("""
    accumulate_n add_n addbmm addcmul addmm addmv addr at.add at.mul at.multiply at.power
    at.subtract baddbmm bilinear chain_matmul conv1d conv2d conv3d conv_general
    conv_transpose conv_transpose1d convolve correlate cross dist dot_general ediff1d einsum ger
    index_add index_put index_reduce inner integer_pow kron lax.cumprod lax.cumsum lax.dot lcm
    linear matrix_power matvec multi_dot polyval ptp put reduce reduce_prod reduce_sum reduce_window
    scatter_add scatter_nd_add scatter_reduce segment_prod segment_sum tensordot trace vander vdot
    vecmat
""")
"""Functions that add and multiply integers: these are carried out again, if they may wrap."""

_PLACES = {
    **dict.fromkeys(names("index_add scatter_add scatter_reduce index_reduce"), 2),
    **dict.fromkeys(names("put index_put scatter_nd_add segment_prod segment_sum"), 1),
}
"""Which argument of these tells where to add."""

_SUBTRACT = names("at.subtract cross dist ediff1d ptp")
_HAVE_POWERS = names("""
    addbmm at.mul at.multiply at.power cumprod index_reduce integer_pow matrix_power polyval reduce
    reduce_prod reduce_window scatter_reduce segment_prod vander
""")
"""Functions of these that subtract, and that multiply elements of an array with each other."""

_OF_VALUES = names("array asarray tensor as_tensor scalar_tensor to_tensor")
"""Functions that make an array of the values that they are given."""

_OF_ANOTHER = names("new new_tensor")
"""Methods that do so, in the dtype of the tensor."""

_CONSTRUCTORS = names("""
    Tensor FloatTensor DoubleTensor HalfTensor BFloat16Tensor LongTensor IntTensor ShortTensor
    CharTensor ByteTensor BoolTensor
""")
"""PyTorch's classes that do so, or make one of a shape."""

_EACH = "_foreach_"
"""Stands before the names of PyTorch's functions that do the same with each tensor of a list."""

Called = tuple[str, Any, Any, Mapping[str, Any]]
At = tuple[FrameType, tuple[int, ...], tuple[CodeType, ...]]
"""A call: its name, what carries it out, and its arguments; and where it stands."""

_COMPUTE = frozenset({OPERATION, FUNCTION, AGAIN})

_FILLS = names("empty_like empty_strided new_empty resize_ set_ numpy item tolist __array__")
"""Functions whose results are not made of the values of their arguments."""


class Before(NamedTuple):
    """What was noted of a call before it was carried out."""

    sort: Sort
    sources: Sequence[Source | None]  # what made the operands
    target: Values | None  # of one that writes: what was there
    written: Mapping[Any, Values] = NO_OPTIONS  # so for each array of a list, by its address


class Each(NamedTuple):
    """What was noted of a call that does the same with each array of a list."""

    name: str  # of what it does with one
    rows: Sequence[tuple[Sequence[Any], Mapping[str, Any]]]  # what one is given
    before: Sequence[Before | None]


class Checked:
    """Hands the calls of a thread to checks."""

    def __init__(self, checks: Checks, recorder: Any, kind: type[Call]) -> None:
        self._checks, self._recorder, self._kind = checks, recorder, kind
        self._reader = object.__new__(kind)
        self._reader.recorder = recorder
        self._framework: str = recorder.framework
        self._sorts: dict[str, Sort] = {}
        self._stored_back: dict[Source, int] = {}
        self._made_whole: dict[Any, set[Source]] = {}  # at each place, what else it has made
        self._kinds = checks.asked.kinds
        self._exact_alone = self._kinds <= {WRAP, RANGE}
        self._gradients = partial(kind.gradients, checks, self._values)

    def _sort(self, name: str) -> Sort:
        known = self._sorts.get(name)
        if known is None:
            known = self._sorts[name] = _sort(name, self._kind.words)
        return known

    def passes(
        self, name: str, place: tuple[int, ...], codes: tuple[CodeType, ...], made: Sequence[Any]
    ) -> list[int] | None:
        """Return where calls are counted that made such arrays if no values need be looked at; None
        if they have to be."""
        way = self._sort(name).way
        if way == NOTHING:
            return [0]
        is_exact = self._exact_alone and way in _COMPUTE
        if not is_exact or not made or not all(map(self._is_number, made)):
            return None
        return self._checks.passes(name, place, codes) if self._is_inexact(made[0]) else None

    def before(self, name: str, args: Any, kwargs: Mapping[str, Any]) -> Before | Each | None:
        """Note what a call is about to write over; None of one that is not looked at."""
        if name.startswith(_EACH) and args and type(args[0]) in (list, tuple):
            one, rows = name.removeprefix(_EACH), [*_rows(args, kwargs)]
            each = [self._before(one, *row) for row in rows]
            were = zip(each, args[0], strict=True)
            written = {id(x): was.target for was, x in were if was is not None and was.target}
            return Each(one, rows, [was and was._replace(written=written) for was in each])
        return self._before(name, args, kwargs)

    def _before(self, name: str, args: Any, kwargs: Mapping[str, Any]) -> Before | None:
        sort = self._sort(name)
        if sort.way == NOTHING:
            return None
        slot = self._recorder.carried.slot
        sources = sources_of(map(slot, args[:3]))
        out = kwargs.get("out")
        if sort.way in _COMPUTE and (sort.writes or out is not None):
            written = args[0] if out is None and args else out
            is_array = isinstance(written, self._kind.tensor)
            skipped = not is_array or (self._exact_alone and self._is_inexact(written))
            target = None if skipped else self._values(written)
            if target is not None:
                target = Values(target.array.copy(), target.dtype)
            return Before(
                sort, sources, target if out is None or (args and out is args[0]) else None
            )
        return Before(sort, sources, None)

    def after(
        self,
        before: Before | Each,
        call: Called,
        at: At,
        result: Any,
    ) -> None:
        """Look at a call that was carried out."""
        if isinstance(before, Before):
            return self._after(before, call, at, result)
        lists, number = call[2][0] if result is None else result, 0
        for each, row, made in zip(before.before, before.rows, lists, strict=False):
            if each is not None:
                one = Met(before.name, "", (), (), *at, framework=self._framework)
                number = number or self._checks.passed(one)
                self._after(each, (before.name, call[1], *row), at, made, number)
        return None

    def _after(self, before: Before, call: Called, at: At, result: Any, number: int = 0) -> None:
        name, function, args, kwargs = call
        frame, place, codes = at
        if name.startswith("_fused_"):
            return self._checks.unreadable(name, _FUSED, frame)
        met = Met(name, before.sort.operation, (), (), frame, place, codes, before.sources)
        met.number, met.framework = number, self._framework
        if self._kind.autocasts(args):  # what its lists mix is meant
            met.silenced = frozenset({WIDENING})
        way = before.sort.way
        if way == STORE:
            return self._stored(met, args)
        made = [x for x in flat((result,)) if isinstance(x, self._kind.tensor)]
        if not made or not all(map(self._is_number, made)):
            return None
        if self.passes(name, place, codes, made) is not None or self._kind.is_traced_alone(
            [x for x in flat((*args, *kwargs.values())) if isinstance(x, self._kind.tensor)], made
        ):
            self._note_made(met, made[0])
            return self._count(met)
        met.results = [x for x in map(self._values, made) if x is not None]
        if len(met.results) < len(made):
            return self._checks.unreadable(name, UNREAD, frame)
        if way in (CAST, MAKE):
            if name in _OF_ANOTHER:
                args, met.sources = args[1:], ()
            self._cast(met, args, made[0])
            return self._gradients(met, args, made)
        written = made[0] is (args[0] if args else None) or made[0] is kwargs.get("out")
        if written and before.target is not None:  # where ``x += y`` makes no other array
            met.before, met.target = before.target, made[0]
        else:
            met.fed = self._fed(met, made[0])
            if met.fed is not None and (name, place) in self._made_whole:
                self._note_made(met, made[0])
        if met.before is not None:
            met.still = self._checks.stands_still(met)
        if met.fed is None and not met.still and self._is_clear(met, args, kwargs):
            self._count(met)
            return self._gradients(met, args, made)
        given = self._operands(before, args, kwargs)
        if not given or (way != OPERATION and not any(isinstance(x, Values) for x in given)):
            return None
        met.operands = given
        if before.sort.operation in _RUNNING.values():
            axis = kwargs.get("axis", kwargs.get("dim", args[1] if len(args) > 1 else None))
            met.options = {"axis": axis} if type(axis) is int else met.options
        if "alpha" in kwargs or "value" in kwargs:
            met.options = {key: kwargs[key] for key in ("alpha", "value") if key in kwargs}
            met.operation = "" if kwargs.get("alpha", 1) != 1 else met.operation
        if self._checks.asked.shadow and before.target is None:
            met.again = self._again(function, args, kwargs)
        if way == AGAIN and met.results[0].dtype.kind in INTEGERS and WRAP in self._kinds:
            self._once_more(met, before, function, args, kwargs)
        self._checks.operation(met)
        self._gradients(met, args, made)
        return None

    def _fed(self, met: Met, made: Any) -> int | None:
        """Which operand is what the same line has made before."""
        slot = self._recorder.carried.slot(made)
        found = fed(met.sources, slot, self._made_whole.get((met.name, met.place), ()))
        if found is None and isinstance(slot, Produced):
            return self._stored_back.get(slot.source)
        return found

    # -- calls that are like others ---------------------------------------------------------------

    def screen(
        self, before: Before | Each | None, call: Called, at: At, result: Any
    ) -> Screen | None:
        """Return how calls that are like one are looked at; None if only as that itself was."""
        name, _, args, kwargs = call
        kind, own = self._kind, self._reader.dtype_of
        if not isinstance(before, Before) or not isinstance(result, kind.tensor):
            return None
        if self._checks.asked.shadow or kind.size_of(result) is None or name.startswith("_fused_"):
            return None
        sort, dtype, one = before.sort, own(result), kind.size_of(result) == 1
        if sort.way not in (OPERATION, FUNCTION) or dtype is None or kind.autocasts(args):
            return None
        tensors = [x for x in flat((*args, *kwargs.values())) if isinstance(x, kind.tensor)]
        writes = bool(args) and result is args[0]
        if not Screen.fits(sort.operation, dtype, one=one) or (writes and not one):
            return None
        if "out" in kwargs or not all(isinstance(x, kind.tensor) for x in args[:1]):
            return None
        if dtype.kind is Kind.FLOAT:
            if {own(x) for x in tensors} != {dtype}:
                return None
        elif kwargs or any(kind.size_of(x) != 1 for x in tensors):
            return None
        head = name, sort.operation, (), (), *at
        met = Met(*head, before.sources, framework=self._framework).bare()
        how = {"writes": writes, "reflected": sort.reflected}
        return Screen(self._checks, met, dtype, self._read, **how)

    def _read(self, x: Any) -> Any:
        """The number that an array of one element is; of others the values, if they can be read."""
        return x.item() if self._kind.size_of(x) == 1 else self._reader.values(x)

    def passed(
        self, screen: Screen, args: Any, kwargs: Mapping[str, Any], result: Any, was: Any
    ) -> bool:
        """Count a call that is like others if nothing was lost in it."""
        flow = self._recorder.flow.passes + len(self._stored_back)
        if screen.fed.known != flow and not screen.writes:
            screen.fed = Fed(flow, self._fed(screen.met, result))
        if not screen.passed(args, result, was):
            return False
        self._gradients(screen.met, args, (result,))
        return True

    def seen(self, screen: Screen, was: Any, args: Sequence[Any]) -> Before:
        """What ``before`` would have noted of a call that is like others."""
        sort, dtype, target = self._sort(screen.met.name), screen.dtype, None
        if screen.writes:
            target = Values(np.full(self._kind.shape_of(args[0]), was, dtype.storage), dtype)
        return Before(sort, screen.met.sources, target)

    def _note_made(self, met: Met, x: Any) -> None:
        """Note what an array carries that may come back in a later pass of a compiled function."""
        if isinstance(slot := self._recorder.carried.slot(x), Produced):
            self._made_whole.setdefault((met.name, met.place), set()).add(slot.source)

    def _count(self, met: Met) -> None:
        if not met.number:
            self._checks.passed(met)

    def _cast(self, met: Met, args: Any, made: Any) -> None:
        """Look at a cast of an array, or of the numbers that an array is made of."""
        source = self._given(args[0]) if args else None
        result = met.results[0]
        if source is None or made is args[0] or source.dtype is result.dtype:
            return
        if source.array.shape == result.array.shape:
            met.operands = (source,)
            self._checks.cast(met)

    def _given(self, x: Any) -> Values | None:
        """Values that are cast: those of an array, of NumPy's as well, or of lists of numbers."""
        if isinstance(x, self._kind.tensor) and not isinstance(x, (np.ndarray, np.generic)):
            return self._values(x)
        if isinstance(x, (list, tuple)) and any(isinstance(each, self._kind.tensor) for each in x):
            return None
        if not isinstance(x, (int, float, complex, list, tuple)) and not hasattr(x, "__array__"):
            return None  # as PyTorch's storages, which warn of being looked at
        try:
            array = np.asarray(x)
        except (ValueError, TypeError, OverflowError):
            return None
        dtype = BY_NAME.get(array.dtype.name)
        return None if dtype is None else Values(array, dtype)

    def _stored(self, met: Met, args: Any) -> None:
        """Look at ``x[key] = value`` and ``x.copy_(value)``, which cast the value."""
        kind, is_copy = self._kind, met.name == "copy_"
        target, value = args[0], args[1 if is_copy else 2]
        self._note_stored_back(target, value)
        number = kind.number_of(value)
        same = isinstance(value, kind.tensor) and value.dtype == target.dtype
        if same or (number is None and not isinstance(value, kind.tensor)):
            return
        stored = self._values(target if is_copy else target[args[1]])
        given = number if number is not None else self._values(value)
        if stored is None or given is None:
            return
        if not isinstance(given, Values):
            stored = Values(stored.array.reshape(-1)[:1], stored.dtype)
        elif given.array.shape != stored.array.shape:
            given = Values(np.broadcast_to(given.array, stored.array.shape), given.dtype)
        if not stored.array.size:
            return
        met.operands, met.results = (given,), (stored,)
        self._checks.cast(met)

    def _note_stored_back(self, target: Any, value: Any) -> None:
        """Note of a sum that it is stored in the array to which something was added."""
        slots = [self._recorder.carried.slot(x) for x in (target, value)]
        if not all(isinstance(x, Produced) for x in slots):
            return
        own, made = slots
        operation = made.flow.makers.get(made.source[0])
        if operation is not None and operation.name in ("add", "subtract"):
            for n, sources in enumerate(operation.sources[:2]):
                if any(x == own.source or leads_to(made, x, own.source) for x in sources):
                    self._stored_back.setdefault(made.source, n)

    def _operands(self, before: Before, args: Any, kwargs: Mapping[str, Any]) -> list[Any]:
        """The arrays and numbers of a call, in the order of the operation."""
        found: list[Any] = []
        first = args[0] if args else None
        for x in flat((*args, *kwargs.values())):
            if isinstance(x, self._kind.tensor):  # as it was, in ``x.add_(x)`` twice
                was = before.target if x is first else before.written.get(id(x))
                x = was or self._values(x)
                if x is None:
                    return []
                found.append(x)
            elif (number := self._kind.number_of(x)) is not None:
                found.append(number)
        if before.sort.way == OPERATION:
            known = OPERATIONS.get(before.sort.operation)
            found = found[: (known.arity or 2) if known else 1]
        return found[::-1] if before.sort.reflected else found

    def _again(
        self, function: Callable[..., Any], args: Any, kwargs: Mapping[str, Any]
    ) -> Callable[[str], Values | None]:
        kind = self._kind

        def again(wide: str) -> Values | None:
            dtype = BY_NAME[wide]

            def widened(x: Any) -> Any:
                if isinstance(x, kind.tensor):
                    own = self._reader.dtype_of(x)
                    if own is not None and own.kind is dtype.kind and own.bits < dtype.bits:
                        return kind.copy(x, dtype)
                    return x
                if type(x) in (list, tuple):
                    return type(x)(map(widened, x))
                return x

            with kind.undisturbed():
                try:
                    named = {key: widened(x) for key, x in kwargs.items()}
                    result = function(*map(widened, args), **named)
                except Exception:
                    return None
            found = next((x for x in flat((result,)) if isinstance(x, kind.tensor)), None)
            return None if found is None else self._values(found)

        return again

    def _once_more(
        self, met: Met, before: Before, function: Any, args: Any, kwargs: Mapping[str, Any]
    ) -> None:
        """Carry out a function of integers again, if its result may not fit."""
        name, kind = _bare(met.name), self._kind
        met.number = self._checks.passed(met)
        if not all(map(is_whole, met.operands)):
            return
        function, takes_ints = kind.once_more(met.name, function)
        places = _PLACES.get(name, -1)

        def changed(x: Any, change: Change) -> Any:
            if type(x) in (list, tuple):
                return type(x)(changed(each, change) for each in x)
            values = self._values(x) if isinstance(x, kind.tensor) else None
            if values is None or values.dtype.kind not in INTEGERS:
                return x
            return kind.of_array(change(plain_values(values)))

        def carry_out(change: Change) -> Any:
            given = [x if at == places else changed(x, change) for at, x in enumerate(args)]
            if before.target is not None:
                given[0] = kind.of_array(change(plain_values(before.target)))
            named = {key: x for key, x in kwargs.items() if key not in ("out", "dtype")}
            for key in named.keys() - {"index", "indices"}:
                named[key] = changed(named[key], change)
            with kind.undisturbed():
                made = function(*given, **named)
            made = next(x for x in flat((made,)))
            is_numpy = isinstance(made, (int, np.ndarray, np.generic))
            return made if is_numpy else self._reader.values(made)

        how = takes_ints, name in _SUBTRACT, name not in _HAVE_POWERS
        self._checks.again(met, Again(carry_out, met.operands, *how))

    def _is_clear(self, met: Met, args: Any, kwargs: Mapping[str, Any]) -> bool:
        """Whether results show by themselves that nothing was lost: floats of one dtype, none of
        which is Inf or NaN, nor, where it is scaled, zero or subnormal."""
        if self._checks.asked.shadow or met.results[0].dtype.kind is not Kind.FLOAT:
            return False
        own = self._reader.dtype_of
        given = [x for x in flat((*args, *kwargs.values())) if isinstance(x, self._kind.tensor)]
        if {own(x) for x in given} != {met.results[0].dtype}:
            return False
        seen = 4 if met.operation in SCALED else 2
        met.counted = counts(met.results[0])
        floats = [x for x in met.results[1:] if x.dtype.kind is Kind.FLOAT]  # topk has places, too
        return not any(any(each[:seen]) for each in (met.counted, *map(counts, floats)))

    def _is_inexact(self, x: Any) -> bool:
        dtype = self._reader.dtype_of(x)
        return dtype is not None and dtype.kind not in INTEGERS

    def _is_number(self, x: Any) -> bool:
        return self._reader.dtype_of(x) is not None

    def _values(self, x: Any) -> Values | None:
        """The values of an array; None if they cannot be read."""
        dtype = self._reader.dtype_of(x)
        array = None if dtype is None else self._reader.values(x)
        if dtype is None or array is None:
            return None
        return Values(array, dtype if not dtype.weak else self._recorder.home.strong(dtype))


def _rows(
    args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Iterator[tuple[Sequence[Any], Mapping[str, Any]]]:
    """What is done with each array of a list: of other lists it is given what lies there."""
    count = len(args[0])
    for at in range(count):
        row = [x[at] if type(x) in (list, tuple) and len(x) == count else x for x in args]
        named = dict(kwargs)
        if len(row) > 3:  # of addcdiv and addcmul
            named["value"] = row.pop(3)
        yield row, named


def _sort(name: str, words: Words) -> Sort:
    """What is to be looked at of the calls of a name."""
    called = plain(name, words.operations)
    if name in ("__setitem__", "copy_"):
        return Sort(STORE, writes=True)
    if name in _AGAIN or _bare(name) in _AGAIN:
        return Sort(AGAIN, writes=called != name)
    if name in words.casts:
        return Sort(CAST)
    if name in _CONSTRUCTORS | _OF_ANOTHER or (
        words.defaults.get(name, 0) is None and name in _OF_VALUES
    ):
        return Sort(MAKE)
    made = (words.moves | words.makes) - words.computed
    made |= words.defaults.keys() | OF_A_DTYPE | STRUCTURE | _FILLS
    operation = _RUNNING.get(called) or words.operations.get(called, "")
    if {name, called} & made or operation in _NOTHING:
        return Sort(NOTHING)
    known = operation if operation in OPERATIONS or called in _RUNNING else ""
    writes = called != name
    return Sort(OPERATION if known else FUNCTION, known, writes, is_reflected(called))


def is_nothing(name: str, words: Words) -> bool:
    """Return whether calls of a name lose nothing that is looked for."""
    return _sort(name, words).way == NOTHING


def _bare(name: str) -> str:
    """The name of a function without its module, and without what says that it is in place."""
    return re.sub(r"^(linalg|lax|math|ops)[._]|(?<!_)_$|^__|__$", "", name)


_FUSED = "it updates all tensors at once: foreach=True in the place of fused=True is looked at"
UNREAD = "its values cannot be read, as where a transformation traces"
