"""MindSpore 2.10."""

from promoarray.promotion.policy import Policy

EDITIONS = ("2.10",)


def edition(edition: str) -> Policy:
    """MindSpore ``2.10``."""
    from promoarray.policies.mindspore.operations import V2_10

    return {"2.10": V2_10}[edition]
