"""The errors promoarray raises beyond Python's own, and what they say of names nobody knows."""

from __future__ import annotations

import opcode
import operator
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from importlib import import_module
from types import FunctionType
from typing import TYPE_CHECKING, Any, cast

import numpy as np

if TYPE_CHECKING:
    from typing import TypeVar

    Function = TypeVar("Function", bound=Callable[..., object])


def of_compiled(error: ImportError) -> ImportError:
    """Return what to raise where a compiled module of ours cannot be imported.

    It may be missing, or older than the sources in Python, which ask it for a name that it has not;
    any other error is the one that was raised.
    """
    folder = os.path.dirname(__file__)
    if isinstance(error, ModuleNotFoundError) and (error.name or "").startswith("promoarray."):
        return ImportError(
            f"{folder} is promoarray's source, without what is compiled. Write pip install -e . "
            "beside it, or start Python in another folder"
        )
    if str(error).startswith("cannot import name") and error.path:
        return ImportError(
            f"{error.path} is older than the sources in {folder}: it has no "
            f"{str(error).split()[3]}. Write pip install -e . beside them, which compiles it anew"
        )
    return error


def to_install(extra: str) -> str:
    """Return the command that installs what an extra of promoarray needs.

    It names the packages, not promoarray, which pip would look for on an index.
    """
    import shlex
    from importlib.metadata import requires

    lines = requires("promoarray") or ()
    marked = [line.replace("'", '"').partition(";") for line in lines]
    needed = [what.strip() for what, _, marker in marked if f'extra == "{extra}"' in marker]
    return f"pip install {shlex.join(needed)}"


def imported(module: str, what: str, extra: str) -> Any:
    """Import a module of an extra, or raise ImportError with the command that installs it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(f"{what} need {module}: {to_install(extra)}") from error


class PromotionError(TypeError):
    """The policy in force has no result for these operands.

    The message says what was given, which rule refuses it and what to write instead. The traceback
    of an operator, a function or a method ends at the caller's line and one of ours;
    ``PROMOARRAY_TRACEBACK=full`` in the environment shows all.

    Attributes
    ----------
    policy : Policy or None
        Whose rule refuses.
    operation : str
        The operation, or the question, such as ``result_type``.
    operands : tuple of Operand
        What the policy saw of the operands; for ``astype`` the source and the target.
    reason : str
        The policy's own words.
    form : str
        How it was written: "" as an operator, "=" in place, "()" as a function.
    inplace : bool
        Whether it was ``target op= x``.
    """

    form: str = ""  # of an error pickled before errors had one

    # The ground floor knows no policy: the classes are those of ``promoarray.policies``.
    def __init__(
        self,
        message: str,
        policy: Any = None,
        operation: str = "",
        operands: tuple[Any, ...] = (),
        reason: str = "",
        *,
        form: str = "",
    ) -> None:
        super().__init__(message)
        self.policy, self.operation, self.operands = policy, operation, operands
        self.reason, self.form, self.inplace = reason, form, form == "="


class UnknownPolicyError(ValueError):
    """No policy has this name; the message lists the near ones."""


class EscapeError(RuntimeError):
    """Data was about to leave the policy inside ``no_escape``.

    Not a ``TypeError``: libraries catch that one to try another way to the same numbers.

    Attributes
    ----------
    escape : Escape
        What was about to leave, where, and by which channel.
    """

    def __init__(self, message: str, escape: Any) -> None:
        super().__init__(message)
        self.escape = escape

    def __reduce__(self) -> tuple[type[EscapeError], tuple[str, Any]]:
        return EscapeError, (str(self), self.escape)


class EscapeWarning(UserWarning):
    """SciPy, scikit-learn or xarray took an array's numbers, and computes by NumPy's rules."""


class ComputeError(RuntimeError):
    """A lazy array was about to be computed inside ``no_compute``."""


class ImplicitCastWarning(UserWarning):
    """An operation cast a value that nobody asked it to, in ``pa.trace(action="warn")``."""


class LossyCastWarning(ImplicitCastWarning):
    """An implicit cast can lose values: fractions, digits, what is out of range."""


class ImplicitCastError(RuntimeError):
    """An operation was about to cast a value, in ``pa.trace(action="raise")``.

    Not a ``TypeError``: libraries catch that one to try another way to the same numbers.

    Attributes
    ----------
    operation : str
    source, target : DType
    loss : str
        What is lost, in words; "" if every value comes through.
    """

    def __init__(
        self,
        message: str,
        operation: str = "",
        source: Any = None,
        target: Any = None,
        loss: str = "",
    ) -> None:
        super().__init__(message)
        self.operation, self.source, self.target, self.loss = operation, source, target, loss

    def __reduce__(self) -> tuple[type[ImplicitCastError], tuple[Any, ...]]:
        return ImplicitCastError, (str(self), self.operation, self.source, self.target, self.loss)


class DeviceError(RuntimeError):
    """A GPU failed, or cannot be had; the message says what CUDA said and what to do."""


def meant_for_callers(info: Any) -> bool:
    """Tell pytest which errors say all in their words: it leaves out the frames below the caller's.

    It asks this of the frames of each module that has it as ``__tracebackhide__``. An error of
    another class than those that promoarray raises on purpose is a bug, and shows where it is.
    """
    told = TypeError, ValueError, OverflowError, IndexError, EscapeError, DeviceError
    return info is not None and isinstance(info.value, (*told, ImplicitCastError))


def end_tracebacks_at_callers() -> None:
    """Have pytest leave out the frames of all modules imported so far, as their errors tell all."""
    if "_pytest" not in sys.modules:
        return
    for name, module in list(sys.modules.items()):
        if name.startswith("promoarray."):
            vars(module)["__tracebackhide__"] = meant_for_callers


def ends_at_caller(function: Function) -> Function:
    """Have an error that is raised on purpose show the caller's line and one of ours; all with
    ``PROMOARRAY_TRACEBACK=full``. What Python says of an argument's class names the parameter."""

    @wraps(function)
    def called(*args: Any, **options: Any) -> object:
        try:
            return function(*args, **options)
        except _RAISED as error:
            told = _told(function, error, args, options) if _ENDS else None
            if told is None:
                raise
            vars(told)["_is_meant"], told.__traceback__ = True, None
            if told is error:
                raise
            failed = told
        raise failed

    return cast("Function", called)


