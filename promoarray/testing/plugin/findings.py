"""``--pa-fail-on``: findings that fail a test, told with the line of the program first."""

from __future__ import annotations

import ast
import linecache
import re
import sys
from collections.abc import Collection, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from types import FrameType
from typing import Any

from promoarray import dtypes as dt
from promoarray.console import listed
from promoarray.core.array_base import storage_dtype
from promoarray.core.call_site import of_library, of_promoarray, sites
from promoarray.core.escape import Escape
from promoarray.core.events import Observer, OperationEvent, SetitemEvent
from promoarray.core.observers import observing
from promoarray.diagnostics.ask.observer import DEFAULT, shadowed
from promoarray.diagnostics.findings.classify import comments_in
from promoarray.diagnostics.findings.results import Finding, findings, of_escape
from promoarray.diagnostics.model import kinds
from promoarray.diagnostics.render.words import Place, by_place
from promoarray.diagnostics.render.words import message as in_words
from promoarray.dtypes import WEAK, DType
from promoarray.errors import clipped, suggestion
from promoarray.promotion.in_force import get_policy
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy

FLOAT64, ESCAPE = "float64", "escape"
"""What is seen of the run alone; the rest is what other policies would do."""

KINDS = {FLOAT64: "a cast to float64 or complex128 that nobody wrote"}
KINDS |= {name: kind.words for name, kind in kinds.KINDS.items()}
"""What can be found, in words."""

SELECTORS = (FLOAT64, *kinds.SELECTORS)
"""What ``--pa-fail-on`` takes: those, and what ``promoarray compare --fail-on`` takes besides."""

_MOST = 10
"""So many places are told."""


def check(names: Collection[str]) -> frozenset[str]:
    """Return what tests must not do.

    Raises
    ------
    ValueError
        If there is no such thing.
    """
    for name in names:
        if name not in SELECTORS:
            near = suggestion(name, list(SELECTORS))
            raise ValueError(f"there is no {clipped(name)!r}. {near}")
    return kinds.selected(names) | ({FLOAT64} if kinds.ANY in names else set())


def message(found: list[Place]) -> str:
    """Return what was found as the message of a failure."""
    lines = [line for place in found[:_MOST] for line in _lines(place)]
    if len(found) > _MOST:
        lines.append(f"and {len(found) - _MOST} more places")
    failing = [kind for kind in KINDS if any(place[0].kind == kind for place in found)]
    meant = "; ".join(f"{kind}: {KINDS[kind]}" for kind in failing)
    return "\n".join([*lines, f"(--pa-fail-on {meant})"])


def _lines(place: Place) -> Iterator[str]:
    first = place[0]
    said = first.what if first.kind == FLOAT64 else in_words(place)
    yield f"{first.place.path}: {first.source}: {said}"
    if first.inside:
        yield f"    in {first.inside.path}: {first.inside.expression or first.inside.text}"


@contextmanager
def watched(fail_on: frozenset[str], policies: tuple[Policy, ...]) -> Iterator[list[Place]]:
    """Find what a test does in a block and must not; the list is filled when the block ends.

    Parameters
    ----------
    fail_on : frozenset of str
        From ``check``.
    policies : tuple of Policy
        Those of the run, with which the policy in force is compared.
    """
    found: list[Place] = []
    run = get_policy()
    others = tuple(p for p in policies if p is not run)
    others = others or tuple(p for p in map(as_policy, DEFAULT) if p is not run)
    watch, report = _Watch(fail_on), None
    try:
        with ExitStack() as stack:
            stack.enter_context(observing(watch, everywhere=True))
            if fail_on - {FLOAT64, ESCAPE}:
                report = stack.enter_context(shadowed(others, everywhere=True))
            yield found
    finally:
        every = list(watch.found)
        if report is not None:
            every += (each for each in findings(report) if each.kind != ESCAPE)
        found += by_place(_counting(every, fail_on))


