"""What the policies make of the arrays that are alive, kept beside them.

Another framework's arrays have no room for it. Only those on which some policy has another dtype
are held, so a program on which all agree costs nothing.
"""

from __future__ import annotations

import weakref
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from promoarray.dtypes import DType

if TYPE_CHECKING:
    from promoarray.core.array_base import TypeRecord

MOST = 4096
"""Objects that cannot be referred to weakly, such as NumPy's scalars: so many are kept alive."""


class Carried:
    """From arrays of another framework to what a type slot would bear."""

    def __init__(self) -> None:
        self._weak: dict[int, tuple[weakref.ref[Any], TypeRecord]] = {}
        self._strong: OrderedDict[int, tuple[Any, TypeRecord]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._weak) + len(self._strong)

    def __contains__(self, x: Any) -> bool:
        return id(x) in self._weak or id(x) in self._strong

    def get(self, x: Any, dtype: DType) -> DType | TypeRecord:
        """What an array of a dtype carries; the dtype itself where all policies agree on it."""
        key = id(x)
        held = self._weak.get(key) or self._strong.get(key)
        if held is None or held[1].dtype is not dtype:
            return dtype
        return held[1]

    def slot(self, x: Any) -> TypeRecord | None:
        """What an array carries; None if all policies agree on it."""
        held = self._weak.get(id(x)) or self._strong.get(id(x))
        return held and held[1]

    def put(self, x: Any, slot: DType | TypeRecord | None) -> None:
        """Note what an array carries from now on; a dtype, or None, where all policies agree."""
        key = id(x)
        self._weak.pop(key, None)
        self._strong.pop(key, None)
        if slot is None or isinstance(slot, DType):
            return
        try:
            self._weak[key] = weakref.ref(x, lambda _: self._weak.pop(key, None)), slot
        except TypeError:
            self._strong[key] = x, slot
            if len(self._strong) > MOST:
                self._strong.popitem(last=False)
