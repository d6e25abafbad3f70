"""NumPy 1 in a run on NumPy 2: what the latter stops at is done as the former did it.

Beside a Python int that its dtype does not hold, NumPy 2 refuses an array that NumPy 1 computes in
a wider dtype; it refuses to store such an int, which NumPy 1 wraps around; and it has no bits of
int8 and uint64, where NumPy 1 looks at the value of a scalar.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from promoarray.core.operands import operand_of as seen_by
from promoarray.diagnostics.record._seen import Otherwise
from promoarray.diagnostics.record.numpy.callee import Callee
from promoarray.diagnostics.record.numpy.calls import OPERANDS, operations
from promoarray.diagnostics.record.numpy.operand import ARRAYS, form_of, operand_of
from promoarray.diagnostics.record.recorder import Recorder
from promoarray.diagnostics.shadow.slots import as_seen_by
from promoarray.operations import OPERATIONS, Form
from promoarray.promotion.plan import Refusal
from promoarray.promotion.policy import Policy

_OPERATORS: dict[str, Callable[..., Any]] = {
    "divide": operator.truediv,
    "floor_divide": operator.floordiv,
    "remainder": operator.mod,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "bitwise_and": operator.and_,
    "bitwise_or": operator.or_,
    "bitwise_xor": operator.xor,
    "bitwise_left_shift": operator.lshift,
    "bitwise_right_shift": operator.rshift,
    "add": operator.add,
    "pow": operator.pow,
}

_NAMED_DTYPE = {"array": 1, "asarray": 1, "asanyarray": 1, "full": 2, "full_like": 2}
"""Functions that store Python numbers in a dtype, and where it stands among their arguments."""


class Past:
    """Does what NumPy 2 refuses as another policy does it.

    Parameters
    ----------
    recorder : Recorder
    policy : Policy
        Of the NumPy that the program was written for.
    """

    def __init__(self, recorder: Recorder, policy: Policy) -> None:
        self._recorder, self.policy = recorder, policy
        self._made: Any = None

    def took_over(self, x: Any) -> Policy | None:
        """The policy, if it was this that made a result."""
        return self.policy if x is not None and x is self._made else None

    def operand(self, name: str, first: Any, x: Any, form: Form = Form.OPERATOR) -> Any:
        """The second operand of an operator, or what has its result where NumPy 2 would stop."""
        if name not in _OPERATORS or not self._may_stop(first, x):
            return x
        if not isinstance(first, np.ndarray):  # a scalar is not written into
            form = Form.OPERATOR
        inputs = self._inputs(name, (first, x), form_of(name, first, form))
        if inputs is None:
            return x
        if form is Form.INPLACE:
            self._made = first
            return inputs[1]  # which NumPy writes into the first, or refuses to as NumPy 1 did
        self._made = self._computed(_OPERATORS[name], inputs)
        return _Answer(self._made)

    def function(self, f: Callable[..., Any], callee: Callee, owner: Any) -> Callable[..., Any]:
        """A function, or a method of an array, that goes on where NumPy 2 refuses a Python int."""
        callee = callee._replace(owner=owner)

        def instead(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            own = () if owner is None else (owner,)
            self._made = made = self._called(f, callee, (*own, *args), kwargs)
            return made

        return Otherwise(f, instead)

    def stores(self, x: Any, value: Any) -> Policy | None:
        """The policy, if only this stores a Python number in an array."""
        return self.policy if beyond(value, x) else None

    def target(self, x: Any, value: Any) -> Any:
        """An array that is assigned to, or what wraps a Python int around that it does not hold."""
        return _Wrapping(x) if beyond(value, x) else x

    def _may_stop(self, a: Any, b: Any) -> bool:
        """Whether NumPy 2 may refuse two operands that NumPy 1 takes."""
        if beyond(a, b) or beyond(b, a) or _of_two_signs(a, b):
            return True
        return any(isinstance(x, ARRAYS) and x in self._recorder.carried for x in (a, b))

    def _inputs(self, name: str, given: tuple[Any, ...], form: Form) -> list[Any] | None:
        """The operands in the dtypes that the policy gives them; None where NumPy 2 goes on."""
        operands = tuple(operand_of(self._recorder, x) for x in given)
        if any(x is None for x in operands):
            return None
        home = self._recorder.home
        here = home.decide(name, tuple(seen_by(x, home) for x in operands), operands, form)
        if not isinstance(here, Refusal):
            return None
        seen = tuple(as_seen_by(self.policy, x) for x in operands)
        decided = self.policy.decide(name, seen, operands, form)
        if isinstance(decided, Refusal):
            return None
        return [
            np.asarray(x).astype(dtype.storage)
            for x, dtype in zip(given, decided.plan.inputs, strict=True)
        ]

    def _computed(self, f: Callable[..., Any], inputs: list[Any]) -> Any:
        made = f(*inputs)
        return made[()] if isinstance(made, np.ndarray) and not made.ndim else made

    def _called(
        self, f: Callable[..., Any], callee: Callee, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """What NumPy 1 made of a call; None if that is not known."""
        name = callee.name
        if name == "astype" and len(args) == 1:
            scalar: Any = f
            return np.asarray(args[0]).astype(scalar)[()]
        if name == "fill" and len(args) == 2:
            args[0][...] = np.asarray(args[1]).astype(args[0].dtype)
            return None
        if name in _NAMED_DTYPE:
            return _stored(f, _NAMED_DTYPE[name], args, kwargs)
        return self._operation(f, callee, args, kwargs)

    def _operation(
        self, f: Callable[..., Any], callee: Callee, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        name = operations().get(callee.name)
        if name is None or kwargs or (OPERATIONS[name].arity != 2 and name != "clip"):
            return None
        start = OPERANDS.get(name, (0, ()))[0]
        given = [x for x in args[start:] if x is not None]
        inputs = self._inputs(name, tuple(given), callee.form)
        if inputs is None:
            return None
        casts = {id(x): made for x, made in zip(given, inputs, strict=True)}
        cast = [x if n < start else casts.get(id(x), x) for n, x in enumerate(args)]
        if callee.owner is not None:
            return self._computed(getattr(cast[0], f.__name__), cast[1:])
        return self._computed(f, cast)


class _Answer:
    """Stands as an operator's second operand, and has its result."""

    __array_ufunc__ = None

    def __init__(self, made: Any) -> None:
        self._made = made

    def _answer(self, other: Any) -> Any:
        return self._made

    __radd__ = __rsub__ = __rmul__ = __rtruediv__ = __rfloordiv__ = __rmod__ = _answer
    __rpow__ = __rand__ = __ror__ = __rxor__ = __rlshift__ = __rrshift__ = _answer


