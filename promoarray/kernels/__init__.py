"""The casts in C++: cast.h defines each scalar cast, branch_free.h has those that loops vectorize,
and cpu/ applies them to arrays: loops.cpp chooses among the loops, versions.cpp among their builds,
cursor.h goes through arrays of any layout, blocks.cpp computes between casts and module.cpp binds
all that for Python. cuda/ has the texts for NVRTC, portable/ kernels in the functions of any array
namespace.

Not here: which mode a policy wants. The kernels take arrays, a row of integers for each dtype and a
`CastMode`, and check them.
"""

from __future__ import annotations

import os
from functools import cache

from promoarray.dtypes import DType, Kind
from promoarray.errors import of_compiled
from promoarray.kernels.cast_mode import (
    DEFAULT,
    Beyond,
    CastMode,
    NanWithout,
    ScaleNegative,
    ScaleRounding,
    ScaleZero,
    ToInteger,
)

try:
    from promoarray.kernels._cpu import (
        CastingKernel,
        ScalarCaster,
        cast,
        levels,
        loop_of,
        use_level,
    )
except ImportError as error:
    raise of_compiled(error) from None

__all__ = ["DEFAULT", "Adjustment", "Beyond", "CastMode", "CastingKernel", "DTypeArgs", "Manner"]
__all__ += ["NanWithout", "ScalarCaster", "ScaleNegative", "ScaleRounding", "ScaleZero"]
__all__ += ["ToInteger", "cast", "cast_header", "dtype_args", "levels", "loop_of", "use_level"]

DTypeArgs = tuple[int, int, int, int, int, int, int, int, bool, bool]

Adjustment = bytes | int | tuple[tuple[int, int, int], ...]
"""What is done to codes besides a cast: a table of the results for all codes, the number of a
`Way`, or stretches of codes that become one, each as its first, its last and what they become."""

Manner = CastMode | tuple[CastMode, Adjustment]
"""How a `CastingKernel` makes a cast."""

_KINDS = (Kind.BOOL, Kind.UINT, Kind.INT, Kind.FLOAT, Kind.COMPLEX)


@cache
def dtype_args(dtype: DType) -> DTypeArgs:
    """The dtype as the kernels take it: kind, bits, and its `Format` in order.

    A code that the format does not have is -1. Complex dtypes give the format of their parts,
    integers zeros.
    """
    if dtype.kind not in _KINDS or dtype.weak:
        raise TypeError(f"there is no cast kernel for {dtype.name}: it has no fixed layout")
    kind = _KINDS.index(dtype.kind)
    layout = dtype.part.format
    if layout is None:
        return (kind, dtype.bits, 0, 0, 0, 0, -1, -1, False, False)
    return (
        kind,
        dtype.bits,
        layout.exponent,
        layout.mantissa,
        layout.bias,
        layout.largest,
        -1 if layout.inf is None else layout.inf,
        -1 if layout.nan is None else layout.nan,
        layout.negative_zero,
        layout.signed,
    )


def cast_header() -> str:
    """The text of cast.h and branch_free.h, for compilers on the user's machine (NVRTC)."""
    from importlib import resources

    here = resources.files(__package__)
    return "".join(here.joinpath(name).read_text(encoding="utf-8") for name in _HEADERS)


_HEADERS = ("cast.h", "branch_free.h")


def _use_level_of_environment() -> None:
    """Take the loops of an x86-64 level below the machine's: to measure and to test them."""
    wanted = os.environ.get("PROMOARRAY_CPU_LEVEL")
    if not wanted:
        return
    known = [str(level) for level in levels()]
    if wanted not in known:
        raise ImportError(
            f"PROMOARRAY_CPU_LEVEL is {wanted!r}; this machine has {', '.join(known)}"
        )
    use_level(int(wanted))


_use_level_of_environment()
