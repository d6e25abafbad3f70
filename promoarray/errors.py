"""The errors promoarray raises beyond Python's own, and what they say of names nobody knows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class PromotionError(TypeError):
    """The policy in force has no result for these operands.

    The message says what was given, which rule refuses it and what to write instead.

    Attributes
    ----------
    policy : Policy or None
        Whose rule refuses.
    operation : str
        The operation, or the question, such as ``result_type``.
    operands : tuple of Operand
        What the policy saw of the operands; for ``astype`` the source and the target.
    reason : str
        The policy's own words.
    form : str
        How it was written: "" as an operator, "=" in place, "()" as a function.
    inplace : bool
        Whether it was ``target op= x``.
    """

    form: str = ""  # of an error pickled before errors had one

    # The ground floor knows no policy: the classes are those of ``promoarray.policies``.
    def __init__(
        self,
        message: str,
        policy: Any = None,
        operation: str = "",
        operands: tuple[Any, ...] = (),
        reason: str = "",
        *,
        form: str = "",
    ) -> None:
        super().__init__(message)
        self.policy, self.operation, self.operands = policy, operation, operands
        self.reason, self.form, self.inplace = reason, form, form == "="


class UnknownPolicyError(ValueError):
    """No policy has this name; the message lists the near ones."""


class EscapeError(RuntimeError):
    """Data was about to leave the policy inside ``no_escape``.

    Not a ``TypeError``: libraries catch that one to try another way to the same numbers.

    Attributes
    ----------
    escape : Escape
        What was about to leave, where, and by which channel.
    """

    def __init__(self, message: str, escape: Any) -> None:
        super().__init__(message)
        self.escape = escape

    def __reduce__(self) -> tuple[type[EscapeError], tuple[str, Any]]:
        return EscapeError, (str(self), self.escape)


class DeviceError(RuntimeError):
    """A GPU failed, or cannot be had; the message says what CUDA said and what to do."""


def meant_for_callers(info: Any) -> bool:
    """Tell pytest which errors say all in their words: it leaves out the frames below the caller's.

    It asks this of the frames of each module that has it as ``__tracebackhide__``. An error of
    another class than those that promoarray raises on purpose is a bug, and shows where it is.
    """
    told = TypeError, ValueError, OverflowError, IndexError, EscapeError, DeviceError
    return info is not None and isinstance(info.value, told)


def suggestion(name: str, known: Sequence[str]) -> str:
    """Say what to write in place of an unknown name: the near ones, or all there are.

    Examples
    --------
    >>> suggestion("ad", ["add", "subtract"]), suggestion("x", ["add", "subtract"])
    ('Did you mean: add?', 'Write one of: add, subtract')
    """
    import difflib  # for errors only

    near = difflib.get_close_matches(name, known, n=4, cutoff=0.5)
    return f"Did you mean: {', '.join(near)}?" if near else f"Write one of: {', '.join(known)}"
