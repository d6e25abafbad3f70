"""The policies that a program is compared with where none are named, by what it is written in."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from promoarray.diagnostics.ask.observer import DEFAULT
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy

ALL = "all"
"""Names the editions of every framework that people have installed."""


class Target(NamedTuple):
    """A policy that programs of some framework are likely to meet.

    Attributes
    ----------
    policy : str
    why : str
    """

    policy: str
    why: str


_PADDLE = Target("paddle@3.3", "programs are ported to Paddle; it promotes among floats only")
_TORCH = Target("torch@2.13", "programs are ported to PyTorch")
_JAX = Target("jax@x32", "JAX as it is installed; a program that enables x64 is asked jax@x64")
_ASCEND = Target("aclnn@8.5", "Ascend devices run programs of the framework, by their own table")

TARGETS = {
    # Not ONNX: torch.onnx.export writes the casts. Not NumPy: there are no devices and no modules.
    "torch": (_PADDLE, _JAX, _ASCEND),
    "paddle": (_TORCH, _JAX, _ASCEND),
    "jax": (_TORCH, _PADDLE, Target("numpy@2", "the same program is often run with NumPy, too")),
    "numpy": (
        Target("numpy@1", "programs that were written for it, by value"),
        Target("numpy@2", "the rules since NEP 50"),
        _JAX,
        _TORCH,
    ),
}
"""By framework, the policies in the order of the report. Of a program written with promoarray,
which is of no framework, all are asked."""

_X64 = "jax_enable_x64"


def policies_for(framework: str, script: str | None) -> tuple[Policy, ...]:
    """Return the policies that make sense for a program.

    Parameters
    ----------
    framework : str
        What it is written in; "" of promoarray.
    script : str or None
        Its file, which may enable x64 in JAX.
    """
    if framework not in TARGETS:
        return tuple(map(as_policy, DEFAULT))
    names = [target.policy for target in TARGETS[framework]]
    if _JAX.policy in names and _enables_x64(script):
        names[names.index(_JAX.policy)] = "jax@x64"
    return tuple(map(as_policy, names))


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
