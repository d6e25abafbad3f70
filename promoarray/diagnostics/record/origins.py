"""Origins of a run: what made every array, and the call at which the program stopped.

A recorder that keeps them notes arrays of a dtype that was named, or that follows from no
promotion, as well. When a call fails, it is tried again there and then with other dtypes: a dtype
with which the same call runs is what stopped it, whatever the framework's message says.
"""

from __future__ import annotations

import copy
import dis
import inspect
import io
import math
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout, suppress
from dataclasses import fields, is_dataclass
from functools import partial
from types import CellType, FrameType, FunctionType, MappingProxyType
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from promoarray.core.call_site import (
    Site,
    entries_of,
    is_library,
    of_library,
    site_of,
    sites,
    standing_at,
)
from promoarray.core.observers import notify_lock
from promoarray.diagnostics.model.failed import (
    GIVEN_BACK,
    HELD,
    Asked,
    Failed,
    FailedOperand,
    Limit,
    Remedy,
    Whole,
)
from promoarray.diagnostics.record.flow import Produced
from promoarray.dtypes import BY_NAME, DType, Kind

_NOTHING: Mapping[int, Any] = MappingProxyType({})

Call = Any
"""A call of a framework, as ``call.py`` has it; that module stands above this one."""


class Origins:
    """Keeps the last call that failed, until the program ends."""

    def __init__(self) -> None:
        self._error: _Known | None = None
        self._failed: Failed | None = None
        self._remedies: dict[Any, list[Remedy]] = {}
        self._later: Callable[[], None] | None = None

    def failed(
        self, call: Call, error: Exception, function: Callable[..., Any], args: Any, kwargs: Any
    ) -> None:
        """Note a call that failed, unless one that it made did so before."""
        if self._error == _known(error):
            return
        arguments = _tensors(call, args, kwargs)
        held = _held(call, arguments, args, kwargs)
        tensors = [*arguments, *held]
        frame = _program_frame(call.frame)
        with notify_lock, standing_at(call.frame):
            site, program = sites()
        named = _named_by(frame, tensors, call.tensor)
        operands = [
            FailedOperand(
                str(call.dtype_in(x) or x.dtype),
                call.shape_of(x) if isinstance(x, call.tensor) else x.shape,
                slot.source
                if isinstance(slot := call.recorder.carried.slot(x), Produced)
                else None,
                tuple(named.get(id(x), ())),
                (call.writes and not n) or x is call.kwargs.get("out"),
                next((key for key, value in kwargs.items() if value is x), ""),
                HELD if n >= len(arguments) else "",
            )
            for n, x in enumerate(tensors)
        ]
        operands += map(_given_back, call.gave)
        found = Failed(call.name, _first_line(error), site, program, operands)
        found.framework = call.recorder.version
        self._later = partial(self._try, found, _Again(call, function, args, kwargs, tensors))
        # What the program gave is called once more by each try: not while the program may go on,
        # but for functions that are traced, whose tracers are nothing later.
        if call.is_traced or not any(map(callable, (*args, *kwargs.values()))):
            self._try_now()
        self._error, self._failed = _known(error), found

    def _try_now(self) -> None:
        """Try other dtypes of the call that failed last, unless that was done."""
        later, self._later = self._later, None
        if later is not None:
            later()

    def _try(self, found: Failed, again: _Again) -> None:
        if sum(math.prod(each.shape) for each in found.arguments) > MOST_ELEMENTS:
            found.untried = f"its operands have more than {MOST_ELEMENTS:,} elements"
            return
        types = tuple((each.dtype, each.shape) for each in found.operands)
        key = again.call.func, found.error, types  # a program may ask by failing, again and again
        if key not in self._remedies:
            self._remedies[key] = _remedies(again, found)
        found.remedies = self._remedies[key]
        found.limit = _limit(again, found.operands)
        if not found.limit and all(_cuts(found.operands, each) for each in found.remedies):
            named = re.findall(r"\w+", found.error)
            found.whole = _whole(again, [each.dtype for each in found.operands], named)
        if not found.for_a_dtype:
            found.asked = _asked(again, [each.dtype for each in found.operands])

    def let_go(self) -> None:
        """Let go of the arrays of a call that was not tried yet."""
        self._later = None

    def unheard(self, recorder: Any, kind: type[Any], error: BaseException) -> Failed | None:
        """Return the call of a function around what failed, where that stopped for a dtype.

        It is the library's outermost below the program, such as that of a module which checks what
        it is given.
        """
        entries = entries_of(error.__traceback__)
        last = max((n for n, e in enumerate(entries) if not of_library(e.tb_frame)), default=-1)
        if last < 0 or last + 1 == len(entries) or not isinstance(error, Exception):
            return None
        program, at = entries[last].tb_frame, entries[last]
        function, args, kwargs = _called(entries[last + 1].tb_frame)
        if function is None:
            return None
        call = kind(recorder, _name(function), function, args, kwargs, program)
        self._error = None
        self.failed(call, error, function, args, kwargs)
        self._try_now()
        found = self._failed
        if found is not None:  # the frame may have gone on
            found.site = found.program = site_of(program.f_code, at.tb_lasti, at.tb_lineno)
        if found is None or not (found.operands or found.whole):
            return None
        return found if found.for_a_dtype else None

    def stopped(self, error: BaseException) -> Failed | None:
        """Return the call whose failure an error comes of."""
        cause: BaseException | None = error
        while cause is not None:
            if _known(cause) == self._error:
                self._try_now()
                return self._failed
            cause = cause.__cause__ or cause.__context__
        return None


