"""A controller with which threadpoolctl limits promoarray's threads, once registered there.

::

    import threadpoolctl
    from promoarray.threadpool import Controller

    threadpoolctl.register(Controller)
    with threadpoolctl.threadpool_limits(1):
        ...

Nothing of promoarray imports this.
"""

from __future__ import annotations

from threadpoolctl import LibController

import promoarray
from promoarray import threads


class Controller(LibController):  # type: ignore[misc]
    """promoarray's compiled module, as threadpoolctl sees a library that has threads."""

    user_api = "promoarray"
    internal_api = "promoarray"
    filename_prefixes = ("_cpu",)
    check_symbols = ("promoarray_thread_count",)

    def get_num_threads(self) -> int:
        """Return how many threads there may be."""
        return threads.get_num_threads()

    def set_num_threads(self, num_threads: int) -> None:
        """Set how many threads there may be, in the whole process."""
        threads.set_num_threads(num_threads)

    def get_version(self) -> str:
        """Return the version of promoarray."""
        return promoarray.__version__
