"""One call of Paddle's."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import paddle

from promoarray.diagnostics.calls.paddle import RENAMED
from promoarray.diagnostics.calls.paddle import words as of_paddle
from promoarray.diagnostics.record import call
from promoarray.dtypes import BY_NAME, WEAK, DType
from promoarray.operations import Form

DTYPES: dict[Any, DType] = {
    found: dtype
    for name, dtype in BY_NAME.items()
    if isinstance(found := getattr(paddle, name, None), paddle.dtype)
}
"""From Paddle's dtypes to ours."""

_COMPARISONS = frozenset({"__lt__", "__le__", "__gt__", "__ge__", "__eq__", "__ne__"})


class Call(call.Call):
    """One call of Paddle's."""

    tensor = paddle.Tensor
    words = of_paddle()
    renamed = RENAMED
    augments = False  # x += y is x = x + y, and x.add_(y) has a rule of its own

    def dtype_of(self, x: Any) -> DType | None:
        """The dtype of a tensor; None if promoarray has no such dtype."""
        return DTYPES.get(x.dtype)

    @staticmethod
    def value_of(x: Any) -> Callable[[], Any]:
        """What reads a 0-d tensor."""
        return lambda: x.item()

    @staticmethod
    def buffer_of(x: Any) -> Any:
        """The values of a tensor; of bfloat16 the bits."""
        return x.detach().numpy()

    @staticmethod
    def is_dtype(x: Any) -> bool:
        """Whether an argument names a dtype."""
        return isinstance(x, paddle.dtype) or (type(x) is str and x in BY_NAME)

    @property
    def form(self) -> Form:
        """How the call is written: methods that are not Python's operators are functions."""
        return Form.OPERATOR if self.name.startswith("__") else Form.FUNCTION

    def as_written(
        self, operation: str, given: tuple[Any, ...]
    ) -> tuple[str, tuple[Any, ...], bool]:
        """An operation and its operands as they stand in the source; and whether they do so."""
        if self.name == "where":  # x of x.where(y, z) is the condition, which is not an operand
            return operation, given, False
        if self.name in _COMPARISONS and type(given[1]) in WEAK:
            return self.mirrored(operation, given)
        return operation, given, True

    @property
    def autocast(self) -> bool:
        """Whether Paddle casts operands by lists of its own before it operates."""
        return amp()[0]


def amp() -> tuple[bool, Hashable]:
    """Whether ``auto_cast`` is on, and to what it casts."""
    tracer = paddle.base.framework._dygraph_tracer()
    if tracer is None:  # of a static graph nothing is computed yet
        return False, None
    level = tracer._amp_level
    return level != paddle.base.core.AmpLevel.O0, (level, tracer._amp_dtype)
