"""Steps of functions that stand for several operations, in float64.

One program calls ``layer_norm``, and the other writes it out: taken apart, the values in between
are there in both.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Step:
    """One step of a function."""

    name: str  # what it does, in words
    operation: str
    operands: tuple[Any, ...]  # arrays of the call, and steps
    value: Array
    scalars: tuple[float, ...] = ()


def _of(x: Any) -> Array:
    found: Array = x.value if isinstance(x, Step) else x
    return found


def _do(name: str, operation: str, *operands: Any, scalar: float | None = None) -> Step:
    """One step; of a function of NumPy's by its name."""
    given = [_of(x) for x in operands]
    function: Any = getattr(np, operation)
    with np.errstate(all="ignore"):
        value = function(*given) if scalar is None else function(*given, scalar)
    scalars = () if scalar is None else (float(scalar),)
    return Step(name, operation, operands, np.asarray(value), scalars)


def _reduced(name: str, operation: str, x: Any, axes: tuple[int, ...]) -> Step:
    value = getattr(np, operation)(_of(x), axis=axes, keepdims=True)
    return Step(name, operation, (x,), value)


def linear(input: Array, weight: Array, bias: Any = None, *, turned: bool) -> Iterator[Step]:
    """``x @ w.T + b`` of PyTorch, ``x @ w + b`` of Paddle."""
    value = input @ (weight.T if turned else weight)
    yield (made := Step("the product", "matmul", (input, weight), value))
    if bias is not None:
        yield _do("the bias", "add", made, bias)


def _scaled(x: Any, weight: Any, bias: Any, shape: Sequence[int]) -> Iterator[Step]:
    def as_axis(w: Array) -> Step:
        return Step("", "reshape", (w,), w.reshape(shape))

    if weight is not None:
        value = _of(x) * as_axis(weight).value
        yield (x := Step("times the weight", "multiply", (x, weight), value))
    if bias is not None:
        yield Step("the bias", "add", (x, bias), _of(x) + as_axis(bias).value)


def _normed(x: Array, axes: tuple[int, ...], eps: float) -> Iterator[Step]:
    yield (mean := _reduced("the mean", "mean", x, axes))
    yield (centred := _do("less the mean", "subtract", x, mean))
    yield (var := Step("the variance", "var", (x,), x.var(axis=axes, keepdims=True)))
    yield (inside := _do("the variance and eps", "add", var, scalar=eps))
    yield (root := _do("the root of it", "sqrt", inside))
    yield _do("divided by it", "divide", centred, root)


