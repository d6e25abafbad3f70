"""One call of NumPy's, told to a recorder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from types import FrameType
from typing import Any

import numpy as np

from promoarray.core.array_base import type_of
from promoarray.diagnostics.calls.common import MADE_OF_DTYPE
from promoarray.diagnostics.calls.examined import examined, is_defined
from promoarray.diagnostics.calls.numpy import (
    BETWEEN,
    CHANGED,
    DEFAULTS,
    DTYPE_AT,
    INSIDE,
    MAKES,
    MOVES,
    OF_ANY,
    OPERANDS,
    STORES,
    expansions,
    operations,
)
from promoarray.diagnostics.calls.tables import Expansion
from promoarray.diagnostics.model.abstract_array import AbstractArray
from promoarray.diagnostics.record.call import Call as AnyCall
from promoarray.diagnostics.record.handlers import ORDER, make
from promoarray.diagnostics.record.numpy.numpy1_emulation import Past, called_by_item, first_beyond
from promoarray.diagnostics.record.numpy.operand import (
    ARRAYS,
    Callee,
    array_of,
    as_taken,
    dtype_of,
    flat,
    form_of,
    operand_of,
    results_of,
)
from promoarray.diagnostics.record.recorder import Recorder, Result
from promoarray.diagnostics.record.report import (
    APPROXIMATE,
    CAST,
    MAKE,
    MOVE,
    OPERATION,
    UNKNOWN,
)
from promoarray.dtypes import WEAK, DType, Kind
from promoarray.operations import OPERATIONS, Form
from promoarray.promotion.policy import NO_OPTIONS, Policy


class Call(AnyCall):
    """A call that was carried out.

    Parameters
    ----------
    args, kwargs
        What it was given; of a method the array first.
    """

    tensor = ARRAYS

    def __init__(
        self,
        recorder: Recorder,
        callee: Callee,
        args: Sequence[Any],
        kwargs: dict[str, Any],
        result: Any,
        frame: FrameType,
    ) -> None:
        _, at, keyword, _ = STORES.get(callee.name, (None, -1, "", -1))
        if at == 0 and keyword in kwargs:  # np.array(object=[1, 2])
            args, kwargs = (kwargs[keyword],), {k: x for k, x in kwargs.items() if k != keyword}
        ufunc = getattr(np, callee.name, None)
        if isinstance(ufunc, np.ufunc) and not callee.outer and len(args) > ufunc.nin:
            args, kwargs = args[: ufunc.nin], kwargs | {"out": tuple(args[ufunc.nin :])}
        super().__init__(recorder, callee.name, callee, tuple(args), kwargs, frame)
        self.callee, self.result = callee, result
        self.part_of = ""
        self.edited: bool | None = None
        self.past: Past | None = None
        self.arrays = results_of(result)

    def dtype_of(self, x: Any) -> DType | None:
        """The dtype of an array or scalar; None if it is no number of a known format."""
        return dtype_of(x)

    def count(self, kind: str) -> None:
        """Count it among the calls of a kind, and record it by its name if other frameworks define
        that otherwise."""
        self.kind = kind
        self.recorder.count(kind, self.name)
        between = self.name in BETWEEN
        name = f"{self.name}{MADE_OF_DTYPE}" if between and self.named else self.name
        if is_defined(name) or not _OF_ALL.issuperset(self.kwargs):
            given = self.result if between else [*self.args]
            arrays = (operand_of(self.recorder, x) for x in flat([given]))
            first = next((x for x in arrays if isinstance(x, AbstractArray)), None)
            self.recorder.called(name, first, [*self.kwargs], kind == OPERATION, self.frame)
        if between:
            asked = (p for p in self.recorder.report.policies if not p.name.startswith("numpy"))
            if unasked := tuple(p.name for p in asked if not examined(name, p)):
                why = "the framework was not asked what it answers"
                self.recorder.unexamined(name, why, self.frame, called=True, policies=unasked)
        others = self.recorder.of_other_ints
        if others and any(_is_int(x) for x in (*self.args, *self.kwargs.values())):
            why = "it asks for Python's int, which is another dtype there"
            self.recorder.unexamined(self.name, why, self.frame, called=True, policies=others)

    @property
    def policy(self) -> Policy | None:
        """What it was done by, if not by the framework itself."""
        return None if self.past is None else self.past.took_over(self.result)

    @property
    def home(self) -> Policy:
        """The policy of what carried it out: the past's, if that did."""
        return self.policy or self.recorder.home

    def saw(
        self, operation: str, operands: Sequence[Any], results: Sequence[Result], **how: Any
    ) -> AbstractArray:
        """Record an operation that it is, or a part of it; see ``Recorder.saw``."""
        return super().saw(operation, operands, results, policy=self.policy, **how)

    def tell(self) -> None:
        """Record what it was; what makes no array only asks."""
        name = self.name
        if not self.arrays:
            return self._filled() if self.result is None and name in STORES else None
        if name == "where" and len(self.args) + len(self.kwargs) < 2:
            return self.made(MAKE)
        if self.policy is not None and self._stored():
            return None
        if self.kwargs.get("out") is not None:
            return self._written()
        if self.kwargs.get("dtype") is not None and name not in MOVES:
            return self.made(MAKE)
        if name == "divmod":
            return self._divided()
        self._require_alike()
        for known, handler in _HANDLERS:
            if name in known():
                return handler(self)
        return self._unknown()

    def _require_alike(self) -> None:
        """Say that it was not examined where the past may have computed it otherwise."""
        if self.past is None or not self.past.whole:
            return
        name = self.name
        given = [x.dtype for x in flat([self.args]) if isinstance(x, ARRAYS)]
        narrow = any(dtype.kind in "iufc" and dtype not in _DEFAULTS for dtype in given)
        if name in CHANGED or (narrow and name in INSIDE):
            self._unexamined(f"{self.past.policy.name} may compute it in another way")

    # -- kinds of calls ---------------------------------------------------------------------------

    def operation(self) -> None:
        """One operation."""
        name = operations()[self.name]
        operands = self._operands(name)
        if name == "matmul" and any(_is_lone(x) for x in operands):
            name, operands = "multiply", self._operands(name, least=1)  # it makes arrays of numbers
        if not operands or any(x is None for x in operands):
            return self._unknown()
        options = {"low": self._low() is not None} if name == "clip" else {}
        if name in ("eig", "eigvals"):
            options["real"] = self._has_real_spectrum(operands[0])
            self.recorder.heard.lasting = False  # as the values say it
        self.count(OPERATION)
        form = form_of(name, self.args[0] if self.args else None, self.callee.form)
        how: Any = {"edited": self.edited, "part_of": self.part_of}
        self.saw(name, operands, self.arrays, form=form, options=options, **how)
        return self._require(name, operands, form, options)

    def _divided(self) -> None:
        """A quotient and its remainder."""
        operands = self._operands("floor_divide")
        if len(operands) < 2 or any(x is None for x in operands):
            return self._unknown()
        self.count(OPERATION)
        for name, result in zip(("floor_divide", "remainder"), self.arrays, strict=False):
            self.saw(name, operands, [result], part_of="divmod")
        return self._require("floor_divide", operands, Form.OPERATOR, NO_OPTIONS)

    def _require(self, name: str, operands: Any, form: Form, options: Any) -> None:
        """Say that it was not examined where the past makes something else than the run."""
        made = self.arrays[0].dtype.name
        if self.past is not None and self.past.whole:
            given = self.past.gives(name, operands, form, options)
            if given not in (made, ""):
                self._unexamined(f"{self.past.policy.name} makes {given} there, the run {made}")

    def expand(self) -> None:
        """Several operations, of which the last has the result's dtype."""
        expansion = expansions()[self.name]
        named = dict(zip(expansion.parameters, self.args, strict=False)) | self.kwargs
        values = {key: array_of(self.recorder, x) for key, x in named.items()}
        steps = _possible(expansion, values)
        if not steps:
            return self._unknown()
        self.count(APPROXIMATE)
        before: Any = None
        whole = not steps[1:] and expansion.parameters[: len(steps[0].operands)]
        for step in steps:
            operands = tuple(before if x == "_" else values[x] for x in step.operands)
            before = self.step(step.operation, operands, edited=step.operands == whole)
        return self._ended(before)

    def einsum(self) -> None:
        """Products of all operands, one after the other."""
        given = [array_of(self.recorder, x) for x in self.args[1:]]
        if type(self.args[0]) is not str or not given or any(x is None for x in given):
            return self._unknown()
        if not given[1:]:
            return self.made(MAKE)
        self.count(APPROXIMATE)
        name = "multiply" if any(_is_lone(x) for x in given) else "matmul"
        before = given[0]
        for x in given[1:]:
            before = self.step(name, (before, x))
        return self._ended(before)

    def _ended(self, last: Any) -> None:
        """The result is that of the last step, if it has its dtype."""
        if type_of(last._type) is not self.arrays[0].dtype:
            return self.recorder.made(self.arrays[0])
        self.recorder.carried.put(self.arrays[0].array, last._type)
        return None

    @property
    def named(self) -> bool:
        """Whether the program names the dtype of the result."""
        at = DTYPE_AT.get(self.name)
        return self.kwargs.get("dtype") is not None or (at is not None and len(self.args) > at)

    def move(self) -> None:
        """Values that are moved: the result carries what they did."""
        source = self.args[0] if self.args else None
        found = None if source is None else self.recorder.elsewhere(source)
        if self.name in DEFAULTS and found is None and not isinstance(source, ARRAYS):
            return self.default()
        if self.kwargs.get("dtype") is not None:
            return self.cast()
        self.count(MOVE)
        for result in self.arrays:
            same = found is not None and found.dtype is result.dtype
            if found and same and result.array is not source:
                self.recorder.took(found, result)
            elif not same:  # places and counts, as of ``unique``
                self.recorder.named(result, self.frame)
        return None

    def cast(self) -> None:
        """An explicit cast, which ends what differs."""
        source = operand_of(self.recorder, self.args[0]) if self.args else None
        self.count(CAST)
        if isinstance(source, AbstractArray):
            values = partial(np.asarray, self.args[0])
            self.recorder.cast(source, self.arrays[0], self.frame, values)
        else:
            self.recorder.named(self.arrays[0], self.frame)

    def default(self) -> None:
        """An array that has the default dtype, unless one is named."""
        number = DEFAULTS[self.name]
        of_any = self.name in OF_ANY or self.name.startswith("random.")
        self.count(MAKE)
        between = self.name in BETWEEN
        no_float = self.arrays[0].dtype.kind is not Kind.FLOAT
        found = type(number) is float and no_float and not between  # by genfromtxt, dtype=None
        if self.named:
            return self.recorder.named(self.arrays[0], self.frame, self.name)
        if found:
            return self.recorder.made(self.arrays[0])
        for result in self.arrays[1:]:  # the step that linspace tells
            self.recorder.made(result)
        if number is None or between:
            first, last = {"full": (1, 2)}.get(self.name, (0, 2 if between else None))
            given = [*self.args[first:last], *(self.kwargs.get(x) for x in ("start", "stop"))]
            numbers = [x for x in flat(given) if x is not None]
            if not numbers or any(type(x) not in WEAK for x in numbers):
                return self._between(numbers) if between else self.recorder.made(self.arrays[0])
            numbers += [number] if between else []
            number = max(numbers, key=lambda x: ORDER[type(x)])
        lone = self.name in MOVES and self.arrays[0].ndim == 0
        how: Any = {"lone": lone, "of_any": of_any, "function": self.name}
        return self.recorder.default(number, self.arrays[0], self.frame, **how)

    def _between(self, numbers: list[Any]) -> None:
        """From one number to another, of which one has a dtype: that of their sum, as a float. What
        its editions make of other spaces than linear ones hangs on steps of their own."""
        values = [array_of(self.recorder, x) for x in numbers]
        if self.name != "linspace" or len(values) != 2 or any(x is None for x in values):
            return self._unknown()
        total = self.step("add", values)
        return self._ended(self.step("multiply", (total, 1.0)))

    def _filled(self) -> None:
        """Record what is stored in an array, by a call that returns nothing."""
        place, at, keyword, _ = STORES[self.name]
        value = self.args[at] if at < len(self.args) else self.kwargs.get(keyword)
        if place is None or not isinstance(self.args[place], ARRAYS):
            return
        target = operand_of(self.recorder, self.args[place])
        number = first_beyond(value, self.args[place], called_by_item(self.name, value))
        stored = array_of(self.recorder, value) if number is None else number
        if target is not None and stored is not None:
            self.count(OPERATION)
            past = self.past
            policy = None if past is None else past.stores(self.args[place], stored)
            self.recorder.assigned(target, stored, self.frame, policy=policy)
            self.recorder.heard.lasting = False

    def _stored(self) -> bool:
        """Record a Python int that only the past stores in the dtype that the program names."""
        result = self.arrays[0]
        given = [*self.args, *self.kwargs.values()]
        items = called_by_item(self.name, next(iter(self.args), None))
        number = first_beyond(given, result.array, items)
        filled = self.name in ("full", "full_like") and isinstance(number, float)  # a cast in both
        if number is None or filled or self.name not in ("astype", *STORES):
            return False
        self.count(CAST)
        abstract = self.recorder.abstract(result.array, result.dtype, result.ndim)
        self.recorder.assigned(abstract, number, self.frame, policy=self.policy)
        self.recorder.made(result)
        return True

    def _written(self) -> None:
        """A result written into an array: in place if that is the first operand."""
        name = operations().get(self.name)
        out = self._out()
        operands = self._operands(name) if name else ()
        if name is None or not self.args or out is not self.args[0]:
            return self._stored_elsewhere(name, operands)
        if not operands or any(x is None for x in operands):
            return self._unknown()
        self.count(OPERATION)
        low = {"low": self._low() is not None} if name == "clip" else {}
        how: Any = {"form": Form.INPLACE, "options": low}
        self.recorder.saw(name, operands, self.arrays[0], self.frame, **how)
        return None

    def _stored_elsewhere(self, name: str | None, operands: tuple[Any, ...]) -> None:
        """A result that is written into another array than its operands."""
        self.count(MAKE)
        lone = any(map(_is_lone, operands)) and operands[1:]
        if name is not None and lone and None not in operands and isinstance(self._out(), ARRAYS):
            made = self.step(name, operands)
            self.recorder.assigned(operand_of(self.recorder, self._out()), made, self.frame)

    def _out(self) -> Any:
        out = self.kwargs["out"]
        return out[0] if isinstance(out, tuple) else out

    # -- parts ------------------------------------------------------------------------------------

    def _operands(self, name: str, least: int = 0) -> tuple[Any, ...]:
        """The operands of an operation among the arguments, of so many axes at least."""
        args, kwargs, listed = self.args, self.kwargs, array_of
        if name in ("concat", "stack"):
            given = args[:2] if self.name == "append" else args[0] if args else ()
            rows = given if isinstance(given, (list, tuple)) else (given,)
            return tuple(listed(self.recorder, x, 1) for x in rows)
        ends = [kwargs[key] for key in ("prepend", "append") if key in kwargs]
        if name == "diff" and ends:  # which makes arrays of them first
            joined = [listed(self.recorder, x, 1) for x in (args[0], *ends)]
            return (None if None in joined else self.step("concat", joined),)
        args = tuple(as_taken(args))
        start, names = OPERANDS.get(name, (0, _PARAMETERS))
        wanted = {"where": 3, "clip": 3}.get(name) or OPERATIONS[name].arity or 2
        given = [*args[start:wanted], *(kwargs[key] for key in names if key in kwargs)]
        if name == "clip":
            given = [x for x in given if x is not None]
            if (
                given and type(given[0]) in WEAK
            ):  # NumPy makes an array of it, which has a method clip
                given[0] = np.asarray(given[0])
        if self.callee.outer:  # the first gets the axes of the second, too
            arrays = (np.asarray(x) if type(x) in WEAK else x for x in given[:wanted])
            axes = self.arrays[0].ndim, 0
            return tuple(listed(self.recorder, *each) for each in zip(arrays, axes, strict=False))
        return tuple(listed(self.recorder, x, least) for x in given[:wanted])

    def _has_real_spectrum(self, x: Any) -> bool:
        """Whether eigenvalues are real, of which NumPy made a real array until 2.5."""
        values = self.arrays[0]
        if values.dtype.kind is Kind.FLOAT:
            return True
        return type_of(x._type).kind is not Kind.COMPLEX and not values.array.imag.any()

    def _low(self) -> Any:
        """The lower bound of ``clip``."""
        named = self.kwargs.get("a_min", self.kwargs.get("min"))
        return self.args[1] if len(self.args) > 1 else named

    def _unknown(self) -> None:
        """What makes arrays and is not understood."""
        self.made(UNKNOWN)
        self._unexamined("no policy is asked about it")

    def _unexamined(self, why: str) -> None:
        name = f"numpy.{self.name}"
        self.recorder.heard.lasting = False
        self.recorder.unexamined(f"call of {name}", why, self.frame)


