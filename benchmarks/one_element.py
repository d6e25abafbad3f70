"""Dispatch: operations on one element, as times NumPy's ``x + x`` of two float32.

Each has its executable by then, as what is made once is not measured. Python's call of a lambda is
in all of them.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from measure import Line, Options
from peers import Peer, Spelled, call, calls

import promoarray as pa
from promoarray import dtypes as dt

REFERENCE = "numpy x + x"
BOUND = 1.2
"""Functions of a bound namespace take at most so many times the budget of the free ones."""

_ONE = np.asarray([2.0], np.float32)
OPERANDS = {
    "f32": _ONE,
    "f64": _ONE.astype(np.float64),
    "bf16": _ONE.astype(dt.bfloat16.storage),
    "f16": _ONE.astype(np.float16),
    "i8": _ONE.astype(np.int8),
    "f32_0d": _ONE.reshape(()),
    "mask": np.asarray([True]),
    "into_f32": _ONE.copy(),
    "into_bf16": _ONE.astype(dt.bfloat16.storage),
    "four": np.arange(4, dtype=np.float32),
    "rows": np.ones((4, 1), np.float32),
    "square": np.ones((2, 2), np.float32),
    "two": np.ones(2, np.float32),
    "two_f64": np.ones(2),
    "index": np.asarray([0, 2]),
    "index_i32": np.asarray([0, 2], np.int32),
    "every_other": np.asarray([True, False, True, False]),
    "n_f32": _ONE,
}

GROUPS: list[tuple[float, str, tuple[str, ...]]] = [
    (3, "", ("f32 + f32", "f32 + 1.5", "1.5 + f32", "i8 + f32", "f32 + f64", "f32 + f32_0d")),
    (3, "", ("f32 < f32", "xp.add(f32, f32)", "xp.atan2(f32, f32)")),
    (3, "numpy@1", ("f32 + f32", "f32 + f64", "f32 + 1.5", "i8 + 1", "f32 + f32_0d")),
    (3, "torch", ("i8 + f32", "f32 + f64", "f64 + f32_0d")),
    (3, "jax", ("i8 + f32",)),
    (4, "", ("bf16 + bf16", "f16 + f16", "bf16 + f32", "bf16 + 1.5", "bf16 < bf16")),
    (4, "", ("xp.maximum(bf16, bf16)",)),
    (4, "torch", ("bf16 + f16", "bf16 + f32", "bf16 + 1.5", "bf16 * 1.5")),
    (4, "", ("-f32", "abs(f32)", "xp.exp(f32)", "xp.floor(f32)", "xp.isnan(f32)")),
    (4, "", ("-bf16", "abs(bf16)", "xp.exp(bf16)", "xp.isnan(bf16)")),
    (3, "", ("iadd(into_f32, f32)", "iadd(into_f32, 1.5)")),
    (4, "", ("iadd(into_bf16, bf16)",)),
    (3, "jax", ("iadd(into_f32, f32)",)),
    (4, "", tuple(f"f32.astype(xp.{name})" for name in ("float64", "bfloat16", "int8"))),
    (4, "", ("f32.astype(xp.float8_e4m3fn)", "xp.astype(bf16, xp.float32)")),
    (8, "", ("xp.where(mask, f32, f32)", "xp.where(mask, bf16, 0.0)", "xp.concat([f32, f32])")),
    (8, "", ("xp.sum(f32)", "xp.sum(f32, axis=0)", "xp.sum(bf16)", "f32.sum()")),
    (8, "", ("xp.mean(f32)", "xp.max(f32)", "xp.max(bf16)")),
    (3, "", ("f32[0]", "rows[0]", "four[1:3]")),
    (3, "", ("setitem(four, slice(1, 3), 2.0)", "setitem(four, 0, 2.0)")),
    (3, "", ("square[0, 1]", "square[1:, 0]", "square[..., 0]", "square[None]")),
    (3, "", ("setitem(four, slice(1, 3), two)", "setitem(four, slice(1, 3), two_f64)")),
    (3, "", ("setitem(square, (0, 1), 2.0)", "setitem(square, (slice(1, 2), 0), 2.0)")),
    (8, "", ("four[index]", "four[index_i32]", "four[every_other]", "four[[0, 2]]")),
    (8, "", ("square[:, [0]]", "setitem(four, index, 2.0)", "setitem(four, [0, 2], 2.0)")),
    (8, "", ("setitem(four, every_other, 2.0)", "setitem(four, index, two)")),
    (8, "", ("setitem(four, index, two_f64)", "setitem(four, every_other, two)")),
    (3, "torch", ("f32[0]", "xp.asarray(n_f32)", "setitem(four, slice(1, 3), two_f64)")),
    (8, "torch", ("four[index]", "setitem(four, every_other, 2.0)")),
    (4, "jax", ("setitem(four, slice(1, 3), two_f64)",)),  # all of four is cast there and back
    (3, "", ("xp.asarray(n_f32)", "xp.asarray(f32)", "xp.asarray(n_f32, dtype=xp.float64)")),
    (3, "", ("xp.asarray(f32, dtype=xp.bfloat16)", "xp.asarray(f32, dtype='float64')")),
    (4, "", ("f32.astype('float64')", "xp.zeros(3, dtype='float32')")),
    (1, "", ("xp.result_type(f32, f64)", "xp.result_type(f32, 1.5)", "xp.finfo(xp.float32)")),
    (1, "", ("xp.promote_types(xp.float32, xp.int8)", "xp.can_cast(f32, xp.float64)")),
    (1, "", ("bool(f32)", "float(f32_0d)", "f32.item()", "f32.tolist()", "len(four)")),
    (4, "", ("four.reshape(2, 2)", "xp.reshape(four, (2, 2))")),
    (4, "", ("xp.zeros(3)", "xp.zeros((3,), dtype=xp.int8)")),
]
BOUND_GROUPS: list[tuple[float, tuple[str, ...]]] = [
    (3, ("f32 + f32",)),
    (3 * BOUND, ("xp.add(f32, f32)", "xp.asarray(n_f32)")),
    (4 * BOUND, ("xp.exp(f32)", "xp.zeros(3)")),
    (8 * BOUND, ("xp.sum(f32)", "four[index]", "setitem(four, every_other, 2.0)")),
    (BOUND, ("xp.result_type(f32, 1.5)",)),
]

SPELLED: dict[str, Spelled] = {
    "f32.astype(xp.float64)": {"torch": "f32.to(xp.float64)"},
    "f32.astype(xp.int8)": {"torch": "f32.to(xp.int8)"},
    "f32.astype(xp.bfloat16)": {"torch": "f32.to(xp.bfloat16)", "numpy": "f32.astype('bfloat16')"},
    "f32.astype(xp.float8_e4m3fn)": {
        "torch": "f32.to(xp.float8_e4m3fn)",
        "numpy": "f32.astype('float8_e4m3fn')",
    },
    "xp.astype(bf16, xp.float32)": {"torch": "bf16.to(xp.float32)"},
    "xp.asarray(n_f32)": {"paddle": "xp.to_tensor(n_f32)"},
}


def lines(peers: list[Peer], options: Options) -> Iterator[Line]:
    """Every operation, under the default policy unless another is named."""
    reference = {REFERENCE: call("f32 + f32", peers[0], OPERANDS)}
    for budget, policy, texts in GROUPS:
        for text in texts:
            with pa.policy(policy or pa.get_policy()):
                found = calls(text, peers, OPERANDS, SPELLED.get(text))
            name = f"{policy}: {text}" if policy else text
            bounds = {REFERENCE: budget, "torch": 1.0, "jax": 0.2}
            yield Line(name, found | reference, bounds, policy or None)
    bound = pa.namespace("torch")
    for budget, texts in BOUND_GROUPS:
        for text in texts:
            found = calls(text, (), OPERANDS, ours=bound)
            yield Line(f"bound: {text}", found | reference, {REFERENCE: budget})
