"""promoarray: arrays that compute under a chosen framework's rules.

>>> import promoarray as pa
>>> with pa.policy("torch"):
...     pa.asarray([1, 2], dtype=pa.int8) + 1.5
PArray([2.5, 3.5], dtype=float32)

The names below are the array API's, under the policy in force; ``set_policy``, ``policy`` and
``namespace`` choose it.
"""

from __future__ import annotations

from importlib import import_module
from math import e, inf, nan, pi
from typing import TYPE_CHECKING, Any

from promoarray.array import PArray
from promoarray.creation import *
from promoarray.data_types import *
from promoarray.dtypes import (
    DType,
    bfloat16,
    bool,
    complex32,
    complex64,
    complex128,
    float4_e2m1fn,
    float6_e2m3fn,
    float6_e3m2fn,
    float8_e3m4,
    float8_e4m3,
    float8_e4m3b11fnuz,
    float8_e4m3fn,
    float8_e4m3fnuz,
    float8_e5m2,
    float8_e5m2fnuz,
    float8_e8m0fnu,
    float16,
    float32,
    float64,
    int2,
    int4,
    int8,
    int16,
    int32,
    int64,
    string,
    uint2,
    uint4,
    uint8,
    uint16,
    uint32,
    uint64,
)
from promoarray.elementwise import *
from promoarray.errors import PromotionError, UnknownPolicyError
from promoarray.linalg import *
from promoarray.manipulation import *
from promoarray.namespaces import API_VERSION as __array_api_version__
from promoarray.namespaces import namespace
from promoarray.policies.policy import Policy
from promoarray.policies.registry import get_policy, list_policies, policy, set_policy
from promoarray.searching import *
from promoarray.statistical import *

if TYPE_CHECKING:
    from promoarray import extras
    from promoarray._cast_report import cast_report
    from promoarray._explain import explain
    from promoarray._report import Report
    from promoarray._shadow import shadow
    from promoarray._trace import trace
    from promoarray.io import load, save
    from promoarray.onnx_tensors import from_onnx, to_onnx
    from promoarray.packing import pack, unpack

__all__ = [
    "DType",
    "PArray",
    "Policy",
    "PromotionError",
    "Report",
    "UnknownPolicyError",
    "__array_api_version__",
    "__version__",
    "abs",
    "acos",
    "acosh",
    "add",
    "all",
    "any",
    "arange",
    "argmax",
    "argmin",
    "asarray",
    "asin",
    "asinh",
    "astype",
    "atan",
    "atan2",
    "atanh",
    "bfloat16",
    "bitwise_and",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "bool",
    "broadcast_arrays",
    "broadcast_shapes",
    "broadcast_to",
    "can_cast",
    "cast_report",
    "ceil",
    "clip",
    "complex32",
    "complex64",
    "complex128",
    "concat",
    "conj",
    "copysign",
    "cos",
    "cosh",
    "count_nonzero",
    "cumulative_prod",
    "cumulative_sum",
    "divide",
    "e",
    "empty",
    "empty_like",
    "equal",
    "exp",
    "expand_dims",
    "explain",
    "expm1",
    "extras",
    "eye",
    "finfo",
    "flip",
    "float4_e2m1fn",
    "float6_e2m3fn",
    "float6_e3m2fn",
    "float8_e3m4",
    "float8_e4m3",
    "float8_e4m3b11fnuz",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
    "float16",
    "float32",
    "float64",
    "floor",
    "floor_divide",
    "fmax",
    "fmin",
    "from_dlpack",
    "from_onnx",
    "full",
    "full_like",
    "get_policy",
    "greater",
    "greater_equal",
    "hypot",
    "iinfo",
    "imag",
    "inf",
    "int2",
    "int4",
    "int8",
    "int16",
    "int32",
    "int64",
    "isdtype",
    "isfinite",
    "isinf",
    "isnan",
    "less",
    "less_equal",
    "linspace",
    "list_policies",
    "load",
    "log",
    "log1p",
    "log2",
    "log10",
    "logaddexp",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "matmul",
    "matrix_transpose",
    "max",
    "maximum",
    "mean",
    "meshgrid",
    "min",
    "minimum",
    "moveaxis",
    "multiply",
    "namespace",
    "nan",
    "negative",
    "newaxis",
    "nextafter",
    "nonzero",
    "not_equal",
    "ones",
    "ones_like",
    "outer",
    "pack",
    "permute_dims",
    "pi",
    "policy",
    "positive",
    "pow",
    "prod",
    "promote_types",
    "real",
    "reciprocal",
    "remainder",
    "repeat",
    "reshape",
    "result_type",
    "roll",
    "round",
    "save",
    "set_policy",
    "shadow",
    "sign",
    "signbit",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "squeeze",
    "stack",
    "std",
    "string",
    "subtract",
    "sum",
    "take",
    "tan",
    "tanh",
    "tensordot",
    "tile",
    "to_onnx",
    "trace",
    "tril",
    "triu",
    "trunc",
    "uint2",
    "uint4",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "unpack",
    "unstack",
    "var",
    "vecdot",
    "where",
    "zeros",
    "zeros_like",
]

newaxis = None
__version__ = "0.1.0"

# The tools are loaded when first asked for, so that `import promoarray` stays quick.
_TOOLS = {
    "cast_report": "promoarray._cast_report",
    "Report": "promoarray._report",
    "explain": "promoarray._explain",
    "from_onnx": "promoarray.onnx_tensors",
    "load": "promoarray.io",
    "pack": "promoarray.packing",
    "save": "promoarray.io",
    "shadow": "promoarray._shadow",
    "to_onnx": "promoarray.onnx_tensors",
    "trace": "promoarray._trace",
    "unpack": "promoarray.packing",
}


def __getattr__(name: str) -> Any:
    if name == "extras":
        return import_module("promoarray.extras")
    if name in _TOOLS:
        tool = globals()[name] = getattr(import_module(_TOOLS[name]), name)
        return tool
    raise AttributeError(f"module 'promoarray' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
