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


class DefaultMade(NamedTuple):
    """An array made of Python numbers, with no dtype named.

    Attributes
    ----------
    weak : DType
        Of the numbers.
    lone : bool
        Whether it was made of one number alone.
    """

    weak: DType
    lone: bool


class Defaults(NamedTuple):
    """What the policies make of it.

    Attributes
    ----------
    answers : mapping of str to Answer
        Of the run and of each policy.
    differs : bool
        Whether they give several dtypes, or some hold the array weakly.
    weak : DType
        Of the Python numbers.
    lone : bool
        Whether the array was made of one number alone.
    slot : DType or TypeRecord
        What the array carries.
    """

    answers: Mapping[str, Answer]
    differs: bool
    weak: DType
    lone: bool
    slot: DType | TypeRecord

    @property
    def operands(self) -> tuple[str, ...]:
        """The type of the numbers in words."""
        return (str(Operand(self.weak, Rank.SCALAR)),)

    @property
    def event(self) -> DefaultMade:
        """How the array was made."""
        return DefaultMade(self.weak, self.lone)


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
    slot = record(dtype, kept)
    return Defaults({run.name: mine, **answers}, differ or slot is not dtype, weak, lone, slot)
