"""Ufuncs that no policy has a rule for: what they are called, and what to write instead."""

from __future__ import annotations

import sys

import numpy as np


def outside(ufunc: np.ufunc, call: str) -> TypeError:
    """The error for a ufunc that would compute outside the policy.

    Parameters
    ----------
    ufunc : numpy.ufunc
        NumPy's, or one of SciPy or another library.
    call : str
        What follows its name: ".reduce", " with out".
    """
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
