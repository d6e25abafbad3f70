"""torch_npu: PyTorch 2.13 on Ascend, by chip: Atlas A2 and A3 (910B, 910C), 950, 910A."""

from promoarray.promotion.policy import Policy

EDITIONS = ("2.13", "2.13-950", "2.13-910a")


def edition(edition: str) -> Policy:
    """PyTorch ``2.13`` on Atlas A2, ``2.13-950`` or ``2.13-910a``."""
    from promoarray.policies.torch_npu.operators import POLICIES

    return POLICIES[edition]
