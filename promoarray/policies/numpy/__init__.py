"""NumPy 2 (NEP 50), 2.5 with another ``where`` and ``eig``, and NumPy 1 (promotion by value)."""

from promoarray.promotion.policy import Policy


def edition(edition: str) -> Policy:
    """NumPy ``2`` (NEP 50), ``2.5`` or ``1`` (promotion by value)."""
    if edition == "1":
        from promoarray.policies.numpy.numpy_1 import NUMPY_1

        return NUMPY_1
    from promoarray.policies.numpy.numpy_2 import POLICIES

    return POLICIES[edition]
