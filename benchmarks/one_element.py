"""Dispatch: operations on one element, beside PyTorch; functions that are one call of NumPy's."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from measure import Bound, Line, Options
from peers import NUMPY, Array, call, calls, load

import promoarray as pa
from promoarray.dtypes import as_dtype

REFERENCE = "numpy x + x"
PEER = Bound(1.0, ("torch",))
OPERATOR = Bound(2.5, (REFERENCE,))
MORE = 1e-6
"""Seconds that a function may add to NumPy's call."""

OPERATORS = """
x + y; x - y; x * y; x / y; x // y; x % y; x ** y; x == y; x < y; x >= y; x + 1.5; 1.5 + x; x * 2
x + z; x + zero_d; -x; abs(x); iadd(t, y); iadd(t, 1.5)
"""
FUNCTIONS = """
xp.add(x, y); xp.subtract(x, y); xp.multiply(x, y); xp.divide(x, y); xp.remainder(x, y)
xp.pow(x, y); xp.equal(x, y); xp.less(x, y); xp.logical_and(x, y); xp.maximum(x, y)
xp.minimum(x, y); xp.atan2(x, y); xp.hypot(x, y); xp.copysign(x, y); xp.nextafter(x, y)
xp.logaddexp(x, y); xp.exp(x); xp.log(x); xp.sin(x); xp.tanh(x); xp.sqrt(x); xp.square(x)
xp.abs(x); xp.negative(x); xp.sign(x); xp.floor(x); xp.round(x); xp.trunc(x); xp.isnan(x)
xp.isfinite(x); xp.signbit(x); xp.logical_not(x); xp.sum(x); xp.sum(x, axis=0); xp.prod(x)
xp.mean(x); xp.max(x); xp.all(x); xp.any(x); xp.argmax(x); xp.cumulative_sum(x); xp.std(x)
xp.var(x); xp.where(mask, x, y); xp.where(mask, x, 0.0); xp.clip(x, 0, 1); xp.concat([x, y])
xp.stack([x, y]); xp.sort(x); xp.argsort(x); xp.unique_values(x); xp.matmul(x, y)
xp.count_nonzero(x); xp.nonzero(x); xp.reshape(four, (2, 2)); xp.flip(x); xp.roll(x, 1)
xp.zeros_like(x); xp.ones_like(x); xp.full_like(x, 1); xp.zeros(3); xp.ones((2, 3)); xp.full(3, 1.5)
xp.arange(3); xp.linspace(0, 1, 3); xp.asarray(n_x); xp.asarray(x); xp.asarray([1.5, 2.5])
xp.result_type(x, z); xp.result_type(x, 1.5); xp.can_cast(x, xp.float64); xp.finfo(xp.float32)
"""
METHODS = """
x.sum(); x.mean(); x.max(); x.argmax(); x.reshape(1, 1); x.astype(xp.float64)
x.astype(xp.float32); x.astype(xp.bfloat16); x.astype(xp.int8); x.astype(xp.float8_e4m3fn)
x.item(); x.tolist(); float(x); bool(x); len(x)
"""
INDEXING = """
x[0]; four[1:3]; square[0, 1]; square[1:, 0]; square[..., 0]; square[None]; four[index]
four[every_other]; four[[0, 2]]; setitem(four, 0, 2.0); setitem(four, slice(1, 3), 2.0)
setitem(four, slice(1, 3), two); setitem(four, index, 2.0); setitem(four, every_other, 2.0)
"""
SOME = "x + y; x + 1.5; x < y; iadd(t, y); xp.exp(x); xp.sum(x); x[0]; x.astype(xp.float64)"
"""Expressions measured under each policy of `POLICIES`, and in a bound namespace."""
POLICIES = ("numpy@1", "jax", "torch", "tensorflow", "paddle", "aclnn", "onnx", "array_api")

SPELLED = {
    "xp.concat([x, y])": "xp.cat([x, y])",
    "xp.cumulative_sum(x)": "xp.cumsum(x, 0)",
    "xp.flip(x)": "xp.flip(x, (0,))",
    "xp.full(3, 1.5)": "xp.full((3,), 1.5)",
    "xp.unique_values(x)": "xp.unique(x)",
    "xp.can_cast(x, xp.float64)": "xp.can_cast(x.dtype, xp.float64)",
}
"""PyTorch's words where they are others."""

NUMPY_CALLS = """
xp.sum(x); xp.mean(x); xp.max(x); xp.prod(x); xp.argmax(x); xp.any(x); xp.sort(x); xp.argsort(x)
xp.concat([x, y]); xp.stack([x, y]); xp.where(mask, x, y); xp.matmul(x, y); xp.tensordot(x, y, 1)
xp.cumulative_sum(x); xp.unique_values(x); xp.searchsorted(x, y); xp.nonzero(x); xp.flip(x)
xp.roll(x, 1); xp.tile(x, (2,)); xp.take(x, index); xp.reshape(x, (-1,)); xp.linalg.inv(square)
xp.linalg.qr(square); xp.fft.fft(x)
"""


def texts(listed: str) -> list[str]:
    """Return the expressions of a list."""
    return [text.strip() for text in listed.replace("\n", ";").split(";") if text.strip()]


def operands(dtype: str) -> dict[str, Array]:
    """Return arrays of one element and a few, by the names that expressions have for them."""
    storage = as_dtype(dtype).storage
    one = np.asarray([2.0]).astype(storage)
    return {
        **dict.fromkeys(("x", "y", "n_x"), one),
        "t": one.copy(),
        "z": np.asarray([1], np.int8),
        "zero_d": one.reshape(()),
        "two": np.ones(2).astype(storage),
        "four": np.arange(4).astype(storage),
        "square": (np.eye(2) + 1).astype(storage),
        "mask": np.asarray([True]),
        "index": np.asarray([0]),
        "every_other": np.asarray([True, False, True, False]),
    }


def lines(options: Options) -> Iterator[Line]:
    """Yield every operator, function, method, creation, index and cast; some by policy."""
    peers = load(name for name in options.peers if name == "torch")
    reference = {REFERENCE: call("x + x", NUMPY, operands("float32"))}
    for dtype in ("float32", "bfloat16"):
        given = operands(dtype)
        for text in texts(OPERATORS):
            if found := calls(text, peers, given):
                yield Line(f"{text}, {dtype}", found | reference, (OPERATOR, PEER))
        for text in texts(FUNCTIONS + METHODS + INDEXING):
            own = SPELLED.get(text, text).replace("x.astype(", "x.to(")
            if found := calls(text, peers, given, {"torch": own}):
                yield Line(f"{text}, {dtype}", found, (PEER,))
    given = operands("float32")
    for text in texts(SOME):
        own = text.replace("x.astype(", "x.to(")
        for policy in POLICIES:
            with pa.policy(policy):
                found = calls(text, peers, given, {"torch": own})
                if found:
                    yield Line(f"{text}, under {policy}", found, (PEER,))
        if found := calls(text, peers, given, {"torch": own}, pa.namespace("torch")):
            yield Line(f"{text}, namespace('torch')", found, (PEER,))


def numpy_calls(options: Options) -> Iterator[Line]:
    """Yield functions that are one call of NumPy's, on one element and on a thousand."""
    for size in (1, 1000):
        x = np.random.default_rng(0).standard_normal(size).astype(np.float32)
        given = operands("float32") | {"x": x, "y": x[::-1].copy(), "mask": x > 0}
        for text in texts(NUMPY_CALLS):
            if found := calls(text, [NUMPY], given):
                bounds = (Bound(1.0, ("numpy",), MORE),)
                yield Line(f"{text}, {size} elements", found, bounds)
