"""``__array_ufunc__``: NumPy's ufuncs and their methods, answered under the policy."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import reduce
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from promoarray.backends.numpy.kernels import OF_UFUNC
from promoarray.core.dispatch import apply, call
from promoarray.core.move import moved
from promoarray.core.operands import as_array, as_operand, operand_of, policy_of
from promoarray.core.operators import form_of_ufunc
from promoarray.core.read_dtype import kept_dtype
from promoarray.core.shapes import axes_in, axis_in
from promoarray.dtypes import INEXACT, WEAK, DType, as_dtype
from promoarray.errors import kind_of
from promoarray.numpy_api import at
from promoarray.numpy_api.composed import kept_shape
from promoarray.numpy_api.options import ALL, JOINED, reduced, require_ours, written
from promoarray.numpy_api.refusals import method_called, no_ufunc, option_refused
from promoarray.numpy_api.table import has_no_effect
from promoarray.operations import OPERATIONS, Family, Form
from promoarray.parray import PArray
from promoarray.promotion.plan import Refusal

_NOTHING: dict[str, tuple[str, ...]] = {
    "where": ALL,
    "casting": ("same_kind",),
    "order": ("K",),
    "subok": ("True", "False"),
    **dict.fromkeys(("dtype", "signature", "initial"), ()),
}
"""What the options of every ufunc are, beside None, where nothing is asked."""

_REDUCTIONS = {ufunc: name for name, ufunc in JOINED.items()}
_REDUCTIONS |= {"logical_and": "all", "logical_or": "any"}
_RUNNING = {"add": "cumulative_sum", "multiply": "cumulative_prod"}
_ASSOCIATIVE = frozenset(
    {
        *("maximum", "minimum", "fmax", "fmin", "logical_and", "logical_or", "logical_xor"),
        *("bitwise_and", "bitwise_or", "bitwise_xor"),
    }
)
"""Operations that may be grouped in any way, but for the sign of zeros."""

_ALONE = {"hypot": "abs"}
"""What becomes of one element, where that is not the element."""

_UNGROUPED = frozenset({Family.EQUALITY, Family.ORDER, Family.MATMUL})
"""Families whose results are no operands of theirs."""

_KEEPING = frozenset(
    {
        *(Family.ARITHMETIC, Family.DIVIDE, Family.FLOOR_DIVIDE, Family.POW, Family.EXTREMUM),
        *(Family.BITWISE, Family.SHIFT, Family.FLOAT_UNARY, Family.FLOAT_BINARY, Family.MATMUL),
    }
)
"""Families whose results are of the dtype that they compute in."""

_NAMES = {**OF_UFUNC, np.divmod: "divmod", np.rint: "rint"}
_NAMES[np._core.umath.clip] = "clip"  # type: ignore[attr-defined]  # which ndarray.clip calls
_PAIRS = {"divmod": ("floor_divide", "remainder")}
"""Ufuncs of two results, each of which is an operation."""


def answer(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Run a call of a ufunc, or of its method ``reduce``, ``accumulate`` or ``outer``, as
    operations under the policy; other methods are refused. NotImplemented if an operand is left to
    others.

    Raises TypeError if there is no such operation, or it cannot honour an option.
    """
    if options.get("where", True) is None:
        options = {**options, "where": False}  # which NumPy takes it for
    asked = {name: x for name, x in options.items() if not _is_nothing(name, x)}
    if method == "at":
        return at.answer(ufunc, _NAMES.get(ufunc), inputs)
    if any(type(x) is np.ndarray and x is out for out in asked.get("out", ()) for x in inputs):
        raise TypeError(
            f"np.{ufunc.__name__} in place of an array of NumPy's is outside the policy. Write "
            "a = a + x, or a += np.asarray(x) to leave the policy on purpose"
        )
    name, call_of = _NAMES.get(ufunc), _METHODS.get(method)
    if name is None or call_of is None or (name in _PAIRS and method != "__call__"):
        raise no_ufunc(ufunc, method)
    if not _are_operands(inputs[: ufunc.nin]):
        return NotImplemented
    takes = call_of.options
    if method == "__call__" and name in OPERATIONS:
        takes = ("axis",) * (name == "vecdot") + ("dtype",) * (OPERATIONS[name].family in _KEEPING)
    spelled, out, mask = f"{ufunc.__name__}{method_called(method)}", asked.pop("out", None), True
    if method == "__call__" and out is not None:
        mask = asked.pop("where", True)
    for each in out or ():
        if each is not None:
            require_ours(spelled, each)
    refused = [option for option in asked if option not in takes]
    if refused:
        raise option_refused(ufunc, method, refused[0])
    made = call_of.run(name, *inputs, **asked)
    return made if made is NotImplemented or out is None else _into(spelled, out, made, mask)


