"""The functions of the array API standard, one module per chapter."""
