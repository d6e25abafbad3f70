"""Installed packages, of which NumPy's operations may not be recorded."""

import sys

from promoarray.core.call_site import is_library

UNNAMED = frozenset({"ml_dtypes", "promoarray"})
"""Packages that are not named: what they compute is recorded, or is but a dtype."""


def root_of(module: str | None) -> str:
    """The package that a module is in."""
    return (module or "").partition(".")[0]


def is_of_library(root: str) -> bool:
    """Whether a package is installed, and no part of the program."""
    file = getattr(sys.modules.get(root), "__file__", None)
    return isinstance(file, str) and is_library(file)


def in_library(root: str) -> str:
    """Why what a package computes is not examined."""
    if root == "numpy":
        return "no policy is asked about it"
    return f"NumPy's operations in it are not recorded; --packages {root} records its Python"
