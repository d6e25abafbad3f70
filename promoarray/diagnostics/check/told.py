"""Losses in words: what was lost at a line, with the chain that led there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from promoarray.console import counted
from promoarray.diagnostics.edits.attempt import Edit
from promoarray.diagnostics.findings.results import Finding
from promoarray.diagnostics.model.lost import (
    ABSORBED,
    CHECKS,
    DIGITS,
    NAN,
    OVERFLOW,
    RANGE,
    UNDERFLOW,
    UNSTABLE,
    WIDENING,
    WRAP,
    LostPlace,
)
from promoarray.diagnostics.why.origin import Step, expressions, is_constant, lines, where
from promoarray.operations import OPERATIONS, Family


@dataclass
class Told:
    """A loss that is told, with where its operands came from and what to write."""

    place: LostPlace
    ways: Sequence[list[Step]] = ()  # of each operand
    edit: Edit | None = None
    then: str = ""  # how the edited program goes on

    @property
    def finding(self) -> Finding:
        """The same as other commands have it."""
        each = self.place
        inside = None if each.site == each.program else each.site
        name = f"gradient of {each.name}" if each.backward else each.name  # a finding of its own
        return Finding(
            *(each.kind, False, "", each.program, inside),
            f"{name}({', '.join(each.operands)})",
            *(name, each.operands, "", each.dtype, ""),
            reason=f"{self.words}{self.written and f'. Write {self.written}'}",
            count=max(each.passes, 1),
        )

    @property
    def written(self) -> str:
        """What to write, in a line."""
        if self.edit is None:
            return ""
        return "; ".join(f"line {line}: {text}" for line, text in self.edit.changes)

    @property
    def words(self) -> str:
        """What was lost, in a sentence."""
        each = self.place
        said = _WORDS[each.kind](each)
        gradient = "in the gradient: " if each.backward else ""
        index = ", ".join(map(str, each.loss.example.index))
        at = f", first at [{index}]" if index else ""
        note = f"; {each.loss.note}" if each.loss.note else ""
        return f"{gradient}{said}{at}{note}{_passes(each)}"

    def text(self, *, quiet: bool = False) -> Iterator[str]:
        """Write it, a line each; of its line only the losses where that was written (``quiet``)."""
        each = self.place
        if not quiet:
            yield f"{where(each.site, each.program)}  {each.program.text}"
        shown = each.site.expression if each.site.expression != each.program.text else ""
        yield f"  {each.kind}  {f'{shown}: ' * bool(shown)}{self.words}"
        yield from self._operands()
        if self.edit is not None:
            for line, text in self.edit.changes:
                yield f"    write  {Path(self.edit.file).name}:{line}  {text}"
            yield f"           checked: {self.then}"

    def _operands(self) -> Iterator[str]:
        each = self.place
        names = _names(each)
        told: set[str] = set()
        for n, dtype in enumerate(each.operands[:3]):
            if dtype.startswith("Python"):
                continue
            low, high = each.loss.ranges[n] if n < len(each.loss.ranges) else ("", "")
            between = f", {low} to {high}" if low and low != high else f", {low}" if low else ""
            name = "update" if n and each.kind == ABSORBED else names[n]
            head = f"{name}  {dtype}{between}"
            if head in told:  # of x + x once
                continue
            told.add(head)
            way = self.ways[n] if n < len(self.ways) else []
            if way:
                yield from lines(way, "    ", first=head)
            elif low:
                yield f"    {head}"

    def to_dict(self) -> dict[str, Any]:
        """Return it as data."""
        each, loss = self.place, self.place.loss
        return {
            "kind": each.kind,
            "operation": each.name,
            "operands": list(each.operands),
            "dtype": each.dtype,
            "file": each.program.file,
            "line": each.program.line,
            "expression": each.program.expression,
            "inside": None if each.site == each.program else str(each.site),
            "gradient": each.backward,
            "lost": each.count,
            "examined": each.of,
            "passes": each.passes,
            "of_passes": each.total,
            "first_pass": each.first,
            "first": {
                "index": list(loss.example.index),
                "given": list(loss.example.given),
                "exact": loss.example.exact or None,
                "got": loss.example.got,
            },
            "ranges": [list(each) for each in loss.ranges],
            "note": loss.note or None,
            "bytes": each.bytes or None,
            "words": self.words,
            "origins": [[step.to_dict() for step in way] for way in self.ways],
            "edit": self.edit and self.edit.to_dict() | {"checked": self.then},
        }


def _some(each: LostPlace, what: str, one: str, many: str) -> str:
    """How many of how many, with the verb."""
    if each.of == 1:
        return f"the {what} {one}"
    number = "all" if each.count == each.of else f"{each.count:,} of"
    verb = one if each.count == 1 else many
    return f"{number} {each.of:,} {what}s {verb}"


def _passes(each: LostPlace) -> str:
    if each.total <= 1 or each.kind == WIDENING:
        return ""
    if each.passes == each.total:
        return f" (in all {each.total:,} passes)"
    if each.about:
        return f" (in {each.passes:,} of about {each.total:,} passes)"
    return f" (in {each.passes:,} of {each.total:,} passes, first in pass {each.first:,})"


def _names(each: LostPlace) -> list[str]:
    """The operands as the line has them; by number where it does not say."""
    arrays = [n for n, dtype in enumerate(each.operands) if not dtype.startswith("Python")]
    written = expressions(each.site.expression)[each.name in _OF_ANOTHER :]
    names = [f"operand {n + 1}" for n in range(len(each.operands))]
    if len(written) == len(names):
        return written
    written = [text for text in written if not is_constant(text)]
    if len(written) == len(arrays) or (written and len(arrays) == 1):
        for n, text in zip(arrays, written, strict=False):
            names[n] = text
    return names


_OF_ANOTHER = "new", "new_tensor"
"""Methods of an array of which nothing but the dtype is taken."""


def _formula(each: LostPlace) -> str:
    """The first example as the operation has it; "" of all elements of several arrays."""
    given, name = each.loss.example.given, each.name.strip("_")
    known = OPERATIONS.get(name.removeprefix("i")) or OPERATIONS.get(each.name)
    many = [text for text in given if text.startswith("[") or " numbers from " in text]
    if many:
        if len(given) == 1 and name in _FOLDS:
            return f"{name}({given[0]})"
        return "a sum of products" if known and known.family is Family.MATMUL else ""
    symbol = known.symbol if known else _SYMBOLS.get(name, "")
    if symbol and len(given) == 2:
        return f"{given[0]} {symbol} {given[1]}"
    if not given:
        return name if each.backward or each.loss.example.exact else ""
    return f"{name}({', '.join(given)})"


def _became(each: LostPlace, head: str, verb: str) -> str:
    """How many were lost, and what the first was to be and is."""
    example, formula = each.loss.example, _formula(each)
    if formula and example.exact:
        return f"{head}: {formula} is {example.exact}, and {verb} {example.got}"
    return f"{head}: {formula} gives {example.got}" if formula else f"{head}, to {example.got}"


_FOLDS = frozenset(
    {"sum", "mean", "prod", "cumsum", "cumprod", "cumulative_sum", "cumulative_prod"}
    | {"nansum", "std", "var", "trace", "diff", "norm"}
)
"""Functions of which it is told what the elements are that one of the result is made of."""

_SYMBOLS = {
    "sub": "-",
    "isub": "-",
    "rsub": "-",
    "mul": "*",
    "imul": "*",
    "rmul": "*",
    "add": "+",
    "iadd": "+",
    "radd": "+",
    "pow": "**",
    "ipow": "**",
    "rpow": "**",
    "truediv": "/",
    "div": "/",
    "itruediv": "/",
    "rtruediv": "/",
    "lshift": "<<",
    "ilshift": "<<",
}


def _wrapped(each: LostPlace) -> str:
    return _became(each, _some(each, "element", "wraps", "wrap"), f"{each.dtype} has")


def _ranged(each: LostPlace) -> str:
    head = _some(each, "value", "is out of range", "are out of range")
    return f"{head}: {_change(each)}"


def _overflowed(each: LostPlace) -> str:
    return _became(each, _some(each, "element", "overflows", "overflow"), "gives")


def _born(each: LostPlace) -> str:
    formula = _formula(each)
    head = _some(each, "element", "becomes NaN", "become NaN")
    return f"{head}: {formula}" if formula else head


def _changed(each: LostPlace) -> str:
    return f"{_some(each, 'value', 'changes', 'change')}: {_change(each)}"


def _change(each: LostPlace) -> str:
    given = each.loss.example.given[:1] or ("it",)
    return f"{given[0]} becomes {each.loss.example.got}"


def _kept(each: LostPlace) -> str:
    example = each.loss.example
    before, update = (*example.given, "", "")[:2]
    head = _some(each, "update", "changes nothing", "change nothing")
    return f"{head}: {before} and {update} give {example.got}"


def _vanished(each: LostPlace) -> str:
    head = _some(each, "result", "underflows", "underflow")
    if each.loss.example.given == (each.loss.example.exact,):  # a cast
        return f"{head}: {_change(each)}"
    return _became(each, head, f"{each.dtype} has")


def _shaky(each: LostPlace) -> str:
    example = each.loss.example
    head = _some(each, "result", "differs", "differ")
    return f"{head} from that of more digits: {example.got}, not {example.exact}"


def _widened(each: LostPlace) -> str:
    data = next((d for d in each.operands if d != each.dtype and "float" in d), each.operands[0])
    passes = f" in {counted(each.passes, 'pass')}" if each.passes > 1 else ""
    return f"{data} data becomes {each.dtype}: {_bytes(each.bytes)} more{passes}"


def _bytes(number: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if number < 1000 or unit == "GB":
            return f"{number:.3g} {unit}"
        number /= 1000
    return ""


_WORDS = {
    WRAP: _wrapped,
    RANGE: _ranged,
    OVERFLOW: _overflowed,
    NAN: _born,
    DIGITS: _changed,
    ABSORBED: _kept,
    UNDERFLOW: _vanished,
    WIDENING: _widened,
    UNSTABLE: _shaky,
}

GONE = {
    WRAP: "no integer wraps there",
    RANGE: "no value is out of range there",
    OVERFLOW: "nothing overflows there",
    NAN: "no NaN is born there",
    DIGITS: "no digits are lost there",
    ABSORBED: "every update counts there",
    UNDERFLOW: "nothing underflows there",
    WIDENING: "nothing is widened there",
    UNSTABLE: "the result is stable there",
}
"""What an edit has to lead to, in words."""

ORDER = {kind: n for n, kind in enumerate(CHECKS)}
