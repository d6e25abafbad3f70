"""Idioms in the source of a line whose losses are meant: hashes, random generators, masks."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from typing import Any

from promoarray.diagnostics.model.lost import NAN, OVERFLOW, WRAP, LostPlace
from promoarray.diagnostics.record.chosen import chooses, nodes_around

LOW_BITS = "an integer of which the low bits are meant"


def idiom(each: LostPlace) -> str:
    """Return how the source of its line says that a loss is meant; "" if it does not.

    An integer is taken modulo something afterwards, or in a function that is called a hash; an Inf
    is what ``where`` looks for.
    """
    around = nodes_around(each.site)
    if each.kind == WRAP and any(map(_takes_low_bits, around)):
        return LOW_BITS
    if each.kind == WRAP and (_HASHES.search(" ".join(_named(around))) or _scrambles(around)):
        return "a hash, or a random generator"
    if each.kind == WRAP and not each.chosen and any(map(chooses, around[1:], around)):
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


def _scrambles(around: Sequence[ast.AST]) -> bool:
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


_REPLACE = frozenset(
    {"where", "nan_to_num", "nan_to_num_", "isfinite", "isinf", "isnan", "masked_fill"}
    | {"masked_fill_", "masked_invalid", "nanmean", "nansum", "select"}
)


def _named(around: Sequence[ast.AST]) -> Iterator[str]:
    """The names of functions around an expression, and of what it is assigned to."""
    for node in around:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.Assign(targets=targets):
                yield from map(ast.unparse, targets)
            case ast.AugAssign(target=target) | ast.AnnAssign(target=target):
                yield ast.unparse(target)