def _into(spelled: str, out: Any, made: Any, mask: Any) -> Any:
    """Write each result into the array that is given for it."""
    several = isinstance(made, tuple)
    pairs = zip(out, made if several else (made,), strict=True)
    done = tuple(x if into is None else written(spelled, into, x, mask) for into, x in pairs)
    return done if several else done[0]


def _is_nothing(name: str, value: Any) -> bool:
    """Whether an option has the value it has when it is left out."""
    if name == "out":
        return value is None or all(each is None for each in value)
    if name == "where":
        return value is True
    return name in _NOTHING and has_no_effect(value, _NOTHING[name])


def _are_operands(inputs: tuple[Any, ...]) -> bool:
    """Whether all are arrays or Python scalars; False if one is asked by NumPy after us.

    Raises TypeError if one is something else.
    """
    for x in inputs:
        if as_operand(x) is NotImplemented:
            if hasattr(type(x), "__array_ufunc__"):
                return False
            raise TypeError(
                f"operands of a ufunc are arrays and Python scalars, not {kind_of(x)}; "
                "write pa.asarray(...) around it first"
            )
    return True


def _operation(name: str) -> Callable[[Any, Any], Any]:
    form = Form.OPERATOR if OPERATIONS[name].symbol else Form.FUNCTION
    return lambda x, y: apply(name, x, y, form=form)


def _call(name: str, *inputs: Any, dtype: object = None, **options: Any) -> Any:
    if dtype is not None:
        wide = as_dtype(dtype)
        made = _call(name, *(_computed_in(name, x, wide) for x in inputs), **options)
        return made.astype(dtype, copy=False)
    if name in _PAIRS:
        return tuple(_operation(each)(*inputs) for each in _PAIRS[name])
    if name == "rint":
        return apply("round", *map(_as_float, inputs))
    if name == "clip":  # as ndarray.clip(x) calls it
        return call(name, *inputs, low=True, high=True)
    return apply(name, *inputs, form=form_of_ufunc(name, inputs), **options)


def _as_float(x: Any) -> Any:
    """An operand of ``rint``, which makes floats of integers; ``round`` leaves them as they are."""
    array = as_array(x, "rint")
    if array.dtype.kind in INEXACT:
        return array
    policy = policy_of(array)
    plan = policy.plan("sqrt", (operand_of(array, policy),), Form.FUNCTION)
    return array if isinstance(plan, Refusal) else array.astype(plan.result)


def _computed_in(name: str, x: Any, dtype: DType) -> Any:
    """An operand in the dtype that NumPy is asked to compute in, if its kind is no higher."""
    entered = as_operand(x)
    source = WEAK.get(type(entered)) or entered.dtype
    if source.kind.category > dtype.kind.category:
        raise TypeError(
            f"np.{name}(dtype={dtype}) of {x if source.weak else source}: write pa.astype(x, "
            f"pa.{dtype}) around what shall lose its fractions"
        )
    return entered if source.weak else entered.astype(dtype, copy=False)


