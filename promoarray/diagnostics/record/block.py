"""``pa.record``: watch what a block does with another framework, and put it to every policy."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from importlib import import_module
from typing import Any, NamedTuple

from promoarray.context import single_use
from promoarray.diagnostics.ask.observer import DEFAULT
from promoarray.diagnostics.record.recorder import Recorder
from promoarray.diagnostics.record.replaced import Place, Replaced
from promoarray.diagnostics.record.report import RecordedReport
from promoarray.diagnostics.record.warned import WARNINGS_OF_THE_PROGRAM
from promoarray.errors import quoted
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy

Hook = Callable[[], AbstractContextManager[Any]]


class Framework(NamedTuple):
    """A framework whose programs can be recorded.

    Attributes
    ----------
    adapter : str
        The module with its hook, ``Recording(recorder)``, a context manager of one thread.
    editions : tuple of ((int, int), str)
        From which version on which of its policies holds, the newest first.
    """

    adapter: str
    editions: tuple[tuple[tuple[int, int], str], ...]

    def home(self, version: str) -> Policy:
        """Return the policy of a version of the framework."""
        major, minor = (int(part) for part in version.split(".")[:2])
        found = next((name for since, name in self.editions if (major, minor) >= since), None)
        return as_policy(found or self.editions[-1][1])


FRAMEWORKS = {
    "torch": Framework(
        "promoarray.diagnostics.record.pytorch.mode",
        (((2, 12), "torch@2.13"), ((0, 0), "torch@2.11")),
    ),
    "paddle": Framework(
        "promoarray.diagnostics.record.paddle.hook",
        (((3, 0), "paddle@3.3"), ((0, 0), "paddle@2.6")),
    ),
    # What it is without x64; the hook looks whether the program has set it.
    "jax": Framework("promoarray.diagnostics.record.jax.wrapping", (((0, 0), "jax@x32"),)),
}

REWRITTEN = {
    "numpy": Framework(
        "promoarray.diagnostics.record.numpy.running",
        (((2, 5), "numpy@2.5"), ((2, 0), "numpy@2"), ((0, 0), "numpy@1")),
    ),
}
"""Those of which a program is rewritten before it runs, as no hook sees all of it."""

RECORDED = FRAMEWORKS | REWRITTEN
"""All whose programs can be recorded."""


@single_use
def record(framework: str, *policies: str | Policy) -> Iterator[RecordedReport]:
    """Record what a block does with another framework, and what the policies would make of it.

    The block computes what it would anyway. Each call of the framework is looked at, and every
    policy is asked what dtype it would give, as ``pa.shadow`` does for promoarray's own arrays.

    Parameters
    ----------
    framework : str
        ``"torch"``, ``"paddle"`` or ``"jax"``; or ``"numpy"``, of which the modules are recorded
        that the block imports.
    *policies : str or Policy
        The policies to compare with; by default those of ``pa.shadow``.

    Yields
    ------
    RecordedReport
        Filled as the block runs. ``calls`` tells what was understood; ``drift`` where our policy of
        the framework itself differs from what it did.

    Raises
    ------
    ValueError
        If no such framework can be recorded.
    ImportError
        If it is not installed.

    Notes
    -----
    What a framework does without its Python API is not seen, such as PyTorch's ``backward()``, nor
    what is compiled. Threads that the block starts are recorded as well.
    """
    known = RECORDED.get(framework)
    if known is None:
        names = ", ".join(RECORDED)
        raise ValueError(f"cannot record {quoted(framework)}; write one of {names}")
    version = import_module(framework).__version__
    asked = tuple(as_policy(p) for p in policies or DEFAULT)
    recorder = Recorder(known.home(version), asked, framework=f"{framework} {version}")
    with recording(known, recorder):
        yield recorder.report


@contextmanager
def recording(framework: Framework, recorder: Recorder) -> Iterator[None]:
    """Record this thread, and those that are started meanwhile."""
    hook: Any = import_module(framework.adapter).Recording
    with _in_new_threads(lambda: hook(recorder)), WARNINGS_OF_THE_PROGRAM, hook(recorder):
        yield


class _Started(threading.local):
    """The hooks that threads get which this thread starts."""

    hooks: tuple[Hook, ...] = ()


_started = _Started()


@contextmanager
def _in_new_threads(hook: Hook) -> Iterator[None]:
    """Have threads that this one starts meanwhile, and those that they start, get a hook too."""
    before = _started.hooks
    _started.hooks = (*before, hook)
    try:
        with _STARTING:
            yield
    finally:
        _started.hooks = before


def _watched_start(self: threading.Thread) -> None:
    hooks, begin = _started.hooks, self._bootstrap_inner  # type: ignore[attr-defined]

    def begun() -> None:
        del self._bootstrap_inner  # type: ignore[attr-defined]
        _started.hooks = hooks
        with ExitStack() as entered:
            for hook in hooks:
                entered.enter_context(hook())
            begin()

    if hooks:
        self._bootstrap_inner = begun  # type: ignore[attr-defined]
    _start(self)


_start = threading.Thread.start
_STARTING = Replaced(lambda: iter([Place(threading.Thread, "start", _start, _watched_start)]))
