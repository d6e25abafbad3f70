"""Paddle: its document, and the wheels 3.3 and 2.6 where they differ from it."""

from promoarray.promotion.policy import Policy

EDITIONS = ("", "3.3", "2.6")


def edition(edition: str) -> Policy:
    """Return the policy of an edition: ``""`` is the document's."""
    if edition == "3.3":
        from promoarray.policies.paddle.wheel_3_3 import V3_3

        return V3_3
    if edition == "2.6":
        from promoarray.policies.paddle.wheel_2_6 import V2_6

        return V2_6
    from promoarray.policies.paddle.document import DOCUMENT

    return {"": DOCUMENT}[edition]
