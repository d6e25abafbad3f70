"""The error that stopped a program, in words."""

from __future__ import annotations

from promoarray.core.events import RefusalEvent
from promoarray.core.recovery import recovery, worded
from promoarray.core.refusals import spelled
from promoarray.diagnostics.compare.final_values import said
from promoarray.errors import PromotionError
from promoarray.operations import OPERATIONS, Form
from promoarray.promotion.plan import Refusal


def last_line(error: BaseException) -> str:
    """An error as a traceback ends."""
    name, message = type(error).__name__, said(str, error).rstrip()
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
