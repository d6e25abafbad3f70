"""promoarray at work: the same programs under a policy."""

from __future__ import annotations

import warnings
from typing import Any

import foreign
import numpy as np

import promoarray as pa
from programs import answers
from programs.frameworks import getitem, setitem, storage
from programs.program import answered
from promoarray.dtypes import BY_NAME, DType
from promoarray.promotion.in_force import policy as in_force

REFUSALS = (TypeError, ValueError, OverflowError, IndexError, ZeroDivisionError)
"""What a program may raise here; all else is a defect of ours."""


class Ours:
    """promoarray under one policy, asked as a framework is."""

    def __init__(self, policy: str) -> None:
        self.policy = policy
        dtypes = {name: dtype for name, dtype in BY_NAME.items() if not dtype.weak}
        functions = {name: getattr(pa, name) for name in dir(pa) if callable(getattr(pa, name))}
        self.names: dict[str, Any] = {**functions, **dtypes, "array": array}
        self.names |= {"linalg": pa.linalg, "fft": pa.fft, "getitem": getitem, "setitem": setitem}
        self.names["foreign"] = foreign.operand

    def __call__(self, program: str) -> list[str]:
        """Answer each line of a program."""
        with in_force(self.policy), warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return list(answered(program, self.names, told, failed))


def array(dtype: str, values: list[Any], shape: tuple[int, ...]) -> Any:
    """Make an array of values written out."""
    return pa.asarray(np.array(values, storage(dtype)).reshape(shape), dtype=dtype)


def told(value: Any) -> str:
    """Write what a line bound."""
    if isinstance(value, (tuple, list)):
        return " & ".join(map(told, value))
    if isinstance(value, bool):
        return answers.of_array("bool", value)
    dtype, weak, array = leave(value)
    return answers.of_array(dtype, array, weak=weak)


def leave(value: Any) -> tuple[str, bool, Any]:
    """An array, or a dtype: the dtype's name, whether it is weak, and the values for NumPy."""
    if isinstance(value, DType):
        return value.name, False, np.zeros(0)
    buffer = np.asarray(value._buffer)
    values = buffer if buffer.dtype.kind in "biufc" else buffer.astype(_wide(value.dtype.name))
    return value.dtype.name, value.weak_type, values


def failed(error: Exception) -> str:
    """Write an exception; one that no user should see is a crash."""
    if isinstance(error, REFUSALS):
        return answers.of_error(error)
    return f"{answers.CRASHED}{type(error).__name__}: {error}"


def _wide(dtype: str) -> str:
    return "complex64" if "complex" in dtype else "int8" if "int" in dtype else "float64"
