"""PyTorch 2.13, and 2.11, which differs in one cast; on a GPU, in those of floats to integers."""

from promoarray.promotion.policy import Policy

EDITIONS = ("2.13", "2.13-arm64", "2.13-cuda", "2.11", "2.11-cuda")


def edition(edition: str) -> Policy:
    """PyTorch ``2.13`` or ``2.11``, on x86-64, ``-arm64`` or ``-cuda``."""
    from promoarray.policies.torch.operators import POLICIES

    return POLICIES[edition]
