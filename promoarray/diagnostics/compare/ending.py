"""How a program ended, in words: its globals, and the error that stopped it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from promoarray.core.call_site import shortened
from promoarray.core.observers import RefusalEvent
from promoarray.core.recovery import recovery, worded
from promoarray.core.refusals import spelled
from promoarray.errors import PromotionError
from promoarray.operations import OPERATIONS, Form
from promoarray.parray import PArray
from promoarray.promotion.plan import Refusal


def shown_globals(ended: dict[str, Any], names: Sequence[str] | None) -> dict[str, str]:
    """What a program's globals ended as: those asked for, else its arrays and floats."""
    if names is None:
        names = [name for name, value in ended.items() if _worth_showing(name, value)]
    return {name: said(_brief, ended[name]) if name in ended else "not set" for name in names}


def said(words: Callable[[Any], str], value: Any) -> str:
    """Words for something of the program's, whose own methods may fail."""
    try:
        return shortened(words(value))
    except Exception as error:
        return f"<{type(value).__name__}: {type(error).__name__} when it was shown>"


def last_line(error: BaseException) -> str:
    """An error as a traceback ends."""
    name, message = type(error).__name__, said(str, error)
    return f"{name}: {message}" if message else name


def in_short(error: BaseException) -> str:
    """An error in words; a refusal with the cast to write, but not what other policies give."""
    if not (isinstance(error, PromotionError) and error.policy and error.operation in OPERATIONS):
        return last_line(error)
    form = Form(error.form)
    refused = f"{spelled(error.operation, error.operands, form)}: {error.reason}"
    refusal = Refusal(error.reason)
    given = error.operation, form, error.policy, error.operands, error.operands, refusal
    event = RefusalEvent(*given)
    found = recovery(event)
    return f"{refused}; cast {worded(event, found)}" if found else refused


def _worth_showing(name: str, value: Any) -> bool:
    # Not isinstance, which asks the value for its class: anything may answer.
    return not name.startswith("_") and issubclass(type(value), (PArray, float))


def _brief(value: Any) -> str:
    if issubclass(type(value), PArray):
        shape = "x".join(map(str, value.shape))
        return f"{value.dtype} [{shape}]" if shape else f"{_number(value.item())} ({value.dtype})"
    return _number(value)


def _number(value: Any) -> str:
    return f"{value:.6g}" if issubclass(type(value), (float, complex)) else str(value)
