"""The pytest plugin in a run that uses promoarray; ``pytest_promoarray`` loads it."""
