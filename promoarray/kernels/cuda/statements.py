"""Casts of one element as statements of CUDA C: codes in memory, complex numbers, transforms."""

from __future__ import annotations

from promoarray import dtypes as dt
from promoarray.dtypes import DType, Kind
from promoarray.kernels.cast_mode import CastMode
from promoarray.kernels.cuda.element import code_bits, element
from promoarray.kernels.cuda.symbolic import CodeTransform, transformed

__all__ = ["declared", "loaded", "saved", "statements"]


def statements(
    x: str,
    y: str,
    source: DType,
    target: DType,
    mode: CastMode,
    transforms: tuple[CodeTransform, ...] = (),
) -> list[str]:
    """Statements that cast the code ``x`` to ``y``; of complex dtypes they are arrays of two."""
    lines = []
    part, into = source.part, target.part
    for given, made in _one_by_one(x, y, source, target):
        found = [element(each, part, into, mode) for each in given]
        lines.append(f"{made} = {' | '.join(found) or 0};")
        if transforms:
            seen = given[0] if given else f"(u{code_bits(source)})0"
            lines += transformed(seen, made, part, into, transforms)
    return lines


def _one_by_one(x: str, y: str, source: DType, target: DType) -> list[tuple[tuple[str, ...], str]]:
    """Codes, and the code that is made of them.

    Of a complex number cast to a real one the real part is taken; a bool tells of either part, and
    transforms see the real one. The imaginary part of a real number is made of none.
    """
    parts = (f"{x}[0]", f"{x}[1]")
    if source.kind is not Kind.COMPLEX and target.kind is not Kind.COMPLEX:
        return [((x,), y)]
    if source.kind is not Kind.COMPLEX:
        return [((x,), f"{y}[0]"), ((), f"{y}[1]")]
    if target.kind is Kind.COMPLEX:
        return [((parts[0],), f"{y}[0]"), ((parts[1],), f"{y}[1]")]
    return [(parts if target is dt.bool else parts[:1], y)]


def declared(name: str, dtype: DType) -> str:
    """A declaration of a code, or of both codes of a complex number."""
    array = "[2]" if dtype.kind is Kind.COMPLEX else ""
    return f"u{code_bits(dtype)} {name}{array};"


def loaded(name: str, dtype: DType, where: str) -> str:
    """A declaration of a code that lies at an address, whatever type the memory has."""
    width = f"u{code_bits(dtype)}"
    if dtype.kind is Kind.COMPLEX:
        return f"{width} {name}[2] = {{load<{width}>({where}, 0), load<{width}>({where}, 1)}};"
    return f"{width} {name} = load<{width}>({where}, 0);"


def saved(name: str, dtype: DType, where: str) -> str:
    """Statements that put a code at an address."""
    if dtype.kind is Kind.COMPLEX:
        return f"save({where}, 0, {name}[0]); save({where}, 1, {name}[1]);"
    return f"save({where}, 0, {name});"
