"""promoarray: arrays that compute under a chosen framework's rules.

>>> import promoarray as pa
>>> with pa.policy("torch"):
...     pa.asarray([1, 2], dtype=pa.int8) + 1.5
PArray([2.5, 3.5], dtype=float32)

The names below are the array API's, under the policy in force; ``set_policy``, ``policy`` and
``namespace`` choose it.
"""

from __future__ import annotations

from math import e, inf, nan, pi

from promoarray._explain import explain
from promoarray.array import PArray
from promoarray.creation import *  # noqa: F403 - each chapter lists its names in __all__
from promoarray.data_types import *  # noqa: F403
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
from promoarray.elementwise import *  # noqa: F403
from promoarray.errors import EscapeError, PromotionError, UnknownPolicyError
from promoarray.linalg import *  # noqa: F403
from promoarray.manipulation import *  # noqa: F403
from promoarray.namespaces import API_VERSION as __array_api_version__
from promoarray.namespaces import namespace
from promoarray.policies.policy import Policy
from promoarray.policies.registry import get_policy, list_policies, policy, set_policy
from promoarray.searching import *  # noqa: F403
from promoarray.statistical import *  # noqa: F403

newaxis = None
__version__ = "0.1.0"
