"""One call of JAX's: its arrays and tracers as ghosts, its place in the program."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from types import FrameType
from typing import Any

import jax
import numpy as np

from promoarray import dtypes as dt
from promoarray.core.operands import operand_of
from promoarray.diagnostics.record.ghost import Ghost
from promoarray.diagnostics.record.recorder import Recorder, Result
from promoarray.dtypes import BY_NAME, WEAK, DType, Kind
from promoarray.operations import Form
from promoarray.promotion.policy import Policy

_WEAK_OF = {Kind.INT: dt.weak_int, Kind.FLOAT: dt.weak_float, Kind.COMPLEX: dt.weak_complex}


def dtype_of(x: Any, home: Policy) -> DType | None:
    """The dtype of an array or tracer, a weak one if it is weakly typed; None of keys and others.

    NumPy's arrays are what JAX makes of them.
    """
    if isinstance(x, jax.Array):
        dtype = BY_NAME.get(x.dtype.name)
        weak = dtype is not None and getattr(x, "weak_type", False)
        return _WEAK_OF.get(dtype.kind, dtype) if weak and dtype else dtype
    if isinstance(x, (np.ndarray, np.generic)):
        dtype = BY_NAME.get(x.dtype.name)
        return home.canonical.get(dtype, dtype) if dtype else None
    return None


class Call:
    """One call, with what its operands carry."""

    def __init__(
        self,
        recorder: Recorder,
        name: str,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        frame: FrameType,
        *,
        evidence: bool,
    ) -> None:
        self.recorder, self.name, self.frame = recorder, name, frame
        self.args, self.kwargs, self.evidence = args, kwargs, evidence
        self.result: Any = None
        self.kind = ""
        self._ghosts: dict[int, Ghost] = {}

    @property
    def form(self) -> Form:
        """How the call is written."""
        return Form.OPERATOR if self.name.startswith("__") else Form.FUNCTION

    def operand(self, x: Any) -> Any:
        """A ghost or a Python scalar; None if it is neither an array nor a number."""
        if type(x) in WEAK:
            return x
        known = self._ghosts.get(id(x))
        if known is None:
            dtype = dtype_of(x, self.recorder.home)
            if dtype is None:
                return None
            value = _value_of(x) if x.ndim == 0 else None
            known = self._ghosts[id(x)] = self.recorder.ghost(x, dtype, x.ndim, value)
        return known

    def results(self) -> list[Result]:
        """The arrays that it made."""
        made = ((x, dtype_of(x, self.recorder.home)) for x in flat((self.result,)))
        return [Result(x, dtype, x.ndim) for x, dtype in made if dtype is not None]

    def count(self, kind: str) -> None:
        """Count it among the calls of a kind."""
        self.kind = kind
        self.recorder.count(kind, self.name)

    def saw(
        self, operation: str, operands: Sequence[Any], result: Result, *, exact: bool = True
    ) -> None:
        """Record an operation, with options where the operation has some."""
        options = {"low": self._low()} if operation == "clip" else {}
        self.recorder.saw(
            *(operation, operands, result, self.frame),
            form=self.form,
            options=options,
            exact=exact and self.evidence,
        )

    def _low(self) -> bool:
        named = dict(zip(("x", "min", "max"), self.args, strict=False)) | self.kwargs
        return any(named.get(key) is not None for key in ("min", "a_min"))

    def step(self, operation: str, operands: Sequence[Any]) -> Ghost:
        """Record a step of something greater, whose result no variable has."""
        home, last = self.recorder.home, self.results()[0]
        seen = tuple(operand_of(x, home) for x in operands)
        plan = home.plan(operation, seen, Form.OPERATOR)
        dtype = getattr(plan, "result", last.dtype)
        ndim = max((x.ndim for x in operands if isinstance(x, Ghost)), default=0)
        result = Result(_Held(), dtype, ndim)
        return self.recorder.saw(operation, operands, result, self.frame, exact=False)

    def disputed(self) -> bool:
        """Whether some policy has another dtype for an array that it made."""
        return any(result.array in self.recorder.carried for result in self.results())

    def made(self, kind: str) -> None:
        """Its arrays have the dtype that the program names, or one that follows from none."""
        results = self.results()
        if results:
            self.count(kind)
        for result in results:
            self.recorder.made(result)


class _Held:
    """Stands for an array that JAX has, but the program does not."""


def flat(values: Any) -> Iterator[Any]:
    """The leaves of lists, tuples and dictionaries."""
    for x in values:
        if isinstance(x, (list, tuple)):
            yield from flat(x)
        elif isinstance(x, dict):
            yield from flat(x.values())
        else:
            yield x


def _value_of(x: Any) -> Callable[[], Any]:
    """Reads a 0-d array; of a tracer there is no value to read."""
    return lambda: np.asarray(x).item()
