"""NumPy 1 in a run on NumPy 2: what the former does otherwise is done as it did it.

Beside Python numbers and arrays without axes NumPy 1 looks at values, and so computes in another
dtype, or goes on where NumPy 2 refuses. There the operands are cast to what NumPy 1 computes in,
and NumPy's own loop runs. It stores Python ints that do not fit: they wrap around.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache
from math import isfinite
from types import CodeType, FrameType
from typing import Any

import numpy as np

from promoarray.core.call_site import of_promoarray
from promoarray.core.operands import operand_of as seen_by
from promoarray.diagnostics.calls.numpy import OPERANDS, STORES, expansions, operations
from promoarray.diagnostics.model.scalar_class import scalar_class
from promoarray.diagnostics.record._seen import OPERATORS as NAMES
from promoarray.diagnostics.record.numpy.operand import (
    ARRAYS,
    Callee,
    Otherwise,
    as_taken,
    flat,
    form_of,
    operand_of,
)
from promoarray.diagnostics.record.recorder import Recorder
from promoarray.dtypes import WEAK
from promoarray.operations import OPERATIONS, Form
from promoarray.promotion.plan import Refusal
from promoarray.promotion.policy import Policy

OPERATORS = frozenset(NAMES) - {"matmul", "negative", "positive", "bitwise_invert"}
"""Those of two operands that NumPy 1 may compute otherwise."""

_MOST_KNOWN = 1 << 14
"""So many decisions are remembered."""


class Past:
    """Does what NumPy 2 does otherwise as another policy does it."""

    def __init__(self, recorder: Recorder, policy: Policy) -> None:
        self._recorder = recorder
        self.policy = policy  # of the NumPy that the program was written for
        # Whether the run is one of this policy, the first that its report asks; else only what
        # NumPy 2 stops at is done.
        self.whole = policy in recorder.report.policies[:1]
        self._known: dict[Hashable, Any] = {}
        self._made: Any = None

    def took_over(self, x: Any) -> Policy | None:
        """The policy, if it was this that made a result."""
        return self.policy if self.whole or (x is not None and x is self._made) else None

    def dtypes(
        self, name: str, first: Any, x: Any, in_place: bool = False
    ) -> tuple[Any, ...] | None:
        """What NumPy 1 casts the operands of an operator to, None of what stays as it is.

        None where NumPy 2 does the same, and () where NumPy 1 does something that is not done.
        """
        if name not in OPERATORS or not self._may_differ(first, x):
            return None
        written = in_place and isinstance(first, np.ndarray)  # which a scalar is not
        form = form_of(name, first, Form.INPLACE if written else Form.OPERATOR)
        found = self._decided(name, as_taken((first, x)), form)
        if found and form is Form.INPLACE:
            return None, found[1]  # NumPy writes into the first, or refuses to as NumPy 1 did
        return found

    def made_so(self, x: Any) -> None:
        """Note a result that was computed as NumPy 1 did."""
        self._made = x

    @staticmethod
    def cast_to(x: Any, dtype: Any) -> Any:
        """An operand in a dtype; a number stays one."""
        if isinstance(x, np.ndarray):
            return x.astype(dtype, copy=False)
        if isinstance(x, (float, np.floating)) and dtype.kind == "f":
            return dtype.type(x)
        return np.asarray(x).astype(dtype)[()]

    @staticmethod
    def power(a: Any, b: Any) -> Any:
        """A power of scalars, by the loop that NumPy 1 has for arrays: NumPy 2 spares it some."""
        return _computed(np.power, [np.asarray(a)[None], np.asarray(b)[None]])[0]

    def function(self, f: Callable[..., Any], callee: Callee, owner: Any) -> Any:
        """A function, or a method of an array, that does as NumPy 1 did."""
        computes, stores = _computing(f, callee), callee.name in (*STORES, "astype")
        given = GIVEN.get(callee.name) if self.whole else None
        asks = self.whole and callee.name == "result_type"
        if not (computes or stores or given or asks):
            return f
        own = () if owner is None else (owner,)

        def before(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            if callee.name == "result_type":
                return self._unknown(callee.name)
            if given is not None:
                made = given(f, args, kwargs)
            else:
                made = self._operation(f, computes, callee, (*own, *args), kwargs, bool(own))
            self._made = None if made is NotImplemented else made
            return made

        def instead(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            self._made = made = _stored(f, callee.name, (*own, *args), kwargs, bool(own))
            return made

        return Otherwise(
            f, before if computes or given or asks else None, instead if stores else None
        )

    def stores(self, x: Any, value: Any) -> Policy | None:
        """The policy, if only this stores a Python number in an array."""
        return self.policy if self.whole or beyond(value, x) else None

    def target(self, x: Any, key: Any, value: Any) -> Any:
        """An array that is assigned to, or what wraps numbers around that it does not hold."""
        return _Wrapping(x) if beyond(value, x, by_item=by_item(value, key)) else x

    def gives(self, name: str, operands: Sequence[Any], form: Form, options: Any) -> str:
        """The dtype that the policy gives an operation of the run; "" if it refuses."""
        seen = tuple(seen_by(x, self.policy) for x in operands)
        decided = self.policy.decide(name, seen, tuple(operands), form, options=options)
        if isinstance(decided, Refusal):
            return ""
        return self.policy.strong(decided.plan.result).name

    def _may_differ(self, a: Any, b: Any) -> bool:
        """Whether NumPy 1 may look at values, or NumPy 2 refuse."""
        if not self.whole:
            return beyond(a, b) or beyond(b, a) or _of_two_signs(a, b)
        kind = type(b)
        if kind is type(a) and kind is not np.ndarray:
            return False  # scalars of one dtype, or what is not NumPy's
        if not isinstance(a, ARRAYS):
            return isinstance(b, ARRAYS)
        return not isinstance(b, ARRAYS) or not (a.dtype is b.dtype or (a.ndim and b.ndim))

    def _inputs(self, name: str, given: tuple[Any, ...], form: Form) -> list[Any] | None:
        """The operands in the dtypes that the policy gives them; None where NumPy 2 does that."""
        given = tuple(as_taken(given))
        dtypes = self._decided(name, given, form)
        return [self.cast_to(*each) for each in zip(given, dtypes, strict=True)] if dtypes else None

    def _decided(self, name: str, given: Sequence[Any], form: Form) -> tuple[Any, ...] | None:
        """The dtypes, asked once for operands that are alike."""
        key = (name, form, *map(_kind, given))
        if None in key:
            return None
        dtypes = self._known.get(key, ...) if self.whole else ...
        if dtypes is ...:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            dtypes = self._known[key] = self._dtypes(name, tuple(given), form)
        if dtypes == ():
            self._unknown(name)
        found: tuple[Any, ...] | None = dtypes
        return found

    def _dtypes(self, name: str, given: tuple[Any, ...], form: Form) -> tuple[Any, ...] | None:
        """What the operands are cast to; None if to nothing, and () where the policy refuses."""
        operands = tuple(operand_of(self._recorder, x) for x in given)
        if any(x is None for x in operands):
            return None
        home = self._recorder.home
        here = home.decide(name, tuple(seen_by(x, home) for x in operands), operands, form)
        seen = tuple(seen_by(x, self.policy) for x in operands)
        there = self.policy.decide(name, seen, operands, form)
        if isinstance(there, Refusal):
            if self.whole and not isinstance(here, Refusal):
                return ()
            return None
        if not isinstance(here, Refusal) and (not self.whole or here.plan == there.plan):
            return None
        return tuple(dtype.storage for dtype in there.plan.inputs)

    def _power(
        self, f: Callable[..., Any], given: tuple[Any, ...], args: Any, kwargs: dict[str, Any]
    ) -> Any:
        """``np.power`` of an array by a number, by the loop that NumPy 2 spares some of them."""
        inputs = _as_powers(given)
        if inputs is None or args[2:] or {*kwargs} - {"x1", "x2"}:
            return NotImplemented
        made = _computed(f, inputs)
        if made.tobytes() != np.asarray(f(*given)).tobytes():
            frame, why = program_frame(sys._getframe(1)), "its own loop, not by the base's square"
            self._recorder.unexamined("power", f"{self.policy.name} computes it by {why}", frame)
        return made

    def _unknown(self, name: str) -> Any:
        """Say that what NumPy 1 does is not carried out."""
        frame, why = program_frame(sys._getframe(1)), "does something else, which is not done here"
        self._recorder.unexamined(name, f"{self.policy.name} {why}", frame)
        return NotImplemented

    def _operation(
        self,
        f: Callable[..., Any],
        name: str,
        callee: Callee,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        of_array: bool,
    ) -> Any:
        """What NumPy 1 made of a call; NotImplemented where NumPy 2 does the same."""
        if kwargs.get("dtype") is not None:
            return NotImplemented
        start, names = OPERANDS.get(name, (0, ()))
        end = {"where": 3, "clip": 3}.get(name, 2)
        if callee.name == "einsum":
            start, end = 1, 3
            if len(args) != end:
                return NotImplemented
        keys: list[Any] = [n for n, x in enumerate(args[:end]) if n >= start and x is not None]
        keys += [key for key in names if kwargs.get(key) is not None]
        given = tuple(args[key] if type(key) is int else kwargs[key] for key in keys)
        if len(given) < 2 or (name == "pow" and f is pow and len(args) > 2):
            return NotImplemented
        alike = _as_outer(*given) if callee.outer else given
        form = form_of(name, alike[0], callee.form)
        inputs = self._inputs(name, alike, form)
        if inputs is None and callee.name == "power":
            return self._power(f, given, args, kwargs)
        if inputs is None:
            return NotImplemented
        if callee.outer:
            inputs = [self.cast_to(x, made.dtype) for x, made in zip(given, inputs, strict=True)]
        cast, named = list(args), dict(kwargs)
        for key, made in zip(keys, inputs, strict=True):
            if type(key) is int:
                cast[key] = made
            else:
                named[key] = made
        if of_array:
            return _computed(getattr(cast[0], callee.name), cast[1:], named)
        if f is pow and not isinstance(cast[0], np.ndarray):
            return self.power(*cast)
        return _computed(f, cast, named)


def _as_powers(given: Sequence[Any]) -> list[Any] | None:
    """The operands of ``np.power`` in its own loop, if NumPy 2 spares it that."""
    base, exponent = given
    lone = isinstance(base, np.ndarray) and base.ndim and np.ndim(exponent) == 0
    if not lone or base.dtype.kind not in "fc":
        return None
    return [base, np.full(base.shape, exponent, np.result_type(base, exponent))]


def _as_outer(a: Any, b: Any) -> tuple[Any, Any]:
    """The operands of a table: arrays, of which the first gets the axes of the second, too."""
    first, second = np.asarray(a), np.asarray(b)
    return first.reshape(first.shape + (1,) * second.ndim), second


def _computing(f: Callable[..., Any], callee: Callee) -> str:
    """The operation that a function of two arrays is; "" of any other."""
    if callee.name in ("where", "clip"):
        return callee.name
    if callee.name in _AS_OTHERS:
        return _AS_OTHERS[callee.name]
    if not isinstance(f, np.ufunc) and not callee.outer and f is not pow:
        return ""
    name = operations().get(callee.name, "")
    expansion = expansions().get(callee.name)
    if expansion is not None and not expansion.steps[1:]:
        name = expansion.steps[0].operation
    return name if name and OPERATIONS[name].arity == 2 else ""


def _kind(x: Any) -> Hashable:
    """What operands have in common that no policy tells apart; None of what is no number."""
    if type(x) in WEAK:
        return scalar_class(x) if _of_c(x) else None  # an object to NumPy 1, refused by NumPy 2
    if not isinstance(x, ARRAYS):
        kind = next((k for k in (int, float, complex) if isinstance(x, k)), None)
        return kind and (kind, scalar_class(kind(x)))
    if x.dtype.kind not in "biufcV":
        return None
    return x.dtype, type(x), x.ndim == 0 and scalar_class(x.item())


def _computed(f: Callable[..., Any], args: Sequence[Any], kwargs: Any = None) -> Any:
    """Call a function where the program stands, so that warnings name its line."""
    frame = program_frame(sys._getframe(1))
    code = _call(frame.f_code.co_filename, frame.f_lineno)
    made = eval(code, frame.f_globals, {"f": f, "args": args, "kwargs": kwargs or {}})
    whole = isinstance(made, np.ndarray) and not made.ndim and not (kwargs and "out" in kwargs)
    return made[()] if whole else made


@lru_cache(maxsize=1024)
def _call(file: str, line: int) -> CodeType:
    return compile("\n" * (line - 1) + "f(*args, **kwargs)", file, "eval", dont_inherit=True)


def program_frame(frame: FrameType) -> FrameType:
    """Return the innermost frame that runs no code of promoarray, from one on."""
    while of_promoarray(frame) and frame.f_back is not None:
        frame = frame.f_back
    return frame


_AS_OTHERS = {"divmod": "floor_divide", "einsum": "multiply"}
"""Functions that promote as operations do."""


def _ranged(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``arange`` as NumPy 1 did it: of Python's numbers, in the dtype of all with the default."""
    if kwargs or not any(isinstance(x, ARRAYS) for x in args) or len(args) > 3:
        return NotImplemented
    dtype = np.result_type(*(np.asarray(x).dtype for x in args), np.int_)
    numbers = [x.item() if isinstance(x, ARRAYS) and not x.ndim else x for x in args]
    return _computed(f, numbers, {"dtype": dtype})


