"""Answers of a policy about dtypes, kept for the fast path: they hang on types, and some of them on
which arrays have no axes and on values, too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from promoarray.core.array_base import Array
from promoarray.core.executable import sort_of
from promoarray.core.kept import MOST_VALUES, Choice, Executable, Sort, types_of
from promoarray.core.observers import observers_anywhere
from promoarray.dtypes import WEAK, as_dtype
from promoarray.operations import Form
from promoarray.promotion.policy import Policy


def keep_answer(
    policy: Policy, name: str, given: tuple[Any, ...], answer: Any, *, by_rank: bool = False
) -> None:
    """Keep an answer under what ``native/questions.cpp`` looks it up by.

    Parameters
    ----------
    policy : Policy
    name : str
        Of the function.
    given : tuple of array, Python scalar and dtype_like
    answer : object
        Immutable.
    by_rank : bool
        Whether arrays without axes count for less than others.
    """
    if observers_anywhere or len(given) > _MOST:
        return
    types = tuple(map(_type, given))
    if any(each is None for each in types):  # which equals NumPy's float64
        return
    known, kept = (name + Form.FUNCTION, *types), Executable(None, (), answer, ())
    if not by_rank:
        if not any(isinstance(x, np.generic) for x in given):  # dtypes, where arrays are none
            policy.executables[known] = kept
        return
    sort = sort_of(policy)
    choice = policy.executables.setdefault(known, Choice(sort, sort, {}))
    if len(choice.kept) >= MOST_VALUES:
        choice.kept.clear()
    choice.kept[tuple(_told_apart(x, sort) for x in given)] = kept


_MOST = 3
"""Operands that the fast path reads."""


def _type(x: Any) -> Any:
    """What an operand is looked up by; None of one that the fast path does not know."""
    if type(x) in WEAK or isinstance(x, Array):
        types = types_of(x)
        return types and types[0]
    if type(x) is np.ndarray or isinstance(x, np.generic):
        return x.dtype
    return as_dtype(x).name


def _told_apart(x: Any, sort: Sort | None) -> Any:
    """What ``kept.py:told_apart`` says, of dtypes and NumPy's arrays too."""
    if type(x) in WEAK:
        return sort and sort(x)
    buffer = x._buffer if isinstance(x, Array) else x
    if not isinstance(buffer, (np.ndarray, np.generic)) or buffer.ndim:
        return None
    return sort(buffer.item()) if sort else True