def end_at_callers(names: dict[str, Any], functions: Iterable[str]) -> None:
    """Wrap the plain functions of a module in ``ends_at_caller``."""
    home = names["__name__"]
    for name in functions:
        function = names.get(name)  # of some a module makes on demand
        if not isinstance(function, FunctionType) or function.__code__ is CALLED:
            continue
        if function.__module__.startswith(home):
            names[name] = function = ends_at_caller(function)
            function.__module__ = home  # by which it pickles


_ENDS = os.environ.get("PROMOARRAY_TRACEBACK") != "full"

CALLED = ends_at_caller(len).__code__
"""The code of what ``ends_at_caller`` makes, whose frames stand behind the caller's."""


def _told(
    function: Function, error: Exception, args: tuple[Any, ...], options: dict[str, Any]
) -> Exception | None:
    """An error as the caller is told it: itself, if a ``raise`` of ours raised it, or NumPy did
    over the values or indices that it was given; None of a bug, or of a function that we were
    given."""
    entry, last = error.__traceback__, None
    while entry is not None:
        last, entry = entry, entry.tb_next
        if not last.tb_frame.f_code.co_filename.startswith(_OURS):
            return None
    if isinstance(error, PromotionError) or "_is_meant" in vars(error) or last is None:
        return error
    if isinstance(error, (ValueError, OverflowError, IndexError, UserWarning)):
        return error
    if opcode.opname[last.tb_frame.f_code.co_code[last.tb_lasti]] == "RAISE_VARARGS":
        return error
    return _of_argument(function, error, args, options)


def _of_argument(
    function: Function, error: Exception, args: tuple[Any, ...], options: dict[str, Any]
) -> Exception | None:
    """An error that Python raises over arguments: too many, or one of a class that will not do."""
    import inspect

    signature = inspect.signature(function)
    try:
        bound = signature.bind(*args, **options)
    except TypeError:
        return error
    called, empty = getattr(function, "__name__", "").lstrip("_"), inspect.Parameter.empty
    for name, given in bound.arguments.items():
        parameter = signature.parameters[name]
        takes = parameter.annotation
        for value in given if parameter.kind is inspect.Parameter.VAR_POSITIONAL else (given,):
            named = f"'{type(value).__name__}' object" in str(error)
            if named or (takes == "int" and not _is_int(value)):
                known = takes not in ("Any", "object", empty)
                words = " or ".join(_KINDS.get(each, each) for each in str(takes).split(" | "))
                what = f"{words} as {name}, not" if known else f"no {kind_of(value)} as {name}:"
                return TypeError(f"{called} takes {what} {quoted(value)}")
    return None


_KINDS = {
    "AnyArray": "an array or a number",
    "AnyDType": "a dtype",
    "Axes": "an int or a tuple of ints",
    "Data": "an array, a number or a list of them",
    "Shape": "an int or a tuple of ints",
    **dict.fromkeys(("Sequence[AnyArray]", "Sequence[Data]"), "a sequence of arrays"),
    "Sequence[int]": "a sequence of ints",
}
"""What annotations mean, in words."""


