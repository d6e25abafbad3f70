"""A policy as a notebook shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from promoarray import pages

if TYPE_CHECKING:
    from promoarray.promotion.policy_like import PolicyLike


def policy_html(policy: PolicyLike) -> str:
    """Return what a policy is: its rule in words, its dtypes, its sources and notes."""
    rows = (
        ("rule", policy.principle),
        ("dtypes", ", ".join(dtype.name for dtype in policy.dtypes)),
        *(("source", str(source)) for source in policy.sources),
        *(("note", str(note)) for note in policy.notes),
        *(("cast source", str(source)) for source in policy.cast.sources),
        *(("cast note", str(note)) for note in policy.cast.notes),
    )
    said = [(heading, text) for heading, text in rows if text]
    return pages.fragment(f"{policy.name}: {policy.title}", pages.table(("", ""), said))
