"""The default dtype that each policy gives an array that is made of Python numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from promoarray import dtypes as dt
from promoarray.diagnostics.shadow.divergence import Answer
from promoarray.diagnostics.shadow.fixes import Fix
from promoarray.diagnostics.shadow.slots import record
from promoarray.dtypes import DType
from promoarray.promotion.plan import Operand, Rank
from promoarray.promotion.policy import Policy

if TYPE_CHECKING:
    from promoarray.core.array_base import TypeRecord


class Defaults(NamedTuple):
    """What the policies make of it.

    Attributes
    ----------
    answers : mapping of str to Answer, or None
        Of the run and of each policy; None where all give one dtype.
    operands : tuple of str
    slot : DType or TypeRecord
        What the array carries.
    """

    answers: Mapping[str, Answer] | None
    operands: tuple[str, ...]
    slot: DType | TypeRecord


def defaults(
    policies: tuple[Policy, ...], run: Policy, weak: DType, dtype: DType, lone: bool
) -> Defaults:
    """Return what the policies make of Python numbers with no dtype named.

    Parameters
    ----------
    policies : tuple of Policy
    run : Policy
    weak : DType
        What the numbers are.
    dtype : DType
        What the run gave the array.
    lone : bool
        Whether it was made of one number alone.
    """
    mine = Answer(run.strong(weak), "", "", ())
    answers = {p.name: Answer(p.strong(weak), "", "", ()) for p in policies if p.name != run.name}
    differ = any(answer.dtype is not mine.dtype for answer in answers.values())
    other: Any = {"origin": "root", "fix": Fix(made=mine.dtype)}
    for name, answer in answers.items():
        if answer.dtype is not mine.dtype:
            answers[name] = replace(answer, **other)
    stays = lone and weak is not dt.weak_bool  # JAX: a lone number stays weak, a list does not
    kept = {p.name: weak if stays and p.weak_arrays else p.strong(weak) for p in policies}
    told = {run.name: mine, **answers} if differ else None
    return Defaults(told, (str(Operand(weak, Rank.SCALAR)),), record(dtype, kept))
