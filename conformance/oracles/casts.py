"""What frameworks on a CPU make of bits when they cast them: all pairs of the dtypes they have.

python conformance/oracles/casts.py FRAMEWORK INPUTS OUT

FRAMEWORK is numpy (with ml_dtypes), torch, tensorflow, paddle or mindspore, of whichever version is
installed; "+rows" after it (numpy, torch) casts rows of three elements, which fill no vector.
INPUTS is an .npz of bit patterns by dtype name; OUT an .npz of the results' bits by
``source|target``, which conformance/condense_casts.py takes up. A pair the framework refuses is not
in it.

On aarch64 a loop over vectors makes other integers of floats than the one after it, of what is left
at the end: zeros follow the inputs, so that all of these go through the first. That was asked of
the wheels for Linux under qemu-aarch64 7.2, with Python as in .ci/aarch64. PyTorch's 2.13.0+cu130
needs libcudart beside it, empty libraries for the rest of CUDA, and a /proc/cpuinfo of aarch64.
"""

from __future__ import annotations

import os
import platform
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

# The scripts are named after frameworks, which their folder must not hide.
_HERE = Path(__file__).resolve().parent
sys.path[:] = [path for path in sys.path if Path(path).resolve() != _HERE]

import numpy as np  # noqa: E402

Bits = np.ndarray[Any, Any]
Cast = Callable[[str, Bits, str], Bits]
_PLAIN = "bool int8 uint8 int16 int32 int64 float16 float32 float64"
OWN = _PLAIN.split() + "uint16 uint32 uint64".split()  # noqa: SIM905
FLOAT8 = [f"float8_{name}" for name in ("e4m3fn", "e4m3fnuz", "e5m2", "e5m2fnuz", "e8m0fnu")]
TORCH = [*OWN, "bfloat16", *FLOAT8]
PADDLE = _PLAIN.split() + "bfloat16 float8_e4m3fn float8_e5m2".split()  # noqa: SIM905


def bits(values: Bits) -> Bits:
    return np.ascontiguousarray(values).view(f"u{values.dtype.itemsize}")


def rows(x: Any) -> Any:
    """The array, or of a table all columns but the last."""
    return x[:, :-1] if x.ndim > 1 else x


def numpy_() -> tuple[str, list[str], Cast]:
    try:
        import ml_dtypes
    except ImportError:
        return np.__version__, OWN, lambda s, x, t: bits(rows(x.view(s)).astype(t))
    more = [name for name in vars(ml_dtypes) if name.startswith(("bfl", "float", "int", "uint"))]

    def dtype(name: str) -> Any:
        return np.dtype(getattr(ml_dtypes, name, name))

    def cast(source: str, x: Bits, target: str) -> Bits:
        made = bits(rows(x.view(dtype(source))).astype(dtype(target)))
        narrow = target.removeprefix("u") in ("int2", "int4")
        return made & np.uint8((1 << int(target[-1])) - 1) if narrow else made

    return f"{np.__version__} with ml_dtypes {ml_dtypes.__version__}", [*OWN, *more], cast


def torch_() -> tuple[str, list[str], Cast]:
    import torch

    def cast(source: str, x: Bits, target: str) -> Bits:
        raw = torch.from_numpy(x.view(np.uint8))
        given = raw.bool() if source == "bool" else raw.view(getattr(torch, source))
        made = rows(given).to(getattr(torch, target)).contiguous()
        return bits(made.view(torch.uint8).numpy().view(f"u{made.element_size()}"))

    return torch.__version__, TORCH, cast


def tensorflow() -> tuple[str, list[str], Cast]:
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import ml_dtypes
    import tensorflow as tf

    def dtype(name: str) -> Any:
        return np.dtype(getattr(ml_dtypes, name, name))

    def cast(source: str, x: Bits, target: str) -> Bits:
        made = tf.cast(tf.constant(x.view(dtype(source))), tf.as_dtype(dtype(target))).numpy()
        mask = 15 if target in ("int4", "uint4") else -1
        return bits(made) & np.array(mask).astype(f"u{made.dtype.itemsize}")

    small = ["bfloat16", "float8_e4m3fn", "float8_e5m2", "int4", "uint4"]
    return tf.__version__, [*OWN, *small], cast


def paddle() -> tuple[str, list[str], Cast]:
    import paddle

    def cast(source: str, x: Bits, target: str) -> Bits:
        if source.startswith("float8"):
            given = paddle.to_tensor(x.view(np.uint8)).view(source)
        elif source == "bfloat16":  # which NumPy holds as uint16
            given = paddle.to_tensor(x)
        else:
            given = paddle.to_tensor(x.view(source), dtype=source)
        made = paddle.cast(given, target)
        return bits((made.view("uint8") if target.startswith("float8") else made).numpy())

    return paddle.__version__, PADDLE, cast


def mindspore() -> tuple[str, list[str], Cast]:
    import mindspore as ms

    ms.set_context(mode=ms.PYNATIVE_MODE, device_target="CPU", pynative_synchronize=True)

    def cast(source: str, x: Bits, target: str) -> Bits:
        if source == "bfloat16":
            given = ms.Tensor((x.astype(np.uint32) << 16).view(np.float32)).astype(ms.bfloat16)
        else:
            given = ms.Tensor(x.view(source))
        made = ms.ops.cast(given, getattr(ms, "bool_" if target == "bool" else target))
        if target == "bfloat16":
            wide = bits(made.astype(ms.float32).asnumpy())
            return (wide >> np.uint32(16)).astype(np.uint16)
        return bits(made.asnumpy())

    return ms.__version__, [*OWN, "bfloat16"], cast


def main(framework: str, inputs: str, out: str) -> None:
    warnings.simplefilter("ignore")
    ask = {
        "numpy": numpy_,
        "torch": torch_,
        "tensorflow": tensorflow,
        "paddle": paddle,
        "mindspore": mindspore,
    }
    framework, _, in_rows = framework.partition("+")
    version, names, cast = ask[framework]()
    results = {}
    with np.load(inputs) as given:
        for source in (name for name in names if name in given.files):
            count = given[source].size
            x = np.concatenate([given[source], np.zeros(64 + -count % 64, given[source].dtype)])
            if in_rows:
                x = np.insert(x[: x.size // 3 * 3].reshape(-1, 3), 3, 0, axis=1)
            for target in (name for name in names if name in given.files):
                try:
                    results[f"{source}|{target}"] = cast(source, x, target).reshape(-1)[:count]
                except BaseException as error:  # some raise SystemError, or their own
                    print(f"{source}|{target}: {type(error).__name__}: {str(error)[:100]}")
    version = f"{framework} {version}, {platform.machine()}" + ", in rows" * bool(in_rows)
    np.savez_compressed(out, version=np.array(version), **results)


if __name__ == "__main__":
    main(*sys.argv[1:])
