"""The decorator that runs a function in the default floating-point state."""

from __future__ import annotations

import gc
import inspect
import weakref
from typing import Any

import pytest
from float_states import KNOWN, OTHERS, WHY_UNKNOWN, control, state

from promoarray.kernels._cpu import StateGuard
from promoarray.kernels.float_state import in_default_float_state


def test_it_looks_like_the_function() -> None:
    @in_default_float_state
    def shifted(x: int, /, *, by: int = 1) -> int:
        """Add."""
        return x + by

    assert (shifted(2), shifted(2, by=3)) == (3, 5)
    assert (shifted.__name__, shifted.__doc__) == ("shifted", "Add.")
    assert str(inspect.signature(shifted)) == "(x: 'int', /, *, by: 'int' = 1) -> 'int'"
    with pytest.raises(TypeError, match="positional-only"):
        shifted(x=2)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="takes a callable"):
        StateGuard(1)  # type: ignore[arg-type]


def test_it_is_a_method_where_a_class_has_it() -> None:
    class Counter:
        count = 0

        @in_default_float_state
        def up(self, by: int = 1) -> int:
            self.count += by
            return self.count

        @in_default_float_state
        def __len__(self) -> int:
            return self.count

    counter = Counter()
    bound = counter.up
    assert (counter.up(), bound(2), Counter.up(counter), len(counter)) == (1, 3, 4, 4)


@pytest.mark.usefixtures("quick_collections")
def test_a_cycle_through_it_is_collected() -> None:
    def make() -> weakref.ref[Any]:
        def function() -> Any:
            return guarded

        guarded = in_default_float_state(function)
        return weakref.ref(function)

    found = make()
    gc.collect()
    assert found() is None


@pytest.mark.skipif(not KNOWN, reason=WHY_UNKNOWN)
def test_the_function_meets_the_default_state_and_leaves_the_callers() -> None:
    usual, seen = control(), []

    @in_default_float_state
    def function(fails: bool) -> None:
        seen.append(control())
        with state("up"):
            inner(fails=fails)

    @in_default_float_state
    def inner(*, fails: bool) -> None:
        seen.append(control())
        if fails:
            raise LookupError

    for name in OTHERS:
        with state(name) as own:
            function(False)
            with pytest.raises(LookupError):
                function(True)
            assert control() == own
    assert seen == [usual] * 4 * len(OTHERS)
