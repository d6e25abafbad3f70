"""Two programs side by side: the first operation at which one leaves the other."""
