"""Programs of Paddle: its tensor methods, functions and kernels, patched while it records."""
