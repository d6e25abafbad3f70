"""Numbers that an operation or a cast lost, found by its operands and its result."""
