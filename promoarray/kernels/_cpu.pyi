"""The casts of cast.h over arrays."""

from typing import Any, TypeAlias

import numpy as np
from typing_extensions import Buffer

# NumPy's own stubs call an array a Buffer from Python 3.12 on only.
_Buffer: TypeAlias = Buffer | np.ndarray[Any, Any]

# Kind, bits and the fields of promoarray.dtypes.Format, -1 for a code that a format does not have.
_Row: TypeAlias = tuple[int, int, int, int, int, int, int, int, bool, bool]

def cast(
    src: _Buffer,
    dst: _Buffer,
    source_row: _Row,
    target_row: _Row,
    rule: tuple[int, ...],
    tuned: bool = True,
) -> None:
    """Cast every element of ``src`` to its place in ``dst``.

    ``src`` is an array of any layout and byte order; ``dst`` one of the same shape that is
    C-contiguous, aligned, in native byte order and apart in memory. The rows say what the bits
    mean, whatever the arrays' own dtypes. ``tuned=False`` takes the definition in cast.h for each
    element, which is slow: it is what the fast loops are compared with.
    """
