"""The program's side of ``promoarray bisect``: some lines run under another policy than the rest.

Every operation asks for the policy in force where it is not bound to one. While a trial runs, the
default of the process is asked of the trial, which looks at the line of the program that led there.
As the trial observes the process, no operation takes the fast path, which would not ask.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from promoarray.console import visible
from promoarray.core.call_site import program_site, shortened
from promoarray.core.events import OperationEvent
from promoarray.diagnostics.model.final import final_of
from promoarray.diagnostics.model.values import distance
from promoarray.diagnostics.run.program import Ended
from promoarray.diagnostics.run.task import Probe
from promoarray.dtypes import DType
from promoarray.operations import OPERATIONS, operation
from promoarray.promotion import in_force
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy
from promoarray.promotion.rules import PromotionRule

EXPRESSION = "--expr"
"""What stands for a file where the expression itself computes."""

Line = tuple[str, int]
"""A file, and the number of a line of it."""


class Seen(NamedTuple):
    """What a trial has seen."""

    value: Any  # of the expression, as plain data
    error: str  # why it has none; else ""
    lines: dict[Line, str]  # every line that asked for a policy, with its text
    # the operations that were carried out, each after its line
    operations: frozenset[tuple[Line, str]]


@dataclass(eq=False)
class Trial(Probe):
    """Runs some lines under a policy that has some rules of another."""

    # the two policies' names
    before: str
    after: str
    expression: str  # what to evaluate at the end, among the program's globals
    lines: frozenset[Line] | None = None  # the lines; None for all of them
    # the rules, as ``rules.mixed`` takes them; None for all of them
    rules: tuple[str, ...] | None = None

    def begin(self) -> None:
        """Have the policy in force looked up by line."""
        self._before, after = as_policy(self.before), as_policy(self.after)
        self._other = after if self.rules is None else mixed(self._before, after, self.rules)
        self._seen: dict[Line, str] = {}
        self._operations: set[tuple[Line, str]] = set()
        in_force.process_default = self._in_force

    def on_operation(self, event: OperationEvent) -> None:
        """Note which operations there are, and where."""
        self._operations.add((self._line(), event.name))

    def ended(self, names: dict[str, Any]) -> Seen:
        """Evaluate the expression."""
        value, error = None, ""
        try:
            value = plain(eval(compile(self.expression, EXPRESSION, "eval"), names))
        except Exception as failed:
            error = f"{type(failed).__name__}: {failed}"
        return Seen(value, error, self._seen, frozenset(self._operations))

    def _line(self) -> Line:
        site = program_site()
        line = site.file, site.line
        self._seen.setdefault(line, site.text)
        return line

    def _in_force(self) -> Policy:
        line = self._line()
        return self._other if self.lines is None or line in self.lines else self._before


class Run(NamedTuple):
    """One run of the program."""

    ended: Ended
    seen: Seen
    why: str = ""  # why there is no final value; "" if there is

    @classmethod
    def of(cls, ended: Ended) -> Run:
        """Return how a run ended, with what its trial has seen."""
        own = ended.findings[0] if ended.findings else None
        seen: Seen | None = own.probed[0] if own and own.probed else None
        why = "the program computed nothing with promoarray"
        if ended.status:
            at = f" at {ended.where}" if ended.where else ""
            why = f"the program stopped{at}: {ended.why}"
        elif seen is not None:
            why = f"the expression failed: {seen.error}" if seen.error else ""
        return cls(ended, seen or Seen(None, "", {}, frozenset()), why)


# -- final values ------------------------------------------------------------------------------


_NUMBERS = (bool, int, float, complex, np.ndarray)


def plain(value: Any) -> Any:
    """Return a value as data that another process reads: numbers, NumPy's arrays, or text."""
    kind = type(value)
    if kind in (list, tuple):
        return [plain(each) for each in value]
    if kind is dict:
        return {str(key): plain(each) for key, each in value.items()}
    if issubclass(kind, (bool, int, float, complex, str)):
        return value.item() if issubclass(kind, np.generic) else value
    final = final_of(value)
    if final is None or final.values is None or final.values.dtype.kind not in "biufc":
        return repr(value)
    return final.values if final.shape else final.values.item()


def same(a: Any, b: Any, tolerance: float = 0.0) -> bool:
    """Whether two values are the same, numbers within a relative tolerance; NaN is itself."""
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(same(x, y, tolerance) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key], tolerance) for key in a)
    if not (isinstance(a, _NUMBERS) and isinstance(b, _NUMBERS)):
        return bool(type(a) is type(b) and a == b)
    if np.shape(a) != np.shape(b):
        return False
    apart = distance(np.asarray(a), np.asarray(b))
    if apart is None:
        return True
    return bool(tolerance) and apart.finite and (apart.relative or 0.0) <= tolerance


