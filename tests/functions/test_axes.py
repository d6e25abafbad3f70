"""An axis that is not there is NumPy's AxisError with NumPy's words, wherever one is named."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import promoarray as pa

X = pa.ones((3, 3))
INDEX = pa.asarray([[0]])
CALLS: dict[str, Callable[[Any], Any]] = {
    "concat": lambda axis: pa.concat([X, X], axis=axis),
    "concatenate": lambda axis: pa.concatenate([X, X], axis),
    "stack": lambda axis: pa.stack([X, X], axis=axis),
    "take": lambda axis: pa.take(X, INDEX[0], axis=axis),
    "take_along_axis": lambda axis: pa.take_along_axis(X, INDEX, axis=axis),
    "repeat": lambda axis: pa.repeat(X, 2, axis=axis),
    "roll": lambda axis: pa.roll(X, 1, axis=axis),
    "vecdot": lambda axis: pa.vecdot(X, X, axis=axis),
    "linalg.vecdot": lambda axis: pa.linalg.vecdot(X, X, axis=axis),
    "linalg.cross": lambda axis: pa.linalg.cross(X, X, axis=axis),
    "squeeze": lambda axis: pa.squeeze(X, axis),
    "expand_dims": lambda axis: pa.expand_dims(X, axis),
    "moveaxis": lambda axis: pa.moveaxis(X, 0, axis),
    "permute_dims": lambda axis: pa.permute_dims(X, (0, axis)),
    "quantile": lambda axis: pa.quantile(pa.astype(X, pa.float32), 0.5, axis=axis),
    "nanquantile": lambda axis: pa.nanquantile(pa.astype(X, pa.float32), 0.5, axis=axis),
    "transpose": lambda axis: pa.transpose(X, (0, axis)),
    "quantize": lambda axis: pa.quantize(X, 1.0, axis=axis),
    "dequantize": lambda axis: pa.dequantize(pa.astype(X, pa.int8), 1.0, axis=axis),
    "fake_quantize": lambda axis: pa.fake_quantize(X, 1.0, axis=axis),
    "dynamic_quantize": lambda axis: pa.dynamic_quantize(
        pa.astype(X, pa.float32), axis=axis, dtype=pa.float8_e4m3fn
    ),
    "tensordot": lambda axis: pa.tensordot(X, X, axes=((axis,), (0,))),
    "linalg.tensordot": lambda axis: pa.linalg.tensordot(X, X, axes=((axis,), (0,))),
    "array_split": lambda axis: pa.array_split(X, 2, axis),
    "split": lambda axis: pa.split(X, 3, axis),
    "append": lambda axis: pa.append(X, X, axis),
    "percentile": lambda axis: pa.percentile(X, 50, axis),
    "nanpercentile": lambda axis: pa.nanpercentile(X, 50, axis),
    "partition": lambda axis: pa.partition(X, 1, axis),
    "argpartition": lambda axis: pa.argpartition(X, 1, axis),
    "rot90": lambda axis: pa.rot90(X, axes=(0, axis)),
    "x.take": lambda axis: X.take([0], axis),
    "x.swapaxes": lambda axis: X.swapaxes(axis, 0),
    "x.transpose": lambda axis: X.transpose(0, axis),
    **{
        f"x.{name}": lambda axis, name=name: getattr(X, name)(axis=axis)  # type: ignore[misc]
        for name in ("all", "argmax", "argsort", "cumsum", "max", "mean", "sort", "std", "sum")
    },
}


def functions() -> dict[str, Any]:
    """Every public function that takes an axis."""
    rooms = {"": pa, "linalg.": pa.linalg, "fft.": pa.fft, "extras.": pa.extras}
    found = {
        f"{room}{n}": getattr(where, n) for room, where in rooms.items() for n in where.__all__
    }
    return {
        name: f
        for name, f in found.items()
        if name.rpartition(".")[2] != "unique"  # which takes no axis
        and inspect.isroutine(f)
        and {"axis", "axes"} & inspect.signature(f).parameters.keys()
    }


def test_every_axis_that_is_not_there_is_told_in_numpys_words() -> None:
    wrong = []
    for name, function in functions().items():
        if name.removeprefix("extras.") in CALLS:
            continue
        key = "axis" if "axis" in inspect.signature(function).parameters else "axes"
        CALLS[name] = lambda axis, f=function, key=key: f(  # type: ignore[misc]
            X, **{key: (axis,) if key == "axes" else axis}
        )
    assert len(CALLS) > 60
    for name, call in CALLS.items():
        for axis in (7, -8):
            try:
                call(axis)
            except np.exceptions.AxisError as error:
                if f"axis {axis} is out of bounds for array of dimension" not in str(error):
                    wrong.append((name, axis, str(error)))
            except Exception as error:
                wrong.append((name, axis, repr(error)))
            else:
                wrong.append((name, axis, "no error"))
    assert wrong == []


@pytest.mark.parametrize("kind", [IndexError, ValueError])
def test_the_error_is_both_an_index_error_and_a_value_error(kind: type[Exception]) -> None:
    for dtype in (pa.float32, pa.bfloat16, pa.int4, pa.bool):
        with pytest.raises(kind, match="axis 2 is out of bounds for array of dimension 2"):
            pa.sum(pa.ones((1, 1), dtype=dtype), axis=2)


def test_no_more_axes_are_taken_than_an_array_may_have() -> None:
    x, at = pa.ones((1,) * 60), pa.zeros((1,) * 5, dtype=pa.int64)
    assert pa.take(x, at, axis=0).ndim == 64
    at = pa.zeros((1,) * 6, dtype=pa.int64)
    for take in (lambda: pa.take(x, at, axis=0), lambda: x.take(at, 0)):
        with pytest.raises(ValueError, match="65 axes are more than the 64"):
            take()
