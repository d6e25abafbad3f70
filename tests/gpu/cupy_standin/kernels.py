"""The kernels of the stand-in for CuPy: their texts are compiled by g++ and run."""

from __future__ import annotations

from typing import Any

import numpy as np

from cupy_standin.arrays import ndarray, supported, together
from cupy_standin.compiler import elementwise, raw
from cupy_standin.device import current, trouble


class ElementwiseKernel:
    """Compiled by g++ and run, with CuPy's broadcasting."""

    def __init__(
        self,
        in_params: str,
        out_params: str,
        operation: str,
        name: str = "kernel",
        reduce_dims: bool = True,
        preamble: str = "",
    ) -> None:
        assert name.isidentifier(), name
        self._in, self._out = (
            [tuple(p.split()) for p in each.split(",")] for each in (in_params, out_params)
        )
        assert "i" not in [p[1] for p in self._in + self._out]
        for dtype, _ in self._in + self._out:
            supported(dtype)
        self._operation, self._preamble = operation, preamble

    def __call__(self, *args: Any) -> Any:
        trouble.strike()
        parameters = self._in + self._out
        together(args)
        if len(args) == len(self._in):  # CuPy makes the output, row by row
            shape = np.broadcast_shapes(*(getattr(x, "shape", ()) for x in args))
            args += tuple(ndarray(np.empty(shape, dtype)) for dtype, _ in self._out)
        held = []
        for x, (dtype, name) in zip(args, parameters, strict=True):
            if isinstance(x, np.ndarray):
                raise TypeError(f"Unsupported type {type(x)}")
            host = x._host if isinstance(x, ndarray) else np.asarray(x, dtype)
            assert host.dtype == np.dtype(dtype), f"{name} is {dtype}, and {host.dtype} is given"
            held.append(host)
        shape = np.broadcast_shapes(*(x.shape for x in held))
        outs = held[len(self._in) :]
        if any(out.shape != shape for out in outs):
            raise ValueError("Out shape is mismatched")
        for out in outs:
            assert not any(np.may_share_memory(out, x) for x in held[: len(self._in)])
        if 0 in shape:
            return args[-1]
        read = [True] * len(self._in) + [False] * len(self._out)
        lines = [(d, n, r) for (d, n), r in zip(parameters, read, strict=True)]
        spread = [np.broadcast_to(x, shape) for x in held]
        elementwise(self._preamble, self._operation, lines, spread)
        return args[-1]


class RawKernel:
    """Compiled by g++ and run, on the device that is the current one when ``kernel`` is read."""

    def __init__(self, code: str, name: str, options: tuple[str, ...] = ()) -> None:
        self._code, self._name = code, name

    @property
    def kernel(self) -> Function:
        return Function(self._code, self._name, current[-1])


class Function:
    """A kernel that is loaded into a device."""

    def __init__(self, code: str, name: str, device: int) -> None:
        self._code, self._name, self._device = code, name, device

    def linear_launch(
        self, size: int, args: tuple[Any, ...], shared_mem: int = 0, block_max_size: int = 128
    ) -> None:
        """Launch so many threads, in blocks of so many at most."""
        trouble.strike()
        assert self._device == current[-1], "a kernel of another device"
        assert size % block_max_size == 0
        *given, n = args
        arrays = [x for x in given if isinstance(x, ndarray)]
        together(arrays)
        assert type(n) is int  # of 64 bits to CuPy
        out = arrays[-1]
        assert n == out.size
        if not any(isinstance(x, np.ndarray) for x in given):  # which tells how arrays lie
            assert all(x.shape == out.shape for x in arrays)
            orders = [(x.flags.c_contiguous, x.flags.f_contiguous) for x in arrays]
            assert any(all(order) for order in zip(*orders, strict=True))
        assert not any(np.may_share_memory(out._host, x._host) for x in arrays[:-1])
        launches.append(self._name)
        held = [x._host if isinstance(x, ndarray) else x for x in given]
        blocks = size // block_max_size
        raw(self._code, self._name, blocks, block_max_size, held, int(n))


launches: list[str] = []
"""The raw kernels that were launched."""
