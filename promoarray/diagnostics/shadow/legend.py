"""The words and signs of a shadow run's report, explained."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from promoarray.console import ZERO_D
from promoarray.diagnostics.shadow.divergence import DEFAULT_DTYPE, Divergence

_ROOT = (
    "root: for the operands of the run this policy answers otherwise; the lines that most others "
    "inherit from, or that most policies refuse, come first"
)
_INHERITS = (
    "inherits: only the operands differ, because of an earlier line; after a refusal a policy goes"
    " on as if you had cast as its error message says"
)
_LEFT_OUT = "not shown: what inherits, as only the operands differ because of these (compare --all)"
_LIBRARY = "a line of a library is not yours to edit: cast what you pass to it"
_DEFAULT = "default dtype: what an array made of Python numbers has"


def legend(divergences: Sequence[Divergence], *, inherited: bool) -> Iterator[str]:
    """Explain those that are used where policies differ, a line each.

    Parameters
    ----------
    divergences : sequence of Divergence
    inherited : bool
        Whether those that only inherit are shown, too.
    """
    if divergences:
        yield _ROOT
        yield _INHERITS if inherited else _LEFT_OUT
    if any(d.program != d.site and d.name != DEFAULT_DTYPE for d in divergences):
        yield _LIBRARY
    if any(d.name == DEFAULT_DTYPE for d in divergences):
        yield _DEFAULT
    if any(operand.endswith("[]") for d in divergences for operand in d.operands):
        yield ZERO_D
