"""Checks of a run: what every operation lost of its values, gathered by place."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import CodeType, FrameType
from typing import Any, NamedTuple

import numpy as np

from promoarray.core.call_site import sites, standing_at
from promoarray.core.observers import notify_lock
from promoarray.diagnostics.losses.again import Again, wrapped_again
from promoarray.diagnostics.losses.elements import Scope, extent, plain
from promoarray.diagnostics.losses.examined import (
    MOST,
    Operand,
    Values,
    born,
    lost,
    lost_in_cast,
)
from promoarray.diagnostics.model.flow import Source
from promoarray.diagnostics.model.lost import (
    ABSORBED,
    CHECKS,
    NAN,
    OVERFLOW,
    UNDERFLOW,
    UNSTABLE,
    WIDENING,
    WRAP,
    Example,
    Loss,
    LostPlace,
)
from promoarray.diagnostics.model.noted import NotExamined
from promoarray.diagnostics.record.chosen import chosen_at, is_chosen_from
from promoarray.diagnostics.record.flow import Produced
from promoarray.diagnostics.record.idioms import idiom
from promoarray.diagnostics.record.met import Met
from promoarray.diagnostics.record.updates import UPDATES, Updates, name_of
from promoarray.dtypes import BY_NAME, Kind

INEXACT = frozenset({Kind.FLOAT, Kind.COMPLEX})

USUAL = frozenset(CHECKS) - {UNSTABLE}
"""What is looked for if nothing else is said: all that takes no second computation."""


@dataclass(frozen=True)
class Asked:
    """What a run is checked for."""

    kinds: frozenset[str] = USUAL
    bound: int | None = MOST  # larger arrays are sampled; None for none
    shadow: str = ""  # the dtype in which results of fewer bits are computed beside them
    ulps: float = 4.0  # so far may they be from that


class Look(NamedTuple):
    """A call that was looked at: what was lost in it, and which places it passed."""

    lost: list[tuple[LostPlace, Loss]]
    passes: Counter[Any]


class Checks:
    """What a run lost, by place."""

    def __init__(self, asked: Asked) -> None:
        self.asked = asked
        # each tells of passes that were counted elsewhere (``kept``), before they are read
        self.tells: list[Callable[[], object]] = []
        self.begin_again()

    def begin_again(self) -> None:
        """Begin with nothing found."""
        self.lost: dict[Any, LostPlace] = {}  # by what tells places apart
        self.unread: Counter[NotExamined] = Counter()  # those whose values could not be read
        self._updates = Updates()
        self.held: list[Any] = []  # operations that are yet to be computed
        self._passes: dict[Any, tuple[list[int], tuple[CodeType, ...]]] = {}
        self._about: set[Any] = set()  # places of which the passes are not known exactly
        self._times = 1  # by so many calls is the one that is looked at the next one
        self._open: list[list[tuple[LostPlace, Loss]]] = []

    # -- what was carried out ---------------------------------------------------------------------

    def operation(self, met: Met) -> None:
        """Look at an operation, or at any function of arrays."""
        passes = met.number or self.passed(met)
        self._name_sampled(met)
        for loss in self._of_operation(met, passes):
            self._note(met, loss, passes)
        if WIDENING in self.asked.kinds - met.silenced and (cost := _widening(met)):
            size = met.results[0].array.size
            loss = Loss(WIDENING, size, size, Example((), (), "", ""))
            self._note(met, loss, passes, cost=cost)
        if met.again is not None and UNSTABLE in self.asked.kinds:
            for loss in self._beside(met, met.again):
                self._note(met, loss, passes)

    def _name_sampled(self, met: Met) -> None:
        """Note that of a large array a part is looked at."""
        bound = self.asked.bound
        if bound is not None and any(x.array.size > bound for x in met.results):
            with notify_lock:
                self.unread[NotExamined(f"a part of {met.name}", _SAMPLED, *met.sites())] += 1

    def _how(self, met: Met) -> dict[str, Any]:
        """What is asked of an operation; what its place has lost before is only counted."""
        kinds = self.asked.kinds - met.silenced
        known = {kind for kind in kinds if (kind, met.name, met.place, False) in self.lost}
        if WRAP in known and self._is_meant(met):
            kinds -= {WRAP}
        return {"kinds": kinds, "bound": self.asked.bound, "brief": known}

    def _is_meant(self, met: Met) -> bool:
        """Whether the source of a place says that it means integers to wrap, as hashes do.

        Of which elements a line chooses the next pass may choose others.
        """
        found = self.lost[WRAP, met.name, met.place, False]
        if found.idiom is None:
            is_chosen = is_chosen_from(found.site)
            found.idiom = "" if is_chosen else idiom(found)
        return bool(found.idiom)

    def _of_operation(self, met: Met, passes: int) -> Iterator[Loss]:
        how = self._how(met)
        if met.operation and met.results:
            given = met.operands, met.results[0]
            yield from lost(met.operation, *given, options=met.options, counted=met.counted, **how)
        else:
            yield from born(met.operands, met.results, **how)
        if ABSORBED in how["kinds"] and len(met.operands) > 1:
            found = self._updates.lost(met, passes, self.asked.bound, self._times)
            yield from (found,) if found is not None else ()

    def stands_still(self, met: Met) -> bool:
        """Return whether most elements of what is accumulated are what they were."""
        return self._updates.stand_still(met)

    def writes_into(self, met: Met, target: Any) -> None:
        """Note an array that an operation writes into, in a pass that was looked at elsewhere."""
        if name_of(met) in UPDATES:
            met.target = target
            self._updates.persists(met)
            met.target = None

    @contextmanager
    def standing_for(self, calls: int) -> Iterator[Look]:
        """Look at one of so many calls, of which the others are taken to be like it."""
        before, self._times = self._times, self._times * calls
        counted, look = self.counted(), Look([], Counter())
        self._open.append(look.lost)
        try:
            yield look
        finally:
            self._times = before
            self._open.pop()
            look.passes.update(self.counted() - counted)

    def like(self, look: Look) -> None:
        """Count a call that is not looked at, and is taken to be like another."""
        self.counts(look.passes, 1, about=True)
        with notify_lock:
            for found, loss in look.lost:
                found.count += loss.count
                found.of += loss.of
                found.passes += 1
                for each in self._open:
                    each.append((found, loss))

    def lost_again(self, met: Met, loss: Loss, passes: int) -> bool:
        """Count what a place loses once more; return False if it is the first time there."""
        if (loss.kind, met.name, met.place, False) not in self.lost:
            return False
        if self._is_meant(met):
            return True
        if is_chosen_from(met.sites()[0]):
            return False
        self._note(met, loss, passes)
        return True

    def cast(self, met: Met) -> None:
        """Look at a cast: of one array or number into the dtype of the result."""
        passes = met.number or self.passed(met)
        self._name_sampled(met)
        for loss in lost_in_cast(met.operands[0], met.results[0], **self._how(met)):
            self._note(met, loss, passes)

    def noted(self, met: Met, losses: Iterable[Loss]) -> None:
        """Note what an operation lost, as an adapter has found itself."""
        passes = met.number or self.passed(met)
        for loss in losses:
            if loss.kind in self.asked.kinds - met.silenced:
                self._note(met, loss, passes)

    def again(self, met: Met, again: Again, *, goes_on: bool = False) -> bool:
        """Carry out an operation of integers once more, and note what wraps.

        Parameters
        ----------
        goes_on : bool
            Whether it is looked at for other losses if nothing wraps, and is counted then.

        Returns
        -------
        bool
            Whether anything wraps.
        """
        scope = Scope(frozenset({WRAP}), self.asked.bound)
        found = wrapped_again(again, met.results[0], scope)
        if found is None and met.frame is not None:
            self.unreadable(met.name, _ONCE_MORE, met.frame)
        if found or not goes_on:
            self.noted(met, found or ())
        return bool(found)

    def kept(self, name: str, place: tuple[int, ...], times: int) -> None:
        """Count passes through a place in which an adapter has seen that nothing was lost."""
        with notify_lock:
            self.passes(name, place, ())[0] += times

    def counted(self) -> Counter[Any]:
        """Return how often each place was passed."""
        return Counter({key: n for key, ((n,), _) in self._passes.items()})

    def counts(self, passes: Mapping[Any, int], times: int, *, about: bool = False) -> None:
        """Count passes through several places, each so many times, or ``about`` so many."""
        for (name, place), n in passes.items():
            self.kept(name, place, n * times)
        self._about |= passes.keys() if about else set()

    def looks_for(self, kind: str) -> bool:
        """Return whether a kind of losses is asked for."""
        return kind in self.asked.kinds

    def gradient(self, met: Met, given: Callable[[], Sequence[Operand]] = tuple) -> None:
        """Look at the gradients that the backward of an operation makes of those it is given.

        ``given`` answers what the operation itself was given, of which the report has the range.
        """
        how: Any = {"kinds": self.asked.kinds & {OVERFLOW, NAN}, "bound": self.asked.bound}
        found = [*born(met.operands, met.results, **how)]
        if any(loss.kind == NAN for loss in found) and any(map(_has_nan, given())):
            found = [loss for loss in found if loss.kind != NAN]  # it was there before
        self._note_gradient(met, found, given)

    def vanished(self, met: Met, exact: Values, given: Callable[[], Sequence[Operand]]) -> None:
        """Look whether a gradient, the result, is zero or subnormal where the exact one is not."""
        how: Any = {"kinds": self.asked.kinds & {UNDERFLOW}, "bound": self.asked.bound}
        self._note_gradient(met, lost_in_cast(exact, met.results[0], **how), given)

    def _note_gradient(
        self, met: Met, found: Iterable[Loss], given: Callable[[], Sequence[Operand]]
    ) -> None:
        operands = met.operands
        for loss in found:
            came, met.operands = [*map(extent, operands)], given()
            told = [low if low == high else f"{low} to {high}" for low, high in came]
            example = loss.example if loss.kind == UNDERFLOW else replace(loss.example, given=())
            ranges = tuple(map(extent, met.operands))
            note = f"the gradient of its result is {' and '.join(told)}" if told else loss.note
            loss = replace(loss, example=example, ranges=ranges, note=note)
            self._note(met, loss, 1, backward=True)
        met.operands = operands

    def unreadable(self, what: str, why: str, frame: FrameType) -> None:
        """Note what was computed and could not be looked at."""
        with notify_lock, standing_at(frame):
            self.unread[NotExamined(what, why, *sites())] += 1

    def _beside(self, met: Met, again: Callable[[str], Values | None]) -> Iterator[Loss]:
        """Compare a result with the same in more digits."""
        made = met.results[0] if met.results else None
        wide = BY_NAME[self.asked.shadow or "float32"]
        if made is None or made.dtype.kind is not Kind.FLOAT or made.dtype.bits >= wide.bits:
            return
        beside = again(wide.name)
        if beside is not None and beside.array.shape == made.array.shape:
            yield from _unstable(made, beside, self.asked.ulps)
        elif met.frame is not None:
            self.unreadable(met.name, f"it cannot be computed in {wide.name} beside", met.frame)

    # -- what was found ---------------------------------------------------------------------------

    @property
    def examined(self) -> int:
        """Operations whose values were looked at, or that cannot lose what is looked for."""
        return sum(count for (count,), _ in tuple(self._passes.values()))

    def passes(self, name: str, place: tuple[int, ...], codes: tuple[CodeType, ...]) -> list[int]:
        """Return the passes through a place, a number that whoever goes through it counts on."""
        return self._passes.setdefault((name, place), ([0], codes))[0]

    def passed(self, met: Met) -> int:
        """Count a pass through a place; return how many there were."""
        passes = self.passes(met.name, met.place, met.codes)
        passes[0] += 1
        return passes[0]

    def _note(
        self, met: Met, loss: Loss, passes: int, *, backward: bool = False, cost: int = 0
    ) -> None:
        key = loss.kind, met.name, met.place, backward
        is_chosen = False
        if loss.which is not None:
            left = self._chosen(met, loss)
            if left is None:
                return
            loss, is_chosen = left
        with notify_lock:
            found = self.lost.get(key)
            if found is None:
                found = self.lost[key] = self._new(met, loss, passes, backward)
                found.chosen = is_chosen
            for each in self._open:
                each.append((found, loss))
            found.count += loss.count
            found.of += loss.of
            found.passes += found.last != passes or backward
            found.last = passes
            found.bytes += cost
            found.weight = max(found.weight, loss.weight)
            found.arrays = max(found.arrays, loss.arrays)
            found.vanishes &= loss.vanishes

    def _chosen(self, met: Met, loss: Loss) -> tuple[Loss, bool] | None:
        """What is lost of what the line chooses, and whether that is known; None if nothing is."""
        which, site = loss.which, met.sites()[0]
        loss = replace(loss, which=None)
        if met.frame is None or not is_chosen_from(site):
            return loss, False
        shape = met.results[0].array.shape
        chosen = chosen_at(site, met.frame, shape)
        if chosen is None:
            return loss, False
        left = which[chosen.reshape(-1)[which]]
        if not left.size:
            return None
        if loss.example.given and left[0] != which[0]:
            loss = _told_of(met, loss, left)
        return replace(loss, count=int(left.size), of=int(chosen.sum())), True

    def _new(self, met: Met, loss: Loss, passes: int, backward: bool) -> LostPlace:
        made = met.results[0].dtype.name if met.results else ""
        sources = tuple(met.sources)
        given = tuple(map(dtype_in_words, met.operands))
        found = LostPlace(loss.kind, met.name, given, made, *met.sites(), loss)
        found.first, found.order = passes, len(self.lost)
        found.sources, found.backward, found.vanishes = sources, backward, loss.vanishes
        found.framework = met.framework
        return found

    def found(self) -> list[LostPlace]:
        """Return what was lost, in the order in which it was met, with the passes of each place."""
        for tell in self.tells:
            tell()
        with notify_lock:
            for (_, name, place, backward), each in self.lost.items():
                counted = self._passes.get((name, place))
                each.total = each.passes if backward or counted is None else counted[0][0]
                each.about = (name, place) in self._about
            return sorted(self.lost.values(), key=lambda each: each.order)


def _has_nan(x: Operand) -> bool:
    return isinstance(x, Values) and bool(np.isnan(plain(x)).any())


def _told_of(met: Met, loss: Loss, places: Any) -> Loss:
    """A loss with the first of some elements as the example, where the operation goes by them."""
    shape = met.results[0].array.shape

    def taken(x: Operand) -> Operand:
        if not isinstance(x, Values):
            return x
        return Values(np.broadcast_to(x.array, shape).reshape(-1)[places], x.dtype)

    operands, result = [*map(taken, met.operands)], taken(met.results[0])
    assert isinstance(result, Values)
    again = next(lost(met.operation, operands, result, kinds={loss.kind}), None)
    if again is None:
        return loss
    at = tuple(map(int, np.unravel_index(int(places[0]), shape)))
    return replace(loss, example=replace(again.example, index=at), wanted=again.wanted)


def dtype_in_words(x: Operand) -> str:
    """Return the dtype of an operand; of a Python number what it is."""
    return x.dtype.name if isinstance(x, Values) else f"Python {type(x).__name__}"


def sources_of(slots: Iterable[Any]) -> list[Source | None]:
    """Return what made the arrays that carry these."""
    return [each.source if isinstance(each, Produced) else None for each in slots]


# -- implicit widening ----------------------------------------------------------------------------


def _widening(met: Met) -> int:
    """The bytes that a promotion makes more of than its float data have; 0 if it widens none."""
    if not met.operation or not met.results or met.before is not None:
        return 0
    result = met.results[0]
    arrays = [x for x in met.operands if isinstance(x, Values)]
    floats = [x for x in arrays if x.dtype.kind in INEXACT and x.array.ndim]
    if len({x.dtype for x in arrays}) < 2 or not floats or not result.array.ndim:
        return 0
    data = max(floats, key=lambda x: (x.array.size, -x.dtype.bits))
    if result.dtype.kind is not data.dtype.kind or result.dtype.bits <= data.dtype.bits:
        return 0
    return int(result.array.size * (result.dtype.bits - data.dtype.bits) // 8)


_ONCE_MORE = "so large integers it does not take once more, to see whether they wrap"
_SAMPLED = "of so large an array some elements are looked at, evenly; --all looks at every one"


# -- the same in more digits ----------------------------------------------------------------------


def _unstable(made: Values, beside: Values, ulps: float) -> Iterator[Loss]:
    got = made.array.astype(np.float64)
    exact = beside.array.astype(np.float64)
    with np.errstate(all="ignore"):
        off = np.abs(got - exact) / _spacing(exact, made)
        bad = np.isfinite(exact) & (off > ulps)
    count = int(bad.sum())
    if count:
        index = tuple(int(n) for n in np.argwhere(bad)[0])
        example = Example(index, (), f"{exact[index]:.6g}", f"{got[index]:.6g}")
        worst = float(np.max(np.where(bad, off, 0)))
        far = "beyond its range" if math.isinf(worst) else f"off by up to {worst:.3g} ulp"
        yield Loss(UNSTABLE, count, int(got.size), example, note=far)


def _spacing(exact: Any, made: Values) -> Any:
    """The distance of neighbours in the dtype of a result, at exact values."""
    form = made.dtype.format
    assert form is not None
    lowest = 1 - form.bias
    exponent = np.maximum(np.frexp(np.where(np.isfinite(exact), exact, 1.0))[1] - 1, lowest)
    return np.ldexp(1.0, exponent - form.mantissa)
