"""One call of another framework: its tensors as abstract arrays, its place in the program."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from operator import attrgetter
from types import CodeType, FrameType, FunctionType
from typing import Any, ClassVar, NamedTuple

import numpy as np

from promoarray.core.operands import operand_of
from promoarray.diagnostics.calls.common import (
    MADE_OF_DTYPE,
    OF_A_DTYPE,
    STRUCTURE,
    Words,
    plain,
)
from promoarray.diagnostics.findings.verdict import OPEN_CALLS
from promoarray.diagnostics.model.abstract_array import AbstractArray
from promoarray.diagnostics.record.recorder import Recorder, Result
from promoarray.diagnostics.record.report import APPROXIMATE, MAKE, MOVE, OPERATION
from promoarray.diagnostics.record.written import MIRRORED, is_literal, number_first
from promoarray.dtypes import BY_NAME, WEAK, DType, Kind, weak_complex, weak_float, weak_int
from promoarray.operations import Form
from promoarray.promotion.policy import Policy


class Returned(NamedTuple):
    """An array that a function gave back, as which of how many."""

    function: Callable[..., Any]
    part: tuple[int, int]
    dtype: str
    shape: tuple[int, ...]
    slot: Any


class Call:
    """One call, with what its operands carry; each framework has its own kind."""

    tensor: ClassVar[Any]
    """The framework's class of tensors, or several in a tuple."""
    words: ClassVar[Words]
    dtypes: ClassVar[Mapping[Any, DType]] = {}
    """From the framework's dtypes to those that promoarray has."""
    names_of_dtypes: ClassVar[tuple[type[Any], ...]]
    """Classes of arguments that name a dtype, besides its name."""
    gave: Sequence[Returned] = ()
    """What functions gave back that the call was given, of one that failed."""
    renamed: ClassVar[Mapping[str, str]] = {}
    """From the framework's names of parameters to those of the tables."""
    turned: ClassVar[frozenset[str]] = frozenset()
    """Operators that are told with their number on the right, wherever it is."""
    augments: ClassVar[bool] = True
    """Whether ``x.add_(y)`` is what ``x += y`` does."""
    no_arrays: ClassVar[Sequence[type[Any]]] = ()
    """Classes of arguments that are no arrays."""
    kind_of: Callable[[Any], Hashable] = staticmethod(attrgetter("dtype"))
    """What tensors that are alike have in common, besides being 0-d or not."""
    ndim_of: Callable[[Any], int] = staticmethod(attrgetter("ndim"))
    """The rank of a tensor."""
    size_of: Callable[[Any], int | None] = staticmethod(lambda x: None)
    """How many elements a tensor has; None where its one number is not read at once."""
    item_of: Callable[[Any], Callable[[], Any] | None] = staticmethod(attrgetter("item"))
    """What reads the number that a 0-d tensor is; None if nothing does."""

    def __init__(
        self,
        recorder: Recorder,
        name: str,
        func: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        frame: FrameType,
    ) -> None:
        self.recorder, self.name, self.func = recorder, name, func
        # its arguments, under the names that the tables use, and where it stands
        self.args, self.frame = args, self.standing(frame, func)
        names = {key: self.renamed.get(key, key) for key in kwargs}
        self.kwargs = {  # Paddle's ``addmm`` has an ``input`` beside its ``x``
            key if names[key] in kwargs else names[key]: x for key, x in kwargs.items()
        }
        self.result: Any = None
        self.kind = ""  # what it was counted as
        self.read = False  # whether it hangs on the values of names, and what these say
        self.number_first: bool | None = None  # (``written.number_first``)
        self._arrays: dict[int, AbstractArray] = {}

    @staticmethod
    def is_traced_alone(given: Sequence[Any], made: Sequence[Any]) -> bool:
        """Whether a call is only traced, so that what it makes has no values yet."""
        return False

    @staticmethod
    def is_between(code: CodeType) -> bool:
        """Whether code stands between a call and the hook."""
        return False

    @classmethod
    def standing(cls, frame: FrameType, func: Any) -> FrameType:
        """Where a call stands that came to the hook from a frame."""
        own = func.__code__ if type(func) is FunctionType else None
        while (frame.f_code is own or cls.is_between(frame.f_code)) and frame.f_back is not None:
            frame = frame.f_back
        return frame

    def dtype_of(self, x: Any) -> DType | None:
        """The dtype of a tensor; None if promoarray has no such dtype."""
        return self.dtypes.get(x.dtype)

    @staticmethod
    def buffer_of(x: Any) -> Any:
        """The values of a tensor as a NumPy array of any dtype of their width."""
        return np.asarray(x)

    def values(self, x: Any) -> Any:
        """The values of a tensor in the storage of its dtype; None if they cannot be read."""
        if isinstance(x, np.ndarray):
            return x
        dtype = self.dtype_of(x)
        if dtype is None:
            return None
        try:
            raw = self.buffer_of(x)
            same = dtype.weak or raw.dtype == dtype.storage
            return raw if same else raw.view(dtype.storage)
        except Exception:  # such as of what a transformation traces
            return None

    @staticmethod
    def copy(x: Any, dtype: DType | None) -> Any:
        """A copy of a tensor in a dtype, if the framework has it."""
        return x.astype(dtype.storage if dtype else x.dtype)

    @staticmethod
    def giving(function: Any, dtypes: Mapping[int, str]) -> Any:
        """A function that gives back some of its arrays in other dtypes."""
        raise NotImplementedError

    @staticmethod
    def shape_of(x: Any) -> tuple[int, ...]:
        """The shape of a tensor."""
        return tuple(map(int, x.shape))

    @staticmethod
    def of_array(x: Any) -> Any:
        """A tensor of a NumPy array's values."""
        return x

    @classmethod
    def with_values(cls, x: Any, values: Any) -> Any:
        """A tensor with other values of its shape: itself, where they can be written into it."""
        return x

    @staticmethod
    def once_more(name: str, function: Any) -> tuple[Any, bool]:
        """What carries out a function of integers again, and whether it takes Python's ints."""
        return function, False

    @staticmethod
    def eager() -> AbstractContextManager[Any]:
        """Has functions compute at once that are compiled else, so that values can be read."""
        return nullcontext()

    @classmethod
    def gradients(cls, checks: Any, read: Any, met: Any, args: Any, made: Sequence[Any]) -> None:
        """Have the gradients of what was made checked, where the framework tells of them; ``read``
        answers the values of a tensor."""

    @property
    def is_traced(self) -> bool:
        """Whether a function is being traced, in which it stands."""
        return False

    @staticmethod
    def undisturbed() -> AbstractContextManager[Any]:
        """Carries out calls of which the program notices nothing."""
        return nullcontext()

    @property
    def looked_at(self) -> tuple[AbstractArray, ...]:
        """The arrays that it was given, as far as they were looked at."""
        return tuple(self._arrays.values())

    @staticmethod
    def is_at_hand(x: Any) -> bool:
        """Whether reading a 0-d tensor waits for no device."""
        return False

    @classmethod
    def is_dtype(cls, x: Any) -> bool:
        """Whether an argument names a dtype."""
        return isinstance(x, cls.names_of_dtypes) or (type(x) is str and x in BY_NAME)

    @property
    def form(self) -> Form:
        """How the call is written: functions answer otherwise than operators at places.

        Methods that are not Python's operators are functions.
        """
        return Form.OPERATOR if self.name.startswith("__") else Form.FUNCTION

    @property
    def condition_first(self) -> bool:
        """Whether ``where`` was called as a function, and not as a method of what it takes."""
        return True

    def as_written(
        self, operation: str, given: tuple[Any, ...]
    ) -> tuple[str, tuple[Any, ...], bool]:
        """An operation and its operands as they stand in the source; and whether they do so."""
        if self.name in self.turned and type(given[1]) in WEAK:
            return self.mirrored(operation, given)
        return operation, given, True

    def mirrored(self, operation: str, given: tuple[Any, ...]) -> tuple[str, tuple[Any, ...], bool]:
        """The same for an operator that is told with its number on the right, wherever it is."""
        self.read = not is_literal(self.frame)
        first = self.number_first = number_first(self.frame, self.tensor)
        if first:
            operation, given = MIRRORED[operation], given[::-1]
        return operation, given, first is not None

    @classmethod
    def autocasts(cls, args: Any) -> bool:
        """Whether the framework casts operands by lists of its own before it operates."""
        return False

    @property
    def named(self) -> bool:
        """Whether the program names the dtype of the result, by keyword or by position."""
        return self.kwargs.get("dtype") is not None or any(map(self.is_dtype, self.args))

    @property
    def maker(self) -> str:
        """What a class makes arrays as that is called; "" of any other function."""
        return ""

    @property
    def joined(self) -> Sequence[Any]:
        """The operands of ``concat`` and ``stack``, which come in a list."""
        lists = (x for x in (*self.args[:1], *self.kwargs.values()) if isinstance(x, (list, tuple)))
        return next(lists, self.args[:1])

    def is_evidence(self, operation: str) -> bool:
        """Whether what it made tells how the framework promotes in that operation."""
        return True

    def is_lone(self, result: Result) -> bool:
        """Whether a tensor that it made stands for one Python number."""
        return self.name in _OF_ONE and result.ndim == 0

    @property
    def plain(self) -> str:
        """Its name without what says that it is in place."""
        return plain(self.name, self.words.operations)

    @property
    def writes(self) -> bool:
        """Whether it writes into what it is given first."""
        return self.plain != self.name or self.name == "__setitem__"

    @property
    def says_nothing(self) -> bool:
        """Whether its name says no more of a dtype than that it is kept."""
        return not {self.name, self.plain}.isdisjoint(STRUCTURE)

    def look(self) -> None:
        """Note what the tensors carry before the call."""
        for x in flat((*self.args, *self.kwargs.values())):
            self.operand(x)

    def operand(self, x: Any) -> Any:
        """An abstract array or a Python scalar; None if it is neither an array nor a number.

        It may be an array of NumPy's, or of another library that is recorded in this run.
        """
        number = None if isinstance(x, self.tensor) else self.number_of(x)
        if number is None and self.is_array(x):
            known = self._arrays.get(id(x))
            if known is None:
                dtype = self.dtype_in(x)
                if dtype is None:
                    return None
                ndim = self.ndim_of(x)
                value = None if ndim else self.item_of(x)
                known = self._arrays[id(x)] = self.recorder.abstract(x, dtype, ndim, value)
            return known
        return number

    def is_array(self, x: Any) -> bool:
        """Whether it is a tensor, or an array of another library."""
        return isinstance(x, self.tensor) or self.recorder.elsewhere(x) is not None

    def dtype_in(self, x: Any) -> DType | None:
        """The dtype of a tensor, or of another library's array."""
        if isinstance(x, self.tensor):
            return self.dtype_of(x)
        found = self.recorder.elsewhere(x)
        return found and found.dtype

    @staticmethod
    def number_of(x: Any) -> Any:
        """The Python scalar that the framework takes an argument for; None if it is none."""
        return x if type(x) in WEAK else None

    def results(self) -> list[Result]:
        """The tensors that it made."""
        return list(self.described(flat((self.result,))))

    def described(self, values: Any) -> Iterator[Result]:
        """The tensors among values, as results."""
        for x in values:
            if isinstance(x, self.tensor) and (dtype := self.dtype_of(x)) is not None:
                yield Result(x, dtype, self.ndim_of(x))

    def count(self, kind: str) -> None:
        """Count it among the calls of a kind, and record it by its name where that says more."""
        self.kind = kind
        self.recorder.count(kind, self.name)
        if kind in OPEN_CALLS:
            self.recorder.unexamined(self.name, OPEN_CALLS[kind], self.frame, called=True)
        if kind in (MOVE, OPERATION) and (by := INDEXED.get(self.name)) and self._by_arrays:
            self.recorder.called(by, self._first_array(), (), False, self.frame)
        if kind in NAMED and not self.name.startswith("__") and not self.says_nothing:
            name, array = self.maker or self.name, self._first_array()
            maker = name in self.words.defaults or name in OF_A_DTYPE
            if self.named and (maker or kind == MAKE):  # ``cumsum(dtype=)`` casts what it is given
                array = self._made_array()
                name = f"{name}{MADE_OF_DTYPE}" if maker else name
            ruled = kind == OPERATION  # whose rule says what is refused
            self.recorder.called(name, array, self.given, ruled, self.frame)

    @property
    def _by_arrays(self) -> bool:
        """Whether it indexes by arrays, or lists, of places or of truth values."""
        key = self.args[1] if len(self.args) > 1 else ()
        parts = key if isinstance(key, tuple) else (key,)
        return any(isinstance(x, (self.tensor, list, np.ndarray)) for x in parts)

    @property
    def given(self) -> list[str]:
        """The parameters that it names and that have not their default, as where PyTorch's own
        function names all; with what definitions ask of others' values."""
        power = self.plain == "pow" and [*self.args[1:2], *self.kwargs.values()]
        positive = power and all(type(x) in (bool, int, float) and x >= 0 for x in power)
        usual = _defaults(self.func) if self.kwargs else {}
        named = [key for key, x in self.kwargs.items() if x is not usual.get(key)]
        return [*named, *(["positive_power"] if positive else [])]

    def _first_array(self) -> AbstractArray | None:
        """The array that it takes first."""
        given = self.args[self.words.argument.get(self.name, 0) :], self.kwargs
        operands = map(self.operand, flat(given))
        return next((x for x in operands if isinstance(x, AbstractArray)), None)

    def _made_array(self) -> AbstractArray | None:
        """The array that it made, of a dtype that the call names."""
        first = next(iter(self.results()), None)
        return first and self.recorder.abstract(*first)

    def saw(
        self, operation: str, operands: Sequence[Any], results: Sequence[Result], **how: Any
    ) -> AbstractArray:
        """Record an operation that it is, or a part of it; see ``Recorder.saw``."""
        first, *more = results
        return self.recorder.saw(operation, operands, first, self.frame, more=more, **how)

    @property
    def home(self) -> Policy:
        """The policy of what carried it out."""
        return self.recorder.home

    def step(
        self, operation: str, operands: Sequence[Any], *, edited: bool = False
    ) -> AbstractArray:
        """Record a step of something greater, whose result no variable has.

        If it is all of it, as far as dtypes go, its operands are those of the call, and can be cast
        there (``edited``).
        """
        ndim = max((x.ndim for x in operands if isinstance(x, AbstractArray)), default=0)
        whole = self.results()[0].dtype
        dtype = self.predicted(operation, operands) or whole
        how: Any = {"exact": False, "edited": edited and dtype is whole, "part_of": self.name}
        return self.saw(operation, operands, [Result(None, dtype, ndim)], **how)

    def predicted(
        self, operation: str, operands: Sequence[Any], form: Form = Form.OPERATOR
    ) -> DType | None:
        """The dtype that our policy of the framework gives; None if it refuses."""
        home = self.home
        plan = home.plan(operation, tuple(operand_of(x, home) for x in operands), form)
        result: DType | None = getattr(plan, "result", None)
        return result if result is None or home.weak_arrays else home.strong(result)

    def made(self, kind: str) -> None:
        """Its tensors have the dtype that the program names, or one that follows from none."""
        results = self.results()
        if results:
            self.count(kind)
        for result in results:
            if self.named:
                self.recorder.named(result, self.frame, self.name)
            else:
                self.recorder.made(result)


