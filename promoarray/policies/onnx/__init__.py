"""ONNX: each operator's types by opset, and Cast's."""

from promoarray.promotion.policy import Policy

EDITIONS = ("25", *(str(n) for n in range(1, 29) if n != 25))


def edition(edition: str) -> Policy:
    """An opset, ``1`` to ``28``."""
    from promoarray.policies.onnx.operators import of_opset

    return of_opset(int(edition))
