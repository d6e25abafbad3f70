"""Root causes that many places share, and that one edit of the program mends.

Three sorts of places have no cause of their own. A dtype that a policy never holds, as JAX without
x64 holds no float64, differs wherever such data come to it; if it is the run's, every other policy
differs there. And where a program makes an array and names no dtype, it has the default one.
"""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from os.path import basename
from typing import Any

from promoarray.console import listed
from promoarray.core.call_site import Site, source_of
from promoarray.diagnostics.findings.results import Results
from promoarray.diagnostics.model.divergence import ASKED_DTYPE, DEFAULT_DTYPE, ENTRY, Divergence
from promoarray.diagnostics.spans import name_of, path_of
from promoarray.promotion.policy import Policy

ENABLED = {"jax@x32": 'jax.config.update("jax_enable_x64", True), which is jax@x64'}
"""From a policy that holds less than its framework can to what makes it hold all."""

MOST_PLACES = 12
"""So many places are named."""

NEVER_HELD, NARROWED, DEFAULT = "never held", "narrowed by the run", "default dtype"

_WHAT = {
    NEVER_HELD: "{of} holds no {before_or}, and makes {after} of them",
    NARROWED: "{of} holds no {before_or}, and makes {after} of such data",
    DEFAULT: "arrays made with no dtype named have the default one: {before} in the run, {after} "
    "under other policies",
}

Origin = tuple[tuple[object, ...], str]
"""A place, by its key, and a policy that is a root there."""


def places_in_words(places: Sequence[str]) -> str:
    """Name places, each file once: "train.py:35, 36 and 4 more"."""
    by_file: dict[str, list[str]] = {}
    for place in places[:MOST_PLACES]:
        file, _, line = place.rpartition(":")
        by_file.setdefault(file, []).append(line)
    named = [f"{file}:{', '.join(lines)}" for file, lines in by_file.items()]
    return first_of([*named, *places[MOST_PLACES:]], len(named))


def first_of(places: Sequence[str], most: int = MOST_PLACES) -> str:
    """Places in a row, and of many how many more there are."""
    more = len(places) - most
    return ", ".join(places[:most]) + (f" and {more} more" if more > 0 else "")


@dataclass
class SharedCause:
    """One cause of many places."""

    kind: str  # ``NEVER_HELD``, ``NARROWED`` or ``DEFAULT``
    of: str  # the policy that holds less
    policies: dict[str, None] = field(default_factory=dict)  # those it is a root for, as keys
    dtypes: dict[str, str] = field(default_factory=dict)  # from those that are said to what becomes
    # of default dtypes: from each place to its edit; "" where that cannot be written
    edits: dict[Site, str] = field(default_factory=dict)
    count: int = 0  # how often the places were passed
    _lines: dict[tuple[str, int], Site] = field(default_factory=dict)
    _counted: set[tuple[object, ...]] = field(default_factory=set)

    @property
    def edited_at_each(self) -> bool:
        """Whether each place has an edit of its own, in place of one for all of them."""
        return self.kind == DEFAULT

    def add(self, place: Divergence, policy: str) -> None:
        """Add what a policy answers at a place."""
        before, after = str(next(iter(place.answers.values()))), str(place.answers[policy])
        if self.kind == NARROWED:
            before, after = place.operands[0].removesuffix("[]"), str(place.answers[self.of])
        self.policies[policy] = None
        self.dtypes[before] = after
        self._lines[place.program.file, place.program.line] = place.program
        if self.edited_at_each:
            fix = place.answers[policy].fix
            self.edits[place.site] = fix.text if fix else ""
        if place.key not in self._counted:
            self._counted.add(place.key)
            self.count += place.count

    @property
    def what(self) -> str:
        """The cause in words."""
        before, after = self._names
        words = {"before": listed(before), "before_or": listed(before, "or")}
        return _WHAT[self.kind].format(of=self.of, after=listed(after), **words)

    @property
    def write(self) -> str:
        """The edit."""
        after, enabled = listed(self._names[1]), ENABLED.get(self.of, "")
        if self.kind == NEVER_HELD:
            casts = f"cast to {after} where such data first come in"
            return f"{enabled}; or {casts}" if enabled else casts
        if self.kind == NARROWED:
            casts = f"cast to {after} where they are made, which all policies keep"
            return f"{casts}; or {enabled} and keeps them as they are" if enabled else casts
        first = next(filter(None, self.edits.values()), "")
        if len(self.edits) == 1:
            return first
        return " ".join(filter(None, ("the dtype in each line", f"({first})" * bool(first))))

    @property
    def _names(self) -> tuple[list[str], list[str]]:
        """The dtypes, and what becomes of them, in one order."""
        before, after = zip(*sorted(self.dtypes.items()), strict=True)
        return [*before], [*dict.fromkeys(after)]

    @property
    def places(self) -> list[str]:
        """The lines of the program, with their files: "train.py:12"; with the folders of those
        that have a name in common."""
        names = Counter(basename(file) for file in {file for file, _ in self._lines})
        sites = (site for _, site in sorted(self._lines.items()))
        return [name_of(s) if names[basename(s.file)] == 1 else path_of(s) for s in sites]

    def to_dict(self) -> dict[str, Any]:
        """Return it as data."""
        return {
            "policies": [*self.policies],
            "cause": self.what,
            "edit": self.write,
            "places": self.places,
            "count": self.count,
        }

    def words(self) -> str:
        """Cause, places and edit in a sentence."""
        return f"{self.what} ({places_in_words(self.places)}); write {self.write}"


