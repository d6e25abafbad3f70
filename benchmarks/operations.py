"""Dispatch of all: every operator and function on one element, of dtypes and under policies drawn
by lot, as times NumPy's ``x + x`` of two float32.

All of them would be some hundred thousand. Every run has the same lot; ``--lot`` draws another.
"""

from __future__ import annotations

import operator
import random
import re
from collections.abc import Iterator, Mapping
from itertools import count, product
from typing import Any, NamedTuple

import numpy as np
from measure import OURS, Call, Line, Options
from one_element import OPERANDS, REFERENCE
from peers import Peer, call

import promoarray as pa
from promoarray import dtypes as dt
from promoarray.policies import as_policy

SECONDS = 0.002
"""How long a way of a line is measured: there are thousands of lines."""

DRAWN, QUICKLY = 48, 16
"""Lines of an expression, where dtypes and policies do not give fewer."""

POLICIES = [name for name in pa.list_policies() if not name.startswith("onnx@")]
POLICIES += ["onnx@13", "onnx@19", "onnx@25"]

SAME = 0.3
"""How often the second operand is of the dtype of the first: most policies refuse most pairs."""

SCALARS: dict[str, Any] = {"True": True, "2": 2, "1.5": 1.5, "1.5j": 1.5j}
"""The Python scalars among operands."""

WEAKLY: dict[str, Any] = {"weak float": 1.5, "weak int": 1}
"""What weakly typed arrays among operands are made of."""

WEAK_POLICIES = [name for name in POLICIES if as_policy(name).weak_arrays]

WEAK = 6
"""One line in so many has them, besides the others."""


class Group(NamedTuple):
    """Expressions that are held to one budget, or to none that is promised."""

    budget: float | None
    pattern: str
    names: str
    narrow: float = 0.0
    """The budget where an operand is a float of 16 bits or fewer, if it is another."""


