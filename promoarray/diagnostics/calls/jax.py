"""JAX's functions that the recorder looks at besides those of ``functions.txt``."""

from __future__ import annotations

from promoarray.diagnostics.calls import common
from promoarray.diagnostics.calls.tables import names_of, synonyms, text_of

UPDATES, UNSEEN, OPERATORS, METHODS, DISTRIBUTIONS = (
    names_of("jax", kind) for kind in ("updates", "unseen", "operators", "methods", "distributions")
)
"""What sections of the table have; the distributions are the modules of ``jax.scipy.stats``."""

RENAMED = synonyms(text_of("jax", "parameters"))
"""JAX's names of parameters, and those that the tables use."""

MOVES, CASTS, MAKES = (names_of("jax", kind) for kind in ("moves", "casts", "makes"))
DEFAULTS = common.defaults("jax")
