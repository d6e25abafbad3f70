"""Programs of TensorFlow: operators, functions and kernels, replaced while it records."""
