"""TensorFlow: its legacy rule, and the two modes of ``tf.experimental.numpy``."""

from promoarray.promotion.policy import Policy

EDITIONS = ("", "all", "safe")


def edition(edition: str) -> Policy:
    """TensorFlow's legacy rule (``""``), or mode ``all`` or ``safe``."""
    if edition:
        from promoarray.policies.tensorflow.modes import MODES

        return MODES[edition]
    from promoarray.policies.tensorflow.legacy import LEGACY

    return LEGACY
