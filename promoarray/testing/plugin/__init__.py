"""What the pytest plugin does in a run that uses promoarray; ``pytest_promoarray`` loads it."""
