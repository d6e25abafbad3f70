"""Cache of recorded calls: one that is like another at the same place is counted."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple, Self

from promoarray.diagnostics.model.flow import RecordedOperation
from promoarray.diagnostics.record.recorder import Recorder

KindOf = Callable[[Any], Hashable]
"""What arrays have in common that are alike, but for what they carry."""


class Told(NamedTuple):
    """The same of a call of NumPy's, as ``native/`` reads it."""

    counted: tuple[str, str]
    operations: tuple[RecordedOperation, ...]
    tells: tuple[Callable[[], object], ...]
    made: tuple[tuple[Hashable, Any], ...]
    within: tuple[int, int] | None


class Known(NamedTuple):
    """What to do with a call that is like another.

    Attributes
    ----------
    kind : str
        What it is counted as; "" of one that only asks.
    operations : tuple of RecordedOperation
        What it is one more pass of.
    tells : tuple of callable
        What is called besides.
    made : tuple of (object, TypeRecord or None)
        Of each array that it makes its kind, and what it carries.
    checked : bool
        Whether it is looked whether it made these.
    held : object
        What has to live as long, for the call is known by its address.
    within : tuple of int, optional
        Between which the values of the array that is cast have to be; see ``Heard``.
    """

    kind: str
    operations: tuple[RecordedOperation, ...]
    tells: tuple[Callable[[], object], ...]
    made: tuple[tuple[Hashable, Any], ...]
    checked: bool
    held: object = None
    within: tuple[int, int] | None = None

    @classmethod
    def of(
        cls,
        recorder: Recorder,
        kind: str,
        made: Sequence[Any],
        kind_of: KindOf,
        held: object = None,
        *,
        by_values: bool = False,
    ) -> Self | None:
        """Return what was told of the call that made some arrays; None if no other is like it.

        Who looks at values, as ``within`` asks, says so (``by_values``).
        """
        heard = recorder.heard
        if heard.within is not None and not by_values:
            return None
        if not heard.lasting or not heard.arrays <= {id(x) for x in made}:
            return None
        slots = [recorder.carried.slot(x) for x in made]
        both = tuple((kind_of(x), slot) for x, slot in zip(made, slots, strict=True))
        operations, tells = tuple(heard.recorded), tuple(heard.tells)
        checked = bool(operations or tells or any(slots))
        return cls(kind, operations, tells, both, checked, held, heard.within)

    def called(self, name: str) -> Told:
        """What is told of calls of a name."""
        return Told((self.kind, name), self.operations, self.tells, self.made, self.within)

    def carried_on(self, recorder: Recorder, made: Sequence[Any], kind_of: KindOf) -> bool:
        """Have arrays carry what those carried; False if they are no such arrays."""
        if len(made) != len(self.made):
            return False
        for x, (kind, _) in zip(made, self.made, strict=True):
            if kind_of(x) != kind:
                return False
        for x, (_, slot) in zip(made, self.made, strict=True):
            recorder.carried.put(x, slot)
        return True
