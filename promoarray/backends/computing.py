"""Computing what was put off: counted, and forbidden inside of ``no_compute``.

It stands beside the back ends, as it imports no library: a program may forbid what it has not.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

from promoarray.context import Context, Entry
from promoarray.errors import ComputeError

blocks: ContextVar[Entry | None] = ContextVar("promoarray_no_compute", default=None)
"""The blocks of ``no_compute`` that this context is in."""


class Computed:
    """How often lazy arrays were computed in a block.

    Attributes
    ----------
    count : int
        With those that were forbidden.
    forbidden : bool
    """

    __slots__ = ("count", "forbidden")

    def __init__(self, forbidden: bool) -> None:
        self.count, self.forbidden = 0, forbidden

    def __repr__(self) -> str:
        return f"<computed {self.count} times>"


class no_compute(Context):
    """Make it an error that a lazy array is computed, or count how often one is.

    Parameters
    ----------
    forbid : bool
        False only counts.

    Returns
    -------
    Computed
        Of the ``with`` statement: ``computed.count`` is how often.

    Raises
    ------
    ComputeError
        Where an array would be computed: by ``x.compute()``, by ``bool``, ``float``, ``int``,
        ``x.item()`` and ``np.asarray``, or as the policy looks at the value of a 0-d array, which
        only NumPy 1's does.

    Notes
    -----
    It holds in this context only, as ``policy`` does, and hears of what promoarray computes;
    ``dask.compute(x)`` is Dask's own.

    Examples
    --------
    >>> with no_compute(forbid=False) as computed:
    ...     pass
    >>> computed.count
    0
    """

    _here = blocks

    def __init__(self, *, forbid: bool = True) -> None:
        self._forbid = forbid

    @property
    def _held(self) -> Computed:
        return Computed(self._forbid)  # a new one for each block


def about_to_compute(what: str) -> None:
    """Count a computation in every block around.

    Raises ComputeError if one of them forbids it.
    """
    entry: Any = blocks.get()
    forbidden = False
    while entry is not None:
        computed, _, entry = entry
        computed.count += 1
        forbidden |= computed.forbidden
    if forbidden:
        raise ComputeError(
            f"{what} would be computed inside of no_compute(). Keep the lazy array, or compute it "
            "outside of the block: x = x.compute()"
        )