def _reduce(
    name: str, x: Any, axis: Any = 0, dtype: object = None, keepdims: bool = False, **begun: Any
) -> Any:
    """One axis or several, the first by default, with the operation between all elements."""
    array = as_array(x, name)
    axes = () if not array.ndim and axis in (0, None) else axes_in(name, axis, array.ndim)
    if dtype is not None:
        array = array.astype(dtype, copy=False)
    if name in _REDUCTIONS:
        options = {"axis": axes, "keepdims": keepdims, **begun}
        done = reduced(array.__array_namespace__(), _REDUCTIONS[name], array, **options)
        return done if dtype is None else done.astype(dtype, copy=False)
    if begun:
        raise TypeError(f"np.{name}.reduce takes no where= and no initial=")
    _require_grouped(name, axes)
    done = array if axes else _folded(name, copy(array)[None], 0)
    for each in sorted(axes, reverse=True):
        done = _folded(name, done, each)
    return done.reshape(kept_shape(array.shape, axes)) if keepdims else done


def _require_grouped(name: str, axes: tuple[int, ...]) -> None:
    row = OPERATIONS[name]
    if row.arity != 2 or row.family in _UNGROUPED:
        raise TypeError(f"np.{name}.reduce and accumulate: {name} does not go on with its results")
    if len(axes) > 1 and name not in _ASSOCIATIVE:
        raise ValueError(f"reduction operation {name!r} is not reorderable; write one axis")


def _folded(name: str, array: Any, axis: int) -> Any:
    operate, front = _operation(name), moved("moveaxis", array, axis, 0)
    if not front.shape[0]:
        raise ValueError(f"zero-size array to reduction operation {name} which has no identity")
    if name not in _ASSOCIATIVE:
        alone = _first(operate, front[:1])[0]
        if front.shape[0] == 1 and name in _ALONE:
            return call(_ALONE[name], alone)
        return reduce(operate, front[1:], alone)
    front = _first(operate, front)
    while front.shape[0] > 1:
        half = front.shape[0] // 2
        merged = operate(front[:half], front[half : 2 * half])
        left = front[2 * half :]
        front = (
            call("concat", merged, left.astype(kept_dtype(merged)), axis=0) if len(left) else merged
        )
    return front[0]


def _first(operate: Callable[[Any, Any], Any], front: Any) -> Any:
    """The slices in the dtype of a result, which one alone has, too."""
    return front.astype(kept_dtype(operate(front[:0], front[:0])), copy=False)


def _accumulate(name: str, x: Any, axis: int = 0, dtype: object = None) -> Any:
    """The operation between all elements up to each, along an axis."""
    array = as_array(x, name)
    along = axis_in(name, axis, array.ndim)
    if dtype is not None:
        array = array.astype(dtype, copy=False)
    if name in _RUNNING:
        done = call(_RUNNING[name], array, axis=along, include_initial=False)
        return done if dtype is None else done.astype(dtype, copy=False)
    _require_grouped(name, (along,))
    operate = _operation(name)
    front = _first(operate, moved("moveaxis", array, along, 0))
    if name not in _ASSOCIATIVE:
        front = call("stack", *accumulate(front, operate), axis=0) if len(front) else front
    else:
        front = _scanned(operate, front)
    return moved("moveaxis", front, 0, along)


def _scanned(operate: Callable[[Any, Any], Any], front: Any) -> Any:
    """Each slice with all before it: with the next, then the next two, the next four."""
    step = 1
    while step < front.shape[0]:
        front = call("concat", front[:step], operate(front[step:], front[:-step]), axis=0)
        step *= 2
    return front


def _outer(name: str, x1: Any, x2: Any) -> Any:
    """The operation between every element of one and every element of the other."""
    if OPERATIONS[name].arity != 2 or name in ("matmul", "vecdot"):
        raise TypeError(f"np.{name}.outer: {name} takes no pairs of elements")
    first, second = as_operand(x1), as_operand(x2)
    if isinstance(first, PArray) and isinstance(second, PArray):
        first = first[(..., *(None,) * second.ndim)]
    return _operation(name)(first, second)


class Method(NamedTuple):
    """A way to call a ufunc: what runs it, and the options it honours."""

    run: Callable[..., Any]
    options: tuple[str, ...]


_METHODS = {
    "__call__": Method(_call, ()),
    "reduce": Method(_reduce, ("axis", "dtype", "keepdims", "where", "initial")),
    "accumulate": Method(_accumulate, ("axis", "dtype")),
    "outer": Method(_outer, ()),
}
