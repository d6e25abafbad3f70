"""How often each place is passed: found by the instruction, before any source is looked at."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from types import CodeType

from promoarray.core.call_site import instructions
from promoarray.diagnostics.shadow.divergence import Divergence

MOST_PASSES = 1 << 12
"""So many instructions are remembered."""


@dataclass(eq=False)
class Passes:
    """The places at which the answers differ, by the instructions that led there.

    Two instructions may stand in one place, and one may be passed with several answers: so what is
    said there is part of the key.
    """

    _kept: dict[Hashable, tuple[tuple[CodeType, ...], object, Divergence]] = field(
        default_factory=dict
    )

    def count(self, answers: object, note: Callable[[], Divergence]) -> bool:
        """Count one pass of the place where the program stands.

        Parameters
        ----------
        answers : object
            What is said there, known by identity.
        note : callable
            Notes the place, when it is passed for the first time, and returns it.

        Returns
        -------
        bool
            Whether it was noted.
        """
        at, codes = instructions()
        key = id(answers), at
        known = self._kept.get(key)
        if known is not None:
            known[-1].count += 1
            return False
        if len(self._kept) >= MOST_PASSES:
            self._kept.clear()
        # Code and answers are held, so that no others have their ids.
        self._kept[key] = codes, answers, note()
        return True
