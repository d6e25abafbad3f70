"""One call of PyTorch's: its tensors as ghosts, its place in the program."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from types import FrameType
from typing import Any

import torch
from torch.overrides import resolve_name

from promoarray.core.operands import operand_of
from promoarray.diagnostics.record.ghost import Ghost
from promoarray.diagnostics.record.recorder import Recorder, Result
from promoarray.dtypes import BY_NAME, WEAK, DType
from promoarray.operations import Form

DTYPES: dict[torch.dtype, DType] = {
    found: dtype
    for name, dtype in BY_NAME.items()
    if isinstance(found := getattr(torch, name, None), torch.dtype)
}
"""From PyTorch's dtypes to ours; complex32 is one that promoarray does not have."""

_HOOKS = ("torch/overrides.py", "torch/_tensor.py")
"""Files through which calls of PyTorch's functions in Python come to a mode."""


class Call:
    """One call, with what its operands carry."""

    def __init__(
        self,
        recorder: Recorder,
        name: str,
        func: Any,
        args: tuple[Any, ...],
        kwargs: Any,
        frame: FrameType,
    ) -> None:
        self.recorder, self.name, self.func = recorder, name, func
        self.args, self.kwargs = args, kwargs
        self.result: Any = None
        self.kind = ""
        self._ghosts: dict[int, Ghost] = {}
        while frame.f_back is not None and _of_torch(frame, func):
            frame = frame.f_back
        self.frame = frame

    def look(self) -> None:
        """Note what the tensors carry before the call."""
        for x in flat((*self.args, *self.kwargs.values())):
            self.operand(x)

    @property
    def form(self) -> Form:
        """How the call is written: functions answer otherwise than operators at places."""
        qualified = resolve_name(self.func) or ""
        return Form.OPERATOR if qualified.startswith("torch.Tensor.") else Form.FUNCTION

    def operand(self, x: Any) -> Any:
        """A ghost or a Python scalar; None if it is neither a tensor nor a number."""
        if isinstance(x, torch.Tensor):
            known = self._ghosts.get(id(x))
            if known is None:
                dtype = DTYPES.get(x.dtype)
                if dtype is None:
                    return None
                value = _value_of(x) if x.ndim == 0 else None
                known = self._ghosts[id(x)] = self.recorder.ghost(x, dtype, x.ndim, value)
            return known
        return x if type(x) in WEAK else None

    def results(self) -> list[Result]:
        """The tensors that it made."""
        return [
            Result(x, DTYPES[x.dtype], x.ndim)
            for x in flat((self.result,))
            if isinstance(x, torch.Tensor) and x.dtype in DTYPES
        ]

    def count(self, kind: str) -> None:
        """Count it among the calls of a kind."""
        self.kind = kind
        self.recorder.count(kind, self.name)

    def step(self, operation: str, operands: Sequence[Any]) -> Ghost:
        """Record a step of something greater, whose result no variable has."""
        home, last = self.recorder.home, self.results()[0]
        seen = tuple(operand_of(x, home) for x in operands)
        plan = home.plan(operation, seen, Form.OPERATOR)
        dtype = home.strong(getattr(plan, "result", last.dtype))
        ndim = max((x.ndim for x in operands if isinstance(x, Ghost)), default=0)
        held = _Held()
        return self.recorder.saw(
            operation, operands, Result(held, dtype, ndim), self.frame, exact=False
        )

    def disputed(self) -> bool:
        """Whether some policy has another dtype for a tensor that it made."""
        return any(result.array in self.recorder.carried for result in self.results())

    def made(self, kind: str) -> None:
        """Its tensors have the dtype that the program names, or one that follows from none."""
        results = self.results()
        if results:
            self.count(kind)
        for result in results:
            self.recorder.made(result)


class _Held:
    """Stands for a tensor that PyTorch has, but the program does not."""


def flat(values: Any) -> Iterator[Any]:
    for x in values:
        if isinstance(x, (list, tuple)):
            yield from flat(x)
        else:
            yield x


def _value_of(x: torch.Tensor) -> Callable[[], Any]:
    """Reads a 0-d tensor."""
    return lambda: x.detach().item()


def _of_torch(frame: FrameType, func: Any) -> bool:
    """Whether a frame only leads from a function of PyTorch's to the mode."""
    code = frame.f_code
    return code is getattr(func, "__code__", None) or code.co_filename.endswith(_HOOKS)
