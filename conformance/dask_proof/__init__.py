"""What lazy arrays on a cluster have to give: the bits of NumPy's back end, or its errors."""