def _is_int(value: Any) -> bool:
    try:
        operator.index(value)
    except Exception:
        return False
    return True


_RAISED = (
    *(TypeError, ValueError, OverflowError, IndexError, ImportError),
    *(AttributeError, ZeroDivisionError, OSError, UserWarning),  # the last under python -W error
)
_NUMPYS = os.path.dirname(np.__file__)
_OURS = (
    *(__file__.removesuffix("errors.py"), _NUMPYS, f"{os.path.dirname(_NUMPYS)}/array_api_"),
    f"{os.path.dirname(os.__file__)}/contextlib.py",
)
"""Where files begin whose errors are ours: those of array-api-compat and array-api-extra, too."""


def suggestion(name: str, known: Sequence[str]) -> str:
    """Say what to write in place of an unknown name: the near ones, or all there are.

    Examples
    --------
    >>> suggestion("ad", ["add", "subtract"]), suggestion("x", ["add", "subtract"])
    ('Did you mean: add?', 'Write one of: add, subtract')
    """
    import difflib  # for errors only

    near = difflib.get_close_matches(name[:LONGEST], known, n=4, cutoff=0.5)
    if near:
        return f"Did you mean: {', '.join(near)}?"
    return f"Write one of: {clipped(', '.join(known), 600)}"


LONGEST = 60
"""Characters of one value that a message quotes."""


def quoted(value: object, limit: int = LONGEST) -> str:
    """Return how a value is written in a message: its repr, shortened, in one line.

    Whatever the value: of long ints the size alone, which Python refuses to print; of containers
    the first items; of arrays that are not small what they are; of an object whose ``__repr__``
    fails its class.

    Examples
    --------
    >>> quoted("ab"), quoted([1.5, None]), quoted(range(3)), quoted(10**5000)
    ("'ab'", '[1.5, None]', 'range(0, 3)', '<int of 16610 bits>')
    >>> quoted(list(range(10**6)), 20), quoted("a" * 10**6, 20)
    ('[0, 1, 2, 3, 4, ...]', "'aaaaaaaaaaaaaa'...")
    """
    text = _written(value, limit, 4)
    return clipped(" ".join(text.split()) if "\n" in text else text, limit)


def kind_of(value: object) -> str:
    """Return the name of a value's class, shortened."""
    return clipped(type(value).__name__, LONGEST)


def clipped(text: str, limit: int = 5 * LONGEST) -> str:
    """Return a text, of which no more than so many characters are kept.

    Examples
    --------
    >>> clipped("abc", 8), clipped("a" * 100, 8)
    ('abc', 'aaaaa...')
    """
    return text if len(text) <= limit else f"{text[: max(0, limit - 3)]}..."


_BRACKETS: dict[type, tuple[str, str]] = {
    list: ("[", "]"),
    tuple: ("(", ")"),
    set: ("{", "}"),
    frozenset: ("frozenset({", "})"),
    dict: ("{", "}"),
}


def _written(value: Any, room: int, depth: int) -> str:
    """About as much of a repr as there is room for; what is not written is not looked at."""
    kind = type(value)
    if kind is int or kind is range:
        longest = value if kind is int else max(value.start, value.stop, value.step, key=abs)
        bits = longest.bit_length()
        return repr(value) if bits <= 128 else f"<{kind.__name__} of {bits} bits>"
    if kind is str or kind is bytes:
        kept = max(1, room - 6)
        return repr(value) if len(value) <= kept + 3 else f"{value[:kept]!r}..."
    if kind in _BRACKETS and value:
        return _items(value, room, depth)
    return _repr(value, room)


def _items(value: Any, room: int, depth: int) -> str:
    first, last = _BRACKETS[type(value)]
    if not depth:
        return f"{first}...{last}"
    written: list[str] = []
    left = room - 5
    for item in value:
        text = _written(item, left, depth - 1)
        if type(value) is dict:
            text += f": {_written(value[item], left, depth - 1)}"
        left -= len(text) + 2
        if left < 0 and written:
            written.append("...")
            break
        written.append(text)
    lone = "," * (type(value) is tuple and len(value) == 1)
    return f"{first}{', '.join(written)}{lone}{last}"


def _repr(value: Any, room: int) -> str:
    kind = kind_of(value)
    try:
        size = value.size if hasattr(value, "dtype") and hasattr(value, "shape") else 0
        if isinstance(size, int) and size > room:  # to print it takes as long as it is
            return f"<{kind} of {value.dtype}, shape {value.shape}>"
        return repr(value)
    except Exception:
        return f"<{kind}>"
