"""An interpreter of PTX, with NumPy: what device code gives, where there is no GPU (README.md)."""

from ptx.interpreter import Function, Module, Strided, Unsupported, indexer, launch, strided

__all__ = ["Function", "Module", "Strided", "Unsupported", "indexer", "launch", "strided"]