@lru_cache(maxsize=512)
def _defaults(function: Any) -> dict[str, Any]:
    """The defaults of a function's parameters; none of one that is not written in Python."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return {}
    return {each.name: each.default for each in parameters if each.default is not each.empty}


NAMED = frozenset({OPERATION, APPROXIMATE, MOVE, MAKE})
"""Kinds of calls of which a policy is asked by name, too."""

INDEXED = {
    "__getitem__": "index",
    **dict.fromkeys(("__setitem__", "index_put", "index_put_"), "index_put"),
}
"""What indexing by arrays is called among functions; by numbers and slices it makes views."""

COMPARED = frozenset({"__lt__", "__le__", "__gt__", "__ge__", "__eq__", "__ne__"})
"""Comparisons, which Python turns where the first operand does not know the second."""

WEAK_OF = {Kind.INT: weak_int, Kind.FLOAT: weak_float, Kind.COMPLEX: weak_complex}
"""The dtypes of arrays that are weakly typed."""

_OF_ONE = frozenset({"tensor", "as_tensor", "scalar_tensor", "to_tensor"})


def dtypes_in(framework: Any, kind: type[Any]) -> dict[Any, DType]:
    """From the dtypes that a framework's module has, of a class, to ours of that name."""
    named = ((getattr(framework, name, None), dtype) for name, dtype in BY_NAME.items())
    return {found: dtype for found, dtype in named if isinstance(found, kind)}


def flat(values: Any) -> Iterator[Any]:
    """What is in lists, tuples and dictionaries, and in those that they hold."""
    for x in values:
        if isinstance(x, (list, tuple)):
            yield from flat(x)
        elif isinstance(x, dict):
            yield from flat(x.values())
        else:
            yield x
