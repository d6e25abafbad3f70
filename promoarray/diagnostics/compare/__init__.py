"""The command ``promoarray compare``: a program run once, or once per policy."""