def _spaced(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``linspace`` as NumPy 1 did it: a number has the dtype of an array, two are Python's."""
    ends = list(args[:2])
    if len(ends) < 2 or not any(isinstance(x, ARRAYS) for x in ends):
        return NotImplemented
    arrays = [x for x in ends if isinstance(x, np.ndarray) and x.ndim]
    if len(arrays) == 2:
        return NotImplemented
    for n, x in enumerate(ends):
        if arrays and x is not arrays[0]:
            ends[n] = np.asarray(x).astype((arrays[0] * 1.0).dtype)
        elif isinstance(x, ARRAYS) and not x.ndim:
            ends[n] = x.item()
    return _computed(f, [*ends, *args[2:]], kwargs)


def _ranked(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``percentile`` and such as NumPy 1 did them: the share has a dtype of its own."""
    if len(args) < 2 or not isinstance(args[0], ARRAYS) or args[0].dtype.kind != "f":
        return NotImplemented
    return _computed(f, [args[0], np.asarray(args[1], np.float64), *args[2:]], kwargs)


def _signed(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``sign`` of complex numbers, which was that of their real part."""
    x = args[0] if len(args) == 1 and not kwargs else None
    if not isinstance(x, ARRAYS) or x.dtype.kind != "c":
        return NotImplemented
    return np.sign(np.where(x.real == 0, x.imag, x.real)).astype(x.dtype)


def _castable(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``can_cast``, which looked at the value of a number."""
    if not args or type(args[0]) not in (int, float, complex, bool):
        return NotImplemented
    return f(np.min_scalar_type(args[0]), *args[1:], **kwargs)


GIVEN: dict[str, Callable[..., Any]] = {
    "arange": _ranged,
    "linspace": _spaced,
    "can_cast": _castable,
    "sign": _signed,
    **dict.fromkeys(("percentile", "quantile", "nanpercentile", "nanquantile"), _ranked),
}
"""Functions of which NumPy 1 takes the arguments otherwise."""


class _Wrapping:
    """Stands as an array that is assigned to."""

    def __init__(self, x: Any) -> None:
        self._x = x

    def __setitem__(self, key: Any, value: Any) -> None:
        self._x[key] = np.asarray(_whole(value)).astype(self._x.dtype)


def _whole(value: Any) -> Any:
    """Numbers of which floats are cut to ints first, as in C."""
    if isinstance(value, (list, tuple)):
        return [*map(_whole, value)]
    return int(value) if isinstance(value, (float, np.floating)) and isfinite(value) else value


def _stored(
    f: Callable[..., Any],
    name: str,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    of_array: bool,
) -> Any:
    """What NumPy 1 made of a call that stores numbers; NotImplemented if that
    is not known.

    They wrap around in the dtype that is named, or that of the array they are stored in.
    """
    if name == "astype":
        scalar: Any = f
        if len(args) != 1:
            return NotImplemented
        number = _whole(args[0]) if issubclass(scalar, np.integer) else args[0]
        return np.asarray(number).astype(scalar)[()]
    target, place, keyword, dtype_at = STORES[name]
    given, named = list(args), dict(kwargs)
    dtype = named.get("dtype", given[dtype_at] if 0 <= dtype_at < len(given) else None)
    if dtype is None and target is not None and target < len(given):
        dtype = given[target].dtype if isinstance(given[target], ARRAYS) else None
    key: Any = place if place < len(given) else keyword
    if dtype is None or (key == keyword and keyword not in named):
        return NotImplemented
    holder: Any = given if type(key) is int else named
    if not all(map(_of_c, flat([holder[key]]))):
        return NotImplemented  # NumPy 1 refuses it, too
    if name == "copyto" and not _is_copied(holder[key], dtype):
        return NotImplemented
    into = np.dtype(dtype).kind in "iu"
    holder[key] = np.asarray(_whole(holder[key]) if into else holder[key]).astype(dtype)
    return getattr(given[0], name)(*given[1:], **named) if of_array else f(*given, **named)


def _is_copied(value: Any, dtype: Any) -> bool:
    """Whether ``copyto`` of NumPy 1 took a value: it looked at what a number fits."""
    return np.can_cast(np.min_scalar_type(value), dtype, "same_kind")


def _of_two_signs(a: Any, b: Any) -> bool:
    """Whether these are integers with and without a sign, and one of them is 0-d."""
    if not isinstance(a, ARRAYS) or not isinstance(b, ARRAYS) or (a.ndim and b.ndim):
        return False
    return {a.dtype.kind, b.dtype.kind} == {"i", "u"}


def beyond(value: Any, x: Any, *, by_item: bool = False) -> bool:
    """Whether NumPy 2 refuses a number, or one in a list, that an array of integers does not hold,
    where NumPy 1 wrapped it around. A float is cut to an int.

    Python's numbers are refused. NumPy's scalars are cast, and wrap in both editions; but stored
    item by item in signed integers they go by Python's (NumPy 2.4.6 beside 1.26.4).
    """
    if not isinstance(x, ARRAYS) or x.dtype.kind not in "iu":
        return False
    if not isinstance(value, (int, float, list, tuple, np.integer, np.floating)):
        return False
    signed = by_item and x.dtype.kind == "i"
    limits = np.iinfo(x.dtype)
    low, high = int(limits.min), int(limits.max)
    return any(not low <= int(n) <= high for n in flat([value]) if _is_refusable(n, signed))


def first_beyond(value: Any, x: Any, items: bool) -> int | float | None:
    """The first number that NumPy 2 refuses, as Python's, by which it goes."""
    found = next((n for n in flat([value]) if beyond(n, x, by_item=items)), None)
    return found.item() if isinstance(found, np.generic) else found


def _is_refusable(x: Any, signed: bool) -> bool:
    """Whether a number is one that NumPy 2 looks at, and that NumPy 1 took."""
    if isinstance(x, np.generic):
        kinds = np.integer, np.floating
        return signed and isinstance(x, kinds) and isfinite(x) and -(1 << 63) <= int(x) < 1 << 63
    return isinstance(x, int) or (isinstance(x, float) and isfinite(x))


def by_item(value: Any, key: Any) -> bool:
    """Whether ``x[key] = value`` stores numbers one by one: those of a list, and one that no index
    array picks the places of."""
    picks = key if isinstance(key, tuple) else (key,)
    picking = any(isinstance(each, (list, np.ndarray)) for each in picks)
    return not picking or isinstance(value, (list, tuple))


def called_by_item(name: str, value: Any) -> bool:
    """Whether a function stores numbers one by one; others cast an array of them."""
    return name == "fill" or (isinstance(value, (list, tuple)) and name in _BY_ITEM)


_BY_ITEM = frozenset({"array", "asarray", "asanyarray", "place", "put", "putmask", "insert"})


def _of_c(x: Any) -> bool:
    """Whether it is no Python int that C has no integer for."""
    return type(x) is not int or -(1 << 63) <= x < 1 << 64
