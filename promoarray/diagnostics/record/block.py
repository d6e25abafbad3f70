"""``pa.record``: watch what a block does with another framework, and put it to every policy."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from importlib import import_module
from typing import Any, NamedTuple

from promoarray.contextdecorator import one_block
from promoarray.diagnostics.record.recorder import Recorder
from promoarray.diagnostics.record.report import RecordedReport
from promoarray.diagnostics.shadow.observer import DEFAULT
from promoarray.errors import quoted
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy


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
    "numpy": Framework(
        "promoarray.diagnostics.record.numpy.running",
        (((2, 0), "numpy@2"), ((0, 0), "numpy@1")),
    ),
}


@one_block
def record(framework: str, *policies: str | Policy) -> Iterator[RecordedReport]:
    """Record what a block does with another framework, and what the policies would make of it.

    The block computes what it would anyway. Each call of the framework is looked at, and every
    policy is asked what dtype it would give, as ``pa.shadow`` does for promoarray's own arrays.

    Parameters
    ----------
    framework : str
        ``"torch"``, or ``"numpy"``, of which the modules are recorded that the block imports.
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
    known = FRAMEWORKS.get(framework)
    if known is None:
        names = ", ".join(FRAMEWORKS)
        raise ValueError(f"cannot record {quoted(framework)}; write one of {names}")
    home = known.home(import_module(framework).__version__)
    recorder = Recorder(home, tuple(as_policy(p) for p in policies or DEFAULT))
    with recording(known, recorder):
        yield recorder.report


@contextmanager
def recording(framework: Framework, recorder: Recorder) -> Iterator[None]:
    """Record this thread, and those that are started meanwhile."""
    hook: Any = import_module(framework.adapter).Recording
    with _in_new_threads(lambda: hook(recorder)), hook(recorder):
        yield


@contextmanager
def _in_new_threads(hook: Any) -> Iterator[None]:
    """Have threads that are started meanwhile run inside a hook of their own."""
    begin = threading.Thread._bootstrap_inner  # type: ignore[attr-defined]

    def begun(self: threading.Thread) -> None:
        with ExitStack() as entered:
            made: AbstractContextManager[Any] = hook()
            entered.enter_context(made)
            begin(self)

    threading.Thread._bootstrap_inner = begun  # type: ignore[attr-defined]
    try:
        yield
    finally:
        threading.Thread._bootstrap_inner = begin  # type: ignore[attr-defined]
