"""Context managers of users, for any number of blocks: ``policy``, ``no_escape``."""

from __future__ import annotations

from contextlib import ContextDecorator
from contextvars import ContextVar
from typing import Any, ClassVar

Entry = tuple[Any, "Context", "Entry | None"]
"""A block that was entered: what holds in it, its context manager, and the block around."""


class Context(ContextDecorator):
    """A context manager that decorates, of which one object serves any number of blocks.

    Blocks may nest and run in several threads and tasks, so the object knows nothing of them: what
    was entered stands in a context variable, ``_here``, which every subclass has. A block that ends
    takes out its own entry, also where others have been entered since and not left, as by a
    generator that stands still inside of one. Where it ends in another context than it began in,
    as that of an asynchronous generator that nobody ran to its end, there is nothing to take out.
    """

    _here: ClassVar[ContextVar[Entry | None]]
    _held: Any
    """What holds in the block."""

    def __enter__(self) -> Any:
        here = self._here
        here.set((self._held, self, here.get()))
        return self._held

    def __exit__(self, *exc: object) -> None:
        here = self._here
        entry = here.get()
        if entry is not None and entry[1] is self:
            here.set(entry[2])
        else:
            self._leave(entry)

    def _leave(self, entry: Entry | None) -> None:
        """Take out the last entry of this object from below others."""
        inner = []
        while entry is not None and entry[1] is not self:
            inner.append(entry)
            entry = entry[2]
        if entry is not None:
            around = entry[2]
            for held, context, _ in reversed(inner):
                around = held, context, around
            self._here.set(around)

    def __call__(self, function: Any) -> Any:
        """Hold in every call; of a generator or coroutine while it runs, not while it waits."""
        if not callable(function):
            called = type(self).__name__
            raise TypeError(
                f"{called} decorates functions, not {function!r}; of a classmethod or a property "
                f"write @{called}(...) in the line below"
            )
        from promoarray.resumed import holding_while_it_runs

        return holding_while_it_runs(self, function) or super().__call__(function)
