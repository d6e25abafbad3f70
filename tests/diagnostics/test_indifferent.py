"""Operations of a run that nobody compares: each sort is heard of once, and is the same."""

from __future__ import annotations

import promoarray as pa
from promoarray.core.events import OperationEvent, Repeat
from promoarray.core.observers import observing
from promoarray.diagnostics.run.casting import AutoCast, Indifferent


class Counted(Indifferent):
    heard = 0

    def on_operation(self, event: OperationEvent) -> Repeat:
        self.heard += 1
        return super().on_operation(event)


def made() -> list[pa.PArray]:
    """Operations of all sorts; a scalar and a 0-d array, of which NumPy 1 looks at the values."""
    x, found = pa.asarray([1, 2, 3], dtype=pa.int8), []
    for number in (1, 2, 300, 70000):
        for _ in range(3):
            found += [x * number, x + pa.asarray(number), pa.sum(x * 0.5), pa.max(x, axis=0)]
            x += pa.asarray(1, dtype=pa.int8)
    return found


def test_an_indifferent_run_hears_of_each_sort_once_and_gives_the_same() -> None:
    for policy in ("numpy@1", "torch"):
        with pa.policy(policy):
            plain, observer = made(), Counted(pa.get_policy())
            with observing(observer, everywhere=True):
                seen = made()
        assert [(x.dtype, x.tolist()) for x in seen] == [(x.dtype, x.tolist()) for x in plain]
        assert observer.heard < len(seen) / 2


def test_refusals_go_on_with_casts_each_time() -> None:
    casting = AutoCast()
    with pa.policy("paddle"), observing(casting), observing(Indifferent(pa.get_policy())):
        x, y = pa.asarray([1, 2], dtype=pa.int64), pa.asarray([0.5, 1.0], dtype=pa.float32)
        assert [(x * y).dtype for _ in range(3)] == [pa.float32] * 3
    assert len(casting.recovered) == 1
