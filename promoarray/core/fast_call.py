"""Operations whose arguments a function of ours has checked, on the fast path where they were met
before."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from promoarray.core.dispatch import call
from promoarray.core.fast_path import fast_path
from promoarray.operations import Form


def fast_call(name: str, *options: str, texts: tuple[str, ...] = ()) -> Callable[..., Any]:
    """Make ``call`` of an operation.

    Parameters
    ----------
    name : str
    *options : str
        What it is given besides operands each time, by name.
    texts : tuple of str
        The texts among the values of these.
    """
    made: Callable[..., Any] = fast_path(
        partial(call, name),
        name + Form.FUNCTION,
        option_names=options,
        passed_names=options,
        defaults=(None,) * len(options),
        texts=texts,
    )
    return made
