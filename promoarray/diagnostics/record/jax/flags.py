"""Tests of JAX primitives for what they may have lost, in arrays of bools.

All are true rather too often, and cheap: what was lost is told op by op.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np
from jax import lax
from jax import numpy as jnp

from promoarray.diagnostics.calls.tables import names

Arrays = Sequence[Any]

CALLS = names("""
    jit pjit closed_call core_call custom_jvp_call custom_vjp_call custom_vjp_call_jaxpr remat2
    checkpoint
""")
LOOPS = names("scan while cond custom_linear_solve")

MOVES = names("""
    broadcast_in_dim clamp concatenate convert_element_type copy copy_p cummax cummin device_put
    dynamic_slice dynamic_update_slice expand_dims gather iota max min optimization_barrier pad
    real imag reduce_max reduce_min reduce_window_max
    reduce_window_min reshape rev scatter select_n slice sort split squeeze
    stop_gradient tile top_k transpose
""")
"""Primitives that compute nothing new."""

SHOW = names("""
    add add_any broadcast_in_dim copy cumsum dot_general expand_dims log mul neg reduce_sum reshape
    rev sqrt square squeeze sub transpose
""")
"""Those that have an Inf or NaN in the result if an operand has one."""

SCALES = names("mul div convert_element_type square")
SMALL = names("mul div pow integer_pow square")

FINITE = names("abs ceil cos erf floor logistic neg random_bits round sign sin tanh")
"""Those that make neither Inf nor NaN of numbers."""

EXACT = names("""
    and argmax argmin bitcast_convert_type ceil clz eq erf floor lu not or population_count
    random_bits random_fold_in random_seed random_split random_unwrap random_wrap reduce_and
    reduce_or reduce_xor rem rng_bit_generator round shift_right_arithmetic shift_right_logical
    sign threefry2x32 xor
