"""Names of NumPy's functions, each with what is looked at of its values."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from promoarray.diagnostics.calls.numpy import DEFAULTS, MAKES, MOVES, STORES, operations
from promoarray.diagnostics.calls.tables import computed, names
from promoarray.diagnostics.model.lost import (
    ABSORBED,
    DIGITS,
    NAN,
    OVERFLOW,
    UNDERFLOW,
    WIDENING,
)
from promoarray.operations import OPERATIONS, Family

NOTHING, OPERATION, FUNCTION, CAST, MAKE, STORE, AT, AGAIN = (
    *("nothing", "operation", "function", "cast", "make", "store", "at", "again"),
)


class Looks(NamedTuple):
    """How the values of a function are looked at."""

    # one of those above: nothing of its values is lost; it is an operation, or a function of which
    # Inf and NaN are told; it casts its argument, or makes an array of it; it stores it in an
    # array, or adds it there; it adds and multiplies integers, and is carried out again
    way: str
    operation: str = ""  # of promoarray's, "" if it is none


_LOSES = frozenset(
    {
        *(Family.ARITHMETIC, Family.DIVIDE, Family.FLOOR_DIVIDE, Family.POW, Family.MATMUL),
        *(Family.FLOAT_BINARY, Family.FLOAT_UNARY, Family.LINALG, Family.NORM, Family.FFT),
        *(Family.RFFT, Family.IRFFT, Family.SUM, Family.MEAN),
    }
)
"""Families of operations whose results may have lost what their operands have."""

_OTHERS = names("negative abs square bitwise_left_shift")
CHOOSE = frozenset({Family.WHERE, Family.CONCAT, Family.EXTREMUM})
"""Operations that choose among values: of these a promotion may lose digits."""

_OF_ANOTHER_NAME = names("fmod heaviside logaddexp2 vector_norm norm cross matrix_power")
"""Functions that go by the rule of an operation, and compute something else."""

_SAME = {
    **dict.fromkeys(names("cumsum nancumsum"), "cumulative_sum"),
    **dict.fromkeys(names("cumprod nancumprod"), "cumulative_prod"),
    "divmod": "floor_divide",
}

_AGAIN = names("""
    convolve correlate cross dot ediff1d einsum inner kron lcm matrix_power matvec multi_dot outer
    pad polyadd polyder polymul polysub polyval ptp tensordot trace trapezoid trapz vander vdot
    vecmat
""")
"""Functions of integers that are carried out again, if they may wrap."""
ADD_FIRST = names("trapezoid trapz")
"""Functions of these that give floats of sums of integers."""
_UFUNCS = names("add subtract multiply lcm")
_RAISE = names("power left_shift")
"""Ufuncs of which methods are; and those of these whose results may have too many digits."""
_SUBTRACT = names("cross ediff1d pad polysub ptp")
_HAVE_POWERS = names("cumprod matrix_power nanprod polyval prod vander")
"""Functions of these that subtract, and that multiply elements of an array with each other."""

_MAKE = names("""
    array asarray asanyarray ascontiguousarray asfortranarray require full full_like arange linspace
    asarray_chkfinite fromiter
""")
_COMPUTED = names("""
    emath.power float_power geomspace histogram logspace poly polyfit polyval roots unwrap vander
""")


@cache
def looks_of(name: str) -> Looks:
    """Return how the values of a function of NumPy's are looked at."""
    function, _, method = name.partition(".")
    if method == "at":
        return Looks(AT, function)
    if method and function in _UFUNCS | _RAISE:
        return Looks(AGAIN)
    if name == "astype":
        return Looks(CAST)
    if name in _MAKE:
        return Looks(MAKE)
    if name == "pad":
        return Looks(AGAIN)
    if STORES.get(name, (None,))[0] is not None and name != "insert":
        return Looks(STORE)
    operation = _SAME.get(name) or operations().get(name, "")
    if operation in OPERATIONS and name not in _OF_ANOTHER_NAME:
        return Looks(*_of_operation(name, operation))
    moved = name in MOVES or name in DEFAULTS or name.startswith("random.")
    if (moved or name in MAKES) and name not in _COMPUTED | computed("numpy"):
        return Looks(NOTHING)
    return Looks(AGAIN if name in _AGAIN else FUNCTION)


def _of_operation(name: str, operation: str) -> tuple[str, str]:
    family = OPERATIONS[operation].family
    if name in _AGAIN:
        return AGAIN, operation
    if family in _LOSES or operation in _OTHERS or family in CHOOSE:
        return OPERATION, operation
    return NOTHING, ""


def how_again(name: str) -> dict[str, bool]:
    """Return what a function that is carried out again does with integers (``Again``)."""
    ufunc, _, method = name.partition(".")
    powers = name in _HAVE_POWERS or (bool(method) and ufunc not in ("add", "subtract"))
    return {
        "takes_ints": not method or ufunc in _UFUNCS,  # of powers they have too many digits
        "subtracts": name in _SUBTRACT or ufunc == "subtract",
        "goes_once": not powers,
    }


_OF_LAST_AXES = names("dot inner")
"""Products of matrices that sum along the last axis of the first operand, as ``@`` does."""

OF_FLOATS = frozenset({OVERFLOW, NAN, DIGITS, ABSORBED, UNDERFLOW, WIDENING})

GLANCES = (
    *("", "finite", "same", "sum", "cast", "choose", "make", "whole", "abs", "diff", "negative"),
    *("square", "add", "subtract", "multiply", "divide", "floor_divide", "remainder", "pow"),
    *("matmul", "bitwise_left_shift"),
)
"""How the hook sees that nothing was lost, in its order (``native/glance.h``)."""

_GLANCE_OF_A_WAY = {FUNCTION: "finite", CAST: "cast", MAKE: "make", AGAIN: "whole"}
_GLANCE_OF_A_FAMILY = {
    Family.FLOAT_UNARY: "same",
    Family.MEAN: "whole",
    **dict.fromkeys((Family.LINALG, Family.NORM), "finite"),
    **dict.fromkeys((Family.FFT, Family.RFFT, Family.IRFFT), "finite"),
    **dict.fromkeys(CHOOSE, "choose"),
}


def glance_of(looks: Looks, name: str = "") -> str:
    """Return how the hook sees at a glance that nothing was lost; "" if it does not."""
    if looks.operation == "matmul" and looks.way == AGAIN:
        return "matmul" if name in _OF_LAST_AXES else ""
    if looks.way != OPERATION:
        return _GLANCE_OF_A_WAY.get(looks.way, "")
    if looks.operation in GLANCES:
        return looks.operation
    return _GLANCE_OF_A_FAMILY.get(OPERATIONS[looks.operation].family, "")