def _counting(every: Iterable[Finding], fail_on: frozenset[str]) -> list[Finding]:
    """Those of the findings that are asked for, and that no comment has ignored."""
    asked = [each for each in every if not fail_on.isdisjoint(each.names)]
    comments = comments_in({each.place.file for each in asked})
    return [each for each in asked if not any(comment.covers(each) for comment in comments)]


class _Watch(Observer):
    """Notes what happens under the test's own policy, a place once, in the order of the run."""

    def __init__(self, fail_on: frozenset[str]) -> None:
        self.found: dict[Finding, None] = {}
        self._float64, self._escapes = FLOAT64 in fail_on, ESCAPE in fail_on

    def on_operation(self, event: OperationEvent) -> None:
        """Note arrays that are cast to float64, and results that are it while no operand is."""
        if not self._float64:
            return
        pairs = zip(event.operands, event.plan.inputs, strict=True)
        arrays = [(storage_dtype(x), target) for x, target in pairs if type(x) not in WEAK]
        cast = [given for given, target in arrays if target in _WIDE and given not in _WIDE]
        given = [dtype for dtype, _ in arrays]
        made = storage_dtype(event.result)
        if cast:
            self._note(event.name, cast, made if made in _WIDE else _WIDE[0], event.policy)
        elif made in _WIDE and given and not any(dtype in _WIDE for dtype in given):
            self._note(event.name, given, made, event.policy)

    def on_setitem(self, assignment: SetitemEvent) -> None:
        """Note arrays that are assigned to a float64 array."""
        policy, _, _, source, target, _ = assignment
        if self._float64 and target in _WIDE and source not in _WIDE and not source.weak:
            self._note("assignment", [source], target, policy)

    def on_escape(self, escape: Escape) -> None:
        """Note arrays that leave the policy, but into assertions."""
        if self._escapes and not escape.scalar and not for_assertion(escape):
            self.found.setdefault(of_escape(escape, 1, get_policy().name))

    def _note(self, name: str, given: list[DType], target: DType, policy: Policy) -> None:
        site, program = sites()
        names = tuple(dict.fromkeys(dtype.name for dtype in given))
        become = "become" if len(names) > 1 else "becomes"
        what = f"{listed(names)} {become} {target.name} ({name} under {policy.name})"
        inside = None if site == program else site
        run = policy.name
        self.found.setdefault(
            Finding(FLOAT64, False, run, program, inside, what, name, names, run, target.name)
        )


_WIDE: tuple[Any, ...] = (dt.float64, dt.complex128)


# --- Assertions, into which data may leave --------------------------------------------------------


def for_assertion(escape: Escape) -> bool:
    """Whether an assertion takes the data: then nothing is computed with it any more.

    That is a statement of the program that asserts and takes it itself, or a function that asserts,
    of the program or of a library that the program called.
    """
    if not escape.consumer and escape.site.line in _assertions(escape.site.file):
        return True
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and of_promoarray(frame):
        frame = frame.f_back
    while frame is not None:
        if _ASSERTS.match(frame.f_code.co_name) or frame.f_globals.get("__name__") in _APPROX:
            return True
        if not of_library(frame):
            return False
        frame = frame.f_back
    return False


_ASSERTS = re.compile(r"(?!test)(\w*_)?assert", re.IGNORECASE)
"""The names of functions that assert: ``assertEqual``, ``assert_allclose``, ``xp_assert_close``."""

_APPROX = ("_pytest.approx", "_pytest.python_api")
"""Where ``pytest.approx`` is; the latter before pytest 9."""


@lru_cache(maxsize=256)
def _assertions(file: str) -> frozenset[int]:
    """The lines of a file in which something is asserted."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    return frozenset(
        line
        for node in ast.walk(tree)
        if isinstance(node, ast.Assert) or (isinstance(node, ast.Expr) and _asserts(node.value))
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    )


def _asserts(value: ast.expr) -> bool:
    """Whether an expression calls a function that asserts."""
    if not isinstance(value, ast.Call):
        return False
    called = value.func
    name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
    return _ASSERTS.match(name) is not None
