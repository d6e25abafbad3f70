"""Ask CuPy without a GPU which loop its ufuncs take: ``python conformance/oracles/cupy.py cupy14``.

An array over no memory has a dtype and axes, and ``ufunc._ops.guess_routine`` is CuPy's own choice
of a loop, made before anything is launched. Python numbers enter through a type that cannot be
made without a device, so that they are not asked.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import _ask

NAMES = {
    "pow": "power",
    "atan2": "arctan2",
    "bitwise_invert": "invert",
    "conj": "conjugate",
    **{f"a{name}": f"arc{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
}


def edition() -> _ask.Oracle:
    """CuPy as installed."""
    import cupy
    from cupy.cuda.memory import MemoryPointer, UnownedMemory

    # Made of one template with complex loops, whether CUDA compiles them or not.
    real = (cupy.arctan2, cupy.hypot, cupy.copysign, cupy.nextafter)

    def array(name: str, shape: tuple[int, ...]) -> Any:
        return cupy.ndarray(shape, name, MemoryPointer(UnownedMemory(0, 64, None, 0), 0))

    def loop(*operands: Any, ufunc: Any) -> Any:
        ops, outs = ufunc._ops, ufunc._out_ops
        (made,) = ops.guess_routine(ufunc.name, {}, list(operands), None, outs).out_types
        return _ask.NO_KERNEL if made.kind == "c" and ufunc in real else made

    def asked(names: tuple[str, ...]) -> dict[str, Any]:
        found = _ask.named(cupy, names, NAMES)
        return {n: partial(loop, ufunc=f) for n, f in found.items() if isinstance(f, cupy.ufunc)}

    names = {_ask.CODES[n]: n for n in _ask.DTYPES if n == "bool" or hasattr(cupy, n)}
    arrays, zero_d = (
        {code: array(name, shape) for code, name in names.items()} for shape in ((2,), ())
    )
    functions = asked(_ask.BINARY)
    near = {name: functions[name] for name in _ask.ZERO_D if name in functions}
    sections = {
        **_ask.binary("function", functions, arrays, arrays),
        **_ask.binary("array_0d", near, arrays, zero_d),
        **_ask.binary("0d_array", near, zero_d, arrays),
        "unary": _ask.unary(asked(_ask.UNARY), arrays),
    }
    meta = {"policy": "cupy@14", "cupy": cupy.__version__}
    meta |= {"how": "the loop that each ufunc takes, of arrays; no GPU, no Python numbers"}
    return _ask.Oracle(meta, lambda dtype: _ask.CODES[dtype.name], sections)


if __name__ == "__main__":
    _ask.main({"cupy14": edition})
