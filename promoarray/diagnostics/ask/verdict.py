"""Verdict on one thing that a program does: every answer, and what follows from it.

It hangs on the types and ranks of the operands, and on the class of Python scalars; so it is asked
for once for all things that are alike in these (``kind_of``).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any, NamedTuple

from promoarray.core.events import SetitemEvent
from promoarray.core.operands import is_left_lazy, looked_on
from promoarray.diagnostics.model.abstract_array import AbstractArray
from promoarray.diagnostics.model.asking import not_stored
from promoarray.diagnostics.model.divergence import Answer
from promoarray.diagnostics.model.scalar_class import scalar_class
from promoarray.diagnostics.model.slots import ShadowDTypes, as_seen_by
from promoarray.diagnostics.model.value_changes import Difference
from promoarray.dtypes import WEAK, DType
from promoarray.operations import Form
from promoarray.promotion.plan import Operand
from promoarray.promotion.policy import Policy


class ScalarChange(NamedTuple):
    """A Python scalar of which some policies make another number than the run."""

    source: DType
    target: DType
    difference: Difference


class Verdict(NamedTuple):
    """What the policies say of one thing that a program does.

    Attributes
    ----------
    name : str
        The operation.
    operands : tuple of str
        The operands' dtypes in the run.
    answers : dict
        From policy name to Answer, the run's first; of the first result that differs.
    slots : tuple
        For each result what its type slot bears.
    event : object
        What was done, without data (``Divergence.event``).
    form : Form
    noted : bool
        Whether its place is noted.
    lasting : bool
        Whether it holds for scalars of the same class: a reason may name the value.
    signatures : tuple of (str, str)
        The policies whose framework's function takes no such call, and why.
    scalars : tuple of ScalarChange
        The Python scalars of which some policies make another number.
    assumes : tuple of str
        The policies that answer otherwise of other values of a lazy 0-d array.
    carried : mapping
        Of a dtype that is asked for: what the policies go on with.
    held : object
        What has to live as long, for it is known by its address.
    """

    name: str
    operands: tuple[str, ...]
    answers: Mapping[str, Answer]
    slots: tuple[DType | ShadowDTypes, ...] = ()
    event: Any = None
    form: Form = Form.OPERATOR
    noted: bool = True
    lasting: bool = True
    signatures: tuple[tuple[str, str], ...] = ()
    scalars: tuple[ScalarChange, ...] = ()
    assumes: tuple[str, ...] = ()
    carried: Mapping[str, DType] = {}
    held: object = None

    @property
    def differs(self) -> bool:
        """Whether some policy gives another dtype, or refuses."""
        return len({answer.dtype for answer in self.answers.values()}) > 1


def kind_of(x: Any, by_value: bool) -> Hashable:
    """Return what operands have in common of which every policy says the same.

    Parameters
    ----------
    x : Array, Python scalar or DType
    by_value : bool
        Whether some policy looks at the values of 0-d arrays.
    """
    if isinstance(x, DType):
        return id(x)  # one that was read equals the run's, whatever the policies have
    if type(x) in WEAK:
        return scalar_class(x)
    flat = not x._buffer.ndim
    return x._type, flat, scalar_class(looked_on(x)) if flat and by_value else None


def words_of(operands: Iterable[object]) -> tuple[str, ...]:
    """Return operands in words."""
    return tuple(map(str, operands))


def others(policies: tuple[Policy, ...], run: Policy) -> list[Policy]:
    """Return the policies but the run's."""
    return [policy for policy in policies if policy.name != run.name]


def without_data(x: Any, by_value: bool) -> Any:
    """Return what stands for an operand; of a 0-d array with its value, if that is looked at."""
    if type(x) in WEAK:
        return x
    ndim = x._buffer.ndim
    if ndim or not by_value:
        return AbstractArray.of(x._type, ndim)
    known = x.has_value if isinstance(x, AbstractArray) else not is_left_lazy(x)
    return AbstractArray.of_value(x._type, looked_on(x), known)


def assignment_verdict(
    policies: tuple[Policy, ...], assignment: SetitemEvent, by_value: bool
) -> Verdict:
    """Ask every policy whether it would have written a value.

    It takes the dtype of its target everywhere, so that no dtype differs here.
    """
    run, target, value, source, dtype = assignment
    names = words_of((Operand(dtype), Operand(source)))
    answers = {run.name: Answer(dtype, "", "", names)}
    for policy in others(policies, run):
        seen = as_seen_by(policy, target), as_seen_by(policy, value)
        why = not_stored(policy, seen, value)
        made = None if why else policy.strong(seen[0].type)
        answers[policy.name] = Answer(made, why, "root" if why else "", words_of(seen))
    lasting = all(answer.dtype for answer in answers.values())  # else a reason may name the value
    given = without_data(target, False), without_data(value, by_value)
    event = assignment._replace(target=given[0], value=given[1])
    return Verdict("setitem", names, answers, event=event, lasting=lasting)