def layer_norm(
    input: Array, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> Iterator[Step]:
    """Layer normalization over the last axes."""
    count = len(normalized_shape) if isinstance(normalized_shape, (list, tuple)) else 1
    shape = input.shape[-count:]
    last = None
    for last in _normed(input, tuple(range(-count, 0)), eps):
        yield last
    yield from _scaled(last, weight, bias, shape)


def batch_norm(
    input: Array,
    running_mean: Any,
    running_var: Any,
    weight: Any = None,
    bias: Any = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
    channels: int = 1,
) -> Iterator[Step]:
    """Batch normalization over all axes but that of channels."""
    shape = [1] * input.ndim
    shape[channels] = input.shape[channels]
    last = None
    if training:
        axes = tuple(n for n in range(input.ndim) if n != channels % input.ndim)
        for last in _normed(input, axes, eps):
            yield last
    else:
        mean, var = (np.reshape(x, shape) for x in (running_mean, running_var))
        yield (centred := Step("less the mean", "subtract", (input, running_mean), input - mean))
        yield (inside := Step("the variance and eps", "add", (running_var,), var + eps, (eps,)))
        yield (root := _do("the root of it", "sqrt", inside))
        yield (last := _do("divided by it", "divide", centred, root))
    yield from _scaled(last, weight, bias, shape)


def softmax(input: Any, axis: int = -1) -> Iterator[Step]:
    """Shares of the exponentials."""
    yield (most := _reduced("the maximum", "max", input, (axis,)))
    yield (less := _do("less the maximum", "subtract", input, most))
    yield (powers := _do("the exponentials", "exp", less))
    yield (total := _reduced("their sum", "sum", powers, (axis,)))
    yield _do("their shares", "divide", powers, total)


def log_softmax(input: Any, axis: int = -1) -> Iterator[Step]:
    """Logarithms of the shares."""
    yield (most := _reduced("the maximum", "max", input, (axis,)))
    yield (less := _do("less the maximum", "subtract", input, most))
    yield (powers := _do("the exponentials", "exp", less))
    yield (total := _reduced("their sum", "sum", powers, (axis,)))
    yield (logs := _do("its logarithm", "log", total))
    yield _do("less that", "subtract", less, logs)


def attention(
    q: Array,
    k: Array,
    v: Array,
    mask: Any = None,
    p: float = 0.0,
    causal: bool = False,
    scale: float | None = None,
) -> Iterator[Step]:
    """Attention over the last but one axis, PyTorch's layout."""
    yield from _attended(q, k, v, mask, causal, scale)


def _attended(
    q: Any, k: Any, v: Any, mask: Any, causal: bool, scale: float | None = None
) -> Iterator[Step]:
    factor = 1 / math.sqrt(_of(q).shape[-1]) if scale is None else scale
    value = _of(q) @ np.swapaxes(_of(k), -1, -2)
    yield (last := Step("the scores", "matmul", (q, k), value))
    yield (last := _do("scaled", "multiply", last, scalar=factor))
    if causal:
        keep = np.tril(np.ones(last.value.shape[-2:], bool))
        yield (last := Step("masked", "where", (last,), np.where(keep, last.value, -np.inf)))
    elif mask is not None:
        yield (last := _do("masked", "add", last, mask))
    scores = last
    for last in softmax(scores):
        yield last
    yield Step("the values", "matmul", (last, v), last.value @ _of(v))


def multi_head_attention(
    q: Array,
    k: Array,
    v: Array,
    heads: int,
    weight: Array,
    out: Array,
    bias: Any = None,
    out_bias: Any = None,
    mask: Any = None,
    training: bool = True,
    p: float = 0.0,
    **others: Any,
) -> Iterator[Step]:
    """PyTorch's attention with its projections, of which the first three are one array."""
    if q.ndim != 3 or (training and p) or (mask is not None and mask.dtype == bool):
        raise ValueError("another attention than this")
    if any(x is not None and x is not False for x in others.values()):
        raise ValueError("other options of it are given")
    parts: list[Any] = []
    biases = [0, 0, 0] if bias is None else np.split(bias, 3)
    if q is k is v:
        for last in linear(q, weight, bias, turned=True):
            yield last
        parts = [
            Step(f"the {word}", "split", (last,), x)
            for word, x in zip(_PARTS, np.split(last.value, 3, -1), strict=True)
        ]
        yield from parts
    else:
        for word, x, w, b in zip(_PARTS, (q, k, v), np.split(weight, 3), biases, strict=True):
            parts.append(Step(f"the {word}", "matmul", (x, weight), x @ w.T + b))
        yield from parts
    split = []
    for x in parts:  # (positions, batch, width) to (batch, heads, positions, width of a head)
        value = x.value.reshape(*x.value.shape[:2], heads, -1).transpose(1, 2, 0, 3)
        split.append(Step(f"{x.name} by heads", "transpose", (x,), value))
    yield from split
    first, second, third = split
    for last in _attended(first, second, third, mask, False):
        yield last
    value = last.value.transpose(2, 0, 1, 3).reshape(q.shape)
    yield (last := Step("the heads side by side", "reshape", (last,), value))
    yield (last := Step("the last product", "matmul", (last, out), last.value @ out.T))
    if out_bias is not None:
        yield _do("the last bias", "add", last, out_bias)


_PARTS = ("queries", "keys", "values")


def cross_entropy(input: Array, target: Array) -> Iterator[Step]:
    """The mean of the logarithms that the labels pick."""
    last = None
    for last in log_softmax(input, -1 if input.ndim == 2 else 1):
        yield last
    rows = np.moveaxis(_of(last), -1 if input.ndim == 2 else 1, -1)
    places = target.reshape(*rows.shape[:-1], 1).astype(np.int64)
    value = np.take_along_axis(rows, places, -1)
    yield (picked := Step("what the labels pick", "take", (last, target), value))
    yield (mean := Step("their mean", "mean", (picked,), np.asarray(value.mean())))
    yield Step("negated", "negative", (mean,), -mean.value)


def mse_loss(input: Array, target: Array) -> Iterator[Step]:
    """The mean of the squares of differences."""
    yield (less := _do("the difference", "subtract", input, target))
    yield (squares := _do("its square", "square", less))
    yield Step("their mean", "mean", (squares,), np.asarray(squares.value.mean()))


def var(input: Array, axes: tuple[int, ...], correction: float = 1) -> Iterator[Step]:
    """The variance, divided by the number of elements less a correction."""
    yield (mean := _reduced("the mean", "mean", input, axes))
    yield (less := _do("less the mean", "subtract", input, mean))
    yield (squares := _do("its square", "square", less))
    yield (total := _reduced("their sum", "sum", squares, axes))
    count = math.prod(input.shape[n] for n in axes)
    yield _do("divided by the count", "divide", total, scalar=count - correction)


def momentum(
    param: Array, grad: Array, velocity: Array, rate: Array, mu: float, nesterov: float = 0.0
) -> Iterator[Step]:
    """A step of SGD with momentum."""
    if nesterov:
        raise ValueError("another momentum than this")
    yield (kept := _do("the momentum", "multiply", velocity, scalar=mu))
    yield (moved := _do("with the gradient", "add", kept, grad))
    yield Step("the update", "subtract", (param, moved), param - rate * moved.value)


def silu(input: Array) -> Iterator[Step]:
    """``x * sigmoid(x)``."""
    value = 1 / (1 + np.exp(-input))
    yield (share := Step("the sigmoid", "sigmoid", (input,), value))
    yield _do("times it", "multiply", input, share)


# -- the arguments of the frameworks' functions ----------------------------------------------------

_NORM = "input normalized_shape weight bias eps"
_BATCH = "input running_mean running_var weight bias training momentum eps"
_SIGNATURES: dict[str, tuple[Callable[..., Iterator[Step]], str]] = {
    "layer_norm": (layer_norm, _NORM),
    "batch_norm": (batch_norm, _BATCH),
    "softmax": (softmax, "input axis"),
    "log_softmax": (log_softmax, "input axis"),
    "scaled_dot_product_attention": (attention, "q k v mask p causal scale"),
    "multi_head_attention_forward": (
        multi_head_attention,
        "q k v _ heads weight bias bias_k bias_v zero p out out_bias",
    ),
    "cross_entropy": (cross_entropy, "input target"),
    "mse_loss": (mse_loss, "input target"),
    "silu": (silu, "input"),
    "swish": (silu, "input"),
    "var": (var, "input axes"),
    "momentum_": (momentum, "param grad velocity rate _ mu nesterov"),
}
_NAMES = {
    "x": "input",
    "epsilon": "eps",
    "dim": "axis",
    "label": "target",
    "query": "q",
    "key": "k",
    "value": "v",
    "attn_mask": "mask",
    "is_causal": "causal",
    "dropout_p": "p",
    "unbiased": "correction",
    "ddof": "correction",
}
_IGNORED = frozenset(
    (
        *("inplace", "_stacklevel", "dtype", "name", "data_format", "use_global_stats"),
        *("need_weights", "average_attn_weights"),
    )
)


_MEANT: dict[str, Any] = {"reduction": "mean", "ignore_index": -100, "label_smoothing": 0.0}
_MEANT |= {"soft_label": False, "use_softmax": True}
"""What losses mean by default; with other options they are not taken apart."""


def _is_meant(key: str, x: Any) -> bool:
    return x is None or (key in _MEANT and not isinstance(x, np.ndarray) and x == _MEANT[key])


def steps_of(call: Mapping[str, Any], values: Mapping[str, Array]) -> Iterator[Step]:
    """Yield the steps of a call as a tape has it; none of a function that is not known.

    Raises
    ------
    KeyError, ValueError, TypeError, IndexError
        If its arguments are none that are known.
    """
    name, framework = call["name"].rpartition(".")[2], call["framework"]
    args = [_read(x, values) for x in call["operands"]]
    kwargs = {_NAMES.get(key, key): _read(x, values) for key, x in call["keywords"].items()}
    kwargs = {key: x for key, x in kwargs.items() if key not in _IGNORED and not _is_meant(key, x)}
    if name == "linear":
        kwargs |= dict(zip(("input", "weight", "bias"), args, strict=False))
        turned = kwargs.pop("transB", framework == "torch")
        yield from linear(**kwargs, turned=bool(turned))
        return
    if name == "addmm" and len(args) == 3 and not kwargs:
        bias, x, weight = args
        yield from linear(x, weight, bias, turned=False)
        return
    if name not in _SIGNATURES or (framework == "paddle" and name in _ATTENTION):
        return
    function, signature = _SIGNATURES[name]
    if framework == "paddle" and name in _KERNELS and isinstance(args[1], np.ndarray):
        signature = _KERNELS[name]
        if name == "batch_norm":  # it says whether it is a test
            args[5] = not args[5]
        else:
            args[4] = args[0].shape[args[4] :]
    kwargs |= dict(zip(signature.split(), args, strict=False))
    kwargs.pop("_", None)
    if name == "var":
        axes = kwargs.pop("axis", kwargs.get("axes"))
        axes = range(kwargs["input"].ndim) if axes is None else axes
        axes = (axes,) if isinstance(axes, int) else tuple(axes)
        kwargs["axes"] = tuple(n % kwargs["input"].ndim for n in axes)
        kwargs.setdefault("correction", 0 if framework == "jax" else 1)
        kwargs.pop("keepdim", kwargs.pop("keepdims", None))
    yield from function(**kwargs)


_KERNELS = {"layer_norm": "input weight bias eps normalized_shape", "batch_norm": f"{_BATCH} _"}
"""Paddle's kernels, whose arguments come in another order than those of its functions."""

_ATTENTION = ("scaled_dot_product_attention",)  # whose layout is another there


def _read(x: Any, values: Mapping[str, Array]) -> Any:
    if isinstance(x, dict):
        return values[x["value"]] if "value" in x else float(x["number"])
    return [_read(each, values) for each in x] if isinstance(x, list) else x
