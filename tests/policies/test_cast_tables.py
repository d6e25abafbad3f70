"""docs/casts.md is what conformance/cast_tables.py makes of the policies."""

from __future__ import annotations

import cast_tables

from promoarray.policies import as_policy, list_policies


def test_the_page_is_up_to_date() -> None:
    assert cast_tables.PAGE.read_text(encoding="utf-8") == cast_tables.page(), (
        "run python conformance/cast_tables.py"
    )


def test_every_policys_casts_are_on_the_page() -> None:
    page = cast_tables.page()
    for name in list_policies():
        policy = as_policy(name)
        if policy.name.startswith("onnx@") and int(policy.name.partition("@")[2]) < 19:
            continue  # no float8 to say anything of
        assert all(quirk.name in page for quirk in policy.cast.quirks), name
        assert all(note in page for note in policy.cast.notes), name
