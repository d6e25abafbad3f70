"""The casts as CUDA C for CuPy: kernels' texts, made of cast.h, and nothing that needs a GPU.

A kernel is made for one pair of dtypes and one mode, all of them literals, so that the compiler
folds away what the definition in cast.h asks about them. The text of the headers is pasted in front
and never ``#include``d: CuPy's cache on disk goes by the text it is given.

Storage on the device: CuPy has NumPy's own dtypes; here float16 and bfloat16 are taken as the
uint16 of their bits, complex32 as uint32, and every other extended dtype as uint8, one a byte
(``stored``). CuPy's own conversions and arithmetic are never used: they round twice in places, and
it compiles everything so that float32 subnormals become zero.

Not here: launching. ``backends/cupy`` hands the texts to CuPy.
"""

from __future__ import annotations

import hashlib
import re
from functools import cache
from importlib import resources
from typing import NamedTuple

from promoarray import dtypes as dt
from promoarray.dtypes import DType, Kind
from promoarray.kernels import cast_header
from promoarray.kernels.cast_mode import DEFAULT, CastMode
from promoarray.kernels.cuda.element import code_bits, element, mode_name, relevant, stored
from promoarray.kernels.cuda.symbolic import CodeTransform, transformed

__all__ = ["KernelSource", "block", "cast_kernel", "declared", "fused_preamble", "loaded"]
__all__ += ["preamble", "relevant", "saved", "statements", "stored"]


class KernelSource(NamedTuple):
    """What ``cupy.ElementwiseKernel`` takes, besides the arrays: any layout, broadcasting.

    ``ElementwiseKernel(k.in_params, k.out_params, k.operation, k.name, preamble=k.preamble)``.
    """

    name: str  # of the function. Equal names have equal texts
    # such as ``"float32 x"``; the dtypes are those of ``stored``
    in_params: str
    out_params: str
    operation: str  # what is done for one element
    preamble: str
    # whether an element takes a function of CUDA's library, whose text is long
    costly: bool = False


# --- Statements ----------------------------------------------------------------------------------


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


# --- Kernels -------------------------------------------------------------------------------------


@cache
def preamble() -> str:
    """The text of cast.h, branch_free.h and device.h, as it goes in front of every kernel."""
    return _pasted(cast_header(), _text("device.h"))


@cache
def fused_preamble() -> str:
    """The same and those of operations.h and functions.h, where a kernel computes."""
    return _pasted(preamble(), _text("operations.h"), _text("functions.h"))


@cache
def of_library() -> frozenset[str]:
    """What takes a function of CUDA's library: all that functions.h defines."""
    defined = r"^PROMOARRAY_(?:CAST \w+|FUNCTION|FUNCTION_OF_TWO|LOGARITHM)[ (](\w+)[()]"
    return frozenset(re.findall(defined, _text("functions.h"), re.MULTILINE))


def _text(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _pasted(*texts: str) -> str:
    return "".join(texts).replace("#pragma once\n", "")


def digest(text: str) -> str:
    """What tells texts apart in a name."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def block(lines: list[str]) -> str:
    """Statements in one block, within the namespace of the headers."""
    inner = "\n".join(f"    {line}" for line in lines)
    return f"{{\n    using namespace promoarray;\n{inner}\n}}"


@cache
def cast_kernel(
    source: DType,
    target: DType,
    mode: CastMode = DEFAULT,
    transforms: tuple[CodeTransform, ...] = (),
) -> KernelSource:
    """The kernel of a cast, for arrays of any layout.

    Parameters
    ----------
    source, target : DType
        Any two numeric dtypes; of complex numbers cast to real ones the real part is taken.
    mode : CastMode
    transforms : tuple of CodeTransform
        What is done to the codes afterwards.

    Returns
    -------
    KernelSource
        Of ``x`` to ``y``.

    Raises
    ------
    TypeError
        If a dtype has no fixed layout (strings, weak types).
    """
    x, y = stored(source), stored(target)
    mode = relevant(source, target, mode)
    lines = [
        loaded("code", source, "&x"),
        declared("made", target),
        *statements("code", "made", source, target, mode, transforms),
        saved("made", target, "&y"),
    ]
    text, name = block(lines), f"promoarray_{source.code}_to_{target.code}{mode_name(mode)}"
    if not transforms:
        return KernelSource(name, f"{x} x", f"{y} y", text, preamble())
    return KernelSource(f"{name}_{digest(text)}", f"{x} x", f"{y} y", text, fused_preamble())
