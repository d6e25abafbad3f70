"""Shadow policies: one run, every policy's answer.

The program runs under one policy. Beside its own type, every array carries what each shadow policy
would have made of it; the record rides in the array's type slot, so arrays that no policy disputes
carry nothing. At each operation every shadow policy is asked for its plan with the types *it* has
seen so far. Where the answers part the place is noted, and for each policy whether it is a root (it
treats the operands it sees otherwise than the run's policy would) or inherits an earlier parting.

What a shadow run cannot see: branches on values, and code that reads ``x.dtype``, follow the run.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from promoarray import _apply
from promoarray import dtypes as dt
from promoarray._apply import Event
from promoarray._refusal import accepted_cast
from promoarray._report import Report
from promoarray._sites import Site, here
from promoarray.array import PArray
from promoarray.dtypes import WEAK, DType
from promoarray.policies.plans import Operand, Rank, Refusal
from promoarray.policies.policy import Policy
from promoarray.policies.registry import as_policy, get_policy


class Shadowed:
    """A type slot's record: the run's dtype, and what each shadow policy has instead."""

    __slots__ = ("answers", "dtype")

    def __init__(self, dtype: DType, answers: dict[str, DType]) -> None:
        self.dtype = dtype
        self.answers = answers


@dataclass(frozen=True, slots=True)
class Answer:
    """What one policy says at one place.

    Attributes
    ----------
    dtype : DType or None
        None where it refuses.
    reason : str
        Why it refuses.
    origin : str
        ``""`` where it agrees with the run; ``"root"`` where the run's policy would answer
        otherwise for the operands this one sees; ``"inherits"`` where it would answer the same,
        so that only the operands differ.
    operands : tuple of str
        The operands' dtypes as this policy sees them.
    """

    dtype: DType | None
    reason: str
    origin: str
    operands: tuple[str, ...]

    def __str__(self) -> str:
        return self.dtype.name if self.dtype else "refuses"


@dataclass(slots=True)
class Parting:
    """One place and operation at which the policies' answers part.

    Attributes
    ----------
    site : Site
    name : str
        The operation.
    operands : tuple of str
        The operands' dtypes in the run.
    answers : dict
        From policy name to Answer, the run's first.
    count : int
        How often the place was passed with these answers.
    """

    site: Site
    name: str
    operands: tuple[str, ...]
    answers: dict[str, Answer]
    count: int = 1

    @property
    def root(self) -> bool:
        """Whether some policy parts here for the first time."""
        return any(answer.origin == "root" for answer in self.answers.values())


@dataclass(eq=False)
class Shadow:
    """The watcher of a shadow run."""

    policies: tuple[Policy, ...]
    partings: dict[Any, Parting] = field(default_factory=dict)
    operations: int = 0

    def made(self, weak: DType, result: PArray, lone: bool) -> None:
        """Note what default dtype each policy gives Python numbers."""
        self.operations += 1
        run = result._policy or get_policy()
        answers = {p.name: Answer(p.strong(weak), "", "", ()) for p in self.policies}
        mine = Answer(run.strong(weak), "", "", ())
        self._note("default dtype", run, mine, answers, (str(Operand(weak, Rank.SCALAR)),))
        stays = lone and weak is not dt.weak_bool  # JAX: a lone number stays weak, a list does not
        kept = {p.name: weak if stays and p.weak_arrays else p.strong(weak) for p in self.policies}
        self._label(result, _apply.type_of(result._type), kept)

    def saw(self, event: Event) -> None:
        """Ask every shadow policy what it would have done."""
        self.operations += 1
        inplace = event.operands and event.result is event.operands[0]
        answers, kept = {}, {}
        for policy in self.policies:
            answer, label = _ask(policy, event, bool(inplace))
            answers[policy.name], kept[policy.name] = answer, label
        result = event.policy.strong(event.plan.result)
        mine = Answer(result, "", "", tuple(map(str, event.seen)))
        self._note(event.name, event.policy, mine, answers, mine.operands)
        self._label(event.result, event.plan.result, kept)

    def refused(
        self, name: str, policy: Policy, seen: tuple[Operand, ...], refusal: Refusal
    ) -> None:
        """Leaves the run's own refusals to the program."""

    def _note(
        self,
        name: str,
        run: Policy,
        mine: Answer,
        answers: dict[str, Answer],
        operands: tuple[str, ...],
    ) -> None:
        if all(answer.dtype is mine.dtype for answer in answers.values()):
            return
        if name == "default dtype":
            answers = {
                n: a if a.dtype is mine.dtype else replace(a, origin="root")
                for n, a in answers.items()
            }
        everyone = {run.name: mine, **{n: a for n, a in answers.items() if n != run.name}}
        site = here()
        key = site, name, operands, tuple(a.dtype for a in everyone.values())
        if key in self.partings:
            self.partings[key].count += 1
        else:
            self.partings[key] = Parting(site, name, operands, everyone)

    def _label(self, result: PArray, label: DType, kept: dict[str, DType]) -> None:
        """Let an array carry the answers, if any differs from the run's."""
        disputed = {name: dtype for name, dtype in kept.items() if dtype is not label}
        result._type = Shadowed(label, disputed) if disputed else label