def _called(frame: FrameType) -> tuple[Any, list[Any], dict[str, Any]]:
    """The function that a frame runs, bound to what it is a method of, and its arguments."""
    code, held = frame.f_code, inspect.getargvalues(frame)
    args = [held.locals.get(name) for name in code.co_varnames[: code.co_argcount]]
    args += held.locals.get(held.varargs, ()) if held.varargs else ()
    only = code.co_varnames[code.co_argcount :][: code.co_kwonlyargcount]
    kwargs = {name: held.locals.get(name) for name in only}
    kwargs |= held.locals.get(held.keywords, {}) if held.keywords else {}
    if code.co_varnames[:1] == ("self",):
        return getattr(args[0], code.co_name, None), args[1:], kwargs
    function = frame.f_globals.get(code.co_name)
    wrapped = [x for x in map(held.locals.get, code.co_freevars) if callable(x)]
    if function is None and held.varargs and len(wrapped) == 1:  # a decorator's
        function = _decorated(wrapped[0])
    return function, args, kwargs


def _decorated(function: Any) -> Any:
    """A function as it is known to itself: where it calls itself, by what decorators made of it."""
    if not isinstance(function, FunctionType):
        return function
    return inspect.getclosurevars(function).nonlocals.get(function.__code__.co_name, function)


def _name(function: Any) -> str:
    """The name of a function, or of the class of a module that is called."""
    name = getattr(inspect.unwrap(function), "__name__", "")
    owner = getattr(function, "__self__", None)
    return type(owner).__name__ if owner is not None and name.startswith("_") else name


_Known = tuple[int, type[BaseException], str]


def _known(error: BaseException) -> _Known:
    """What an error is known by, which does not hold it, nor the arrays of its frames."""
    return id(error), type(error), str(error)


MOST_ELEMENTS = 1 << 24
"""A call with more is not tried with other dtypes."""

_MOST_TRIED, _MOST_FOUND = 40, 8


