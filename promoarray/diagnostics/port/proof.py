"""Whether an edited program that was recorded has the dtypes it shall have under a policy.

No policy computes it: its operations are recorded once more, and each policy is asked what it would
make of them, from the first line on, with the dtypes that it has seen so far.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from promoarray.core.call_site import Site
from promoarray.diagnostics.edits.source import SourceText, cast_dtype
from promoarray.diagnostics.model.final_difference import Unequal
from promoarray.diagnostics.report import Report


def disputed(
    report: Report, wanted: str, policy: str, places: Callable[[str], SourceText | None]
) -> tuple[Unequal, ...]:
    """Return the places at which a policy answers otherwise than that whose dtypes are kept.

    A result that the program casts to that dtype at once is none.

    Parameters
    ----------
    report : Report
        Of the edited program.
    wanted, policy : str
    places : callable
        Answers the expressions of a file as it was edited; None if it cannot be read.
    """
    found: dict[str, Unequal] = {}
    for each in report.divergences:
        mine, its = each.answers.get(wanted), each.answers.get(policy)
        if mine is None or its is None or mine.dtype is its.dtype:
            continue
        if its.dtype and _cast_at_once(each.site, str(mine), places(each.site.file)):
            continue
        name = f"{each.shown_at}: {each.shown_at.expression}"
        dtypes = f"{its} instead of {mine}" if its.dtype else f"refuses {', '.join(its.operands)}"
        found.setdefault(name, Unequal(name, True, f"{each.name}: {dtypes}"))
    return tuple(found.values())


def _cast_at_once(site: Site, dtype: str, places: SourceText | None) -> bool:
    """Whether the source casts the expression at a place to a dtype."""
    if places is None:
        return False
    at = [n for n in places.beginning(site.line, site.column) if ast.unparse(n) == site.expression]
    return any(cast_dtype(places, node) == dtype for node in at)