@dataclass
class SharedCauses:
    """The shared causes of a report."""

    found: list[SharedCause] = field(default_factory=list)  # those of default dtypes last
    # from a place and a policy to the cause that they have from there
    of: dict[Origin, SharedCause] = field(default_factory=dict)

    def has(self, place: Divergence, policy: str) -> bool:
        """Whether what a policy answers at a place has a shared cause."""
        return (place.key, policy) in self.of

    def edited_at_each(self, place: Divergence, policy: str) -> bool:
        """Whether the cause that a place shares has an edit at each of its places."""
        cause = self.of.get((place.key, policy))
        return cause is not None and cause.edited_at_each

    def leaves_root(self, place: Divergence) -> bool:
        """Whether a place is a root for a policy that shares its cause with no other place."""
        answers = place.answers.items()
        return any(a.origin == "root" and not self.has(place, name) for name, a in answers)


def shared_causes(report: Results) -> SharedCauses:
    """Find the causes that the places of a report share."""
    by_key: dict[Hashable, SharedCause] = {}
    causes, by_name = SharedCauses(), {policy.name: policy for policy in report.policies}
    roots = (
        (place, by_name[name])
        for place in report.divergences
        for name, answer in place.answers.items()
        if answer.origin == "root" and name in by_name
    )
    for place, policy in roots:
        found = _cause(place, policy)
        if found:
            kind, of, *alike = found
            cause = by_key.setdefault((kind, of, *alike), SharedCause(kind, of))
            cause.add(place, policy.name)
            causes.of[place.key, policy.name] = cause
    causes.found = sorted(by_key.values(), key=lambda cause: cause.kind == DEFAULT)
    return causes


def _cause(place: Divergence, policy: Policy) -> tuple[str, ...]:
    """The kind of cause that a place may share, whose it is, and what places of it have in common;
    () if it has one of its own."""
    (name, mine), theirs = next(iter(place.answers.items())), place.answers[policy.name].dtype
    run = mine.dtype
    if run is None or theirs is None:
        return ()
    if policy.canonical.get(run) is theirs:
        return NEVER_HELD, policy.name
    if place.name in (ENTRY, ASKED_DTYPE) and place.framework:
        return NARROWED, name
    if place.name == DEFAULT_DTYPE and place.program == place.site:
        alike = (name for name, answer in place.answers.items() if answer.dtype is theirs)
        return DEFAULT, place.framework, run.name, theirs.name, *alike
    return ()


# -- the reach of a root -----------------------------------------------------------------------


