"""``promoarray check``: what numbers a run lost."""
