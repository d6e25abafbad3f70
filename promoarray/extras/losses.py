"""Losses of Paddle's list of promoting functions.

They are one operation each to the policy, as the document lists them; the reduction is an operation
of its own. Policies without a rule for losses refuse them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from promoarray.backends.numpy.fp_warnings import telling
from promoarray.core.fast_path import fast_call
from promoarray.errors import quoted
from promoarray.functions import xp
from promoarray.functions._docs import template
from promoarray.parray import Data, PArray

__all__ = ["huber_loss", "l1_loss", "mse_loss", "poisson_nll_loss"]

_REDUCTIONS: dict[str, Callable[[Any], PArray]] = {
    "mean": xp.mean,
    "sum": xp.sum,
    "none": lambda loss: loss,
}

_loss = template(
    """
    Parameters
    ----------
    x, target : array or Python scalar
        Of shapes that broadcast; dtypes go by the policy's rule for losses.
    {option}
    reduction : {"mean", "sum", "none"}
        What becomes of the losses of the elements.

    Returns
    -------
    PArray
        0-d, or of the broadcast shape without a reduction; of the dtype that the rule gives.

    Raises
    ------
    PromotionError
        If the policy has no result for these dtypes.
    ValueError
        If there is no such reduction, or the shapes do not broadcast.
    """,
    option="",
)
_DELTA = """
    delta : float
        Where the error turns from quadratic to linear.
    """


@_loss()
def l1_loss(x: Data, target: Data, /, *, reduction: str = "mean") -> PArray:
    """Return the absolute error, ``|x - target|``.

    Examples
    --------
    >>> with policy("paddle"):
    ...     extras.l1_loss(asarray([1, 2], dtype=float16), asarray([2.0, 4.0], dtype=float32))
    PArray(1.5, dtype=float32)
    """
    return _reduced("l1_loss", x, target, reduction)


@_loss()
def mse_loss(x: Data, target: Data, /, *, reduction: str = "mean") -> PArray:
    """Return the squared error, ``(x - target) ** 2``.

    Examples
    --------
    >>> with policy("paddle"):
    ...     extras.mse_loss(asarray([1.0, 2.0], dtype=float32), asarray([2.0, 4.0]))
    PArray(2.5, dtype=float32)
    """
    return _reduced("mse_loss", x, target, reduction)


@_loss(option=_DELTA)
def huber_loss(x: Data, target: Data, /, *, delta: float = 1.0, reduction: str = "mean") -> PArray:
    """Return Huber's error: half the square up to ``delta``, linear beyond it.

    Examples
    --------
    >>> with policy("paddle"):
    ...     extras.huber_loss(asarray([0.0, 0.0]), asarray([1.0, 3.0]), reduction="none")
    PArray([0.5, 2.5], dtype=float32)
    """
    return _reduced("huber_loss", x, target, reduction, delta=delta)


@_loss()
def poisson_nll_loss(x: Data, target: Data, /, *, reduction: str = "mean") -> PArray:
    """Return the negative log-likelihood of a Poisson rate ``exp(x)``, ``exp(x) - target * x``.

    Examples
    --------
    >>> with policy("paddle"):
    ...     extras.poisson_nll_loss(asarray([0.0]), asarray([2.0]))
    PArray(1., dtype=float32)
    """
    return _reduced("poisson_nll_loss", x, target, reduction)


@telling
def _reduced(name: str, x: Any, target: Any, reduction: str, **options: Any) -> PArray:
    if reduction not in _REDUCTIONS:
        choices = ", ".join(map(repr, _REDUCTIONS))
        raise ValueError(f"{name} has no reduction {quoted(reduction)}; write one of: {choices}")
    return _REDUCTIONS[reduction](_LOSSES[name](x, target, **options))


_LOSSES = {name: fast_call(name) for name in ("l1_loss", "mse_loss", "poisson_nll_loss")}
_LOSSES["huber_loss"] = fast_call("huber_loss", "delta")
