"""Explanations of operations and casts, and of what the other policies would give."""
