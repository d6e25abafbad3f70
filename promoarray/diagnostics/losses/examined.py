"""The one question that the checks ask: what did an operation, or a cast, lose?

Nothing here knows of programs, places or thresholds: arrays come in, losses come out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from functools import cache
from typing import Any

from promoarray.diagnostics.losses import casts, floats, integers
from promoarray.diagnostics.losses.elements import (
    ALL,
    MOST,
    NO_OPTIONS,
    Operand,
    Scope,
    Values,
    counts,
)
from promoarray.diagnostics.model.lost import DIGITS, NAN, OVERFLOW, UNDERFLOW, WRAP, Loss
from promoarray.dtypes import INEXACT, INTEGERS
from promoarray.operations import OPERATIONS, STANDS_FOR, Family

__all__ = [
    "ALL",
    "MOST",
    "NO_OPTIONS",
    "Operand",
    "Values",
    "absorbed",
    "born",
    "lost",
    "lost_in_cast",
]

_PROMOTES = {
    name
    for name, row in OPERATIONS.items()
    if row.family
    in (
        *(Family.ARITHMETIC, Family.DIVIDE, Family.FLOOR_DIVIDE, Family.POW, Family.MATMUL),
        *(Family.FLOAT_BINARY, Family.FLOAT_UNARY, Family.EXTREMUM, Family.WHERE, Family.CLIP),
        Family.CONCAT,
    )
}
"""Operations that compute in the dtype of the result."""


def lost(
    operation: str,
    operands: Sequence[Operand],
    result: Values,
    *,
    options: Mapping[str, Any] = NO_OPTIONS,
    kinds: Set[str] = ALL,
    bound: int | None = MOST,
    brief: Set[str] = frozenset(),
    counted: tuple[int, ...] | None = None,
) -> Iterator[Loss]:
    """Yield what an operation lost, a loss of each kind.

    Parameters
    ----------
    operation : str
        A name of ``operations.py``. Of names that are not known Inf and NaN are told, as by
        ``born``.
    operands : sequence of Operand
        Arrays as they were before, and Python numbers as the program has them.
    result : Values
    options : mapping
        Of reductions ``axis``, ``keepdims``, ``include_initial``; of ``diff`` ``n`` and ``axis``;
        of ``tensordot`` ``axes``. Where ``axis`` is not told, the shapes are asked.
    kinds : set of str
        Kinds of losses that are asked for.
    bound : int or None
        Of results with more elements some are examined, if the operation goes by elements.
    brief : set of str
        Kinds that are counted alone, as words were told before: their losses have neither an
        example nor ranges, a note or a dtype.
    counted : tuple of int, optional
        What ``counts`` has answered of the result, if it was asked.

    Yields
    ------
    Loss
        integer-wrap; overflow, nan-born, underflow; digits-lost of an operand that was cast to the
        dtype of the result: there ``Example.index`` and ``given`` are of the operand.
    """
    dtype = result.dtype
    found: list[Loss] = []
    if dtype.kind in INTEGERS and WRAP in kinds:
        how = options, Scope(kinds, bound, brief)
        found = integers.wrapped(_usual(operation, operands), operands, result, *how)
    elif dtype.kind in INEXACT:
        nan, inf, zero, subnormal, _ = counted or counts(result)
        if nan or inf:
            asked = {
                kind for kind, count in ((OVERFLOW, inf), (NAN, nan)) if count and kind in kinds
            }
            how = options, Scope(asked, bound, brief)
            found = floats.born(_usual(operation, operands), operands, result, *how)
        if (zero or subnormal) and UNDERFLOW in kinds:
            scope = Scope(kinds, bound, brief)
            found += floats.too_small(_usual(operation, operands), operands, result, scope)
        if operation in _PROMOTES and DIGITS in kinds:
            for operand in operands:
                if isinstance(operand, Values) and operand.dtype is not dtype:
                    found += casts.in_promotion(operand, dtype, Scope(kinds, bound, brief))
    return iter(found)


def _usual(operation: str, operands: Sequence[Operand]) -> str:
    """The operation, or "" if that many operands are those of some other function."""
    return operation if len(operands) == (_arity(operation) or len(operands)) else ""


@cache
def _arity(operation: str) -> int:
    """How many operands an operation has; 0 if that is not told."""
    if operation not in OPERATIONS and operation not in STANDS_FOR:
        return 0
    row = OPERATIONS[operation]
    return 0 if row.family is Family.WHERE else row.arity


def born(
    operands: Sequence[Operand],
    results: Sequence[Values],
    *,
    kinds: Set[str] = ALL,
    bound: int | None = MOST,
    brief: Set[str] = frozenset(),
) -> Iterator[Loss]:
    """Yield the Inf and NaN that any function gave while no operand has one.

    Inf counts where all elements of all operands are finite, and NaN where none is NaN.

    Parameters
    ----------
    operands : sequence of Operand
    results : sequence of Values
    kinds, bound, brief
        As in ``lost``.

    Yields
    ------
    Loss
        overflow and nan-born, of the first result that has each.
    """
    wanted = set(kinds)
    for result in results:
        if result.dtype.kind not in INEXACT or not any(counts(result)[:2]):
            continue
        for loss in floats.born("", operands, result, NO_OPTIONS, Scope(wanted, bound, brief)):
            wanted.discard(loss.kind)
            yield loss


def lost_in_cast(
    source: Operand,
    result: Values,
    *,
    kinds: Set[str] = ALL,
    bound: int | None = MOST,
    brief: Set[str] = frozenset(),
) -> Iterator[Loss]:
    """Yield what a cast, a conversion or an assignment lost, a loss of each kind.

    Parameters
    ----------
    source : Operand
        What was cast; of an assignment it may be broadcast.
    result : Values
        What came of it.
    kinds, bound, brief
        As in ``lost``.

    Yields
    ------
    Loss
        cast-out-of-range, an imaginary part that is dropped among it; underflow; digits-lost.
    """
    return iter(casts.losses(source, result, Scope(kinds, bound, brief)))


def absorbed(
    before: Values,
    update: Operand,
    result: Values,
    *,
    subtracted: bool = False,
    bound: int | None = MOST,
    brief: Set[str] = frozenset(),
) -> Loss | None:
    """Return the updates that changed nothing though they are not zero; None if there are none.

    Parameters
    ----------
    before : Values
    update : Operand
        What was added to it, or subtracted.
    result : Values
    subtracted : bool
        Whether it was subtracted, for the exact result of the example.
    bound, brief
        As in ``lost``.

    Returns
    -------
    Loss or None
        ``of`` counts the elements whose update is not zero.
    """
    scope = Scope(ALL, bound, brief)
    return floats.absorbed(before, update, result, scope, -1 if subtracted else 1)