class _Again(NamedTuple):
    """A call to be carried out again, on copies."""

    call: Call
    function: Callable[..., Any]
    args: Any
    kwargs: Any
    tensors: Sequence[Any]

    def runs(self, dtypes: Sequence[str], others: Mapping[int, Any] = _NOTHING) -> bool:
        """Whether it runs with its arrays in some dtypes, and other objects for some, by identity;
        False where no such copies can be made."""
        call = self.call
        with call.undisturbed(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                both = zip(self.tensors, dtypes, strict=False)
                by_id = {id(x): _copy(call, x, BY_NAME.get(name)) for x, name in both}
            except Exception:  # such as of a tensor without memory
                return False
            given = dtypes[: len(by_id)]
            if [str(call.dtype_in(x) or x.dtype) for x in by_id.values()] != [*given]:
                return False  # the framework has no such dtype
            by_id |= self._giving(dtypes[len(by_id) :]) | dict(others)
            args = [_with(x, by_id) for x in self.args]
            kwargs = {key: _with(x, by_id) for key, x in self.kwargs.items()}
            try:
                with redirect_stdout(io.StringIO()):  # of the program's functions that it may call
                    return self.function(*args, **kwargs) is not NotImplemented
            except Exception:
                return False

    def _giving(self, dtypes: Sequence[str]) -> dict[int, Any]:
        """Functions that give back other dtypes, by the identity of those that they stand for."""
        changes: dict[int, dict[int, str]] = {}
        for each, dtype in zip(self.call.gave, dtypes, strict=True):
            if dtype != each.dtype:
                changes.setdefault(id(each.function), {})[each.part[0]] = dtype
        functions = {id(each.function): each.function for each in self.call.gave}
        return {key: self.call.giving(functions[key], some) for key, some in changes.items()}


def _cuts(operands: Sequence[FailedOperand], remedy: Remedy) -> bool:
    """Whether a remedy makes integers of floats."""
    return any(_kind(x) != "FLOAT" == _kind(operands[n].dtype) for n, x in remedy)


def _remedies(again: _Again, failed: Failed) -> list[Remedy]:
    """The changes of dtypes with which a call runs, those of the fewest operands first."""
    found: list[Remedy] = []
    operands, said = failed.operands, re.findall(r"\w+", failed.error)
    own, bits = [each.dtype for each in operands], again.call.plain in _OF_BITS
    asked_for = sorted(ASKED_FOR, key=lambda name: name != "bool" or not bits)
    asked_for += [x for x in said if x in BY_NAME and not BY_NAME[x].weak]
    to_bool = (n for n, each in enumerate(operands) if each.keyword.endswith("mask"))
    numbers = all(name in BY_NAME for name in own)  # not days or texts, which others should fit
    masks = [((n, "bool"),) for n in to_bool if own[n] != "bool"]
    if again.call.name in _INDEXING:
        masks += [((n, "bool"),) for n, x in enumerate(again.tensors[1:], 1) if _is_mask(x, again)]
    for tried, remedy in enumerate(dict.fromkeys((*masks, *_candidates(own, asked_for)))):
        enough = found and not remedy and numbers
        if tried >= _MOST_TRIED or len(found) >= _MOST_FOUND or enough:
            break
        if not remedy or any({*each} < {*remedy} for each in found):
            continue  # less is enough
        if _runs_with(again, own, remedy):
            found.append(_least(again, own, remedy))
    return [*dict.fromkeys(found)]


def _runs_with(again: _Again, own: Sequence[str], remedy: Remedy) -> bool:
    return again.runs([*(dict(enumerate(own)) | dict(remedy)).values()])


def _least(again: _Again, own: Sequence[str], remedy: Remedy) -> Remedy:
    """What of a remedy does as well: not each operand that is changed has to be."""
    for each in remedy if len(remedy) > 1 else ():
        less = tuple(x for x in remedy if x is not each)
        if less and _runs_with(again, own, less):
            remedy = less
    return remedy


_INDEXING = frozenset({"__getitem__", "__setitem__", "getitem", "setitem"})


def _is_mask(x: Any, again: _Again) -> bool:
    """Whether an index has a truth value for each element of what is indexed."""
    if tuple(x.shape) != tuple(again.tensors[0].shape) or str(x.dtype).endswith("bool"):
        return False
    try:
        return bool(((x == 0) | (x == 1)).all())
    except Exception:  # of objects, or of what is traced
        return False


def _limit(again: _Again, operands: Sequence[FailedOperand]) -> Limit | None:
    """The Python number that stops a call as it does not fit the dtype of its arrays."""
    own = [each.dtype for each in operands]
    dtype = BY_NAME.get(own[0]) if own else None
    if dtype is None or dtype.weak or dtype.kind not in (Kind.FLOAT, Kind.INT, Kind.UINT):
        return None
    about: Any = ml_dtypes.finfo if dtype.kind is Kind.FLOAT else ml_dtypes.iinfo
    number_of: Any = float if dtype.kind is Kind.FLOAT else int
    low, high = (number_of(end) for end in (about(dtype.storage).min, about(dtype.storage).max))
    for x in (*again.args, *again.kwargs.values()):
        if type(x) not in (int, float) or low <= x <= high or math.isnan(x) or math.isinf(x):
            continue
        if again.runs(own, {id(x): low if x < low else high}):
            return Limit(x, dtype.name, "min" if x < low else "max", low, high)
    return None


def _whole(again: _Again, own: Sequence[str], named: Sequence[str]) -> Whole | None:
    """The Python number that stops a call as one of the other kind is asked for, or an array of a
    dtype that operands have or that is named."""
    kinds: list[tuple[Any, Any]] = [(int, float), (float, int)]
    given: list[Any] = [*_leaves(again.args, again.kwargs)]
    for kind, other in kinds:
        every = [x for x in given if type(x) is kind]
        numbers = [x for x in every if abs(x) < 1 << 53]
        for some in (*([x] for x in numbers), numbers):
            if some and again.runs(own, {id(x): other(x) for x in some}):
                return Whole(some[0], _names_of(again, some), others=tuple(some[1:]))
    numbers = [x for x in given if type(x) in (int, float)]
    asked_for = dict.fromkeys((*own, *named))
    known = [BY_NAME[x] for x in asked_for if x in BY_NAME and not BY_NAME[x].weak]
    for dtype in [x.name for x in known if x.kind in _REAL] if numbers else ():
        storage = BY_NAME[dtype].storage
        for some in (*([x] for x in numbers), numbers):  # lax takes an int for int32
            exact = some and all(float(np.asarray(x).astype(storage)) == x for x in some)
            if exact and again.runs(own, {id(x): np.asarray(x).astype(storage) for x in some}):
                return Whole(some[0], _names_of(again, some), dtype, tuple(some[1:]))
    return None


_REAL = Kind.FLOAT, Kind.INT, Kind.UINT


def _asked(again: _Again, own: Sequence[str]) -> Asked | None:
    """The dtype that stops a call as none such is given, such as of numbers drawn in int32."""
    held = {each.name for each in again.call.recorder.home.dtypes}
    others = [x for x in sorted(ASKED_FOR, key=_UNUSUAL.__contains__) if x in held]
    for x in _leaves(again.args, again.kwargs):
        given = _dtype_named(x)
        for dtype in others if given else ():
            other = _dtype_like(x, dtype)
            if dtype != given and other is not None and again.runs(own, {id(x): other}):
                return Asked(given, _names_of(again, [x]), dtype)
    return None


_UNUSUAL = frozenset({"float64", "bool", "complex64"})
"""What is rarely meant by one who has asked for something else."""


def _dtype_named(x: Any) -> str:
    """The name of a dtype of any library, of Python's types, or in a text; "" of all else."""
    if isinstance(x, type):
        name = np.dtype(x).name if x in (int, float, complex, bool) else x.__name__
    elif type(x) is str or isinstance(x, np.dtype) or type(x).__name__.lower() in _DTYPES:
        name = "".join(re.findall(r"\w+", str(x))[-1:])
    else:
        return ""
    return name if name in BY_NAME else ""


_DTYPES = "dtype", "datatype"
"""What frameworks call the class of their dtypes."""


def _dtype_like(x: Any, name: str) -> Any:
    """A dtype by its name, as that library has it which another is of."""
    if isinstance(x, str):
        return name
    if isinstance(x, (type, np.dtype)):
        return np.dtype(BY_NAME[name].storage)
    return getattr(sys.modules.get(type(x).__module__.partition(".")[0]), name, None)


def _names_of(again: _Again, numbers: Sequence[Any]) -> tuple[str, ...]:
    found = _named_by(again.call.frame, numbers, again.call.tensor)
    return tuple(name for x in numbers for name in found.get(id(x), ()))


def _candidates(dtypes: Sequence[str], asked_for: Sequence[str]) -> Iterator[Remedy]:
    """Yield what to try: one operand as another is, all as one is, then what functions ask for."""
    each = [*dict.fromkeys((*dtypes, *(_STRONG[x] for x in dtypes if x in _STRONG)))]
    for wanted in each:
        yield from (((n, wanted),) for n, own in enumerate(dtypes) if own != wanted)
    for wanted in each:
        like = [n for n, own in enumerate(dtypes) if own != wanted and _kind(own) == _kind(wanted)]
        if len(like) > 1:
            yield tuple((n, wanted) for n in like)
    for wanted in each:
        others = tuple((n, wanted) for n, own in enumerate(dtypes) if own != wanted)
        if len(others) > 1:
            yield others
    yield ()  # from here on what none of them is
    for wanted in asked_for:
        if wanted not in each:
            yield from (((n, wanted),) for n in range(len(dtypes)))
    for wanted in asked_for:
        for first in (1, 0) if len(dtypes) > 2 else (0,):  # of an index without what is indexed
            if wanted not in each and len(dtypes) > 1:
                yield tuple((n, wanted) for n in range(first, len(dtypes)))


_STRONG = {"weak_int": "int32", "weak_float": "float32"}
"""What JAX makes of Python numbers."""

ASKED_FOR = ("int64", "int32", "float32", "float64", "bool", "complex64")
"""The dtypes that functions ask for as such: indices, floating operands, masks."""


_OF_BITS = frozenset({"__invert__", "bitwise_invert", "bitwise_not", "invert", "lax.bitwise_not"})
"""What asks for masks first: of integers it is arithmetic."""


def _kind(name: str) -> str:
    known = BY_NAME.get(name)
    return known.kind.name if known else ""


def _with(value: Any, copies: Mapping[int, Any]) -> Any:
    """An argument with copies in the place of its arrays."""
    if id(value) in copies:
        return copies[id(value)]
    if isinstance(value, dict):
        return {key: _with(x, copies) for key, x in value.items()}
    if type(value) in (list, tuple):
        return type(value)(_with(x, copies) for x in value)
    held = _fields(value)
    if any(id(x) in copies for x in _leaves((), held)):
        new = {name: _with(x, copies) for name, x in held.items()}
        if isinstance(value, tuple):
            return type(value)(**new)
        made = copy.copy(value)
        for name, x in new.items():
            object.__setattr__(made, name, x)  # of one that is frozen, too
        return made
    if type(value) is slice:
        return slice(*(_with(x, copies) for x in (value.start, value.stop, value.step)))
    if type(value) is partial:
        return partial(value.func, *_with(value.args, copies), **_with(value.keywords, copies))
    if any(id(x) in copies for x in _captured(value).values()):
        return _with_captured(inspect.unwrap(value), copies)
    return value


def _captured(function: Any) -> dict[str, Any]:
    """What a function of the program refers to, by name: variables around it, and globals."""
    function = inspect.unwrap(function) if isinstance(function, FunctionType) else function
    if not isinstance(function, FunctionType) or is_library(function.__code__.co_filename):
        return {}
    code, names = function.__code__, function.__globals__
    found = {name: names[name] for name in code.co_names if name in names}
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        with suppress(ValueError):  # which is assigned later
            found[name] = cell.cell_contents
    return found


def _with_captured(function: FunctionType, copies: Mapping[int, Any]) -> FunctionType:
    """A function with copies in the place of arrays that it refers to."""
    found = {name: copies.get(id(x), x) for name, x in _captured(function).items()}
    code, cells = function.__code__, function.__closure__ or ()
    names = zip(code.co_freevars, cells, strict=True)
    closure = tuple(CellType(found[name]) if name in found else cell for name, cell in names)
    inside = function.__globals__ | {n: x for n, x in found.items() if n not in code.co_freevars}
    made = FunctionType(code, inside, function.__name__, function.__defaults__, closure)
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def _held(call: Call, arguments: Sequence[Any], args: Any, kwargs: Any) -> list[Any]:
    """The arrays to which functions refer that a call is given, if they are small."""
    every = [x for f in _leaves(args, kwargs) for x in _captured(f).values()]
    known = {id(x) for x in arguments}
    arrays = {id(x): x for x in every if isinstance(x, (call.tensor, np.ndarray))}
    found = [x for key, x in arrays.items() if key not in known]
    sizes = [math.prod(x.shape) for x in (*arguments, *found)]
    return found if sum(sizes) <= MOST_ELEMENTS else []


def _given_back(each: Any) -> FailedOperand:
    source = each.slot.source if isinstance(each.slot, Produced) else None
    where = tuple(_returns(inspect.unwrap(each.function)))
    shape = tuple(each.shape)
    return FailedOperand(
        *(each.dtype, shape, source, (), False), role=GIVEN_BACK, returned=where, part=each.part
    )


def _returns(function: Any) -> Iterator[Site]:
    """The expressions that a function returns."""
    code: Any = getattr(function, "__code__", None)
    before = None
    for each in dis.get_instructions(code) if code is not None else ():
        if each.opname.startswith("RETURN_"):
            last = each if each.opname == "RETURN_CONST" else before
            if last is not None:
                yield site_of(code, last.offset, code.co_firstlineno)
        before = each


def _tensors(call: Call, args: Any, kwargs: Any) -> list[Any]:
    """The arrays among the arguments, NumPy's as well, each once."""
    known = call.tensor, np.ndarray
    found = {id(x): x for x in _leaves(args, kwargs) if isinstance(x, known)}
    return [*found.values()]


def _copy(call: Call, x: Any, dtype: DType | None) -> Any:
    """A copy of an array in a dtype, if its library has it."""
    if isinstance(x, call.tensor):
        return call.copy(x, dtype)
    return x.astype(dtype.storage if dtype else x.dtype)


def _leaves(args: Any, kwargs: Any) -> Iterator[Any]:
    """The arguments, and what their lists, tuples, dicts and slices hold."""
    for x in (*args, *kwargs.values()):
        if type(x) is slice:
            yield from (x.start, x.stop, x.step)
        elif isinstance(x, dict):
            yield from _leaves((), x)
        elif type(x) in (list, tuple):
            yield from _leaves(x, {})
        elif held := _fields(x):
            yield from _leaves((), held)
        elif type(x) is partial:
            yield x.func
            yield from _leaves(x.args, x.keywords)
        else:
            yield x


def _fields(x: Any) -> dict[str, Any]:
    """What a named tuple or a dataclass holds, by name."""
    if isinstance(x, tuple) and hasattr(x, "_asdict"):
        return dict(x._asdict())
    if isinstance(x, type) or not is_dataclass(x):
        return {}
    return {each.name: getattr(x, each.name, None) for each in fields(x)}


def _program_frame(frame: FrameType) -> FrameType:
    """The innermost frame of the program that led to one; that itself if there is none."""
    outer: FrameType | None = frame
    while outer is not None and of_library(outer):
        outer = outer.f_back
    return outer or frame


def _named_by(frame: FrameType, tensors: Sequence[Any], kind: Any) -> dict[int, list[str]]:
    """Expressions of a frame that are these arrays: its variables, and what they hold."""
    wanted = {id(x) for x in tensors}
    found: dict[int, list[str]] = {}
    variables = dict(frame.f_globals) | dict(frame.f_locals)
    for name, value in variables.items():
        if not name.isidentifier() or name.startswith("__"):
            continue
        if id(value) in wanted:
            found.setdefault(id(value), []).append(name)
        parts = _items(value) or ((f".{each}", part) for each, part in _parts(value, kind))
        for part_of, part in parts:
            if id(part) in wanted:
                found.setdefault(id(part), []).append(f"{name}{part_of}")
    return found


def _items(value: Any, depth: int = 3) -> list[tuple[str, Any]]:
    """What a short list, tuple or dict holds, and those that it holds, by index or key."""
    if type(value) not in (list, tuple, dict) or len(value) > _FEW_ITEMS or not depth:
        return []
    pairs = value.items() if type(value) is dict else enumerate(value)
    found = [(f"[{key!r}]", x) for key, x in tuple(pairs) if type(key) in (int, str)]
    return found + [(a + b, y) for a, x in found for b, y in _items(x, depth - 1)]


_FEW_ITEMS = 64


def _parts(value: Any, kind: Any) -> Iterator[tuple[str, Any]]:
    """What an object holds by name; a module of layers with what its layers hold."""
    if isinstance(value, kind):
        if getattr(value, "is_leaf", False) and getattr(value, "requires_grad", False):
            yield "grad", value.grad
        return
    parameters = getattr(type(value), "named_parameters", None)
    if parameters is not None:
        try:
            yield from parameters(value)
            yield from getattr(type(value), "named_buffers", lambda _: ())(value)
            yield from (each for each in _vars(value).items() if isinstance(each[1], kind))
        except Exception:  # a class that only looks like a module
            return
    elif type(value).__module__ != "builtins" and isinstance(vars_of := _vars(value), dict):
        yield from tuple(vars_of.items())


def _vars(value: Any) -> Any:
    if isinstance(value, type) or type(value).__name__ in ("module", "function"):
        return None
    return _fields(value) or getattr(value, "__dict__", None)


def _first_line(error: BaseException) -> str:
    text = [line.strip() for line in str(error).splitlines() if line.strip()]
    if not text:
        return type(error).__name__
    return " ".join(text[:2]) if text[0].endswith(":") else text[0]
