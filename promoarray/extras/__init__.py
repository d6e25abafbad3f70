"""Functions beyond the array API: ``promoarray.extras``, and ``xp.extras`` of a namespace.

The losses stand here alone. NumPy's functions are on the main module as well (``pa.einsum``), for
NumPy users; a namespace keeps to the standard's names, so that what it runs, runs elsewhere.
"""

from __future__ import annotations

from promoarray.extras._convolution import convolve, correlate, cov
from promoarray.extras._einsum import einsum
from promoarray.extras._gradient import gradient
from promoarray.extras._histogram import histogram
from promoarray.extras._interpolation import interp, piecewise
from promoarray.extras._pad import pad
from promoarray.extras._quantile import nanquantile, quantile
from promoarray.extras.losses import huber_loss, l1_loss, mse_loss, poisson_nll_loss
from promoarray.extras.numpys import array, concatenate, diag, logspace, transpose

__all__ = [
    "array",
    "concatenate",
    "convolve",
    "correlate",
    "cov",
    "diag",
    "einsum",
    "gradient",
    "histogram",
    "huber_loss",
    "interp",
    "l1_loss",
    "logspace",
    "mse_loss",
    "nanquantile",
    "pad",
    "piecewise",
    "poisson_nll_loss",
    "quantile",
    "transpose",
]