GROUPS = {
    "operators": Group(3, "x {} y", "+ - * / // % ** == != < <= > >= & | ^ << >>", 4),
    "operators of 0-d": Group(
        3, "x_0d {}", "+y *y_0d -y_0d /y **y_0d <y_0d ==y &y >>y_0d //y_0d %y", 4
    ),
    "reflected": Group(3, "y {} x", "+ - * / // % ** < == & <<", 4),
    "of new numbers": Group(3, "x {} new()", "+ <", 4),
    "in place": Group(
        3,
        "operator.i{}(x, y)",
        "add sub mul truediv floordiv mod pow and or xor lshift rshift",
        4,
    ),
    "in place of 0-d": Group(3, "operator.i{}(x_0d, y_0d)", "add sub mul truediv", 4),
    "functions of two": Group(
        3,
        "xp.{}(x, y)",
        """
        add subtract multiply divide floor_divide remainder pow equal not_equal less less_equal
        greater greater_equal logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor
        bitwise_left_shift bitwise_right_shift maximum minimum fmax fmin atan2 hypot copysign
        nextafter logaddexp
        """,
        4,
    ),
    "functions of one": Group(
        4,
        "xp.{}(x)",
        """
        logical_not bitwise_invert sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp
        expm1 log log1p log2 log10 sqrt reciprocal square abs negative positive sign floor ceil
        trunc round isnan isinf isfinite signbit conj real imag
        """,
    ),
    "reductions": Group(8, "xp.{}(x)", "sum prod mean max min all any argmax argmin"),
    "reductions along an axis": Group(8, "xp.{}(x, axis=0)", "sum prod mean max min all any"),
    "reductions by position": Group(
        8,
        "x.{}",
        """
        sum(0) mean(0) max(0) min(-1) prod(0) all(0) any(0) argmax(0) sum((0,))
        mean(-1,keepdims=True) sum(0,keepdims=True) max(axis=0,keepdims=True)
        """,
    ),
    "reductions of a dtype": Group(
        8, "xp.{}(x, dtype=xp.float64)", "sum prod cumulative_sum cumulative_prod"
    ),
    "where": Group(8, "xp.where(mask, x, {})", "y"),
    "joined": Group(8, "xp.{}([x, y])", "concat stack"),
    "several joined": Group(12, "xp.{}([x, x, x, x])", "concat stack"),
    "running": Group(8, "xp.{}(x)", "cumulative_sum cumulative_prod diff"),
    "std, var": Group(12, "xp.{}", "std(x) var(x) std(x,axis=0) var(x,axis=0,correction=0.5)"),
    "std, var by position": Group(12, "x.{}", "std(0) var(0,ddof=0.5)"),
    "clip": Group(12, "xp.clip(x, {})", "y,y y None,y 0,1"),
    "sorted": Group(
        12,
        "xp.{}",
        "sort(x) argsort(x) sort(x,axis=0) sort(x,descending=True) argsort(x,descending=True)",
    ),
    "sets": Group(12, "xp.{}(x)", "unique_values unique_counts unique_inverse unique_all"),
    "searched": Group(12, "xp.{}", "isin(x,y) searchsorted(x,y) searchsorted(x,y,side='right')"),
    "counted": Group(12, "xp.{}(x)", "count_nonzero nonzero"),
    "losses": Group(12, "xp.extras.{}(x, y)", "l1_loss mse_loss huber_loss poisson_nll_loss"),
    "products": Group(
        12, "xp.{}", "matmul(x,y) vecdot(x,y) linalg.outer(x,y) tensordot(x,y,axes=1)"
    ),
    "creation": Group(4, "xp.{}", "zeros_like(x) ones_like(x) full_like(x,1) empty_like(x)"),
    "reshape, astype": Group(
        4, "xp.{}", "reshape(x,(1,1)) astype(x,xp.float32) astype(x,xp.bfloat16)"
    ),
    "moved": Group(
        12,
        "xp.{}",
        """
        expand_dims(x,axis=0) squeeze(x,axis=0) flip(x) roll(x,1) permute_dims(x,(0,))
        moveaxis(x,0,-1) repeat(x,2) tile(x,(2,)) broadcast_to(x,(2,)) take(x,index)
        take_along_axis(x,index) unstack(x) meshgrid(x,y) broadcast_arrays(x,y) tril(x[None])
        triu(x[None])
        """,
    ),
    "methods": Group(
        12,
        "x.{}",
        """
        take(index) cumsum() cumprod() sort() fill(1) copy() flatten() ravel() repeat(2) squeeze()
        round() clip(0,1) item() tolist() dot(y) searchsorted(y) sum() mean() max() argmax() all()
        take(index,0) cumsum(0) sort(0) argsort(0) repeat(2,0) squeeze(0) searchsorted(y,'right')
        """,
    ),
    "indexed": Group(3, "x[{}]", "0 0:1 ... None None,0 ...,0 ()"),
    "indexed by arrays": Group(8, "x[{}]", "index mask [0] None,mask"),
    "assigned": Group(3, "operator.setitem(x, {}, y)", "0 ... None (0,)"),
    "assigned at arrays": Group(8, "operator.setitem(x, {}, y)", "index mask [0]"),
    "asarray": Group(3, "xp.asarray(x{})", ",dtype=xp.float32 ,dtype='int8'"),
    "dtypes": Group(1, "xp.{}", "result_type(x,y) can_cast(x,xp.float32)"),
    "differences": Group(None, "xp.{}", "diff(x,n=2) diff(x,prepend=y)"),
    "linear algebra": Group(
        None,
        "xp.linalg.{}",
        """
        inv(x[None]) det(x[None]) solve(x[None],y) svd(x[None]) qr(x[None]) cholesky(x[None])
        eigh(x[None]) vector_norm(x) matrix_norm(x[None]) diagonal(x[None]) trace(x[None])
        """,
    ),
    "transforms": Group(None, "xp.fft.{}(x)", "fft ifft rfft fftn fftshift"),
    "of lists": Group(4, "xp.asarray({})", "[1.5] [1,2,3] [True] [1j] [[1.5,2.5],[3.5,4.5]] 1.5 2"),
}
"""What is measured, and its budgets."""