class _Wrapping:
    """Stands as an array that is assigned to."""

    def __init__(self, x: Any) -> None:
        self._x = x

    def __setitem__(self, key: Any, value: int) -> None:
        self._x[key] = np.asarray(value).astype(self._x.dtype)


def _stored(
    f: Callable[..., Any], place: int, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Numbers stored in a dtype that does not hold them all."""
    if len(args) > place:
        dtype, args = args[place], args[:place]
    elif "dtype" in kwargs:
        dtype = kwargs["dtype"]
        kwargs = {name: x for name, x in kwargs.items() if name != "dtype"}
    else:
        return None
    return f(*args, **kwargs).astype(dtype)


def _of_two_signs(a: Any, b: Any) -> bool:
    """Whether these are integers with and without a sign, and one of them is 0-d."""
    if not isinstance(a, ARRAYS) or not isinstance(b, ARRAYS) or (a.ndim and b.ndim):
        return False
    return {a.dtype.kind, b.dtype.kind} == {"i", "u"}


def beyond(value: Any, x: Any) -> bool:
    """Whether a Python int is one that an array of integers does not hold."""
    if type(value) is not int or not isinstance(x, ARRAYS) or x.dtype.kind not in "iu":
        return False
    limits = np.iinfo(x.dtype)
    return not int(limits.min) <= value <= int(limits.max)
