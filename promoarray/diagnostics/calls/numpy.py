"""NumPy's functions in promoarray's words: where their operands stand, and what they store."""

from __future__ import annotations

from functools import cache

from promoarray.diagnostics.calls import common
from promoarray.diagnostics.calls.tables import Expansion, names, names_of

MOVES, MAKES, CHANGED, INSIDE = (
    names_of("numpy", kind) for kind in ("moves", "makes", "changed", "inside")
)
"""What sections of the table have."""

OF_ANY = names("zeros ones empty eye identity tri")
"""Of these what is made is as good in any dtype, as is what is drawn."""

BETWEEN = names("linspace logspace geomspace")
"""From one number to another; of arrays and NumPy's scalars they have the dtype."""

DEFAULTS = common.defaults("numpy")

DTYPE_AT = {
    **dict.fromkeys(names("zeros ones empty identity array asarray asanyarray"), 1),
    **dict.fromkeys(names("loadtxt genfromtxt"), 1),
    **dict.fromkeys(names("random.random random.standard_normal random.standard_exponential"), 1),
    **dict.fromkeys(names("full random.standard_gamma"), 2),
    **dict.fromkeys(names("arange eye tri random.randint random.integers"), 3),
    **dict.fromkeys(names("geomspace"), 4),
    **dict.fromkeys(names("linspace logspace"), 5),
}
"""Which argument of these is a dtype, if there are as many; the others take none by position."""

REDUCTIONS = {
    ("add", "reduce"): "sum",
    ("add", "reduceat"): "sum",
    ("multiply", "reduce"): "prod",
    ("maximum", "reduce"): "max",
    ("minimum", "reduce"): "min",
    ("logical_and", "reduce"): "all",
    ("logical_or", "reduce"): "any",
    ("add", "accumulate"): "cumulative_sum",
    ("multiply", "accumulate"): "cumulative_prod",
}
"""Methods of ufuncs that are operations of their own."""

OPERANDS = {
    "where": (1, ("x", "y")),
    "clip": (0, ("a", "a_min", "a_max", "min", "max")),
}
"""From which argument on the operands are, and their names where they have any."""


STORES: dict[str, tuple[int | None, int, str, int]] = {
    "array": (None, 0, "object", 1),
    **dict.fromkeys(names("asarray asanyarray"), (None, 0, "a", 1)),
    "full": (None, 1, "fill_value", 2),
    "full_like": (0, 1, "fill_value", 2),
    "fill": (0, 1, "value", -1),
    "put": (0, 2, "v", -1),
    "place": (0, 2, "vals", -1),
    "putmask": (0, 2, "values", -1),
    "copyto": (0, 1, "src", -1),
    "insert": (0, 2, "values", -1),
    "fill_diagonal": (0, 1, "val", -1),
    "put_along_axis": (0, 2, "values", -1),
    "itemset": (0, 1, "value", -1),
    "pad": (0, 9, "constant_values", -1),
}
"""Functions that store numbers: the array in which, if it is given; which argument they are, and
its name; and which argument is a dtype."""


@cache
def operations() -> dict[str, str]:
    """Return from NumPy's names to operations."""
    return common.operations("numpy")


@cache
def expansions() -> dict[str, Expansion]:
    """Return from NumPy's names to what they stand for."""
    return common.expansions("numpy")
