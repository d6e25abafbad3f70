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

from promoarray import (
    creation,
    data_types,
    dtypes,
    elementwise,
    indexing,
    info,
    manipulation,
    searching,
    sets,
    sorting,
    statistical,
    utility,
)
from promoarray._products import matmul, matrix_transpose, tensordot, vecdot
from promoarray.array import PArray
from promoarray.creation import *
from promoarray.data_types import *
from promoarray.dtypes import *
from promoarray.elementwise import *
from promoarray.errors import EscapeError, PromotionError, UnknownPolicyError
from promoarray.indexing import *
from promoarray.info import *
from promoarray.manipulation import *
from promoarray.namespaces import API_VERSION as __array_api_version__
from promoarray.namespaces import namespace
from promoarray.policies.policy import Policy
from promoarray.policies.registry import get_policy, list_policies, policy, set_policy
from promoarray.searching import *
from promoarray.sets import *
from promoarray.sorting import *
from promoarray.statistical import *
from promoarray.utility import *

if TYPE_CHECKING:
    from promoarray import extras, fft, linalg
    from promoarray._cast_report import cast_report
    from promoarray._escape import no_escape
    from promoarray._explain import explain
    from promoarray._report import Report
    from promoarray._shadow import shadow
    from promoarray._trace import trace
    from promoarray.io import load, save
    from promoarray.onnx_tensors import from_onnx, to_onnx
    from promoarray.packing import pack, unpack

# The chapters list their names; what stands here is what is no chapter's.
__all__ = [
    "EscapeError",
    "PArray",
    "Policy",
    "PromotionError",
    "Report",
    "UnknownPolicyError",
    "__array_api_version__",
    "__version__",
    "cast_report",
    "e",
    "explain",
    "extras",
    "fft",
    "from_onnx",
    "get_policy",
    "inf",
    "linalg",
    "list_policies",
    "load",
    "matmul",
    "matrix_transpose",
    "namespace",
    "nan",
    "newaxis",
    "no_escape",
    "pack",
    "pi",
    "policy",
    "save",
    "set_policy",
    "shadow",
    "tensordot",
    "to_onnx",
    "trace",
    "unpack",
    "vecdot",
    *creation.__all__,
    *data_types.__all__,
    *dtypes.__all__,
    *elementwise.__all__,
    *indexing.__all__,
    *info.__all__,
    *manipulation.__all__,
    *searching.__all__,
    *sets.__all__,
    *sorting.__all__,
    *statistical.__all__,
    *utility.__all__,
]

newaxis = None
__version__ = "0.1.0"

_CHAPTERS = ("extras", "fft", "linalg")

# The tools are loaded when first asked for, so that `import promoarray` stays quick.
_TOOLS = {
    "cast_report": "promoarray._cast_report",
    "Report": "promoarray._report",
    "explain": "promoarray._explain",
    "from_onnx": "promoarray.onnx_tensors",
    "load": "promoarray.io",
    "no_escape": "promoarray._escape",
    "pack": "promoarray.packing",
    "save": "promoarray.io",
    "shadow": "promoarray._shadow",
    "to_onnx": "promoarray.onnx_tensors",
    "trace": "promoarray._trace",
    "unpack": "promoarray.packing",
}


def __getattr__(name: str) -> Any:
    if name in _CHAPTERS:
        return import_module(f"promoarray.{name}")
    if name in _TOOLS:
        tool = globals()[name] = getattr(import_module(_TOOLS[name]), name)
        return tool
    raise AttributeError(f"module 'promoarray' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
