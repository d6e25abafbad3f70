"""Files and formats: npz, Zarr, ONNX tensors, packed 2-, 4- and 6-bit dtypes."""
