"""Edits after which a line loses nothing, each to be checked by a run."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any

from promoarray.diagnostics.edits.attempt import (
    Edit,
    as_edit,
    dtype_given,
    operands_of,
    remade,
    source_at,
    written,
)
from promoarray.diagnostics.model.lost import (
    ABSORBED,
    DIGITS,
    NAN,
    RANGE,
    WIDENING,
    WRAP,
    LostPlace,
)
from promoarray.diagnostics.why.origin import Step
from promoarray.dtypes import BY_NAME, INTEGERS, DType, Kind


def edits(place: LostPlace, ways: Sequence[list[Step]]) -> Iterator[Edit]:
    """Yield edits after which a line may lose nothing, the best first.

    An operation is given operands in a dtype that holds its results; a cast names another dtype; an
    accumulator, and data that widen others, are made in another dtype where they come into being.
    """
    met, framework = set[str](), place.framework
    for each in (*_with_64_bits(place, framework), *_candidates(place, ways, framework)):
        if each.changes and each.text not in met:
            met.add(each.text)
            yield each


def _candidates(place: LostPlace, ways: Sequence[list[Step]], framework: str) -> Iterator[Edit]:
    for wanted in _wanted(place, framework):
        if _is_written(place):
            yield from _made(ways[0] if ways else [], place.loss.wanted, framework)
            return
        if place.kind in (ABSORBED, WIDENING):
            which = _wider(place) if place.kind == WIDENING else 0
            yield from _made(ways[which] if which < len(ways) else [], wanted, framework)
            continue
        at_line = [*_at_line(place, wanted, framework)]
        yield from at_line
        if place.kind in (DIGITS, RANGE) or not at_line:  # none of ``x += y``
            yield from _made(ways[0] if ways else [], wanted, framework)


def _with_64_bits(place: LostPlace, framework: str) -> Iterator[Edit]:
    """The option by which JAX holds 64 bits, set behind the imports that a file begins with."""
    wanted = [BY_NAME[name] for name in _wanted(place, framework) if name in BY_NAME]
    source = source_at(place.program)
    if framework != "jax" or source is None or all(x.bits < 64 for x in wanted):
        return
    begin = [0]
    for node in source.tree.body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            begin.append(node.end_lineno or 0)
        elif not _is_text(node):
            break
    imports = (x for node in source.tree.body if isinstance(node, ast.Import) for x in node.names)
    named = next((x.asname or x.name for x in imports if x.name == "jax"), "")
    line = f'{named or "jax"}.config.update("jax_enable_x64", True)'
    lines = source.text.splitlines(keepends=True)
    lines.insert(begin[-1], f"{line}\n" if named else f"import jax; {line}\n")
    yield as_edit(source, place.program, "".join(lines))


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_written(place: LostPlace) -> bool:
    """Whether an integer wraps in the array that the line changes, as in ``np.add.at``."""
    return place.kind == WRAP and place.name.endswith(".at")


def _wanted(place: LostPlace, framework: str) -> list[str]:
    """The dtypes that may hold what was lost, the narrowest first."""
    if place.kind == NAN:
        return []
    if place.kind == WIDENING:
        wide = BY_NAME[place.dtype]
        others = [BY_NAME[name] for name in place.operands if name in BY_NAME]
        return [x.name for x in others if x.kind is wide.kind and x.bits < wide.bits][:1]
    if place.kind == ABSORBED:
        return [{"float32": "float64"}.get(place.dtype, "float32")]
    wanted = BY_NAME.get(place.loss.wanted)
    if wanted is None:
        return []
    # A framework may not have it, as JAX without x64: a float holds more than an integer.
    all_hold = ["int64", "float64"] if framework == "numpy" else ["float32"]
    wider = all_hold if place.kind == WRAP else []
    if place.kind not in (WRAP, RANGE) or wanted.kind not in INTEGERS:
        return [*dict.fromkeys((wanted.name, *wider[-1:]))]
    names = place.operands if place.kind == WRAP else (place.dtype,)
    given = [BY_NAME[name] for name in names if name in BY_NAME]
    fits = [x for x in _INTEGERS if all(_holds(x, each) for each in given)]
    whole = [x.name for x in fits if _holds(x, wanted)]
    signed = [x.name for x in fits if x.bits == wanted.bits]  # may hold the results as well
    return [*dict.fromkeys((*signed, *(whole[:1] or [wanted.name]), *wider))]


_INTEGERS = tuple(BY_NAME[name] for name in ("int8", "int16", "int32", "int64"))


def _holds(target: DType, source: DType) -> bool:
    """Whether an integer dtype holds all values of another."""
    if source.kind is Kind.BOOL or source is target:
        return True
    return source.kind in INTEGERS and source.bits + (source.kind is Kind.UINT) <= target.bits


def _wider(place: LostPlace) -> int:
    """Which operand has widened the others."""
    return next((n for n, name in enumerate(place.operands) if name == place.dtype), 0)


def _at_line(place: LostPlace, wanted: str, framework: str) -> Iterator[Edit]:
    """Edits of the line: another dtype that it names, or operands cast to it."""
    site = place.program
    source = source_at(site)
    if source is None or place.site != place.program:
        return
    extent: Any = site.extent
    for node in [each for each in source.at(extent) if isinstance(each, ast.expr)][:1]:
        if isinstance(node, ast.Call) and (named := dtype_given(node)) is not None:
            if found := written(source, site, [("retyped", named)], wanted, framework):
                yield found
            continue
        given = operands_of(node, source)
        casts = [
            each
            for each, name in zip(given, place.operands, strict=False)
            if name in BY_NAME and not isinstance(each, ast.Constant)
        ]
        if isinstance(node, ast.UnaryOp):
            casts = [node.operand]
        for chosen in (casts[:1], casts):
            every = [("astype", each) for each in chosen]
            if every and (found := written(source, site, every, wanted, framework)):
                yield found


def _made(way: list[Step], wanted: str, framework: str) -> Iterator[Edit]:
    """Edits where an array came into being."""
    for step in reversed([step for step in way if step.ends]):
        own = BY_NAME.get(step.dtype)
        kind = BY_NAME[wanted].kind
        alike = INTEGERS if kind in INTEGERS else {kind}
        if own is None or own.kind not in {Kind.FLOAT, *alike}:
            continue
        yield from remade(step.made, wanted, framework)
