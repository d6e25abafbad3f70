"""The default dtype that each policy gives an array that is made of Python numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from promoarray import dtypes as dt
from promoarray.diagnostics.calls.examined import made_dtype
from promoarray.diagnostics.model.divergence import Answer
from promoarray.diagnostics.model.slots import record
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
    function : str
        The framework's function that made it; "" where that says no more.
    """

    weak: DType
    lone: bool
    function: str = ""

    def dtype(self, policy: Policy) -> DType:
        """The dtype that the policy's framework makes there."""
        return made_dtype(self.function, _LIKE[self.weak.code], policy)


_LIKE = {"b*": False, "i*": 0, "f*": 0.0, "c*": 0j}


class Defaults(NamedTuple):
    """What the policies make of it.

    Attributes
    ----------
    answers : mapping of str to Answer
        Of the run and of each policy.
    differs : bool
        Whether they give several dtypes, or some hold the array weakly.
    event : DefaultMade
        How the array was made.
    slot : DType or TypeRecord
        What the array carries.
    """

    answers: Mapping[str, Answer]
    differs: bool
    event: DefaultMade
    slot: DType | TypeRecord

    @property
    def operands(self) -> tuple[str, ...]:
        """The type of the numbers in words."""
        return (str(Operand(self.event.weak, Rank.SCALAR)),)


def defaults(
    policies: tuple[Policy, ...], run: Policy, made: DefaultMade, dtype: DType
) -> Defaults:
    """Return what the policies make of Python numbers with no dtype named.

    Parameters
    ----------
    policies : tuple of Policy
    run : Policy
    made : DefaultMade
    dtype : DType
        What the run gave the array.
    """
    weak, mine = made.weak, Answer(run.strong(dtype), "", "", ())
    dtypes = {p.name: made.dtype(p) for p in policies}
    answers = {name: Answer(own, "", "", ()) for name, own in dtypes.items() if name != run.name}
    differ = any(answer.dtype is not mine.dtype for answer in answers.values())
    for name, answer in answers.items():
        if answer.dtype is not mine.dtype:
            answers[name] = replace(answer, origin="root")
    stays = made.lone and weak is not dt.weak_bool  # JAX: a lone number stays weak, a list does not
    kept = {p.name: weak if stays and p.weak_arrays else dtypes[p.name] for p in policies}
    slot = record(dtype, kept)
    return Defaults({run.name: mine, **answers}, differ or slot is not dtype, made, slot)
