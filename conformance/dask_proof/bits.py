"""Elementwise operations and casts of random operands under every policy, bit by bit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import dask
import numpy as np

import promoarray as pa
from dask_proof.arrays import DTYPES, blocks_of, difference, eager, lazy, random_values
from promoarray.policies import as_policy, list_policies

BINARY = (
    *("add", "subtract", "multiply", "divide", "floor_divide", "remainder", "pow"),
    *("equal", "less", "maximum", "logical_or", "bitwise_and", "atan2", "where"),
)
UNARY = ("exp", "sqrt", "abs", "negative", "round", "isnan", "real", "reciprocal")
SCALARS = (True, 2, -1, 1.5, 300, 2**40, 1 + 2j)
SHAPES = ((4, 6), (6,), (4, 1), ())


class Case(NamedTuple):
    """A function of arrays, and their values.

    Attributes
    ----------
    said : str
    function : callable
    values : tuple
        Of (NumPy's storage, dtype).
    """

    said: str
    function: Callable[..., Any]
    values: tuple[Any, ...]


class Tally(NamedTuple):
    """What became of cases."""

    equal: int
    refused: int
    differing: tuple[str, ...]

    @property
    def total(self) -> int:
        """All of them."""
        return self.equal + self.refused + len(self.differing)

    def __add__(self, other: Any) -> Tally:
        return Tally(*(a + b for a, b in zip(self, other, strict=True)))


NONE = Tally(0, 0, ())


def policies() -> list[str]:
    """Every policy, of ONNX's opsets only the default."""
    names = (name for name in list_policies() if not name.startswith("onnx@"))
    return [*names, as_policy("onnx").name]


def elementwise(rng: np.random.Generator, count: int) -> Iterator[Case]:
    """Operations on arrays, 0-d arrays and Python scalars."""
    for _ in range(count):
        first, second = (DTYPES[i] for i in rng.integers(0, len(DTYPES), 2))
        x = random_values(rng, SHAPES[0], first), first
        if rng.random() < 0.2:
            name = str(rng.choice(UNARY))
            yield Case(f"{name}({first})", getattr(pa, name), (x,))
            continue
        name = str(rng.choice(BINARY))
        function = (lambda a, b: pa.where(a == a, a, b)) if name == "where" else getattr(pa, name)
        if rng.random() < 0.3:
            scalar = SCALARS[rng.integers(len(SCALARS))]
            yield Case(f"{name}({first}, {scalar})", _with(function, scalar), (x,))
            continue
        shape = SHAPES[rng.integers(len(SHAPES))]
        y = random_values(rng, shape, second), second
        yield Case(f"{name}({first}, {second}{list(shape)})", function, (x, y))


def _with(function: Callable[..., Any], scalar: Any) -> Callable[..., Any]:
    return lambda x: function(x, scalar)


def casts(rng: np.random.Generator) -> Iterator[Case]:
    """Every dtype to every other."""
    for source in DTYPES:
        values = random_values(rng, (3, 8), source), source
        for target in DTYPES:
            yield Case(f"{source} to {target}", _to(target), (values,))


def _to(target: Any) -> Callable[..., Any]:
    return lambda x: pa.astype(x, target)


def tallied(cases: Iterator[Case], policy: Any, batch: int = 400) -> Tally:
    """Run cases under a policy in memory and in blocks, many in one computation.

    Parameters
    ----------
    cases : iterable of Case
    policy : str or Policy
    batch : int
        Results that are computed together.
    """
    tally, waiting = NONE, []
    with pa.policy(policy), np.errstate(all="ignore"):
        for case in cases:
            want, got = (_answer(case, make) for make in (_in_memory, _in_blocks))
            if isinstance(got, Exception):
                tally += _refused(case, want, got)
                continue
            waiting.append((case, want, got))
            if len(waiting) == batch:
                tally, waiting = tally + _computed(waiting), []
        return tally + _computed(waiting)


def _answer(case: Case, make: Callable[..., Any]) -> Any:
    try:
        return case.function(*(make(*each) for each in case.values))
    except (TypeError, ValueError, OverflowError, ZeroDivisionError) as error:
        return error


def _in_memory(values: Any, dtype: Any) -> Any:
    return eager(values, dtype)


def _in_blocks(values: Any, dtype: Any) -> Any:
    return lazy(values, dtype, (*(-(-n // 2) for n in values.shape[:1]), *values.shape[1:]))


def _refused(case: Case, want: Any, got: Exception) -> Tally:
    if type(want) is type(got) and _reason(case, want) == _reason(case, got):
        return Tally(0, 1, ())
    return Tally(0, 0, (f"{case.said}: {type(got).__name__}: {got}, not {want!r}",))


def _reason(case: Case, error: Exception) -> str:
    """What an error says: without the cast that it proposes where that may hang on a value, which
    is not computed for a refusal."""
    unread = pa.get_policy().by_value and any(not values.shape for values, _ in case.values)
    return str(error).partition(" Write ")[0] if unread else str(error)


def _computed(waiting: list[tuple[Case, Any, Any]]) -> Tally:
    """Compute what neither run has refused at once, and the rest one by one."""
    tally = NONE
    there = [each for each in waiting if not isinstance(each[1], Exception)]
    answers = dask.compute(*(blocks_of(got) for _, _, got in there))
    for (case, want, got), codes in zip(there, answers, strict=True):
        wrong = difference(want, got, codes)
        tally += Tally(0, 0, (f"{case.said}: {wrong}",)) if wrong else Tally(1, 0, ())
    for case, want, got in waiting:  # what looks at values is refused when they are computed
        if isinstance(want, Exception):
            try:
                blocks_of(got).compute()
            except Exception as error:
                tally += _refused(case, want, error)
            else:
                tally += Tally(0, 0, (f"{case.said}: an answer, not {want!r}",))
    return tally
