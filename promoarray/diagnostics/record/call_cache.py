"""Cache of recorded calls: one that is like another at the same place is counted."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple, Self

from promoarray.diagnostics.model.flow import RecordedOperation
from promoarray.diagnostics.record.recorder import Recorder

KindOf = Callable[[Any], Hashable]
"""What arrays have in common that are alike, but for what they carry."""


class Known(NamedTuple):
    """What to do with a call that is like another; ``native/`` reads the first three.

    Attributes
    ----------
    made : tuple of (object, TypeRecord or None)
        Of each array that it makes its kind, and what it carries.
    tells : tuple of callable
        What is called besides.
    within : tuple of int, optional
        Between which the values of the array that is cast have to be; see ``Heard``.
    kind, name : str
        What it is counted as, "" of one that only asks; and the function.
    operations : tuple of RecordedOperation
        What it is one more pass of.
    checked : bool
        Whether it is looked whether it made these.
    held : object
        What has to live as long, for the call is known by its address.
    """

    made: tuple[tuple[Hashable, Any], ...]
    tells: tuple[Callable[[], object], ...]
    within: tuple[int, int] | None
    kind: str
    name: str
    operations: tuple[RecordedOperation, ...]
    checked: bool
    held: object

    @classmethod
    def of(
        cls,
        recorder: Recorder,
        counted: tuple[str, str],
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
        both = tuple((kind_of(x), recorder.carried.slot(x)) for x in made)
        operations, tells = tuple(heard.recorded), tuple(heard.tells)
        checked = bool(operations or tells or any(slot for _, slot in both))
        return cls(both, tells, heard.within, *counted, operations, checked, held)

    def carried_on(self, recorder: Recorder, made: Sequence[Any], kind_of: KindOf) -> bool:
        """Have arrays carry what those carried; False if they are no such arrays."""
        if [kind_of(x) for x in made] != [kind for kind, _ in self.made]:
            return False
        for x, (_, slot) in zip(made, self.made, strict=True):
            recorder.carried.put(x, slot)
        return True
