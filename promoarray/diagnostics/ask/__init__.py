"""One run under one policy, and what every other policy would have given at each line."""