def in_words(values: list[Any]) -> list[str]:
    """Return values in words; of arrays the first element at which the first two differ."""
    first, other, *_ = values
    at: tuple[int, ...] = ()
    if all(isinstance(x, np.ndarray) for x in (first, other)) and first.shape == other.shape:
        apart = distance(first, other)
        at = apart.first if apart else ()
    return [shown(value, at) for value in values]


def shown(value: Any, at: tuple[int, ...] = ()) -> str:
    """Return a value in words; of an array its shape, and the element at an index."""
    if not isinstance(value, np.ndarray):
        return visible(shortened(value if isinstance(value, str) else repr(value)))
    kind = f"an array of shape {value.shape}"
    if len(at) != value.ndim:
        return kind
    return f"{value[at].item()!r} at {list(at)} of {kind}"


# -- a policy with some rules of another -----------------------------------------------------------


ARRAYS, SCALARS = "arrays with arrays", "arrays with Python scalars"

_FIELDS = """
operand types: what 0-d arrays and values count for in promotion;
    operand_types by_value squares ranks ranked
scalars: Python scalars that do not fit, and how they are rounded; scalars
foreign operands: what NumPy's scalars and arrays, and numbers of derived classes, enter as;
    foreign weak_subclasses
defaults: the dtypes that Python numbers become where no array decides;
    defaults long counts default_set
weak arrays: whether arrays stay weakly typed; weak_arrays
canonical: the dtypes that are never held; canonical
in place: what `x += y` may write into x; inplace keeps
stored: the Python numbers that are stored in arrays; stored
assignment: what `x[key] = y` casts; assigns meets
cast: what casts do with values the target cannot hold; cast
quantization: how floats become scaled integers, and back; quantization
refused: the dtypes that functions refuse; refuses can_cast
answers: functions that follow no promotion, and kernels that are missing;
    answers needs_kernels fills_powers
masks: the index arrays that are masks; masks
compositions: functions that are made of others, and those whose results have a dtype of their own;
    composed fixed
spectra: whether eigenvalues are real where all happen to be; real_spectra
conversions: copies, and which arrays become Python numbers; copies one_element
"""
_ROWS = (re.split(r"[:;]\s+", row) for row in re.split(r"\n(?=\S)", _FIELDS.strip()))
FIELDS = {name: (words, fields.split()) for name, words, fields in _ROWS}
"""From a rule's name to what it is in words, and the fields of a policy that it is made of."""

PROMOTION = {
    ARRAYS: "the common dtype of arrays",
    SCALARS: "the common dtype of an array and a Python scalar",
}


BY_OPERATION = ("operations", "functions", "signatures", "kernels")
"""The tables of a policy that have a row for each operation: a rule of its own."""


@dataclass(frozen=True)
class Promotion:
    """A promotion rule of two: one for arrays, one for pairs with a weak dtype."""

    arrays: PromotionRule
    scalars: PromotionRule

    def __call__(self, a: DType, b: DType) -> DType | None:
        """Promote two dtypes."""
        return (self.scalars if a.weak or b.weak else self.arrays)(a, b)


def differing_rules(a: Policy, b: Policy, operations: Collection[str]) -> list[str]:
    """Return the rules in which two policies differ, of those operations that are used.

    Rules that are functions differ if they are not one and the same function.
    """
    found = [*PROMOTION] if a.promote is not b.promote else []
    for name, (_, fields) in FIELDS.items():
        if any(getattr(a, field) != getattr(b, field) for field in fields):
            found.append(name)
    used = (name for name in OPERATIONS if name in operations)
    return found + [name for name in used if _rows(a, name) != _rows(b, name)]


def mixed(a: Policy, b: Policy, rules: Collection[str]) -> Policy:
    """Return the first policy with these rules of the second; operations are rules of their name.

    With all rules in which they differ it answers as the second.
    """
    named = (fields for name, (_, fields) in FIELDS.items() if name in rules)
    changes: dict[str, Any] = {field: getattr(b, field) for fields in named for field in fields}
    arrays, scalars = (b if name in rules else a for name in PROMOTION)
    changes["promote"] = Promotion(arrays.promote, scalars.promote)
    if arrays is scalars:
        changes["promote"] = arrays.promote
    if arrays is b or scalars is b:
        changes["refusal"] = b.refusal
    rows = {name: _rows(b if name in rules else a, name) for name in OPERATIONS}
    for n, table in enumerate(BY_OPERATION):
        changes[table] = {name: row[n] for name, row in rows.items() if row[n] is not None}
    return a.derive(f"{a.name} with rules of {b.name}", **changes)


def worded(rule: str) -> str:
    """Say what a rule is about."""
    if rule in OPERATIONS:
        return f"how {rule} computes"
    return PROMOTION.get(rule) or FIELDS[rule][0]


def _rows(policy: Policy, name: str) -> list[Any]:
    """What each table of a policy says of one operation; None of those that say nothing."""
    tables: list[Mapping[Any, Any]] = [getattr(policy, table) for table in BY_OPERATION]
    family = operation(name).family
    return [rows[name] if name in rows else rows.get(family) for rows in tables]
