"""One call of PyTorch's."""

from __future__ import annotations

from types import FrameType
from typing import Any

import numpy as np
import torch
from torch.overrides import resolve_name

from promoarray.diagnostics.calls.pytorch import words as of_pytorch
from promoarray.diagnostics.record import call
from promoarray.diagnostics.record.call import flat
from promoarray.diagnostics.record.written import MIRRORED
from promoarray.dtypes import WEAK
from promoarray.operations import Form

# What is around it, and its first call, change the filters of warnings for a moment, after which
# Python shows again what it has shown.
qualified_name: Any = getattr(resolve_name, "__wrapped__", resolve_name)
qualified_name(torch.add)

_HOOKS = ("torch/overrides.py", "torch/_tensor.py")
"""Files through which calls of PyTorch's functions in Python come to a mode."""


class Call(call.Call):
    """One call of PyTorch's."""

    tensor = torch.Tensor
    words = of_pytorch()
    dtypes = call.dtypes_in(torch, torch.dtype)  # complex32 is one that promoarray does not have
    names_of_dtypes = (torch.dtype,)

    @staticmethod
    def standing(frame: FrameType, func: Any) -> FrameType:
        """Where a call stands that came to the mode from a frame."""
        while frame.f_back is not None and _of_torch(frame, func):
            frame = frame.f_back
        return frame

    @staticmethod
    def number_of(x: Any) -> Any:
        """The Python scalar that an argument is to PyTorch, NumPy's scalars among them."""
        if isinstance(x, np.generic):
            x = float(x) if isinstance(x, np.bool_) else x.item()  # PyTorch reads a float there
        return x if type(x) in WEAK else None

    @staticmethod
    def buffer_of(x: torch.Tensor) -> Any:
        """The values of a tensor, as bytes of its width."""
        whole = x.detach().cpu().resolve_conj().resolve_neg().contiguous()
        width = f"u{x.element_size()}" if x.element_size() <= 8 else "c16"
        return whole.view(torch.uint8).numpy().view(width).reshape(tuple(x.shape))

    @staticmethod
    def is_at_hand(x: torch.Tensor) -> bool:
        """Whether reading a 0-d tensor waits for no device."""
        return x.device.type == "cpu"

    @property
    def form(self) -> Form:
        """How the call is written: functions answer otherwise than operators at places."""
        qualified = qualified_name(self.func) or ""
        return Form.OPERATOR if qualified.startswith("torch.Tensor.") else Form.FUNCTION

    @property
    def condition_first(self) -> bool:
        """Whether ``where`` was called as a function: ``x.where(condition, y)`` is another."""
        return self.form is Form.FUNCTION

    def as_written(
        self, operation: str, given: tuple[Any, ...]
    ) -> tuple[str, tuple[Any, ...], bool]:
        """An operation and its operands as they stand in the source; and whether they do so."""
        operator = self.form is Form.OPERATOR
        if self.name == "rsub" or (self.name == "where" and operator):
            return operation, given, False
        if operator and operation in MIRRORED and type(given[1]) in WEAK:
            return self.mirrored(operation, given)
        return operation, given, True

    @property
    def autocast(self) -> bool:
        """Whether PyTorch casts operands by lists of its own before it operates."""
        device = next(
            (x.device.type for x in flat(self.args) if isinstance(x, torch.Tensor)), "cpu"
        )
        return torch.is_autocast_enabled(device)


def _of_torch(frame: FrameType, func: Any) -> bool:
    """Whether a frame only leads from a function of PyTorch's to the mode."""
    code = frame.f_code
    return code is getattr(func, "__code__", None) or code.co_filename.endswith(_HOOKS)