OPERAND = r"\b([xy])(_0d)?\b"
"""An operand in an expression, an array of no axes where that is written."""

Given = Mapping[str, Any]
"""What stands for x and y: dtypes, or the names of Python scalars and weakly typed arrays."""


def lines(peers: list[Peer], options: Options) -> Iterator[Line]:
    """Each expression with a few of the policies and dtypes that have it."""
    reference = call("f32 + f32", peers[0], OPERANDS)
    for group, (budget, pattern, names, narrow) in GROUPS.items():
        for name in names.split():
            text = pattern.format(name.replace(",", ", "))
            for policy, given in drawn(text, QUICKLY if options.quick else DRAWN, options.lot):
                ways = {OURS: _call(text, given, policy), REFERENCE: reference}
                most: float | None = (
                    narrow if narrow and any(map(_is_narrow, given.values())) else budget
                )
                title = f"{group}: {policy}: {_written(text, given)}"
                # Operands drawn by lot lie outside of some domains, of which to warn takes longest.
                yield Line(title, ways, {REFERENCE: most}, policy, seconds=SECONDS, warns=False)


def _written(text: str, given: Given) -> str:
    return re.sub(OPERAND, lambda found: f"{given[found[1]]}{'[]' if found[2] else ''}", text)


def drawn(text: str, count: int, by: str = "") -> Iterator[tuple[str, Given]]:
    """Policies, and what stands for x and y; then of weakly typed arrays some more."""
    found = {name for name, _ in re.findall(OPERAND, text)}
    firsts: list[Any] = [*dt.CONCRETE] if "x" in found else [None]
    seconds = [*firsts, *SCALARS] if "y" in found else [None]
    yield from _drawn(text, count, by, [*product(POLICIES, firsts, seconds)])
    if firsts != [None]:
        seconds = seconds if seconds == [None] else [*seconds, *WEAKLY]
        yield from _drawn(text, -(-count // WEAK), by, [*product(WEAK_POLICIES, WEAKLY, seconds)])


def _drawn(
    text: str, count: int, by: str, cells: list[tuple[str, Any, Any]]
) -> Iterator[tuple[str, Given]]:
    lot = random.Random(text + by)
    while cells and count:
        policy, x, y = cells.pop(lot.randrange(len(cells)))
        if y is not None and lot.random() < SAME:
            y = x
        given = {"x": x, "y": y}
        if _runs(text, policy, given):
            count -= 1
            yield policy, given


def _runs(text: str, policy: str, given: Given) -> bool:
    """Whether a policy has it."""
    try:
        with np.errstate(all="ignore"):
            run = _call(text, given, policy)
            with pa.policy(policy):
                run()
    except (TypeError, ValueError, ArithmeticError):
        return False
    return True


def _call(text: str, given: Given, policy: str) -> Call:
    """An expression of one element."""
    names: dict[str, Any] = {"xp": pa, "mask": _MASK, "index": _INDEX, "operator": operator}
    names["new"] = count(0.1).__next__
    for name, what in given.items():
        if isinstance(what, dt.DType):
            names[name] = pa.asarray([1], dtype=pa.float32).astype(what)
            names[f"{name}_0d"] = pa.asarray(1, dtype=pa.float32).astype(what)
        elif what in WEAKLY:
            with pa.policy(policy):
                names[name] = pa.PArray([WEAKLY[what]], weak_type=True)
                names[f"{name}_0d"] = pa.PArray(WEAKLY[what], weak_type=True)
        else:
            names[name] = names[f"{name}_0d"] = what and SCALARS[what]
    made: Call = eval(f"lambda: {text}", names)
    return made


_MASK, _INDEX = pa.asarray([True]), pa.asarray([0])


def _is_narrow(what: Any) -> bool:
    return isinstance(what, dt.DType) and what.kind is dt.Kind.FLOAT and what.bits <= 16
