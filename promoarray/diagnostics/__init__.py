"""Explain, trace, shadow and compare: programs observed, and policies asked about them."""
