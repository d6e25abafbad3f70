"""What only JAX has: ``x.at[key].set(value)``."""

from __future__ import annotations

from functools import cache

from promoarray.diagnostics.calls.jax import UPDATES, words
from promoarray.diagnostics.record.call import Call
from promoarray.diagnostics.record.handlers import Handler, handler_in, other
from promoarray.diagnostics.record.report import OPERATION


@cache
def handler_of(name: str) -> Handler:
    """What to do with calls of a name."""
    return _update if name in UPDATES else handler_in(words(), name) or other


def _update(call: Call) -> None:
    """A copy with other values, which carries what the array does."""
    source, *given = call.args
    target = call.operand(source)
    value = call.operand(given[0] if given else call.kwargs.get("values"))
    results = call.results()
    if target is None or value is None or not results:
        return other(call)
    call.count(OPERATION)
    call.recorder.assigned(target, value, call.frame)
    return call.recorder.moved(source, results[0])
