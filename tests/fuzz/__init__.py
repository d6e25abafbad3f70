"""Random input for what must never crash, hang or give a wrong number; `__main__.py` runs it."""
