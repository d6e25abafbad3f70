"""Which policies there are, and which bugs of shipped frameworks they can be asked for."""

from __future__ import annotations

from typing import Any

from rich.table import Table
from rich.text import Text

from promoarray.console import show
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy, families


def facts() -> list[dict[str, Any]]:
    """Return what there is to know of every policy, as plain data, defaults first."""
    return [_facts_of(p, p is found[0]) for found in _policies().values() for p in found]


def _facts_of(policy: Policy, default: bool) -> dict[str, Any]:
    return {
        "policy": policy.name,
        "title": policy.title,
        "default": default,
        "dtypes": [d.name for d in policy.dtypes],
        "sources": [
            {"title": s.title, "section": s.section, "version": s.version} for s in policy.sources
        ],
        "notes": list(policy.notes),
        "casts": list(policy.cast.notes),
        "quirks": [
            {"name": q.name, "changes": q.sentence, "source": q.source} for q in policy.cast.quirks
        ],
    }


def show_all() -> None:
    """Print the families with their editions, and the quirks."""
    found = _policies()
    table = Table("policy", "editions", "what it reproduces", "source", show_edge=False)
    for family, policies in found.items():
        names = [p.name for p in policies]
        editions = ", ".join(n.partition("@")[2] or n for n in names[:4])
        editions = "" if editions == family else editions  # a name without an edition
        editions += f" … ({len(names)} in all)" if names[4:] else ""
        sources = policies[0].sources
        source = sources[0].title if sources else ""
        table.add_row(Text(family), editions, Text(policies[0].title), Text(source, "dim"))
    show(table)
    _show_quirks(found)


def _show_quirks(found: dict[str, list[Policy]]) -> None:
    """Print the bugs of shipped frameworks that a policy can be asked for, once each."""
    table = Table("quirk", "policies", "what it changes", "source", show_edge=False)
    for family, policies in found.items():
        rows: dict[tuple[str, str, str], list[str]] = {}
        for policy in policies:
            for quirk in policy.cast.quirks:
                rows.setdefault((quirk.name, quirk.sentence, quirk.source), []).append(policy.name)
        for (name, sentence, source), names in rows.items():
            those = family if len(names) == len(policies) else ", ".join(names)
            if len(names) > 3 and those != family:
                those = f"{names[0]} and {len(names) - 1} more"
            table.add_row(name, Text(those), Text(sentence), Text(source, "dim"))
    if table.row_count:
        print()
        show(table)
        print("\nOff by default; on with policy.with_quirks(...), or as policy POLICY+QUIRK.")


def _policies() -> dict[str, list[Policy]]:
    return {family: [as_policy(name) for name in names] for family, names in families().items()}
