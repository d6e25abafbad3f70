"""The texts of the kernels for NVIDIA GPUs, which NVRTC compiles on the user's machine."""
