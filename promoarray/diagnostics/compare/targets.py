"""The policies that a program is compared with where none are named, by what it is written in."""

from __future__ import annotations

import os
from pathlib import Path

from promoarray.diagnostics.ask.observer import DEFAULT
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy

ALL = "all"
"""Names the editions of every framework that people have installed."""


PADDLE, TORCH, ASCEND = "paddle@3.3", "torch@2.13", "aclnn@8.5"
JAX, JAX_X64 = "jax@x32", "jax@x64"

TARGETS = {
    # Not ONNX: torch.onnx.export writes the casts. Not NumPy: there are no devices and no modules.
    # Ascend devices run programs of these frameworks, by their own table.
    "torch": (PADDLE, JAX, ASCEND),
    "paddle": (TORCH, JAX, ASCEND),
    # The same program is often run with NumPy, too.
    "jax": (TORCH, PADDLE, "numpy@2"),
    # Programs that were written for NumPy 1, by value, and the rules since NEP 50.
    "numpy": ("numpy@1", "numpy@2", JAX, TORCH),
}
"""By framework, the policies that its programs are likely to meet, in the order of the report; JAX
as it is installed. Of a program written with promoarray, of no framework, all are asked."""

_X64 = "jax_enable_x64"


def policies_for(framework: str, script: str | None) -> tuple[Policy, ...]:
    """Return the policies that make sense for a program of a framework, "" of promoarray; its
    script may enable x64 in JAX."""
    if framework not in TARGETS:
        return tuple(map(as_policy, DEFAULT))
    jax = JAX_X64 if _enables_x64(script) else JAX
    return tuple(as_policy(jax if name == JAX else name) for name in TARGETS[framework])


def named(names: str) -> tuple[Policy, ...]:
    """Return the policies of ``--policies``: names with commas in between, or all."""
    every = [name.strip() for name in names.split(",")]
    asked = [each for name in every for each in (DEFAULT if name == ALL else [name]) if each]
    return tuple(dict.fromkeys(map(as_policy, asked)))


def _enables_x64(script: str | None) -> bool:
    """Whether JAX holds 64 bits in a program: by its environment or its source."""
    if os.environ.get(_X64.upper(), "").lower() in ("1", "true", "yes", "on"):
        return True
    try:
        return bool(script) and _X64 in Path(str(script)).read_text("utf-8", "replace")
    except OSError:
        return False
