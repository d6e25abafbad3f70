"""The way of one operation: operands, plan, executable, array; and what watches it on the way."""
