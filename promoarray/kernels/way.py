"""Ways of casting that no mode says, which some policies' adjustments take."""

from __future__ import annotations

from enum import IntEnum

__all__ = ["Way"]

# The order of the members is that of the enumeration in cast.h.


class Way(IntEnum):
    """A way that no mode says, from float32 and float64: an adjustment of a cast."""

    TO_NEAREST_INTEGER = 1
    """Half away from zero, then as X86, to integers of fewer than 8 bits."""
    TOWARDS_ZERO = 2
    """To float16, through float32, without rounding; all above 65504 is Inf."""
    UPPER_HALF = 3
    """To bfloat16, through float32, without rounding."""
    SHIFTED_TOO_FAR = 4
    """To float16; what is below 2**-77 as a float32 is taken for 2**64 times as much."""
    THROUGH_INT64 = 5
    """To uint32: the low bits of what X86 gives for int64."""
