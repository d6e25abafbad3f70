"""Files and formats: npz, ONNX tensors, packed 2-, 4- and 6-bit dtypes."""
