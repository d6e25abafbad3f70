"""The casts of cast.h over one-dimensional contiguous buffers."""

from typing import Any, TypeAlias

import numpy as np
from typing_extensions import Buffer

# NumPy's own stubs call an array a Buffer from Python 3.12 on only.
_Buffer: TypeAlias = Buffer | np.ndarray[Any, Any]

# A row of promoarray.dtypes.Format as a tuple, -1 for a code that the format does not have.
_Row: TypeAlias = tuple[int, int, int, int, int, int, bool, bool]

def encode(src: _Buffer, dst: _Buffer, format: _Row, saturate: bool) -> None:
    """Write the codes of ``src``'s float32 or float64 values to ``dst`` (uint8 or uint16)."""

def decode(src: _Buffer, dst: _Buffer, format: _Row) -> None:
    """Write the float32 values of ``src``'s codes (uint8 or uint16) to ``dst``."""
