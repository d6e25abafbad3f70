"""The command ``promoarray compare``: run a program once, or once per policy."""
