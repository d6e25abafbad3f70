"""``promoarray port``: write the casts after which a program computes the same everywhere."""
