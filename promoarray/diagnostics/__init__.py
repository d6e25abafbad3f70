"""What asks, watches and prints: explain, trace, shadow, compare, escapes, casts, policy tables."""
