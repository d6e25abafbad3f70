"""The fast path of operations: ``native/``, which runs executables that were compiled before.

All else takes a Python function, the long way: what was not met before, and everything while
somebody observes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial, wraps
from inspect import signature
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from promoarray import dtypes as dt
from promoarray.core import _fast_path
from promoarray.core._fast_path import FastOperator
from promoarray.core.executable_cache import Choice, Executable
from promoarray.core.observers import guarding, observers_anywhere
from promoarray.errors import ends_at_caller
from promoarray.operations import Form
from promoarray.promotion.in_force import default_policy, policy_here

if TYPE_CHECKING:
    from typing import TypeVar

    Function = TypeVar("Function", bound=Callable[..., Any])


_fast_path.begin(
    observers=observers_anywhere,
    guarding=guarding,
    policy_here=policy_here,
    default_policy=default_policy,
    named=dt.NAMED,
    # What NumPy's arrays are wrapped as, by their dtypes, and its scalars by their classes.
    adopted={
        by: dtype
        for storage, dtype in dt.BY_STORAGE.items()
        if dtype is not dt.string
        for by in (storage, storage.type)
    },
    weak=tuple(dt.WEAK_TYPES),
    ndarray=np.ndarray,
    asarray=np.asarray,
    dtype_class=dt.DType,
    numpy_dtype=np.dtype,
    bool_dtype=dt.bool,
    executable=Executable,
    choice=Choice,
)


def standing_for(function: Callable[..., Any], made: FastOperator) -> FastOperator:
    """What ``functools.wraps`` does, for what has nothing of its own to keep: in one step."""
    vars(made).update(
        vars(function),
        __module__=function.__module__,
        __name__=function.__name__,
        __qualname__=function.__qualname__,
        __doc__=function.__doc__,
        __annotations__=function.__annotations__,
        __wrapped__=function,
    )
    return made


def names_keywords(function: Function) -> Function:
    """Let a function name its own keyword where it is called by another library's.

    Nothing is looked at before Python has refused the call.
    """

    @wraps(function)
    def called(*args: Any, **options: Any) -> object:
        try:
            return function(*args, **options)
        except TypeError as error:
            if "ddof" in options and "correction" in signature(function).parameters:
                return called(*args, correction=options.pop("ddof"), **options)
            if advice := _advice(function, args, options):
                raise TypeError(f"{error}{advice}") from None
            raise

    return cast("Function", ends_at_caller(called))


def _advice(function: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]) -> str:
    """What to write in a call that does not fit: a clause for the error, or nothing."""
    from promoarray.other_names import for_keyword, for_place

    name, parameters = function.__name__, signature(function).parameters
    for each in options.keys() - parameters.keys():
        if instead := for_keyword(each, parameters, f"pa.{name}(...)"):
            return instead
    places = [p for p in parameters.values() if p.kind is not p.KEYWORD_ONLY]
    if len(args) <= len(places) or any(p.kind is p.VAR_POSITIONAL for p in places):
        return ""
    return for_place(name, len(places), [*parameters])


def fast_method(name: str, **settings: Any) -> Callable[[Function], Function]:
    """Make a decorator that gives a method its fast path; settings as ``FastOperator`` has them."""

    def decorate(function: Function) -> Function:
        made = FastOperator(ends_at_caller(function), name, **settings)
        return cast("Function", standing_for(function, made))

    return decorate


def fast_function(
    name: str,
    form: Form = Form.FUNCTION,
    passed: Mapping[str, str | None] | None = None,
    settings: dict[str, Any] | None = None,
    **options: Any,
) -> Callable[[Function], Function]:
    """Make a decorator that gives a function its fast path; what it makes bears ``fast``, by which
    namespaces make a fast path of their own.

    Executables are kept under ``form``. ``passed`` is what they call an option, if it is not what
    the function does, None of one that only its default is known of; ``settings`` are of the
    ``FastOperator``, ``options`` what the operation takes besides, with the defaults.
    """
    own = dict(settings or {})
    if options:
        own["option_names"], own["defaults"] = (*options,), (*options.values(),)
        own["passed_names"] = (*((passed or {}).get(each, each) for each in options),)
    kept_as = name + form

    def decorate(function: Function) -> Function:
        made = standing_for(function, FastOperator(names_keywords(function), kept_as, **own))
        vars(made)["fast"] = kept_as, own
        return cast("Function", made)

    return decorate


TYPED = {"typed": True}
"""Of a function that takes a ``dtype=`` besides, which tells its executables apart."""


def making(array_class: type) -> dict[str, Any]:
    """The settings of a function that makes arrays of a class of what it is given."""
    return {"typed": True, "makes": array_class}


def fast_call(name: str, *options: str, texts: tuple[str, ...] = ()) -> Callable[..., Any]:
    """Make ``call`` of an operation whose arguments a function of ours has checked.

    It is given these options each time; ``texts`` are the texts among their values.
    """
    from promoarray.core.dispatch import call

    made: Callable[..., Any] = FastOperator(
        partial(call, name),
        name + Form.FUNCTION,
        option_names=options,
        passed_names=options,
        defaults=(None,) * len(options),
        texts=texts,
    )
    return made
