"""PyTorch's quantization, recorded: policies are asked for the values of what it makes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from promoarray.core.call_site import sites, standing_at
from promoarray.core.observers import notify_lock
from promoarray.diagnostics.ask.values import decoded, other_values
from promoarray.diagnostics.calls.tables import bound
from promoarray.diagnostics.model.values import Difference, Place, one_pass
from promoarray.diagnostics.record.call import Call
from promoarray.diagnostics.record.report import OPERATION, UNKNOWN
from promoarray.dtypes import BY_CODE, WEAK
from promoarray.extras._quantize import Call as Question
from promoarray.extras._quantize import Numbers, carried_out, cast
from promoarray.promotion.plan import Refusal
from promoarray.promotion.policy import Policy
from promoarray.promotion.scalars import bounds

_INTEGERS = tuple(BY_CODE[code] for code in ("u8", "i8", "i4", "u4", "i2", "u2", "i16", "u16"))
_QUANTIZED = {"quint8": "u8", "qint8": "i8", "qint32": "i32"}


def quantized(call: Call) -> None:
    """Record ``fake_quantize_per_*`` or ``quantize_per_*``; compare what policies make of it."""
    along = ("axis",) if "channel" in call.name else ()
    last = ("quant_min", "quant_max") if call.name.startswith("fake") else ("dtype",)
    names = ("input", "scale", "zero_point", *along, *last)
    kwargs = {key.replace("scales", "scale").replace("points", "point"): x
              for key, x in call.kwargs.items()}  # fmt: skip
    given = bound(names, call.args, kwargs)
    values = [_numbers(call, given.get(name)) for name in names[:3]]
    question = _question(given) if {*names} <= given.keys() and None not in values else None
    if question is None:
        return call.made(UNKNOWN)
    call.count(OPERATION)
    call.recorder.heard.lasting = False  # the next pass has other values
    with notify_lock, standing_at(call.frame):
        _compare(call, question, values)
    for result in call.results() if question.name == "fake_quantize" else ():
        call.recorder.moved(given["input"], result)
    return None


def _question(given: dict[str, Any]) -> Question | None:
    """What is asked of policies; None of a dtype that none has."""
    axis = given.get("axis")
    if "dtype" in given:
        code = _QUANTIZED.get(str(given["dtype"]).rpartition(".")[2])
        return Question("quantize", BY_CODE[code], axis) if code else None
    limits = given["quant_min"], given["quant_max"]
    target = next((dtype for dtype in _INTEGERS if bounds(dtype) == limits), None)
    return Question("fake_quantize", target, axis, limits=None if target else limits)


def _numbers(call: Call, given: Any) -> Any:
    """An argument with its values; a Python number as it is; None of what cannot be read."""
    if type(given) in WEAK or given is None:
        return given
    if not isinstance(given, call.tensor):  # a list of tensors, or a dtype
        return None
    dtype, values = call.dtypes.get(given.dtype), call.values(given)
    return None if dtype is None or values is None else Numbers(values, dtype)


def _compare(call: Call, asked: Question, values: list[Any]) -> None:
    recorder, x = call.recorder, values[0]
    changes, why = answers(asked, recorder.home, recorder.report.policies, values)
    if changes:
        place = Place(*sites(), call.name, x.dtype.name, _result(asked, recorder.home, values))
        recorder.flow.flow.record_values(one_pass(place, x.buffer.size, changes))
    for reason, names in why.items():
        recorder.unexamined(call.name, reason, call.frame, policies=tuple(names))


def _result(asked: Question, home: Policy, values: list[Any]) -> str:
    mine = carried_out(asked, home, *values)
    return "" if isinstance(mine, Refusal) else mine.dtype.name


def answers(
    asked: Question, home: Policy, policies: tuple[Policy, ...], values: Sequence[Any]
) -> tuple[list[Difference], dict[str, list[str]]]:
    """Ask policies what they make of an array, a scale and a zero point.

    Returns
    -------
    list of Difference
        Where they make other values of it than the run's own policy.
    dict
        From why policies do not answer to their names.
    """
    x, scale, zero = values
    mine = carried_out(asked, home, x, scale, zero)
    made: list[tuple[Any, list[str]]] = []
    why: dict[str, list[str]] = {}
    for policy in policies:
        if policy is home:
            continue
        found = _asked(asked, policy, x, scale, zero)
        if isinstance(found, Refusal):
            why.setdefault(found.reason, []).append(policy.name)
        elif not isinstance(mine, Refusal) and found.dtype is mine.dtype:
            made.append((decoded(*found), [policy.name]))
    if isinstance(mine, Refusal):
        return [], why
    return other_values(decoded(*x), decoded(*mine), made), why


def _asked(asked: Question, policy: Policy, x: Numbers, scale: Any, zero: Any) -> Numbers | Refusal:
    """What a policy makes of it, with a scale and a zero point of the types that it takes."""
    if not policy.quantization.own:
        return Refusal(f"no quantization of {policy.title} is known")
    if isinstance(scale, Numbers):
        scale = cast(scale, x.dtype)
    if isinstance(zero, Numbers) and asked.dtype is not None:
        zero = cast(zero, asked.dtype)
    try:
        return carried_out(asked, policy, x, scale, zero)
    except (TypeError, ValueError) as error:
        return Refusal(str(error))
