"""The floating-point state in which all is computed: rounding to nearest, with subnormals.

A thread may have another: PyTorch's ``set_flush_denormal`` and libraries built with ``-ffast-math``
make it flush subnormals to zero, ``fesetround`` makes it round otherwise. The loops in C++ set
their own; what calls NumPy, or computes with Python's floats, is decorated here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, cast

from promoarray.kernels._cpu import StateGuard

if TYPE_CHECKING:
    from typing import TypeVar

    Function = TypeVar("Function", bound=Callable[..., Any])


def in_default_float_state(function: Function) -> Function:
    """Run a function in the default state; the thread has its own again when it is left. Of the
    functions it calls, those in other threads have the state of their thread.

    Where the state is the default anyway, that costs a few nanoseconds.
    """
    return cast("Function", wraps(function)(StateGuard(function)))
