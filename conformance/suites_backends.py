"""The back ends that suites of others run with, by name."""

from __future__ import annotations

from typing import Any

import promoarray as pa
from promoarray.policies import as_policy

NUMPY, STRICT, OURS = "numpy", "array_api_strict", "promoarray"


def backend_of(policy: str) -> str:
    """The name of the namespace that has a policy: promoarray itself has NumPy's."""
    chosen = as_policy(policy)
    return OURS if chosen is as_policy("numpy") else f"{OURS}.{chosen.name}"


def namespace(backend: str) -> Any:
    """The namespace of ours that has this name."""
    _, _, policy = backend.partition(".")
    return pa.namespace(policy) if policy else pa
