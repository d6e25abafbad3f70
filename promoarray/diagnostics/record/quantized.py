"""PyTorch's fake quantization, recorded: the dtype stays, and policies are asked for its values."""

from __future__ import annotations

from typing import Any

from promoarray.core.call_site import sites, standing_at
from promoarray.core.observers import notify_lock
from promoarray.diagnostics.ask.values import decoded, other_values
from promoarray.diagnostics.calls.tables import bound
from promoarray.diagnostics.model.values import Place, one_pass
from promoarray.diagnostics.record.call import Call
from promoarray.diagnostics.record.report import OPERATION, UNKNOWN
from promoarray.dtypes import BY_CODE, WEAK, DType
from promoarray.extras._quantize import Call as Question
from promoarray.extras._quantize import Numbers, carried_out, cast
from promoarray.promotion.plan import Refusal
from promoarray.promotion.policy import Policy
from promoarray.promotion.scalars import bounds

_INTEGERS = tuple(BY_CODE[code] for code in ("u8", "i8", "i4", "u4", "i2", "u2", "i16", "u16"))


def fake_quantize(call: Call) -> None:
    """Record a call of one of these, and compare what policies make of its values."""
    along = ("axis",) if "channel" in call.name else ()
    names = ("input", "scale", "zero_point", *along, "quant_min", "quant_max")
    given, results = bound(names, call.args, call.kwargs), call.results()
    x = given.get("input")
    values = [_numbers(call, given.get(name)) for name in names[:3]]
    if not results or None in values or not {*names} <= given.keys():
        return call.made(UNKNOWN)
    call.count(OPERATION)
    recorder = call.recorder
    recorder.heard.lasting = False  # the next pass has other values
    limits = given["quant_min"], given["quant_max"]
    target = next((dtype for dtype in _INTEGERS if bounds(dtype) == limits), None)
    asked = Question("fake_quantize", target, given.get("axis"), limits=None if target else limits)
    if results[0].dtype is values[0].dtype:
        with notify_lock, standing_at(call.frame):
            _compare(call, asked, target, values)
    return recorder.moved(x, results[0])


def _numbers(call: Call, given: Any) -> Any:
    """An argument with its values; a Python number as it is; None of what cannot be read."""
    if type(given) in WEAK or given is None:
        return given
    dtype, values = call.dtypes.get(given.dtype), call.values(given)
    return None if dtype is None or values is None else Numbers(values, dtype)


def _compare(call: Call, asked: Question, target: DType | None, values: list[Any]) -> None:
    recorder = call.recorder
    x, scale, zero = values
    home, made = recorder.home, []
    why: dict[str, list[str]] = {}
    for policy in recorder.report.policies:
        if policy is home:
            continue
        found = _asked(asked, policy, x, scale, zero, target)
        if isinstance(found, Refusal):
            why.setdefault(found.reason, []).append(policy.name)
        elif found.dtype is x.dtype:
            made.append((decoded(*found), [policy.name]))
    mine = carried_out(asked, home, x, scale, zero)
    if not isinstance(mine, Refusal):
        changes = other_values(decoded(*x), decoded(*mine), made)
        if changes:
            place = Place(*sites(), call.name, x.dtype.name, x.dtype.name)
            recorder.flow.flow.record_values(one_pass(place, x.buffer.size, changes))
    for reason, names in why.items():
        recorder.unexamined(call.name, reason, call.frame, policies=tuple(names))


def _asked(
    asked: Question, policy: Policy, x: Numbers, scale: Any, zero: Any, target: DType | None
) -> Numbers | Refusal:
    """What a policy makes of it, with a scale and a zero point of the types that it takes."""
    if not policy.quantization.own:
        return Refusal(f"no fake quantization of {policy.title} is known")
    if isinstance(scale, Numbers):
        scale = cast(scale, x.dtype)
    if isinstance(zero, Numbers) and target is not None:
        zero = cast(zero, target)
    try:
        return carried_out(asked, policy, x, scale, zero)
    except (TypeError, ValueError) as error:
        return Refusal(str(error))
