"""ONNX Runtime: one operator a line, type-checked by onnx and computed on the CPU."""

from __future__ import annotations

from programs.frameworks import Framework, onnx


def framework(edition: str) -> Framework:
    """The installed version."""
    return onnx.of_runtime("onnxruntime", edition or "1.32", 25)
