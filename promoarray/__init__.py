"""promoarray: arrays that compute under a chosen framework's rules.

>>> import promoarray as pa
>>> with pa.policy("torch"):
...     pa.asarray([1, 2], dtype=pa.int8) + 1.5
PArray([2.5, 3.5], dtype=float32)

The names below are the array API's, under the policy in force; ``set_policy``, ``policy`` and
``namespace`` choose it.

PYTEST_DONT_REWRITE: pytest takes all of this for its plugin, and would warn if it is imported.
"""

from __future__ import annotations

from importlib import import_module
from math import e, inf, nan, pi
from os import environ as _environ
from sys import modules as _modules
from typing import TYPE_CHECKING, Any

from promoarray import dtypes
from promoarray.array_methods import add_methods as _add_methods
from promoarray.dtypes import *
from promoarray.errors import (
    ComputeError,
    EscapeError,
    EscapeWarning,
    ImplicitCastError,
    ImplicitCastWarning,
    LossyCastWarning,
    PromotionError,
    UnknownPolicyError,
)
from promoarray.errors import end_at_callers as _end_at_callers
from promoarray.errors import end_tracebacks_at_callers as _end_tracebacks
from promoarray.functions import HOMES as _FUNCTIONS
from promoarray.other_names import NUMPYS as _NUMPYS
from promoarray.parray import Above as _Above
from promoarray.parray import PArray
from promoarray.parray import set_above as _set_above
from promoarray.promotion.in_force import get_policy, policy, set_policy
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import list_policies

if TYPE_CHECKING:
    from promoarray import extras, fft, linalg, testing
    from promoarray.backends.computing import no_compute
    from promoarray.core.escape import no_escape
    from promoarray.diagnostics.ask.observer import shadow
    from promoarray.diagnostics.cast_report import cast_report
    from promoarray.diagnostics.check.block import check
    from promoarray.diagnostics.explain.question import explain
    from promoarray.diagnostics.policy_tables import table
    from promoarray.diagnostics.record.block import record
    from promoarray.diagnostics.report import Report
    from promoarray.diagnostics.trace import trace
    from promoarray.diagnostics.why.question import why
    from promoarray.extras._einsum import einsum
    from promoarray.extras._interpolation import interp, piecewise
    from promoarray.extras._signals import convolve, correlate, gradient
    from promoarray.extras._statistics import cov, histogram, nanquantile, quantile
    from promoarray.extras.numpys import array, concatenate, diag, logspace, pad, transpose
    from promoarray.extras.quantization import dequantize, fake_quantize, quantize
    from promoarray.extras.scales import dynamic_quantize, quantization_parameters
    from promoarray.functions.broadcasting import *
    from promoarray.functions.creation import *
    from promoarray.functions.data_types import *
    from promoarray.functions.elementwise import *
    from promoarray.functions.grids import *
    from promoarray.functions.indexing import *
    from promoarray.functions.info import *
    from promoarray.functions.joining import *
    from promoarray.functions.linear_algebra import *
    from promoarray.functions.manipulation import *
    from promoarray.functions.ranges import *
    from promoarray.functions.searching import *
    from promoarray.functions.sets import *
    from promoarray.functions.sorting import *
    from promoarray.functions.statistical import *
    from promoarray.functions.utility import *
    from promoarray.io.dask_arrays import from_dask
    from promoarray.io.npz import load, save
    from promoarray.io.onnx import from_onnx, to_onnx
    from promoarray.io.packing import pack, unpack
    from promoarray.io.zarr import from_zarr, to_zarr
    from promoarray.namespaces import namespace
    from promoarray.numpy_types import *
    from promoarray.threads import get_num_threads, set_num_threads

# What no array and no operator needs is loaded when one of its names is first asked for.
_LATER = """
backends.computing           no_compute
core.escape                  no_escape
diagnostics.cast_report      cast_report
diagnostics.check.block      check
diagnostics.explain.question explain
diagnostics.policy_tables    table
diagnostics.record.block     record
diagnostics.ask.observer  shadow
diagnostics.report    Report
diagnostics.trace            trace
diagnostics.why.question     why
extras.quantization          dequantize fake_quantize quantize
extras.scales                dynamic_quantize quantization_parameters
io.dask_arrays               from_dask
io.npz                       load save
io.onnx                      from_onnx to_onnx
io.packing                   pack unpack
io.zarr                      from_zarr to_zarr
namespaces                   namespace
threads                      get_num_threads set_num_threads
"""
_ROWS = [row.split() for row in _LATER.strip().splitlines()]
_HOMES = {name: f"promoarray.{home}" for home, *names in _ROWS for name in names} | _FUNCTIONS
_HOMES |= dict.fromkeys(_NUMPYS, "promoarray.extras")
"""From a name that is loaded later to the module that has it."""