""")
"""Those whose integers are as meant."""


# -- what may be lost -----------------------------------------------------------------------------


def code(x: Any) -> Any:
    """The bits of floats but for the sign.

    Only these are compared: XLA makes zero of numbers below the normal ones, and in a test of
    several such comparisons loses one.
    """
    word = jnp.dtype(f"uint{8 * x.dtype.itemsize}")
    return lax.bitcast_convert_type(x, word) & word.type(jnp.iinfo(word).max >> 1)


def above(x: Any, most: float) -> Any:
    """Numbers beyond a magnitude."""
    return code(x) > code(jnp.asarray(most, x.dtype))


def not_finite(x: Any, *, alone: bool = False) -> Any:
    """Inf and NaN, or NaN alone."""
    if jnp.issubdtype(x.dtype, jnp.complexfloating):
        return not_finite(x.real, alone=alone) | not_finite(x.imag, alone=alone)
    if x.dtype.itemsize == 1:  # some have no Inf
        return jnp.isnan(x) if alone else ~jnp.isfinite(x)
    inf = code(jnp.asarray(jnp.inf, x.dtype))
    return code(x) > inf if alone else code(x) >= inf


def new(made: Any, given: Arrays) -> Any:
    """Inf and NaN; of an operation by elements, where the operands have none."""
    floats = [x for x in given if jnp.issubdtype(x.dtype, jnp.inexact)]
    if not floats or any(x.shape not in ((), made.shape) for x in given):
        return not_finite(made)
    has_nan = reduce(operator.or_, [not_finite(x, alone=True) for x in floats])
    has_either = reduce(operator.or_, map(not_finite, floats))
    is_nan = not_finite(made, alone=True)
    return (is_nan & ~has_nan) | (not_finite(made) & ~has_either)


def nonzero(x: Any) -> Any:
    """What is not zero: to XLA, small numbers may be."""
    return code(x) != 0 if jnp.issubdtype(x.dtype, jnp.floating) else x != 0


def all_nonzero(given: Arrays) -> Any:
    return reduce(operator.and_, map(nonzero, given))


def is_small(made: Any) -> Any:
    return code(made) < code(jnp.finfo(made.dtype).smallest_normal.astype(made.dtype))


def is_offset(x: Any) -> Any:
    """Whether all numbers lie near each other, far from zero."""
    if x.size < 2:
        return False
    least, most = jnp.min(x), jnp.max(x)
    return (least != most) & ((most - least) <= jnp.maximum(least, -most) / 8)


def stands_still(x: Any, update: Any, made: Any) -> Any:
    """Whether most elements of a sum are what they were, though something was added."""
    step = max(made.size // 4096, 1)
    update = jnp.broadcast_to(update, made.shape)
    x, update, made = (each.reshape(-1)[::step] for each in (x, update, made))
    same = code(x) == code(made)
    moves = nonzero(update)
    lost = same & moves & nonzero(x)
    return (2 * same.sum() > same.size) & (2 * lost.sum() > moves.sum())


def beyond(x: Any, low: int, high: int) -> Any:
    if jnp.issubdtype(x.dtype, jnp.floating):
        wide = x.astype(_wide(x.dtype))
        return ~((wide >= low) & (wide < float(high + 1)))
    own = jnp.iinfo(x.dtype)
    below = x < low if low > own.min else False
    above = x > high if high < own.max else False
    return jnp.array(below) | above


def _wide(dtype: Any) -> Any:
    return jnp.float64 if np.dtype(dtype).itemsize == 8 else jnp.float32


def _sum(params: Any, given: Arrays, made: Any) -> Any:
    (x,) = given
    axes = params.get("axes", (params.get("axis"),))
    return _is_far(jnp.sum(_magnitude(x, made), axis=tuple(axes)), made)


def _product(params: Any, given: Arrays, made: Any) -> Any:
    (x,) = given
    axes = params.get("axes", (params.get("axis"),))
    return _is_far(jnp.prod(jnp.maximum(_magnitude(x, made), 1), axis=tuple(axes)), made)


def _terms(params: Any, given: Arrays, made: Any) -> Any:
    """Sums of products: so many times the largest one."""
    x, y = given
    return _is_far(_most(x, made) * _most(y, made) * min(x.size, y.size), made)


def _window(params: Any, given: Arrays, made: Any) -> Any:
    return _is_far(_most(given[0], made) * float(np.prod(params["window_dimensions"])), made)


def _scattered(params: Any, given: Arrays, made: Any) -> Any:
    x, _, updates = given
    return _is_far(_most(x, made) + jnp.sum(_magnitude(updates, made)), made)


def _most(x: Any, made: Any) -> Any:
    return jnp.max(_magnitude(x, made), initial=0)


def _magnitude(x: Any, made: Any) -> Any:
    return jnp.abs(x.astype(_wide(made.dtype)))


def _is_far(magnitude: Any, made: Any) -> Any:
    """Whether a sum of magnitudes, rounded, may be too much."""
    return ~(magnitude < float(jnp.iinfo(made.dtype).max) * (1 - 2.0**-6))


def _elements(function: Callable[..., Any]) -> Callable[..., Any]:
    """A rule of an operation by elements, in floats: of few bits these are exact."""

    def rule(params: Any, given: Arrays, made: Any) -> Any:
        about, wide = jnp.iinfo(made.dtype), _wide(made.dtype)
        by = [params["y"]] if "y" in params else []
        exact = function(*(x.astype(wide) for x in given), *by)
        near = 2.0**-18 if about.bits > 16 else 0.0
        low, high = float(about.min) * (1 - near), float(about.max) * (1 - near)
        return ~((exact <= high) & (exact >= low))

    return rule


def _added(params: Any, given: Arrays, made: Any) -> Any:
    x, y = given
    if jnp.issubdtype(made.dtype, jnp.unsignedinteger):
        return made < x
    return ((x ^ made) & (y ^ made)) < 0


def _subtracted(params: Any, given: Arrays, made: Any) -> Any:
    x, y = given
    return x < y if jnp.issubdtype(made.dtype, jnp.unsignedinteger) else ((x ^ y) & (x ^ made)) < 0


def _negated(params: Any, given: Arrays, made: Any) -> Any:
    (x,) = given
    unsigned = jnp.issubdtype(made.dtype, jnp.unsignedinteger)
    return x != 0 if unsigned else x == jnp.iinfo(made.dtype).min


def _magnified(params: Any, given: Arrays, made: Any) -> Any:
    return made < 0


def _divided(params: Any, given: Arrays, made: Any) -> Any:
    x, y = given
    if jnp.issubdtype(made.dtype, jnp.unsignedinteger):
        return False
    return (x == jnp.iinfo(made.dtype).min) & (y == -1)


def _shifted(params: Any, given: Arrays, made: Any) -> Any:
    x, by = given
    back = made >> by
    return (back != x) | (by >= jnp.iinfo(made.dtype).bits) | (by < 0)


INTEGERS: Mapping[str, Callable[[Any, Arrays, Any], Any]] = {
    "abs": _magnified,
    "add": _added,
    "add_any": _added,
    "conv_general_dilated": _terms,
    "cumprod": _product,
    "cumsum": _sum,
    "div": _divided,
    "dot_general": _terms,
    "integer_pow": _elements(operator.pow),
    "mul": _elements(operator.mul),
    "neg": _negated,
    "pow": _elements(operator.pow),
    "reduce_prod": _product,
    "reduce_sum": _sum,
    "reduce_window_sum": _window,
    "scatter-add": _scattered,
    "shift_left": _shifted,
    "square": _elements(lambda x: x * x),
    "sub": _subtracted,
}
"""What tells of integers that a primitive makes whether any may have wrapped."""
