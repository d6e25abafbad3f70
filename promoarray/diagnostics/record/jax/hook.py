"""The hook: what the wrapped functions and operators tell is put to a recorder."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from types import FrameType
from typing import Any, NamedTuple, Self

import jax
import numpy as np

from promoarray.diagnostics.record.jax.call import Call, dtype_of
from promoarray.diagnostics.record.jax.handlers import handler_of
from promoarray.diagnostics.record.jax.wrapping import leave, listen
from promoarray.diagnostics.record.recorder import Recorder
from promoarray.diagnostics.shadow.magnitude import magnitude
from promoarray.dtypes import WEAK
from promoarray.promotion.registry import as_policy


class Known(NamedTuple):
    """A call at which there was nothing to note: how it is counted when it comes again."""

    kind: str
    operations: int


class Recording:
    """Tells a recorder of every call that this thread makes, in functions that are traced as well.

    A call is known by its name, the dtypes of arrays, whether they are 0-d, and the magnitude of
    Python scalars. If all policies agreed on one, they agree on all that are alike.

    Parameters
    ----------
    recorder : Recorder

    Notes
    -----
    Programs choose x64 before they compute anything. What one that changes it later computes in
    the other mode is recorded, and is no evidence of drift.
    """

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._by_value = recorder.by_value
        self._agreed: dict[Hashable, Known] = {}

    def __enter__(self) -> Self:
        listen(self)
        return self

    def __exit__(self, *exception: object) -> None:
        leave(self)

    def carry_out(
        self,
        name: str,
        func: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        frame: FrameType,
    ) -> Any:
        """Carry out a call, and record what it was."""
        evidence = self._recorder.settle(as_policy(f"jax@{'x64' if _x64() else 'x32'}"))
        key = self._key(name, evidence, args, kwargs)
        known = self._agreed.get(key) if key is not None else None
        result = func(*args, **kwargs)
        if result is NotImplemented:  # of an operator: Python asks the other operand
            return result
        recorder = self._recorder
        if known is not None:
            recorder.again(known.kind, name, known.operations)
            return result
        call = Call(recorder, name, args, kwargs, frame, evidence=evidence)
        call.result = result
        before, recorder.noted = recorder.report.operations, False
        handler_of(name)(call)
        if key is not None and call.kind and not (recorder.noted or call.disputed()):
            self._agreed[key] = Known(call.kind, recorder.report.operations - before)
        return result

    def _key(
        self, name: str, evidence: bool, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Hashable | None:
        """What calls that are alike have in common; None where one stands for itself alone."""
        parts: list[Hashable] = [name, evidence, self._recorder.home]
        if not self._add(parts, args):
            return None
        for key, x in kwargs.items():
            parts.append(key)
            if not self._add(parts, (x,)):
                return None
        return tuple(parts)

    def _add(self, parts: list[Hashable], values: Any) -> bool:
        for x in values:
            kind: Any = type(x)
            if isinstance(x, (jax.Array, np.ndarray, np.generic)):
                flat = x.ndim == 0
                if x in self._recorder.carried or (flat and self._by_value):
                    return False
                traced = isinstance(x, jax.core.Tracer)
                parts.append((dtype_of(x, self._recorder.home), flat, traced))
            elif kind in WEAK:
                parts.append(magnitude(x))
            elif kind in (list, tuple):
                parts.append((kind, len(x)))
                if not self._add(parts, x):
                    return False
            elif isinstance(x, (type, np.dtype, str)):
                parts.append(x)
            elif hasattr(x, "array"):  # ``x.at[key]``
                return False
            else:
                parts.append(kind)
        return True


def _x64() -> bool:
    return bool(jax.config.jax_enable_x64)
