"""Kernels written in the functions of an array namespace, for every array library alike."""
