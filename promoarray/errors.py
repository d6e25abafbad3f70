"""The errors promoarray raises beyond Python's own."""

from __future__ import annotations


class PromotionError(TypeError):
    """The policy in force has no result for these operands.

    The message says what was given, which rule refuses it and what to write instead.
    """


class UnknownPolicyError(ValueError):
    """No policy has this name; the message lists the near ones."""
