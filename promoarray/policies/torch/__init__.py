"""PyTorch 2.13, and 2.11, which differs in one cast."""

from promoarray.promotion.policy import Policy


def edition(edition: str) -> Policy:
    """PyTorch ``2.13`` or ``2.11``."""
    from promoarray.policies.torch.operators import POLICIES

    return POLICIES[edition]
