"""Blocks that are entered and left in one step, which no signal interrupts."""

from typing import Any

from typing_extensions import disjoint_base

@disjoint_base
class Block:
    """A context manager that puts what holds into a context variable."""

    def __enter__(self) -> Any:
        """Enter a block, and return what holds in it."""

    def __exit__(self, *exc: object) -> None:
        """Leave the last block of this object that was entered and not left."""

    def _enter_silently(self) -> None:
        """Enter a block, and return None."""
