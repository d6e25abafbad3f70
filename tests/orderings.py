"""The definition of sorts and sets: sorted stably by values, the bits moved."""

from __future__ import annotations

from typing import Any

import numpy as np

from promoarray.backends import numpy as backend
from promoarray.dtypes import DType


def defined(name: str, dtype: DType, arrays: tuple[Any, ...], **options: Any) -> list[Any]:
    """What is found by a stable sort of all values, in a dtype that NumPy compares."""
    x, *among = arrays
    values, *others = (backend.cast(each, dtype, backend.comparable(dtype)) for each in arrays)
    if among:
        return [np.asarray(np.isin(values, others[0], invert=options["invert"]))]
    if name in ("sort", "argsort"):
        axis, descending = options["axis"], options["descending"]
        turned = np.flip(values, axis) if descending else values
        order = np.argsort(turned, axis=axis, kind="stable")
        if descending:
            order = np.flip(x.shape[axis] - 1 - order, axis)
        return [np.take_along_axis(x, order, axis) if name == "sort" else order]
    values, bits = values.reshape(-1), x.reshape(-1)
    order = np.argsort(values, kind="stable")
    line = values[order]
    starts = np.append(np.ones(min(line.size, 1), np.bool), line[1:] != line[:-1])
    inverse = np.empty(order.shape, np.int64)
    inverse[order] = np.cumsum(starts) - 1
    first, counts = order[starts], np.diff(np.nonzero(starts)[0], append=line.size)
    made = {"i": first, "v": inverse.reshape(x.shape), "c": counts}
    wanted = {"unique_values": "", "unique_counts": "c", "unique_inverse": "v"}.get(name, "ivc")
    return [bits[first], *[made[each] for each in wanted]]
