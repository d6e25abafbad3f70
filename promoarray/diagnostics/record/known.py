"""What was told of a call, for those that are alike: nothing is decided about them again."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple, Self

from promoarray.core._fast_path import Tally
from promoarray.diagnostics.record.recorder import Recorder

KindOf = Callable[[Any], Hashable]
"""What arrays have in common that are alike, but for what they carry."""


class Told(NamedTuple):
    """The same of a call of NumPy's, as ``native/`` reads it."""

    counted: tuple[str, str]
    operations: int
    tells: tuple[Callable[[], object], ...]
    tallies: tuple[Tally | None, ...]
    made: tuple[tuple[Hashable, Any], ...]


class Known(NamedTuple):
    """What to do with a call that is like another.

    Attributes
    ----------
    kind : str
        What it is counted as.
    operations : int
        How many operations it stands for that are only counted.
    tells : tuple of callable
        What to tell the observer besides.
    tallies : tuple of (Tally or None)
        For each what counts it instead, in a place where it was told.
    made : tuple of (object, TypeRecord or None)
        Of each array that it makes its kind, and what it carries.
    checked : bool
        Whether it is looked whether it made these: something is told, or carried.
    agreed : tuple of (callable, Tally or None)
        The operations at which all policies agree, told where they are met at a new place.
    """

    kind: str
    operations: int
    tells: tuple[Callable[[], object], ...]
    tallies: tuple[Tally | None, ...]
    made: tuple[tuple[Hashable, Any], ...]
    checked: bool
    agreed: tuple[tuple[Callable[[], object], Tally | None], ...] = ()

    @classmethod
    def of(cls, recorder: Recorder, kind: str, made: Sequence[Any], kind_of: KindOf) -> Self | None:
        """Return what was told of the call that made some arrays; None if no other is like it."""
        heard = recorder.heard
        if not heard.lasting or not heard.arrays <= {id(x) for x in made}:
            return None
        slots = [recorder.carried.slot(x) for x in made]
        both = tuple((kind_of(x), slot) for x, slot in zip(made, slots, strict=True))
        told = bool(heard.tells or any(slots))
        tells, tallies = tuple(heard.tells), tuple(heard.tallies)
        return cls(kind, heard.operations, tells, tallies, both, told, tuple(heard.agreed))

    def called(self, name: str) -> Told:
        """What is told of calls of a name."""
        tells = (*self.tells, *(tell for tell, _ in self.agreed))
        tallies = (*self.tallies, *(tally for _, tally in self.agreed))
        return Told((self.kind, name), self.operations, tells, tallies, self.made)

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
