"""What values become in a cast under a policy: their bits and how they read, or a refusal."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from promoarray import dtypes as dt
from promoarray.core import host
from promoarray.core.cast import explicit
from promoarray.core.refusals import cast_refusal
from promoarray.dtypes import DType, Kind
from promoarray.promotion.policy import Policy

Buffer = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class CastValue:
    """One value.

    Attributes
    ----------
    bits : str
        In hexadecimal, two digits per byte, the real part of a complex number first; "" for a
        string.
    value : str
        As Python writes it.
    """

    bits: str
    value: str

    def __str__(self) -> str:
        return f"{self.bits} {self.value}".lstrip()

    def to_dict(self) -> dict[str, str]:
        """Return the value as data."""
        return {"bits": self.bits, "value": self.value}


def cells(buffer: Buffer, dtype: DType) -> list[CastValue]:
    """The bits and values of a buffer."""
    if dtype is dt.string:
        return [CastValue("", repr(text)) for text in buffer.reshape(-1).tolist()]
    parts = 2 if dtype.kind is Kind.COMPLEX else 1
    width = dtype.storage.itemsize // parts
    codes = np.ascontiguousarray(buffer).view(f"u{width}").reshape(-1, parts)
    mask = (1 << dtype.bits) - 1 if dtype.bits < 8 else -1
    shown = host.decoded(buffer, dtype).reshape(-1).tolist()
    return [
        CastValue("0x" + "_".join(f"{int(c) & mask:0{2 * width}x}" for c in row), _shown(value))
        for row, value in zip(codes, shown, strict=True)
    ]


def _shown(value: Any) -> str:
    return f"{value:.9g}" if type(value) is float and math.isfinite(value) else str(value)


def answers(
    policy: Policy,
    values: Buffer,
    source: DType,
    target: DType,
    *,
    saturate: bool | int | None = None,
    round_mode: str | None = None,
) -> list[CastValue] | str:
    """What a policy makes of the values, or why it does not cast them.

    A setting applies to the policies that have it; the others ignore it.
    """
    settings = {"saturate": saturate, "round_mode": round_mode}
    known: Any = {name: value for name, value in settings.items() if name in policy.cast.knobs}
    refused = cast_refusal(policy, source, target)
    if refused:
        return refused
    try:
        out = explicit(policy, values, source, target, **known)
    except (TypeError, ValueError, OverflowError) as error:
        if dt.string not in (source, target):  # else some text is not a number, or does not fit
            raise
        return str(error)
    return cells(out, target)
