"""OpenVINO: one operator a line of an ONNX model, type-checked by onnx and computed on the CPU."""

from __future__ import annotations

from programs.frameworks import Framework, onnx


def framework(edition: str) -> Framework:
    """The installed version."""
    return onnx.of_runtime("openvino", edition or "2026.4", 25)
