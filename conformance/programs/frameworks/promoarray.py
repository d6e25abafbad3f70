"""promoarray itself, over the NumPy of another environment: its answers are the policy's alone.

``differential.py promoarray@torch --python ~/oldest/bin/python``, where the oldest NumPy that
pyproject.toml allows is installed, compares with the NumPy that is installed here.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

import promoarray as pa
from programs.frameworks import Framework, getitem, setitem
from programs.ours import leave


def framework(edition: str) -> Framework:
    """promoarray under a policy, which the whole process takes."""
    pa.set_policy(edition)
    np.seterr(all="ignore")
    return Framework(
        version=f"promoarray {pa.__version__} over numpy {np.__version__}",
        policy=edition,
        functions={
            **_functions(pa),
            "linalg": SimpleNamespace(**_functions(pa.linalg)),
            "fft": SimpleNamespace(**_functions(pa.fft)),
            "getitem": getitem,
            "setitem": setitem,
        },
        dtypes={x.name: x for x in pa.get_policy().dtypes if x is not pa.string},
        enter=lambda array, dtype: pa.asarray(array, dtype=dtype),
        leave=leave,
    )


def _functions(module: Any) -> dict[str, Any]:
    return {name: getattr(module, name) for name in dir(module) if callable(getattr(module, name))}