# Type checkers read what stands here; the names of star imports they know themselves.
__all__ = ["ComputeError", "EscapeError", "EscapeWarning", "ImplicitCastError"]
__all__ += ["ImplicitCastWarning", "LossyCastWarning", "PArray", "Policy", "PromotionError"]
__all__ += ["Report", "UnknownPolicyError", "__array_api_version__", "__array_namespace_info__"]
__all__ += ["__version__", "array", "cast_report", "check", "concatenate", "convolve", "correlate"]
__all__ += ["cov", "dequantize", "diag", "dynamic_quantize", "e", "einsum", "explain", "extras"]
__all__ += ["fake_quantize", "fft", "from_dask", "from_onnx", "from_zarr", "get_num_threads"]
__all__ += ["get_policy", "gradient", "histogram", "inf", "interp", "linalg", "list_policies"]
__all__ += ["load", "logspace", "namespace", "nan", "nanquantile", "newaxis", "no_compute"]
__all__ += ["no_escape", "pack", "pad", "pi", "piecewise", "policy", "quantile"]
__all__ += ["quantization_parameters", "quantize", "record", "save", "set_num_threads"]
__all__ += ["set_policy", "shadow", "table", "testing", "to_onnx", "to_zarr", "trace", "transpose"]
__all__ += ["unpack", "why"]
__all__ += [*dtypes.__all__]
__all__ += [*_HOMES.keys() - {*__all__}]

_add_methods(PArray)


def _namespace(policy: Policy | None) -> Any:
    """The package itself, or the namespace that is bound to a policy."""
    package = _modules[__name__]
    return package if policy is None else package.namespace(policy)


def _array_function(*call: Any) -> Any:
    from promoarray.numpy_api.functions import answer

    return answer(*call)


def _array_ufunc(*call: Any) -> Any:
    from promoarray.numpy_api.ufuncs import answer

    return answer(*call)


def _lazy_attributes() -> Any:
    from promoarray.io.dask_arrays import ATTRIBUTES

    return ATTRIBUTES


def load_ipython_extension(shell: Any) -> None:
    """Add ``%%check``, ``%%compare`` and ``%why`` to IPython: ``%load_ext promoarray``."""
    from promoarray.diagnostics.magics import load

    load(shell)


dtypes.set_array_function(_array_function)
_set_above(_Above(_namespace, _array_function, _array_ufunc, _lazy_attributes))

newaxis = None
ndarray = PArray  # as programs that import this as np annotate their functions
__array_api_version__ = "2025.12"
__version__ = "0.1.0"

_CHAPTERS = dict.fromkeys(("extras", "fft", "linalg", "policies", "testing"), "promoarray.")
_CHAPTERS |= {home.rpartition(".")[2]: "promoarray.functions." for home in _FUNCTIONS.values()}
_CHAPTERS["random"] = "promoarray.extras."
"""From a module that is loaded later to where it stands."""


def __getattr__(name: str) -> Any:
    if name in _CHAPTERS:
        chapter = globals()[name] = import_module(_CHAPTERS[name] + name)
        _end_tracebacks()
        return chapter
    home = _HOMES.get(name)
    if home is None:
        return globals().setdefault(name, _by_another_name(name))
    _end_at_callers(vars(import_module(home)), [name])
    found = globals()[name] = getattr(import_module(home), name)
    _end_tracebacks()
    return found


def _by_another_name(name: str) -> Any:
    from promoarray.other_names import missing, same_as

    if ours := same_as(name):
        return getattr(_modules[__name__], ours)
    raise missing("promoarray", name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_CHAPTERS, *__all__})


_end_tracebacks()

if "PROMOARRAY_COMPARE" in _environ:  # `promoarray compare` runs this program, and wants to know
    from promoarray.diagnostics.run import watch as _watch

    _watch.begin(_modules[__name__])
