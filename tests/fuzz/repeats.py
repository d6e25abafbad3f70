"""Operations done again: the second and third answers, which the fast path gives, are the first's.

Under a policy that has met nothing yet the first goes the whole long way. Answers are bits, class,
type, shape and warnings, or the error in full; whatever dtypes, layouts, ranks, scalars, ways to
take floating-point exceptions, and whether the arrays are bound to a namespace.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.random import Generator

import promoarray as pa
from fuzz.layouts import STORED, laid_out, numbers, one_of
from promoarray.policies import as_policy

POLICIES = ["numpy", "numpy@1", "torch", "jax", "jax@x32", "paddle@3.3", "tensorflow", "aclnn"]
POLICIES += ["onnx", "array_api", "mindspore"]
USUAL = [pa.float32, pa.float64, pa.float16, pa.bfloat16, pa.int8, pa.int64, pa.bool, pa.complex64]
SCALARS = [True, 0, 1, -3, 2, 300, 2**40, 0.0, -0.0, 1.5, 1e-300, 1e300, float("nan"), 1 + 2j]
SHAPES = [(), (1,), (3,), (1, 3), (2, 3), (0,), (300,), (2, 200)]


def _assigned(key: Any) -> Any:
    def run(xp: Any, x: Any, y: Any) -> Any:
        target = xp.asarray(x, copy=True)
        target[key] = y
        return target

    return run


def _added(xp: Any, x: Any, y: Any) -> Any:
    x += y
    return x


def _scaled(xp: Any, x: Any, y: Any) -> Any:
    x *= y
    return x


OPERATIONS = [
    lambda xp, x, y: x + y,
    lambda xp, x, y: y - x,
    lambda xp, x, y: x / y,
    lambda xp, x, y: x**y,
    lambda xp, x, y: x % y,
    lambda xp, x, y: x // y,
    lambda xp, x, y: y / x,
    lambda xp, x, y: x < y,
    lambda xp, x, y: y == x,
    lambda xp, x, y: x & y,
    lambda xp, x, y: x << y,
    lambda xp, x, y: xp.maximum(x, y),
    lambda xp, x, y: xp.atan2(y, x),
    lambda xp, x, y: xp.multiply(y, x),
    lambda xp, x, y: -x,
    lambda xp, x, y: abs(x),
    lambda xp, x, y: xp.exp(x),
    lambda xp, x, y: xp.floor(x),
    lambda xp, x, y: xp.round(x),
    lambda xp, x, y: xp.isnan(x),
    lambda xp, x, y: xp.signbit(x),
    lambda xp, x, y: xp.sum(x),
    lambda xp, x, y: xp.prod(x, axis=-1),
    lambda xp, x, y: xp.mean(x),
    lambda xp, x, y: xp.mean(x, axis=0, keepdims=True),
    lambda xp, x, y: xp.max(x, keepdims=True),
    lambda xp, x, y: xp.min(x, axis=(0,)),
    lambda xp, x, y: xp.argmax(x),
    lambda xp, x, y: xp.any(x),
    lambda xp, x, y: x.sum(),
    lambda xp, x, y: xp.where(x == x, x, y),
    lambda xp, x, y: xp.where(xp.asarray([True]), y, x),
    lambda xp, x, y: xp.concat([x, y]),
    lambda xp, x, y: xp.concat((x, x), axis=None),
    lambda xp, x, y: x.astype(pa.float8_e4m3fn),
    lambda xp, x, y: xp.astype(x, pa.bfloat16),
    lambda xp, x, y: x.astype(pa.int8),
    lambda xp, x, y: x.astype(x.dtype),
    lambda xp, x, y: xp.asarray(np.asarray(x)),
    lambda xp, x, y: x[0],
    lambda xp, x, y: x[1:],
    lambda xp, x, y: x[-1:0:-1],
    _assigned(0),
    _assigned(slice(None, None, 2)),
    _assigned(slice(1, 2)),
    _added,
    _scaled,
]


def told(run: Any) -> tuple[Any, ...]:
    """All of an answer that one can tell: to the bit with the warnings, or the error."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            z = run()
        except Exception as error:
            return type(error), str(error)  # found on the fast path, said on the long one
    kept = z._buffer
    found = type(z), z._type, z.shape, kept.dtype, kept.tobytes(), kept.flags.writeable
    return *found, tuple((w.category, str(w.message)) for w in seen)


def _operand(random: Generator) -> Any:
    """A NumPy array, most often of a usual dtype and of few elements."""
    dtype = one_of(random, USUAL if random.random() < 0.7 else STORED)
    values = numbers(random, one_of(random, SHAPES), dtype)
    return laid_out(random, values) if random.random() < 0.3 else values


def once(random: Generator) -> None:
    """Do one operation three times on the same operands."""
    policy = as_policy(one_of(random, POLICIES)).derive("once")
    is_scalar = random.random() < 0.4
    second = one_of(random, SCALARS) if is_scalar else _operand(random)
    run, given = one_of(random, OPERATIONS), [_operand(random), second]
    bound, how = random.random() < 0.3, one_of(random, ["ignore", "warn", "raise"])
    with np.errstate(all=how), pa.policy("numpy" if bound else policy):
        xp = pa.namespace(policy) if bound else pa

        def again() -> tuple[Any, ...]:
            try:
                operands = [
                    xp.asarray(x, copy=x.flags.writeable or None) if type(x) is np.ndarray else x
                    for x in given
                ]
            except TypeError as error:
                return type(error), str(error)
            return told(lambda: run(xp, *operands))

        answers = [again() for _ in range(3)]
    assert answers[1:] == answers[:1] * 2, (policy.title, how, *given, *answers)
