"""Why an operation or a cast gives what it gives, and what the other policies would give."""
