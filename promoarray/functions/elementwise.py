"""Chapter "element-wise functions", made from the rows of ``operations``.

Every function goes by the framework's function, where that differs from the operator of its name.
Python scalars are taken on either side.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from promoarray.core._fast_path import FastOperator
from promoarray.core.dispatch import call
from promoarray.core.executable_cache import BOUNDS
from promoarray.core.fast_path import fast_function
from promoarray.core.move import require_taken
from promoarray.core.operands import as_array
from promoarray.dtypes import WEAK
from promoarray.functions import HOMES
from promoarray.functions._docs import documented
from promoarray.operations import OPERATIONS, Form
from promoarray.parray import AnyArray, PArray

_DOC = """{title}

    Parameters
    ----------
    {names} : array or Python scalar
        {shapes}; dtypes go by the policy's rule for {family}.

    Returns
    -------
    PArray
        {result}, and of the dtype that the rule gives.

    Raises
    ------
    PromotionError
        If the policy has no result for these dtypes.
    OverflowError
        If a Python int does not fit the dtype it becomes, under policies that refuse that.{error}

    See Also
    --------
    promoarray.explain : ``pa.explain("{name}", ...)`` tells the rule and what others answer.

    Examples
    --------
    {example}
    """
_UNARY = {"names": "x", "shapes": "Of any shape", "result": "Of the shape of ``x``", "error": ""}
_BINARY = {
    "names": "x1, x2",
    "shapes": "Of shapes that broadcast",
    "result": "Of the broadcast shape",
    "error": "\n    ValueError\n        If the shapes do not broadcast.",
}


def _binary(name: str, title: str) -> Callable[[AnyArray, AnyArray], PArray]:
    def function(x1: Any, x2: Any, /) -> PArray:
        return call(name, x1, x2)

    return _named(function, name, title, _BINARY)


def _unary(name: str, title: str) -> Callable[[AnyArray], PArray]:
    def function(x: Any, /) -> PArray:
        return call(name, x)

    return _named(function, name, title, _UNARY)


if TYPE_CHECKING:
    from typing import TypeVar

    _Function = TypeVar("_Function", bound=Callable[..., PArray])
else:  # type checkers find the names below
    __all__ = [name for name, home in HOMES.items() if home == __name__]


def _named(function: _Function, name: str, title: str, words: dict[str, str]) -> _Function:
    function.__name__ = function.__qualname__ = name
    function.__module__, function.__doc__ = "promoarray", title
    return documented(fast_function(name)(function), partial(_written, name, words))


def _written(name: str, words: dict[str, str], title: str) -> str:
    from promoarray.functions._examples import EXAMPLES

    example = EXAMPLES[name].replace("\n", "\n    ")
    family = OPERATIONS[name].family.value
    return _DOC.format(title=title, family=family, name=name, example=example, **words)


add = _binary("add", "Add, ``x1 + x2``.")
subtract = _binary("subtract", "Subtract, ``x1 - x2``.")
multiply = _binary("multiply", "Multiply, ``x1 * x2``.")
divide = _binary("divide", "Divide, ``x1 / x2``.")
floor_divide = _binary("floor_divide", "Divide and round towards minus infinity, ``x1 // x2``.")
remainder = _binary("remainder", "Remainder of the floor division, ``x1 % x2``; signed as ``x2``.")
fmod = _binary("fmod", "Remainder of the division towards zero; signed as ``x1``.")
pow = _binary("pow", "Raise to a power, ``x1 ** x2``.")
equal = _binary("equal", "Compare, ``x1 == x2``.")
not_equal = _binary("not_equal", "Compare, ``x1 != x2``.")
less = _binary("less", "Compare, ``x1 < x2``.")
less_equal = _binary("less_equal", "Compare, ``x1 <= x2``.")
greater = _binary("greater", "Compare, ``x1 > x2``.")
greater_equal = _binary("greater_equal", "Compare, ``x1 >= x2``.")
logical_and = _binary("logical_and", "Whether both are true.")
logical_or = _binary("logical_or", "Whether either is true.")
logical_xor = _binary("logical_xor", "Whether exactly one is true.")
logical_not = _unary("logical_not", "Whether it is false.")
bitwise_and = _binary("bitwise_and", "And of the bits, ``x1 & x2``.")
bitwise_or = _binary("bitwise_or", "Or of the bits, ``x1 | x2``.")
bitwise_xor = _binary("bitwise_xor", "Exclusive or of the bits, ``x1 ^ x2``.")
bitwise_invert = _unary("bitwise_invert", "Not of the bits, ``~x``.")
bitwise_left_shift = _binary("bitwise_left_shift", "Shift the bits up, ``x1 << x2``.")
bitwise_right_shift = _binary("bitwise_right_shift", "Shift the bits down, ``x1 >> x2``.")
maximum = _binary("maximum", "The larger of the two; NaN if either is.")
minimum = _binary("minimum", "The smaller of the two; NaN if either is.")
fmax = _binary("fmax", "The larger of the two; a NaN is ignored if the other is a number.")
fmin = _binary("fmin", "The smaller of the two; a NaN is ignored if the other is a number.")
atan2 = _binary("atan2", "Angle of the point (x2, x1) in radians, by quadrant.")
hypot = _binary("hypot", "Length of the hypotenuse, without overflow on the way.")
copysign = _binary("copysign", "The magnitude of ``x1`` with the sign of ``x2``.")
nextafter = _binary("nextafter", "The next value after ``x1`` towards ``x2``.")
logaddexp = _binary("logaddexp", "``log(exp(x1) + exp(x2))``, without overflow on the way.")
sin = _unary("sin", "Sine of radians.")
cos = _unary("cos", "Cosine of radians.")
tan = _unary("tan", "Tangent of radians.")
asin = _unary("asin", "Inverse sine.")
acos = _unary("acos", "Inverse cosine.")
atan = _unary("atan", "Inverse tangent.")
sinh = _unary("sinh", "Hyperbolic sine.")
cosh = _unary("cosh", "Hyperbolic cosine.")
tanh = _unary("tanh", "Hyperbolic tangent.")
asinh = _unary("asinh", "Inverse hyperbolic sine.")
acosh = _unary("acosh", "Inverse hyperbolic cosine.")
atanh = _unary("atanh", "Inverse hyperbolic tangent.")
exp = _unary("exp", "e to the power x.")
expm1 = _unary("expm1", "``exp(x) - 1``, exact near 0.")
log = _unary("log", "Natural logarithm.")
log1p = _unary("log1p", "``log(1 + x)``, exact near 0.")
log2 = _unary("log2", "Logarithm to base 2.")
log10 = _unary("log10", "Logarithm to base 10.")
sqrt = _unary("sqrt", "Square root.")
reciprocal = _unary("reciprocal", "``1 / x``.")
square = _unary("square", "``x * x``.")
abs = _unary("abs", "Absolute value; of complex numbers the modulus, which is real.")
negative = _unary("negative", "``-x``.")
positive = _unary("positive", "``+x``.")
sign = _unary("sign", "-1, 0 or 1; of complex numbers ``x / abs(x)``.")
floor = _unary("floor", "Round towards minus infinity.")
ceil = _unary("ceil", "Round towards plus infinity.")
trunc = _unary("trunc", "Round towards zero.")
round = _unary("round", "Round to nearest, ties to even.")
isnan = _unary("isnan", "Whether it is NaN.")
isinf = _unary("isinf", "Whether it is infinite.")
isfinite = _unary("isfinite", "Whether it is neither NaN nor infinite.")
signbit = _unary("signbit", "Whether the sign bit is set.")
conj = _unary("conj", "Complex conjugate.")
real = _unary("real", "Real part.")
imag = _unary("imag", "Imaginary part.")


@fast_function("clip" + Form.FUNCTION + BOUNDS[True, True], Form.OPERATOR, settings={"operands": 3})
def clip(x: AnyArray, /, min: AnyArray | None = None, max: AnyArray | None = None) -> PArray:
    """Limit values to a range.

    Parameters
    ----------
    x : array, any shape
    min, max : array or Python scalar, optional
        The bounds, of shapes that broadcast with ``x``. None leaves that side open. They promote
        with ``x`` as the policy says.

    Returns
    -------
    PArray
        Of the broadcast shape. Under most policies of the dtype that the three promote to.

    Raises
    ------
    PromotionError
        If the policy has no result for these dtypes, or, as NumPy 1 and PyTorch, none without a
        bound.
    OverflowError
        If a Python int does not fit the dtype it becomes, under policies that refuse that. NumPy
        takes one that clips nothing: ``clip(x, -1, 300)`` of uint8.
    ValueError
        If the shapes do not broadcast.

    Examples
    --------
    >>> clip(asarray([-3, 0, 7]), 0, 5)
    PArray([0, 0, 5], dtype=int64)
    """
    if max is not None:
        return _from_to(x, min, max) if min is not None else _to(x, max)
    if min is not None:
        return _from(x, min)
    if type(x) not in WEAK:
        require_taken("clip", as_array(x, "clip"))
    return call("clip", x, low=False, high=False)


def _clip(low: bool, high: bool) -> Callable[..., PArray]:
    run = partial(call, "clip", low=low, high=high)
    return FastOperator(run, "clip" + Form.FUNCTION + BOUNDS[low, high])


_from, _to, _from_to = _clip(True, False), _clip(False, True), _clip(True, True)
