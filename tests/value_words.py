"""What policies make of the values of a cast, in words."""

import math
from collections.abc import Iterator

from promoarray.console import listed
from promoarray.diagnostics.model.values import ValueChange


def said(change: ValueChange) -> Iterator[str]:
    """Say what each group of policies makes of the first element that differs."""
    for each in change.differences.values():
        at, given, run, other = each.example
        where, who = f"[{', '.join(map(str, at))}] " if at else "", listed(list(each.policies))
        of = f"{each.elements} of {change.size}"
        if each.largest is None:
            yield f"{of} differ under {who}: {where}{given} is {other} there, {run} in the run"
            continue
        by = f", by {each.largest:.3g} at most" if math.isfinite(each.largest) else ""
        if given == other:  # it is the run that changes them
            yield f"{of} change{by}: {where}{given} becomes {run}; kept under {who}"
        else:
            yield f"{of} change under {who}{by}: {where}{given} becomes {other}"
