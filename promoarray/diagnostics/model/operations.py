"""Operations of a run, by the place where they stand."""

from __future__ import annotations

from dataclasses import dataclass, field

from promoarray.diagnostics.model.divergence import Divergence

MOST = 1 << 16
"""Operations that are recorded at most; some 60 MiB."""


@dataclass
class Operations:
    """Operations of a run at which all policies agree.

    An edit of a line has to hold for every pass through it, those among them that need none.

    Attributes
    ----------
    found : dict
        From the key of each to it.
    complete : bool
        Whether none was left out, as there were too many.
    """

    found: dict[tuple[object, ...], Divergence] = field(default_factory=dict)
    complete: bool = True

    def record(self, operation: Divergence) -> Divergence:
        """Add an operation, or count it once more; return the one that is recorded."""
        known = self.found.get(operation.key)
        if known is not None:
            known.add(operation)
            return known
        self.complete &= len(self.found) < MOST
        if self.complete:
            self.found[operation.key] = operation
        return operation

    def merge(self, other: Operations) -> None:
        """Add those of another process, or of another run of the same program."""
        self.complete &= other.complete
        for each in other.found.values():
            self.record(each)
