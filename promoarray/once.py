"""Properties that are computed once an object."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

__all__ = ["cached_property"]

if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property
else:

    class cached_property:
        """``functools.cached_property`` without the lock that Python 3.11 holds meanwhile.

        A process that is forked while another thread computes one would wait for that forever.
        """

        def __init__(self, make):
            self._make = make
            self._name = make.__name__
            self.__doc__ = make.__doc__

        def __get__(self, instance, owner=None):
            # Found in the instance from the second time on: there is no __set__.
            return instance.__dict__.setdefault(self._name, self._make(instance))
