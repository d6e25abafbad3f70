"""Refusals of a run: what the policies would have done in its place, and what stopped it."""

from __future__ import annotations

from pathlib import Path

from promoarray.core.call_site import Site, entries_of, of_promoarray, sites
from promoarray.core.events import RefusalEvent
from promoarray.core.refusals import cast_refusal
from promoarray.diagnostics.ask.foreign import as_entered
from promoarray.diagnostics.ask.operations import words_of
from promoarray.diagnostics.edits.occurrences import Asked
from promoarray.diagnostics.edits.planner import after_refusal
from promoarray.diagnostics.edits.recovery import recovery
from promoarray.diagnostics.model.divergence import Answer, Divergence
from promoarray.diagnostics.model.noted import Refused, Stopped
from promoarray.diagnostics.model.slots import as_seen_by, not_stored, result_of
from promoarray.errors import PromotionError
from promoarray.promotion.plan import Refusal
from promoarray.promotion.policy import Policy


def stopped_of(
    run: Policy,
    policies: tuple[Policy, ...],
    error: BaseException,
    said: str,
    site: Site | None,
    last: Refused | None,
) -> Stopped:
    """Tell what stopped a program under a policy: ``said`` is the error as a traceback ends,
    ``site`` the line that it came from, ``last`` the last operation that the run refused."""
    causes: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in causes:
        causes.append(cause)
        cause = cause.__cause__ or cause.__context__
    refused = last if last and any(_telling(each) == last.error for each in causes) else None
    if refused is None and isinstance(error, PromotionError) and error.operation == "astype":
        refused = _cast(error, policies, site)
    first = run.name if refused is None else next(iter(refused.place.answers))
    return Stopped(first, said, site, refused, _raised_in(error))


def _raised_in(error: BaseException) -> str:
    """The file that raised an error, but for those of promoarray and of NumPy."""
    frames = [entry.tb_frame for entry in entries_of(error.__traceback__)]
    files = [frame.f_code.co_filename for frame in frames if not of_promoarray(frame)]
    return next((each for each in reversed(files) if "numpy" not in Path(each).parts), "")


def refused_of(
    event: RefusalEvent,
    policies: tuple[Policy, ...],
    framework: str = "",
    error: Exception | None = None,
) -> Refused:
    """Ask every policy what it would have done in place of a refusal; of a recorded program in the
    words of its framework, which raised an error."""
    site, program = sites()
    refusal, operands = event.refusal, tuple(map(str, event.seen))
    found = recovery(event)
    mine = Answer(None, refusal.reason, "", operands)
    others = {p.name: _answer(p, event) for p in policies if p.name != event.policy.name}
    answers = {event.policy.name: mine, **others}
    place = Divergence(site, program, event.name, operands, answers, 1, event.form, framework)
    asked = Asked(event.name, event.form, event.seen, (), event.seen[0].type)
    edit = ""
    if found and site == program:
        edit = after_refusal(site, asked, found.casts, found.result, framework)
    said = error or refusal.error
    telling = (said and str(said)) or (event.name, event.seen, refusal.reason)
    return Refused(place, edit, ("error", telling))


def _telling(error: BaseException) -> tuple[object, ...]:
    if isinstance(error, PromotionError):
        return "error", (error.operation, error.operands, error.reason)
    return "error", str(error)


def _answer(policy: Policy, event: RefusalEvent) -> Answer:
    """A policy's answer with the types it has seen so far."""
    if event.name == "setitem":
        seen = tuple(as_seen_by(policy, x) for x in event.operands)
        why = not_stored(policy, seen, event.operands[1])
        return Answer(None if why else policy.strong(seen[0].type), why, "", words_of(seen))
    _, seen, decided = as_entered(policy, event)
    result = result_of(decided)
    if isinstance(result, Refusal):
        return Answer(None, result.reason, "", words_of(seen))
    return Answer(policy.strong(result), "", "", words_of(seen))


def _cast(error: PromotionError, policies: tuple[Policy, ...], site: Site | None) -> Refused:
    """An explicit cast that was refused, of which nothing but the dtypes is known."""
    source, target = (operand.type for operand in error.operands)
    names = str(error.operands[0]), str(error.operands[1])
    answers = {error.policy.name: Answer(None, error.reason, "", names)}
    for policy in policies:
        why = cast_refusal(policy, policy.strong(source), target)
        answers.setdefault(policy.name, Answer(None if why else target, why, "", names))
    at = site or Site("<unknown>", 0, -1, "", "")
    return Refused(Divergence(at, at, "astype", names, answers), "", _telling(error))