Spot = tuple[str, str | int]
"""What a value comes to: a statement, by file and line; a name, by file or function; what a
function returns."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


def reached(divergences: Iterable[Divergence]) -> Counter[Spot]:
    """Count what the roots of each line, by file and number, feed: the pairs of a place that
    inherits and a policy, those of each root added."""
    every = list(divergences)
    flow = _Flow(sorted({d.program.file for d in every}))
    inheriting: dict[Spot, Counter[str]] = defaultdict(Counter)
    for each in every:
        inherits = (name for name, answer in each.answers.items() if answer.origin == "inherits")
        inheriting[flow.statement(_line(each))].update(inherits)
    found: Counter[Spot] = Counter()
    for root in every:
        policies = [name for name, answer in root.answers.items() if answer.origin == "root"]
        spots = flow.reached_from(flow.statement(_line(root))) if policies else set()
        counts = [inheriting[spot] for spot in spots & inheriting.keys()]
        found[_line(root)] += sum(count[policy] for count in counts for policy in policies)
    return found


def _line(place: Divergence) -> Spot:
    return place.program.file, place.program.line


class _Flow:
    """Where the values of some files go."""

    def __init__(self, files: list[str]) -> None:
        self._edges: dict[Spot, set[Spot]] = defaultdict(set)
        self._statements: dict[Spot, Spot] = {}
        trees = {file: _parsed(file) for file in files}
        nodes = [node for tree in trees.values() for node in ast.walk(tree)]
        named = [node for node in nodes if isinstance(node, Function)]
        self._functions = {node.name: node for node in reversed(named)}  # of one name the first
        for file, tree in trees.items():
            self._add(file, file, tree.body, frozenset())
            for node in ast.walk(tree):
                if isinstance(node, Function):
                    self._add(file, node.name, node.body, _local(node))

    def statement(self, at: Spot) -> Spot:
        """Return the statement that a line is one of."""
        return self._statements.get(at, at)

    def reached_from(self, start: Spot) -> set[Spot]:
        """Return all that a value comes to."""
        seen: set[Spot] = set()
        waiting = [start]
        while waiting:
            spot = waiting.pop()
            if spot not in seen:
                seen.add(spot)
                waiting += self._edges.get(spot, ())
        return seen

    def _add(self, file: str, scope: str, body: list[ast.stmt], local: frozenset[str]) -> None:
        """Add the statements of a function, or of a file, whose names are its own."""
        for statement in _statements(body):
            here = file, statement.lineno
            for line in range(statement.lineno, (statement.end_lineno or statement.lineno) + 1):
                self._statements[file, line] = here  # those inside it come after it
            if isinstance(statement, ast.Return):
                self._edges[here].add(("return of", scope))
            for node in _expressions(statement):
                self._add_call(node, here)
                if isinstance(node, (ast.Yield, ast.YieldFrom)):
                    self._edges[here].add(("return of", scope))
                for name in _names(node):
                    spot = (scope if name in local else file), name
                    self._add_name(spot, here, node, statement)

    def _add_name(self, name: Spot, here: Spot, node: ast.AST, statement: ast.stmt) -> None:
        stored = not isinstance(getattr(node, "ctx", None), ast.Load)
        if stored:
            self._edges[here].add(name)
        if not stored or isinstance(statement, ast.AugAssign):
            self._edges[name].add(here)

    def _add_call(self, node: ast.AST, here: Spot) -> None:
        """Add a call of one of the program's own functions."""
        if isinstance(node, ast.Call) and isinstance(node.func, (ast.Name, ast.Attribute)):
            name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
            if name in self._functions:
                self._edges["return of", name].add(here)
                for parameter in _parameters(self._functions[name]):
                    self._edges[here].add((name, parameter))


def _parsed(file: str) -> ast.Module:
    try:
        return ast.parse(source_of(file))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module([], [])


def _parameters(function: Function) -> list[str]:
    given = function.args
    return [each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)]


def _local(function: Function) -> frozenset[str]:
    nodes = (node for node in ast.walk(function) if isinstance(node, ast.Name))
    stored = {node.id for node in nodes if isinstance(node.ctx, ast.Store)}
    return frozenset({*stored, *_parameters(function)})


def _statements(body: Iterable[ast.AST]) -> Iterator[ast.stmt]:
    """Yield statements, and those inside them, but for the bodies of functions."""
    for node in body:
        if isinstance(node, ast.stmt) and not isinstance(node, Function):
            yield node
        if not isinstance(node, Function):
            yield from _statements(filter(_holds_statements, ast.iter_child_nodes(node)))


def _expressions(statement: ast.stmt) -> Iterator[ast.AST]:
    """Yield the parts of a statement that are no statements."""
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += (n for n in ast.iter_child_nodes(node) if not _holds_statements(n))


def _holds_statements(node: ast.AST) -> bool:
    return isinstance(node, (ast.stmt, ast.ExceptHandler, ast.match_case))


def _names(node: ast.AST) -> Iterator[str]:
    """Yield the name that a part of a statement reads or assigns; of ``x[i] = y`` that of x."""
    match node:
        case ast.Name(id=name):
            yield name
        case ast.Attribute(attr=name):
            yield f".{name}"
        case ast.Subscript(value=value, ctx=ast.Store()):
            yield from _names(value)