def _is_lone(x: Any) -> bool:
    """Whether an operand is a number: a Python scalar, or an array without axes."""
    return type(x) in WEAK or (isinstance(x, AbstractArray) and not x.ndim)


_DEFAULTS = frozenset(map(np.dtype, (np.int64, np.float64, np.complex128)))
"""Dtypes of which both editions of NumPy make the same beside Python's numbers."""

_OF_ALL = frozenset(("axis", "dtype", "out", "keepdims"))
_PARAMETERS = ("x", "a", "b", "x1", "x2", "v", "array", "arr", "exponent")

_HANDLERS: tuple[tuple[Callable[[], Any], Callable[[Call], None]], ...] = (
    (lambda: ("astype",), Call.cast),
    (lambda: ("einsum",), Call.einsum),
    (lambda: MOVES, Call.move),
    (lambda: DEFAULTS, Call.default),
    (lambda: MAKES, make),
    (operations, Call.operation),
    (expansions, Call.expand),
)


def _possible(expansion: Expansion, values: dict[str, Any]) -> list[Any]:
    """The steps whose operands are there.

    ``_`` is what the step before them made, and if that had no operands, as a product with
    weights that nobody gave, the first parameter.
    """
    steps: list[Any] = []
    first = expansion.parameters[0]
    for step in expansion.steps:
        operands = step.operands if steps else [first if x == "_" else x for x in step.operands]
        if all(x == "_" or values.get(x) is not None for x in operands):
            steps.append(step._replace(operands=tuple(operands)))
    return steps


def _is_int(x: Any) -> bool:
    """Whether an argument is a C long by another name than ``np.int_``, which is int64 itself."""
    return x is int or (type(x) is str and x in ("int", "int_", "long", "l"))
