"""What only PyTorch has: functions that its own names do not tell apart, and lists of tensors."""

from __future__ import annotations

from typing import Any

from promoarray.diagnostics.calls.common import plain
from promoarray.diagnostics.calls.pytorch import words
from promoarray.diagnostics.calls.tables import names
from promoarray.diagnostics.record.call import Call
from promoarray.diagnostics.record.handlers import (
    Handler,
    compute,
    handler_in,
    move,
    other,
    unseen,
)
from promoarray.diagnostics.record.pytorch.call import qualified_name
from promoarray.diagnostics.record.report import APPROXIMATE, OPERATION
from promoarray.operations import OPERATIONS, Form
from promoarray.promotion.policy import NO_OPTIONS


def handler_of(func: Any) -> tuple[str, Handler | None]:
    """What to do with calls of a function, with its name."""
    name = getattr(func, "__name__", str(func))
    if name in ("__get__", "__set__"):  # a property
        qualified = qualified_name(func) or getattr(func, "__qualname__", "")
        name = qualified.split(".")[-2] if qualified.endswith(f".{name}") else name
        if name in ("real", "imag"):
            return name, compute
        return name, move if name in words().moves and func.__name__ == "__get__" else None
    if name in _UNSEEN:
        return name, unseen
    if name in _ASKS:
        return name, None
    if name in ("max", "min"):
        return name, _extreme
    if name.startswith("_foreach_"):
        return name, _each
    return name, handler_in(words(), name) or other


_UNSEEN = names("backward grad run_backward")
"""Functions by which PyTorch computes gradients, in C++."""

_ASKS = names("""
    __bool__ __contains__ __float__ __format__ __index__ __int__ __len__ __repr__ _is_view
    _record_function_enter_new _record_function_exit _record_function_exit._RecordFunction
    _set_grad_enabled allclose data_ptr dim element_size get_device is_complex is_contiguous
    is_floating_point is_same_size item ndimension nelement numel register_hook size
    storage_offset stride tolist untyped_storage
""")
"""Functions that make no tensor: they ask, or set what is not about dtypes."""


def _extreme(call: Call) -> None:
    """``max`` and ``min``: of two tensors the larger of each, else a reduction."""
    tensors = [x for x in call.args[:2] if isinstance(x, call.tensor)]
    name = {"max": "maximum", "min": "minimum"}[call.name] if len(tensors) == 2 else call.name
    results = call.results()
    operands = tuple(call.operand(x) for x in tensors)
    if not results or None in operands:
        return other(call)
    call.count(OPERATION)
    call.recorder.saw(name, operands, results[0], call.frame, form=call.form)
    for result in results[1:]:
        call.recorder.made(result)
    return None


def _each(call: Call) -> None:
    """An operation on each tensor of a list: ``_foreach_add_``."""
    name, known = call.name.removeprefix("_foreach_"), call.words
    called = plain(name, known.operations)
    lists = [x for x in call.args if isinstance(x, (list, tuple))]
    others = [x for x in call.args if not isinstance(x, (list, tuple))]
    results = call.results() or list(call.described(lists[0]))
    for row, result in zip(zip(*lists, strict=False), results, strict=False):
        given = [*row, *others]
        if called in known.operations:
            operation = known.operations[called]
            operands = tuple(call.operand(x) for x in given[: OPERATIONS[operation].arity or 2])
            options = {"low": called == "clamp_min"} if operation == "clip" else NO_OPTIONS
            form = Form.INPLACE if called != name else Form.OPERATOR
            if None in operands:
                return other(call)
            call.recorder.saw(operation, operands, result, call.frame, form=form, options=options)
        elif called not in known.expansions and called not in ("copy", "zero"):
            return other(call)
        else:
            call.recorder.made(result)
    call.count(APPROXIMATE if called in known.expansions else OPERATION)
    return None
