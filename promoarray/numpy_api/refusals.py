"""Advice for functions of NumPy's that promoarray does not have, and for their options."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np

from promoarray.other_names import COUNTERPARTS, OPTIONS

if TYPE_CHECKING:
    from promoarray.numpy_api.table import Row


def refusal(name: str, method: str = "") -> TypeError:
    """The error for a function without a counterpart."""
    words = COUNTERPARTS.get(name)
    nearest = f"{words}; or np.asarray(x)" if words else "np.asarray(x) in place of the array"
    return TypeError(
        f"np.{name}{method} has no counterpart in promoarray, so it would compute outside the "
        f"policy. Write {nearest} to leave the policy on purpose"
    )


def _unhonoured(spelled: str, option: str, call: str) -> TypeError:
    words = OPTIONS.get(option.rstrip("="), "{call} without it").format(call=call)
    return TypeError(
        f"{spelled}({option}) is outside the policy. Write {words}; or "
        "np.asarray(x) in place of the array to leave the policy on purpose"
    )


def not_honoured(row: Row, option: str) -> TypeError:
    """The error for an argument of a function that ours cannot honour."""
    home = "" if row.ours.startswith("x.") else "pa."
    call = f"{home}{row.ours}(...)" if row.ours else f"np.{row.name}(...)"
    return _unhonoured(f"np.{row.name}", option, call)


def no_ufunc(ufunc: np.ufunc, method: str) -> TypeError:
    """The error for a ufunc, or a method of one, without a counterpart."""
    call = method_called(method)
    if getattr(np, ufunc.__name__, None) is not ufunc:
        return outside(ufunc, call)
    return refusal(ufunc.__name__, call)


def option_refused(ufunc: np.ufunc, method: str, option: str) -> TypeError:
    """The error for an option of a ufunc that cannot be honoured."""
    spelled = f"np.{ufunc.__name__}{method_called(method)}"
    return _unhonoured(spelled, f"{option}=", f"{spelled}(...)")


def method_called(method: str) -> str:
    """How a method of a ufunc is written behind its name."""
    return "" if method == "__call__" else f".{method}"


def outside(ufunc: np.ufunc, call: str) -> TypeError:
    """The error for a ufunc, NumPy's or one of SciPy or another library, that would compute outside
    the policy; ``call`` is what follows its name: ".reduce", " with out"."""
    if getattr(np, ufunc.__name__, None) is ufunc:
        name, instead = f"np.{ufunc.__name__}", "Write promoarray's own function, or np.asarray(x)"
    elif _is_scipys(ufunc):
        name = f"scipy.special.{ufunc.__name__}"
        instead = (
            "Set SCIPY_ARRAY_API=1 in the environment before SciPy is imported, or write "
            f"pa.asarray({name}(np.asarray(x)))"
        )
    else:
        name, instead = f"the ufunc {ufunc.__name__}", "Call it on np.asarray(x)"
    return TypeError(
        f"{name}{call} would compute outside the policy. {instead} to leave the policy on purpose"
    )


def _is_scipys(ufunc: np.ufunc) -> bool:
    """Whether the program has the ufunc from ``scipy.special``, which is not imported for this."""
    special = sys.modules.get("scipy.special._ufuncs")
    return special is not None and getattr(special, ufunc.__name__, None) is ufunc
