"""Explanations of one run: where the dtypes came from at which a program stops."""
