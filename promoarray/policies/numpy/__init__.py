"""NumPy 2 (NEP 50), 2.5 with another ``where`` and ``eig``, and NumPy 1 (promotion by value)."""

from promoarray.promotion.policy import Policy

EDITIONS = ("2", "2-arm64", "2.5", "1", "1-windows")


def edition(edition: str) -> Policy:
    """NumPy ``2`` (NEP 50), ``2.5`` or ``1`` (promotion by value), on a machine or another."""
    if edition.startswith("1"):
        from promoarray.policies.numpy import numpy_1

        return numpy_1.POLICIES[edition]
    from promoarray.policies.numpy import numpy_2

    return numpy_2.POLICIES[edition]
