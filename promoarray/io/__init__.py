"""Files and formats: npz, ONNX tensors, packed 2- and 4-bit dtypes."""
