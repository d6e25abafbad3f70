"""The adapter for NumPy: programs are rewritten, as operators on NumPy's scalars pass no hook."""
