"""Losses of Paddle's list of promoting functions, beyond the array API: ``promoarray.extras``.

They are one operation each to the policy, as the document lists them; the reduction is an operation
of its own. Policies without a rule for losses refuse them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from promoarray.core.dispatch import call
from promoarray.functions._docs import sharing
from promoarray.functions.statistical import mean, sum
from promoarray.parray import PArray

__all__ = ["huber_loss", "l1_loss", "mse_loss", "poisson_nll_loss"]

_REDUCTIONS: dict[str, Callable[[Any], PArray]] = {
    "mean": mean,
    "sum": sum,
    "none": lambda loss: loss,
}

_shared = sharing(
    """
    x, target : array or Python scalar
        Of shapes that broadcast; dtypes go by the policy's rule for losses.
    reduction : {"mean", "sum", "none"}
        What becomes of the losses of the elements.
    PArray
        0-d, or of the broadcast shape without a reduction; of the dtype that the rule gives.
    PromotionError
        If the policy has no result for these dtypes.
    ValueError
        If there is no such reduction, or the shapes do not broadcast.
    """
)


@_shared
def l1_loss(x: Any, target: Any, /, *, reduction: str = "mean") -> PArray:
    """Return the absolute error, ``|x - target|``.

    Parameters
    ----------
    {x}
    {reduction}

    Returns
    -------
    {PArray}

    Raises
    ------
    {PromotionError}
    {ValueError}
    """
    return _reduced("l1_loss", x, target, reduction)


@_shared
def mse_loss(x: Any, target: Any, /, *, reduction: str = "mean") -> PArray:
    """Return the squared error, ``(x - target) ** 2``.

    Parameters
    ----------
    {x}
    {reduction}

    Returns
    -------
    {PArray}

    Raises
    ------
    {PromotionError}
    {ValueError}
    """
    return _reduced("mse_loss", x, target, reduction)


@_shared
def huber_loss(x: Any, target: Any, /, *, delta: float = 1.0, reduction: str = "mean") -> PArray:
    """Return Huber's error: half the square up to ``delta``, linear beyond it.

    Parameters
    ----------
    {x}
    delta : float
        Where the square ends.
    {reduction}

    Returns
    -------
    {PArray}

    Raises
    ------
    {PromotionError}
    {ValueError}
    """
    return _reduced("huber_loss", x, target, reduction, delta=delta)


@_shared
def poisson_nll_loss(x: Any, target: Any, /, *, reduction: str = "mean") -> PArray:
    """Return the negative log-likelihood of a Poisson rate ``exp(x)``, ``exp(x) - target * x``.

    Parameters
    ----------
    {x}
    {reduction}

    Returns
    -------
    {PArray}

    Raises
    ------
    {PromotionError}
    {ValueError}
    """
    return _reduced("poisson_nll_loss", x, target, reduction)


def _reduced(name: str, x: Any, target: Any, reduction: str, **options: Any) -> PArray:
    if reduction not in _REDUCTIONS:
        choices = ", ".join(map(repr, _REDUCTIONS))
        raise ValueError(f"{name} has no reduction {reduction!r}; write one of: {choices}")
    return _REDUCTIONS[reduction](call(name, x, target, **options))
