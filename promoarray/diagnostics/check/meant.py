"""Losses that a program means: hashes, masks, random generators, and what is below thresholds."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from promoarray.core.call_site import Site, source_of
from promoarray.diagnostics.model.flow import COMPARISONS, Flow, RecordedOperation, Source
from promoarray.diagnostics.model.lost import (
    ABSORBED,
    LEAST,
    NAN,
    OVERFLOW,
    RANGE,
    UNDERFLOW,
    WRAP,
    LostPlace,
)
from promoarray.diagnostics.record.flow import DEPTH
from promoarray.diagnostics.record.updates import is_much
from promoarray.dtypes import BY_NAME

AGAIN = 3
"""Passes in which most updates have to be absorbed before a line counts, if not most of all are."""

SHARE = 0.1
"""Of results that vanish: so many of those examined have to."""


def meant(each: LostPlace, share: float = SHARE, flow: Flow | None = None) -> str:
    """Return why a loss is none that has to be told; "" if it has to be."""
    flow = flow or Flow()
    if each.kind == ABSORBED and (why := _is_nothing(each, flow)):
        return why
    if each.kind == UNDERFLOW and each.count < share * each.of:
        return f"underflow of less than {share:.0%}"
    if each.kind == UNDERFLOW and _is_nothing_beside(each, flow):
        return "underflow of what is added to a number"
    if each.kind in (WRAP, RANGE) and _low_bits_alone(each, flow):
        return LOW_BITS
    if each.kind == WRAP and _is_tested(each, flow):
        return "integers that wrap, which the program looks for"
    return idiom(each)


LOW_BITS = "an integer of which the low bits are meant"


def _is_nothing(each: LostPlace, flow: Flow) -> str:
    """Why updates that change nothing are none that were lost; "" if they are.

    Were they added up first, they would not change the last digit either; or not the last third of
    the digits, which rounding may: at a line that changes something in most of its passes, and
    where updates come of what they are added to, as those of weights, and vanish as it converges.
    An array that no pass changes would be in more passes.
    """
    is_array = each.arrays > 0 or each.loss.of > 1
    unknown = max(each.arrays, DEPTH)  # passes, the first ones
    never = is_array and each.total - each.passes <= unknown
    if each.weight <= 1 and not never:
        return "absorbed updates that together are less than a digit"
    is_most = 2 * each.passes >= each.total
    if is_most and (never or not (each.arrays or _feeds_back(each, flow))):
        return ""
    if each.passes < AGAIN:
        return f"absorbed in less than {AGAIN} passes"
    if not is_much(each.weight, BY_NAME[each.dtype]):
        return "absorbed updates that together are a few digits"
    return ""


# -- what feeds it, and what it feeds -------------------------------------------------------------


def _feeds_back(each: LostPlace, flow: Flow) -> bool:
    """Whether an update is computed of what it is added to."""
    behind, met = [*each.sources[1:2]], set[Source]()
    while behind and len(met) < _MOST_BEHIND:
        source = behind.pop()
        if source is None or source in met:
            continue
        met.add(source)
        maker = flow.makers.get(source[0])
        if maker is not None:
            if maker.place.site == each.site:
                return True
            behind += [x for given in maker.sources for x in given]
    return False


_MOST_BEHIND = 1 << 8

_KEEP_LOW_BITS = frozenset({"add", "subtract", "multiply", "negative", "bitwise_left_shift"})
_TAKE_BITS = frozenset({"bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_invert"})
_SHIFTS = frozenset({"bitwise_right_shift"})


def _low_bits_alone(each: LostPlace, flow: Flow) -> bool:
    """Whether only bits of a result are taken, as of hashes and random numbers.

    What is shifted to the right by half of the bits or more is of those that were mixed; a modulus
    that is no power of two takes the bits of a number that is computed of itself, pass by pass. A
    cast to a narrower integer takes the low bits of what was made bit by bit.
    """
    if each.kind == RANGE:
        before = [flow.makers.get(x[0]) for x in each.sources[:1] if x is not None]
        return any(x is not None and x.name in _TAKE_BITS | _SHIFTS for x in before)
    readers: dict[int, list[RecordedOperation]] = {}
    for reader in flow.operations:
        for x in {x[0] for given in reader.sources for x in given}:
            readers.setdefault(x, []).append(reader)
    own = [x for x in flow.operations if x.place.site == each.site]
    ahead, met, takes, moduli = [x.makes for x in own], set[int](), False, False
    own_results = {x[0] for x in flow.finals.values()}
    while ahead:
        made = ahead.pop()
        if made in met:
            continue
        met.add(made)
        for reader in readers.get(made, ()):
            if reader.name in _KEEP_LOW_BITS:
                ahead.append(reader.makes)
            elif reader.name in _TAKE_BITS:
                takes = True
            elif reader.name in _SHIFTS | {"remainder"}:
                takes |= _takes_bits(reader)
                moduli |= reader.name == "remainder"
            else:
                return False
    turns = any(x[0] in met for op in own for given in op.sources for x in given)
    return not met & own_results and (takes or (moduli and turns))


def _is_nothing_beside(each: LostPlace, flow: Flow) -> bool:
    """Whether a result is only added to a number of the source, as in ``1 - decay**step``."""
    own = {x.makes for x in flow.operations if x.place.site == each.site}
    readers = [x for x in flow.operations if any(s[0] in own for some in x.sources for s in some)]
    return bool(readers) and all(
        reader.name in ("add", "subtract")
        and any(
            isinstance(x.value, (int, float)) and abs(x.value) >= LEAST for x in reader.operands
        )
        for reader in readers
    )


def _is_tested(each: LostPlace, flow: Flow) -> bool:
    """Whether a result is compared with what it is made of, as in ``s = a + b; s < a``."""
    for own in flow.operations:
        if own.place.site != each.site:
            continue
        given = {x for sources in own.sources for x in sources}
        for reader in flow.operations:
            if reader.name in COMPARISONS and len(reader.sources) == 2:
                one, other = reader.sources
                made = (own.makes, 0)
                if (made in one and other & given) or (made in other and one & given):
                    return True
    return False


def _takes_bits(reader: RecordedOperation) -> bool:
    """Whether a modulus or a shift by a known number takes the low, or the high half of bits."""
    by = reader.operands[1].value if len(reader.operands) > 1 else None
    if not isinstance(by, int):
        return False
    bits = max((x.bits for x in reader.dtypes()), default=0)
    return by.bit_count() == 1 if reader.name == "remainder" else 2 * by >= bits > 0


def idiom(each: LostPlace) -> str:
    """Return how the source of its line says that a loss is meant; "" if it does not.

    An integer is taken modulo something afterwards, or in a function that is called a hash; an Inf
    is what ``where`` looks for.
    """
    around = _around(each.site)
    if each.kind == WRAP and any(map(_takes_low_bits, around)):
        return LOW_BITS
    if each.kind == WRAP and (_HASHES.search(" ".join(_named(around))) or _scrambles(around)):
        return "a hash, or a random generator"
    if each.kind == WRAP and any(map(_chooses, around[1:], around)):
        return "integers of which the same line chooses"
    forward = each.kind in (OVERFLOW, NAN) and not each.backward
    if forward and any(map(_looks_for_inf, around)):
        return "an Inf or NaN that the same line replaces"
    return ""


_HASHES = re.compile(
    r"hash|crc|checksum|adler|digest|fnv|murmur|xxh|splitmix|xorshift|pcg|lcg|mersenne|twister"
    r"|prng|rng|(?<![a-z])rand|random|seed|scrambl|mix_?bits|zobrist|morton|modular",
    re.IGNORECASE,
)


_MULTIPLIERS = frozenset(
    {
        *(6364136223846793005, 1442695040888963407, 2862933555777941757, 3935559000370003845),
        *(1103515245, 1664525, 22695477, 214013, 134775813, 69069, 48271, 16807, 1013904223),
        *(16777619, 1099511628211, 2166136261, 14695981039346656037, 2654435761, 2654435769),
        *(0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB, 0x2545F4914F6CDD1D),
        *(0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53, 0x85EBCA6B, 0xC2B2AE35, 0xCC9E2D51, 0x1B873593),
        *(0x45D9F3B, 0x7FEB352D, 0x846CA68B, 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D, 0x27D4EB2F),
    }
)
"""Numbers that generators (Knuth, Numerical Recipes, PCG) and hashes (FNV, Murmur, xxHash) multiply
by, or add."""


def _scrambles(around: list[ast.AST]) -> bool:
    """Whether a statement has a number that only hashes and random generators have."""
    inner = [node for node in around if isinstance(node, (ast.expr, ast.Assign, ast.AugAssign))]
    whole = inner[-1:]  # the outermost
    constants = (x for node in whole for x in ast.walk(node) if isinstance(x, ast.Constant))
    return any(type(x.value) is int and x.value in _MULTIPLIERS for x in constants)


def _takes_low_bits(node: ast.AST) -> bool:
    match node:
        case ast.BinOp(op=ast.Mod(), right=x) | ast.AugAssign(op=ast.Mod(), value=x):
            return not (isinstance(x, ast.Constant) and _is_odd(x.value))
        case ast.BinOp(op=ast.BitAnd() | ast.BitXor()):
            return True
        case ast.AugAssign(op=ast.BitAnd() | ast.BitXor()):
            return True
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)):
            return name in ("bitwise_and", "bitwise_xor", "mod", "remainder", "fmod")
    return False


def _is_odd(modulus: Any) -> bool:
    """Whether a modulus takes no bits, so that the remainder of what has wrapped is another."""
    return isinstance(modulus, int) and modulus.bit_count() != 1


def _looks_for_inf(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)):
            return name in _REPLACE
    return False


def _chooses(node: ast.AST, part: ast.AST) -> bool:
    """Whether a call chooses from a part of it, which is not what it chooses by."""
    match node:
        case ast.Call(func=ast.Attribute(attr="where" | "select"), args=[by, *_]):
            return part is not by
    return False


_REPLACE = frozenset(
    {"where", "nan_to_num", "nan_to_num_", "isfinite", "isinf", "isnan", "masked_fill"}
    | {"masked_fill_", "masked_invalid", "nanmean", "nansum", "select"}
)


def _named(around: list[ast.AST]) -> Iterator[str]:
    """The names of functions around an expression, and of what it is assigned to."""
    for node in around:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.Assign(targets=targets):
                yield from map(ast.unparse, targets)
            case ast.AugAssign(target=target) | ast.AnnAssign(target=target):
                yield ast.unparse(target)


def _around(site: Site) -> list[ast.AST]:
    """What stands around an expression in its source, the innermost first, with itself."""
    if not site.extent:
        return []
    parents = _parents(source_of(site.file))
    found = next((n for n in parents if _extent(n) == site.extent), None)
    around: list[ast.AST] = []
    while found is not None:
        around.append(found)
        found = parents.get(found)
    return around


def _extent(node: Any) -> tuple[Any, ...]:
    return tuple(
        getattr(node, name, None)
        for name in ("lineno", "col_offset", "end_lineno", "end_col_offset")
    )


@lru_cache(maxsize=64)
def _parents(source: str) -> dict[ast.AST, ast.AST | None]:
    """What every node of a source stands in."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    return {
        child: None if isinstance(node, ast.Module) else node
        for node in ast.walk(tree)
        for child in ast.iter_child_nodes(node)
    }
