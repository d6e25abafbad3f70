"""What a test must not do: ``--pa-fail-on``. Told with the line of the program first."""

from __future__ import annotations

import ast
import linecache
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from types import FrameType
from typing import Any, NamedTuple

from promoarray import dtypes as dt
from promoarray.console import listed
from promoarray.core.array_base import storage_dtype
from promoarray.core.call_site import Site, of_library, of_promoarray, sites
from promoarray.core.escape import Escape
from promoarray.core.observers import Observer, OperationEvent, SetitemEvent, observing
from promoarray.diagnostics.shadow.divergence import Divergence
from promoarray.diagnostics.shadow.observer import DEFAULT, shadowed
from promoarray.diagnostics.shadow.place import edits, spelled
from promoarray.diagnostics.shadow.report import Report
from promoarray.dtypes import WEAK, DType
from promoarray.errors import clipped, suggestion
from promoarray.promotion.in_force import get_policy
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy

KINDS = {
    "float64": "casts to float64 or complex128 that nobody wrote",
    "bits": "casts whose values differ under another policy",
    "escape": "arrays that leave the policy, as by np.asarray, other than for an assertion",
    "refuse": "operations that another policy refuses",
    "root": "operations to which another policy gives another dtype",
}
_SHADOWED = frozenset({"bits", "refuse", "root"})
_MOST = 10
"""So many places are told."""


class Finding(NamedTuple):
    """One thing that a test must not do, and where it does it.

    Attributes
    ----------
    kind : str
    program, site : Site
        The line of the program, and of the library that it called; mostly the same.
    said : tuple of str
        What happens there, and what to write.
    """

    kind: str
    program: Site
    site: Site
    said: tuple[str, ...]

    def lines(self) -> Iterator[str]:
        """Yield it as text, the line of the program first."""
        first, *more = self.said
        program = self.program
        yield f"{program.path}: {program.expression or program.text}: {first}"
        if self.site != program:
            yield f"    in {self.site.path}: {self.site.expression or self.site.text}"
        yield from (f"    {line}" for line in more)


def check(kinds: Iterable[str]) -> tuple[str, ...]:
    """Return what tests must not do, each once.

    Raises
    ------
    ValueError
        If there is no such thing.
    """
    for kind in kinds:
        if kind not in KINDS:
            raise ValueError(f"there is no {clipped(kind)!r}. {suggestion(kind, list(KINDS))}")
    return tuple(dict.fromkeys(kinds))


def message(found: list[Finding], kinds: tuple[str, ...]) -> str:
    """Return what was found as the message of a failure."""
    lines = [line for each in found[:_MOST] for line in each.lines()]
    if len(found) > _MOST:
        lines.append(f"and {len(found) - _MOST} more places")
    failing = [kind for kind in kinds if any(each.kind == kind for each in found)]
    meant = "; ".join(f"{kind}: {KINDS[kind]}" for kind in failing)
    return "\n".join([*lines, f"(--pa-fail-on {meant})"])


@contextmanager
def watched(kinds: tuple[str, ...], policies: tuple[Policy, ...]) -> Iterator[list[Finding]]:
    """Find what a test does in a block and must not; the list is filled when the block ends.

    Parameters
    ----------
    kinds : tuple of str
    policies : tuple of Policy
        Those of the run, with which the policy in force is compared.
    """
    found: list[Finding] = []
    run = get_policy()
    others = tuple(p for p in policies if p is not run)
    others = others or tuple(p for p in map(as_policy, DEFAULT) if p is not run)
    watch, report = _Watch(frozenset(kinds)), None
    try:
        with ExitStack() as stack:
            stack.enter_context(observing(watch, everywhere=True))
            if _SHADOWED & set(kinds):
                report = stack.enter_context(shadowed(others, everywhere=True))
            yield found
    finally:
        found += watch.found.values()
        if report is not None:
            found += _of_report(report, kinds)


class _Watch(Observer):
    """Notes what happens under the test's own policy, a place once."""

    def __init__(self, kinds: frozenset[str]) -> None:
        self.found: dict[tuple[object, ...], Finding] = {}
        self._float64, self._escapes = "float64" in kinds, "escape" in kinds

    def on_operation(self, event: OperationEvent) -> None:
        if not self._float64:
            return
        given = [storage_dtype(x) for x in event.operands if type(x) not in WEAK]
        pairs = zip(event.operands, event.plan.inputs, strict=True)
        cast = [
            storage_dtype(x) for x, target in pairs if type(x) not in WEAK and _widened(x, target)
        ]
        made = storage_dtype(event.result)
        if not cast and (made not in _WIDE or not given or any(d in _WIDE for d in given)):
            return
        target = made if made in _WIDE else _WIDE[0]
        self._note(event.name, cast or given, target, event.policy)

    def on_setitem(self, assignment: SetitemEvent) -> None:
        source, target = assignment.source, assignment.dtype
        if self._float64 and target in _WIDE and source not in _WIDE and not source.weak:
            self._note("assignment", [source], target, assignment.policy)

    def on_escape(self, escape: Escape) -> None:
        if not self._escapes or escape.scalar or _for_assertion(escape):
            return
        to = f" to {escape.consumer}" if escape.consumer else ""
        said = f"{escape.what} leaves the policy by {escape.how}{to}"
        key = escape.site, escape.inside, escape.channel, escape.dtype
        self.found.setdefault(key, Finding("escape", escape.site, escape.inside, (said,)))

    def _note(self, name: str, given: list[DType], target: DType, policy: Policy) -> None:
        site, program = sites()
        was = listed(dict.fromkeys(dtype.name for dtype in given))
        said = f"{was} becomes {target.name} ({name} under {policy.name})"
        self.found.setdefault((site, program, said), Finding("float64", program, site, (said,)))


_WIDE = (dt.float64, dt.complex128)


def _widened(x: Any, target: DType) -> bool:
    return target in _WIDE and storage_dtype(x) not in _WIDE


def _of_report(report: Report, kinds: tuple[str, ...]) -> Iterator[Finding]:
    """Yield what another policy would do otherwise."""
    for divergence in report.roots:
        for kind, refuses in (("refuse", True), ("root", False)):
            said = tuple(_told(divergence, refuses)) if kind in kinds else ()
            if said:
                yield Finding(kind, divergence.program, divergence.site, said)
    if "bits" in kinds:
        for change in report.value_changes:
            place = change.place
            first, *more = change.said()
            said = (f"{change.cast}: {first}", *more)
            yield Finding("bits", place.program, place.site, said)


def _told(divergence: Divergence, refuses: bool) -> Iterator[str]:
    """Say what the policies that refuse, or that do not, answer at a place, and what to write."""
    groups: dict[tuple[str, str], list[str]] = {}
    for name, answer in divergence.answers.items():
        if answer.origin == "root" and (answer.dtype is None) is refuses:
            groups.setdefault((str(answer), answer.reason), []).append(name)
    run = next(iter(divergence.answers.values()))
    asked = spelled(divergence)
    for (made, reason), names in groups.items():
        if refuses:
            yield f"{asked} is refused by {listed(names)}: {reason}"
        else:
            yield f"{asked} is {made} under {listed(names)}, {run} in the run"
    named = {name for names in groups.values() for name in names}
    for edit, names in edits(divergence).items():
        if named & set(names):
            yield f"write {edit}  for {listed(n for n in names if n in named)}"


def _for_assertion(escape: Escape) -> bool:
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
