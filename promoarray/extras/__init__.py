"""Functions beyond the array API: ``promoarray.extras``, and ``xp.extras`` of a namespace.

The losses stand here alone. NumPy's functions are on the main module and on namespaces as well
(``pa.einsum``, ``xp.einsum``), where NumPy users and clients look for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from promoarray.errors import end_at_callers
from promoarray.extras._einsum import einsum
from promoarray.extras._interpolation import interp, piecewise
from promoarray.extras._signals import convolve, correlate, gradient
from promoarray.extras._statistics import cov, histogram, nanquantile, quantile
from promoarray.extras.losses import huber_loss, l1_loss, mse_loss, poisson_nll_loss
from promoarray.extras.numpys import array, concatenate, diag, logspace, pad, transpose
from promoarray.extras.quantization import dequantize, fake_quantize, quantize
from promoarray.extras.scales import dynamic_quantize, quantization_parameters
from promoarray.other_names import BY_NAME, missing

if TYPE_CHECKING:
    from promoarray.numpy_types import *

__all__ = ["array", "concatenate", "convolve", "correlate", "cov", "dequantize", "diag"]
__all__ += ["dynamic_quantize", "einsum", "fake_quantize", "gradient", "histogram", "huber_loss"]
__all__ += ["interp", "l1_loss", "logspace", "mse_loss", "nanquantile", "pad", "piecewise"]
__all__ += ["poisson_nll_loss", "quantile", "quantization_parameters", "quantize", "transpose"]
end_at_callers(globals(), __all__)
__all__ += BY_NAME


def __getattr__(name: str) -> Any:
    if name not in BY_NAME:
        raise missing(__name__, name)
    from promoarray.numpy_api.by_name import function_of

    return globals().setdefault(name, function_of(name))


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
