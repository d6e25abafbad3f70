"""PyTorch programs: every call of its Python API, as ``TorchFunctionMode`` hears of it."""
