"""Updates of what lasts from pass to pass, and what they come to where they change nothing."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from promoarray.diagnostics.losses.examined import Operand, Values, absorbed
from promoarray.diagnostics.model.flow import Source
from promoarray.diagnostics.model.lost import Loss
from promoarray.diagnostics.record.flow import Produced
from promoarray.diagnostics.record.met import Met
from promoarray.dtypes import DType, Kind, float64


class _Run(NamedTuple):
    """Passes that changed nothing: some elements, and what was added to each since it is that."""

    number: int  # of the last pass
    values: np.ndarray[Any, Any]
    sums: np.ndarray[Any, Any]


class Updates:
    """What was added at each line to what lasts from pass to pass."""

    def __init__(self) -> None:
        self._targets: dict[Any, dict[int, weakref.ref[Any]]] = {}
        self._runs: dict[Any, _Run] = {}
        self._moved: dict[Any, tuple[int, float]] = {}

    def stand_still(self, met: Met) -> bool:
        """Return whether most elements of what is accumulated are what they were."""
        before = accumulated(met)
        if before is None or not self.persists(met):
            return False
        still = is_as_before(before, met.results[0])
        if not still:
            self._moves(met, before)
        return still

    def _moves(self, met: Met, before: Values) -> None:
        """Note how far the first passes move what is accumulated."""
        key, result = (met.name, met.place), met.results[0]
        passes, most = self._moved.get(key, (0, 0.0))
        if passes < _FIRST and before.array.shape == result.array.shape:
            new, old = _some(result, result.array.shape), _some(before, result.array.shape)
            far = np.max(np.abs(new - old), initial=most, where=np.isfinite(new) & np.isfinite(old))
            self._moved[key] = passes + 1, float(far)

    def persists(self, met: Met) -> bool:
        """Return whether an operation in place writes into an array that it has written before.

        What is made anew in every pass is no accumulator, as what Adam adds its epsilon to.
        """
        if met.target is None:
            return True
        seen = self._targets.setdefault((met.name, met.place), {})
        known = seen.get(id(met.target))
        if known is not None and known() is met.target:
            return True
        if len(seen) >= _MOST_TARGETS:
            seen.clear()
        seen[id(met.target)] = weakref.ref(met.target)
        return False

    def lost(self, met: Met, number: int, bound: int | None, times: int = 1) -> Loss | None:
        """Return the updates of a pass that change nothing, if most of them do not.

        It stands for so many passes (``times``).
        """
        before = accumulated(met)
        if before is None or not (self.stand_still(met) if met.still is None else met.still):
            return None
        found = None
        for some in _parts(met):
            old = accumulated(some)
            assert old is not None
            found = absorbed(old, _update(some), some.results[0], bound=bound)
            if found is None or 2 * found.count <= found.of:
                return None
        heavy = self._weight(met, before, number, times)
        last = np.max(np.abs(_some(_update(met), met.results[0].array.shape)), initial=0.0)
        _, most = self._moved.get((met.name, met.place), (0, 0.0))
        arrays = len(self._targets.get((met.name, met.place), ()))
        return found and replace(
            found, weight=heavy, arrays=arrays, vanishes=bool(_VANISHED * last <= most)
        )

    def _weight(self, met: Met, before: Values, number: int, times: int) -> float:
        """What updates that change nothing come to, were they added up first.

        They are counted in halves of the last digit of what they are added to, for as long as that
        stays what it is: a sum that begins anew has lost nothing to those before. Of many elements
        some are looked at.
        """
        result = met.results[0]
        values, made = (_some(x, result.array.shape) for x in (before, result))
        update = _some(_update(met), result.array.shape)
        sums = np.where((values == made) & np.isfinite(update), update, 0.0)
        source = (
            met.sources[met.fed] if met.fed is not None and met.fed < len(met.sources) else None
        )
        key = met.name, met.place, id(met.target) if met.target is not None else source
        last = self._runs.get(key)
        if last is not None and last.values.shape == values.shape:
            follows = values.size > 1 or met.target is not None or number <= last.number + times
            goes_on = follows & (last.values == values)
            sums = np.where(goes_on, last.sums + times * sums, sums)
        if len(self._runs) >= _MOST_TARGETS:
            self._runs.clear()
        self._runs[key] = _Run(number, values, sums)
        heavy = weight(sums, values, result.dtype)
        if name_of(met) == "lerp":  # which comes to its end, and no further
            end = _some(met.operands[1], result.array.shape)
            far = weight(end - values, values, result.dtype)
            heavy = min(heavy, far) if is_much(far, result.dtype) else 0.0
        return heavy


def weight(sums: Any, values: Any, dtype: DType) -> float:
    """Return the most that sums are of half a digit of the numbers they were to be added to."""
    assert dtype.format is not None
    digit = np.ldexp(1.0, np.frexp(values)[1] - 2 - dtype.format.mantissa)
    return float(np.max(np.abs(sums) / digit, initial=0.0))


def is_much(weight: float, dtype: DType) -> bool:
    """Return whether halves of a digit reach into the first two thirds of the digits."""
    assert dtype.format is not None
    return weight >= 2 * 2 ** (dtype.format.mantissa / 3)


def _some(x: Operand, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Some elements of an operand, evenly, in float64."""
    array = np.broadcast_to(np.asarray(x.array if isinstance(x, Values) else x), shape).reshape(-1)
    return array[:: max(array.size // _IN_A_RUN, 1)].astype(np.float64)


_IN_A_RUN = 64
_FIRST = 8
_VANISHED = 1000
"""So much smaller than the first updates are those of what has converged."""


def fed(sources: Sequence[Source | None], made: Any, also: Collection[Source] = ()) -> int | None:
    """Return which operand is what the same line has made before that makes an array now.

    It may have been scaled or cast since then, as an average is that is kept from pass to pass.
    What the line has made besides, in a function that was compiled, is ``also``.
    """
    if not isinstance(made, Produced):
        return None
    every = (made.source, *also)
    for n, x in enumerate(sources[:2]):
        if x in every:
            return n
    return next(
        (n for n, x in enumerate(sources[:2]) if any(leads_to(made, x, own) for own in every)), None
    )


def leads_to(made: Produced, source: Source | None, own: Source) -> bool:
    """Return whether what was made before goes into an operand by products and casts alone."""
    for _ in range(_STEPS):
        if source is None:
            return False
        operation = made.flow.makers.get(source[0])
        if operation is None or operation.name not in _SCALES:
            return False
        every = [x for each in operation.sources for x in each]
        if own in every:
            return True
        source = every[0] if len(every) == 1 else None
    return False


_STEPS = 3
_SCALES = frozenset({"multiply", "divide", "astype"})


def accumulated(met: Met) -> Values | None:
    """Return what is accumulated, as it was before something is added; None if nothing is.

    It is what an operation in place writes over, or what the same line has made in the pass before.
    """
    if name_of(met) not in UPDATES or not met.results:
        return None
    if met.results[0].dtype.kind is not Kind.FLOAT:
        return None
    if met.before is not None:
        return met.before
    if met.fed is None or (met.fed and met.operation != "add"):
        return None
    x = met.operands[met.fed] if met.fed < len(met.operands) else None
    return x if isinstance(x, Values) else None


def is_as_before(before: Values, result: Values) -> bool:
    """Return whether most elements are what they were; of many some are looked at, evenly."""
    if before.array.shape != result.array.shape:
        return False
    if before.dtype is not result.dtype:
        return False
    word, step = f"u{result.array.itemsize}", max(result.array.size // _LOOKED_AT, 1)
    old, new = before.array.reshape(-1)[::step], result.array.reshape(-1)[::step]
    return bool(2 * np.count_nonzero(old.view(word) == new.view(word)) > old.size)


def _parts(met: Met) -> Iterator[Met]:
    """An update of many elements first for some of them, evenly, then as it is."""
    result = met.results[0].array
    step = result.size // _LOOKED_AT

    def part(x: Any) -> Any:
        if not isinstance(x, Values) or x.array.shape != result.shape:
            return x
        return Values(x.array.reshape(-1)[::step], x.dtype)

    arrays = [x.array for x in met.operands if isinstance(x, Values)]
    if step > 1 and all(x.shape == result.shape or not x.ndim for x in arrays):
        operands, results = list(map(part, met.operands)), list(map(part, met.results))
        yield replace(met, operands=operands, results=results, before=part(met.before))
    yield met


_LOOKED_AT = 1 << 12
_MOST_TARGETS = 1 << 12


def _update(met: Met) -> Operand:
    """What is added to it."""
    return met.operands[0] if met.fed else UPDATES[name_of(met)](met)


def name_of(met: Met) -> str:
    """Return the name that tells whether an operation is an update."""
    return met.operation or met.name.rstrip("_")


def _added(met: Met) -> Operand:
    alpha = met.options.get("alpha", 1)
    return met.operands[1] if alpha == 1 else _wide(alpha * _decoded(met.operands[1]))


def _scaled(met: Met) -> Operand:
    first, second = (_decoded(x) for x in met.operands[1:3])
    value = met.options.get("value", 1)
    return _wide(value * (first / second if met.name.startswith("addcdiv") else first * second))


def _interpolated(met: Met) -> Operand:
    before = _decoded(met.operands[0] if met.before is None else met.before)
    end, weight = (_decoded(x) for x in met.operands[1:3])
    return _wide(weight * (end - before))


UPDATES: Mapping[str, Callable[[Met], Operand]] = {
    "add": _added,
    "subtract": _added,
    "sub": _added,
    "addcmul": _scaled,
    "addcdiv": _scaled,
    "lerp": _interpolated,
}
"""What an operation adds to its first operand."""


def _decoded(x: Operand) -> Any:
    if not isinstance(x, Values):
        return x
    return x.array.astype(np.float64)


def _wide(x: Any) -> Operand:
    return Values(np.asarray(x, np.float64), float64)
