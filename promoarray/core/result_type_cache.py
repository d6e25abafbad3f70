"""Cache of a policy's answers about dtypes, for the fast path: they hang on types, and some of them
on which arrays have no axes and on values, too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from promoarray.core.executable import value_class
from promoarray.core.executable_cache import Choice, Executable, keep_function, key_part, told_apart
from promoarray.core.observers import observers_anywhere
from promoarray.operations import Form
from promoarray.promotion.policy import Policy


def keep_answer(
    policy: Policy, name: str, given: tuple[Any, ...], answer: Any, *, by_value: bool = False
) -> None:
    """Keep an answer.

    Parameters
    ----------
    policy : Policy
    name : str
        Of the function.
    given : tuple of array, Python scalar and dtype_like
    answer : object
        Immutable.
    by_value : bool
        Whether policies that look at values look at those of what is given.
    """
    if observers_anywhere or any(x is None for x in given):  # which equals NumPy's float64
        return
    if any(isinstance(x, np.generic) for x in given):  # whose values are no dtypes
        return
    kept_as, executable = name + Form.FUNCTION, Executable(None, (), answer, ())
    classify = value_class(policy) if by_value else None
    if classify is None:
        keep_function(policy, kept_as, given, None, executable)
        return
    parts = tuple(map(key_part, given))
    choice = policy.executables.setdefault((kept_as, *parts), Choice(classify, classify, {}))
    choice.keep(told_apart(given, choice), executable)