def _ask(policy: Policy, event: Event, inplace: bool) -> tuple[Answer, DType]:
    """A policy's answer with the types it has seen, and the type it carries on with."""
    seen = tuple(_as_seen_by(policy, x) for x in event.operands)
    decided = _decide(policy, event, seen, inplace)
    run = event.policy.strong(event.plan.result)
    names = tuple(map(str, seen))
    if isinstance(decided, Refusal):
        reason, answer, carried = decided.reason, None, _after_refusal(policy, event.name, seen)
    else:
        reason, answer, carried = "", policy.strong(decided), decided
    origin = "" if answer is run else _origin(policy, answer, event, inplace)
    return Answer(answer, reason, origin, names), carried or run


def _origin(policy: Policy, answer: DType | None, event: Event, inplace: bool) -> str:
    """Whether the run's own rule would answer the same, given the operands this policy sees."""
    seen = tuple(_as_seen_by(policy, x, event.policy) for x in event.operands)
    decided = _decide(event.policy, event, seen, inplace)
    agreed = None if isinstance(decided, Refusal) else event.policy.strong(decided)
    return "inherits" if agreed is answer else "root"


def _decide(
    policy: Policy, event: Event, operands: tuple[Operand, ...], inplace: bool
) -> DType | Refusal:
    plan = (policy.plan_inplace if inplace else policy.plan)(event.name, operands)
    if isinstance(plan, Refusal):
        return plan
    rule = policy.scalars.rule(event.name)
    for x, dtype in zip(event.operands, plan.inputs, strict=True):
        if type(x) is int:
            try:
                rule(x, dtype)
            except OverflowError as error:
                return Refusal(str(error))
    return plan.result


def _after_refusal(policy: Policy, name: str, seen: tuple[Operand, ...]) -> DType | None:
    """What the result would be had the user cast as the error message says."""
    cast = accepted_cast(policy, name, seen)
    return cast[2].result if cast else None


def _as_seen_by(policy: Policy, x: Any, asked: Policy | None = None) -> Operand:
    """An operand with the type ``policy`` has given it so far, described to ``asked``."""
    asked = asked or policy
    operand = _apply.describe(x, asked)
    if type(x) in WEAK:
        return operand
    label = x._type
    dtype = operand.type
    if type(label) is Shadowed:
        dtype = label.answers.get(policy.name, label.dtype)
    if dtype.weak and not asked.weak_arrays:
        dtype = policy.strong(dtype)
    return replace(operand, type=dtype)


@contextmanager
def shadow(*policies: str | Policy) -> Iterator[Report]:
    """Run a block under the policy in force, and hear what the others would have done.

    Parameters
    ----------
    *policies : str or Policy
        The shadow policies; by default one of every framework.

    Yields
    ------
    Report
        Filled as the block runs; print it, or ask ``partings``, ``to_dict()``, ``to_html()``.

    Notes
    -----
    After a refusal a shadow policy goes on as if the user had cast as its error message says, so
    that later roots still show.
    """
    chosen = tuple(as_policy(p) for p in policies or DEFAULT)
    watcher = Shadow(chosen)
    with _apply.watching(watcher):
        yield Report(get_policy(), chosen, watcher)


DEFAULT = ("numpy", "numpy@1", "jax", "torch", "tensorflow", "paddle", "aclnn", "onnx")
"""The policies asked when none are named: each framework's default, and NumPy before NEP 50."""
