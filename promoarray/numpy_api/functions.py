"""``__array_function__``: a call of one of NumPy's functions, answered by ours."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from promoarray.backends import find
from promoarray.core.array_base import Array
from promoarray.core.operands import array_class, policy_of
from promoarray.dtypes import INEXACT, DType
from promoarray.errors import PromotionError, kind_of, quoted
from promoarray.namespaces import namespace
from promoarray.numpy_api import composed, statistical
from promoarray.numpy_api.expressions import EXPRESSIONS
from promoarray.numpy_api.options import ALL, reduced, require_ours, written
from promoarray.numpy_api.refusals import not_honoured, refusal
from promoarray.numpy_api.table import Parameter, Row, has_no_effect, rows
from promoarray.operations import OPERATIONS
from promoarray.promotion.answers import REFUSED
from promoarray.promotion.plan import Operand
from promoarray.promotion.policy import Policy

SEVERAL: dict[str, Callable[..., Any]] = vars(composed) | vars(statistical) | EXPRESSIONS
"""Those of NumPy's functions that are several of ours, by name."""


def answer(
    of: type[Any],
    func: Callable[..., Any],
    types: Iterable[type],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """Call our function for one of NumPy's, in the namespace that the arrays are bound to.

    ``of`` is the class of the array that NumPy asks, ``types`` those of all arrays in the call that
    have a say. NotImplemented if there are arrays that are none of ours nor of a back end's, so
    that they are asked next.

    Raises TypeError if there is no such function, or it cannot honour an argument.
    """
    known = {*types, of}
    if not all(issubclass(cls, (Array, DType)) or find(cls) is not None for cls in known):
        return NotImplemented
    if not any(issubclass(cls, Array) for cls in known) and func not in _OF_DTYPES:
        return func(*map(_numpys, args), **{name: _numpys(x) for name, x in kwargs.items()})
    module = func.__module__.removeprefix("numpy").removeprefix(".")
    name = f"{module}.{func.__name__}".removeprefix(".")
    row = rows().get(name)
    if row is None:
        raise refusal(name)
    return call(row, space_of(known), args, kwargs)


def space_of(classes: Iterable[type]) -> Any:
    """The namespace that arrays of these classes are bound to."""
    bound = array_class((), Array.default, *(cls for cls in classes if issubclass(cls, Array)))
    return import_module("promoarray") if bound._policy is None else namespace(bound._policy)


_OF_DTYPES = frozenset({np.result_type, np.can_cast})
"""What is asked about dtypes alone, and the policy has the say."""


def _numpys(x: Any) -> Any:
    """A dtype of ours as NumPy has it."""
    return np.dtype(x) if isinstance(x, DType) else x


def call(row: Row, xp: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Give on what NumPy's parameters were given, each as its row has it."""
    given = _given(row, args, kwargs)
    if given.out is not None:
        require_ours(row.name, given.out)
        if _sums_into(row, given):
            given.named["dtype"] = given.out.dtype  # as NumPy computes it
    function = _function(row, xp)
    if given.masked:
        function = partial(reduced, xp, row.ours, **given.masked)
    if given.cast_to is None:
        asked = _frameworks(row, xp, given)
        made = function(*given.places, **given.named)
        if asked is not None and isinstance(made, Array) and made.dtype is not asked:
            made = xp.astype(made, asked)
    else:
        x, *rest = given.places
        made = function(xp.astype(x, given.cast_to, copy=False), *rest, **given.named)
        made = xp.astype(made, given.cast_to, copy=False)
    return made if given.out is None else written(row.name, given.out, made)


def _frameworks(row: Row, xp: Any, given: Given) -> DType | None:
    """The dtype that the framework's own function of this name gives, where it was asked.

    Integers that become floats are cast before, as a mean of integers may be refused.
    """
    operands = (*given.places, *given.named.values())
    arrays = [x for x in operands if isinstance(x, Array)]
    beside = bool(given.masked) or given.out is not None
    beside |= any(given.named.get(name) is not None for name in ("dtype", "weights"))
    mixed = any(isinstance(x, (list, range, np.ndarray)) for x in operands)
    mixed |= any(isinstance(x, tuple) for x in given.places)
    alike = arrays and not mixed and len({x.dtype for x in arrays}) == 1
    if beside or not alike or not _is_composed(row) or arrays[0] is not given.places[0]:
        return None
    x = arrays[0]
    policy: Policy = policy_of(x)
    answers = policy.answers
    cell = None if answers is None else answers.cell(row.name, Operand(x.dtype))
    if answers is None or cell is None:
        return None
    if cell.text == REFUSED:
        why = f"{policy.title} takes no {x.dtype.name} in {row.name} ({answers.source})"
        message = f"policy {quoted(policy.name)} has no {row.name} of {x.dtype.name}: {why}"
        raise PromotionError(message, policy, row.name, (Operand(x.dtype),), why)
    if cell.refused:
        return None
    result = policy.strong(cell.results[0])
    if result.kind in INEXACT and x.dtype.kind not in INEXACT:
        given.places[0] = xp.astype(x, result)
    return result


def _is_composed(row: Row) -> bool:
    """Whether a function is several of ours, which no rule of the policy's is about."""
    return row.name not in OPERATIONS and (not row.ours or row.ours.startswith("xpx."))


def _sums_into(row: Row, given: Given) -> bool:
    """Whether a sum or a product is written into an array, whose dtype NumPy computes it in.

    It does so too where that drops fractions: there the result is computed as ever, and refused.
    """
    takes = any(p.name == "dtype" and p.how == "name" for p in row.parameters)
    x, out = given.places[0], given.out
    if not takes or given.named.get("dtype") is not None or not isinstance(x, Array):
        return False
    return bool(x.dtype.kind.category <= out.dtype.kind.category)


class Given:
    """The arguments of ours, and what is done beside: ``out=``, ``where=``, ``initial=``, casts."""

    def __init__(self) -> None:
        self.places: list[Any] = []
        self.named: dict[str, Any] = {}
        self.masked: dict[str, Any] = {}
        self.out: Any = None
        self.cast_to: Any = None


def _given(row: Row, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Given:
    given, left = Given(), list(args)
    known = {parameter.name for parameter in row.parameters}
    for parameter in row.parameters:
        if parameter.how == "rest":
            given.places += left
            left = []
        elif parameter.how == "names":
            given.named.update({name: kwargs[name] for name in kwargs if name not in known})
        elif left and parameter.name not in kwargs:
            _take(row, parameter, left.pop(0), given)
        elif parameter.name in kwargs:
            _take(row, parameter, kwargs[parameter.name], given)
    unknown = {*kwargs} - known - {*given.named}
    if left or unknown:
        more = [f"a further {kind_of(x)}" for x in left]
        said = ", ".join([*(f"{name}=" for name in sorted(unknown)), *more])
        raise not_honoured(row, said)
    return given


def _take(row: Row, parameter: Parameter, value: Any, given: Given) -> None:
    """Put one argument where it belongs."""
    if value is np._NoValue:
        return
    if parameter.name == "where" and value is None:
        value = False  # which NumPy takes it for
    if parameter.how == "cast":
        given.cast_to = value
    elif parameter.how == "refused":
        if not has_no_effect(value, parameter.taken):
            raise not_honoured(row, f"{parameter.name}=")
    elif parameter.how == "out":
        given.out = value
    elif parameter.how == "masked":
        if not has_no_effect(value, ALL if parameter.name == "where" else ()):
            given.masked[parameter.name] = value
    elif parameter.how == "place":
        given.places.append(value)
    elif value is not None or not parameter.optional:
        if parameter.ours in given.named:
            raise TypeError(f"np.{row.name} got two values for {parameter.name}")
        given.named[parameter.ours] = value


def _own(xp: Any, name: str, a: Any, *args: Any, **options: Any) -> Any:
    """A method or a property of the array."""
    found = getattr(composed.array_of(xp, a, name), name)
    return found(*args, **options) if callable(found) else found


def _function(row: Row, xp: Any) -> Callable[..., Any]:
    """Ours, which may be several."""
    if not row.ours:
        return partial(SEVERAL[row.name], xp)
    chapter, _, name = row.ours.rpartition(".")
    if chapter == "x":
        return partial(_own, xp, name)
    if chapter == "xpx":
        extra = getattr(import_module("array_api_extra"), name)
        return lambda *args, **options: extra(*composed.arrays_of(xp, args, name), xp=xp, **options)
    found: Callable[..., Any] = getattr(getattr(xp, chapter) if chapter else xp, name)
    return found
