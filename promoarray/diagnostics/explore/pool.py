"""What is stored once: texts, answers and rows by their numbers, and dtypes by theirs."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from promoarray.dtypes import BY_NAME

DTYPES = [name for name, dtype in BY_NAME.items() if not dtype.weak]
"""The names by which the page numbers dtypes."""

NUMBERS = {name: index for index, name in enumerate(DTYPES)}


class Pool:
    """What is stored once, and named by its number."""

    def __init__(self) -> None:
        self.numbers: dict[Hashable, int] = {}

    def number(self, item: Hashable) -> int:
        """The number of something; it gets one when it is first seen."""
        return self.numbers.setdefault(item, len(self.numbers))

    def items(self) -> list[Any]:
        """All of it, in the order of the numbers."""
        return list(self.numbers)
