"""What explains, observes and reports: explain, trace, shadow, compare, casts, policy tables."""
