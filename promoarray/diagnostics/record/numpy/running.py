"""Running a NumPy program as it is, and recording it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from types import ModuleType
from typing import Any, Self

from promoarray.diagnostics.record.numpy.hook import hook
from promoarray.diagnostics.record.numpy.importing import Finder, importing
from promoarray.diagnostics.record.numpy.numpy1_emulation import Past
from promoarray.diagnostics.record.numpy.rewriting import rewritten
from promoarray.diagnostics.record.numpy.session import Session
from promoarray.diagnostics.record.recorder import Recorder
from promoarray.promotion.policy import Policy


def recorded_run(
    script: str,
    recorder: Recorder,
    argv: Sequence[str] = (),
    *,
    packages: Sequence[str] = (),
    past: Policy | None = None,
) -> None:
    """Run a script as ``python SCRIPT`` does, and record what it does with NumPy.

    Parameters
    ----------
    script : str
    recorder : Recorder
    argv : sequence of str
        Its arguments.
    packages : sequence of str
        Installed libraries whose operations are recorded, too.
    past : Policy, optional
        ``numpy@1``: what NumPy 2 stops at is done as this policy does it, and the run goes on.

    Raises
    ------
    RuntimeError
        If recording went wrong, which is a bug; the script has run.
    BaseException
        Whatever the script raises.
    """
    recording = rewriting(recorder, packages=packages, past=past)
    with recording as session, _as_main(script, argv) as module:
        with open(script, "rb") as file:
            code = rewritten(file.read(), script)
        exec(code, module.__dict__)
    _require_no_bug(session)


@contextmanager
def rewriting(
    recorder: Recorder, *, packages: Sequence[str] = (), past: Policy | None = None
) -> Iterator[Session]:
    """Rewrite what is imported in a block, and record it; see ``recorded_run``."""
    session = Session(recorder, None if past is None else Past(recorder, past), packages)
    with importing(packages), hook().recording(session):
        yield session


@contextmanager
def _as_main(script: str, argv: Sequence[str]) -> Iterator[ModuleType]:
    """Make the module ``__main__`` of a script, its arguments and its folder for a block."""
    module = ModuleType("__main__")
    module.__dict__.update(__file__=script, __builtins__=sys.modules["builtins"])
    before = sys.modules["__main__"], sys.argv, sys.path[:]
    sys.modules["__main__"], sys.argv = module, [script, *argv]
    sys.path.insert(0, os.path.dirname(os.path.abspath(script)))
    try:
        yield module
    finally:
        sys.modules["__main__"], sys.argv, sys.path[:] = before


def _require_no_bug(session: Session) -> None:
    if session.bug:
        raise RuntimeError(f"recording went wrong, which is a bug in promoarray:\n{session.bug}")


class Recording:
    """Record the modules that are imported in a block, with all that their functions do in it.

    Parameters
    ----------
    recorder : Recorder

    Raises
    ------
    RuntimeError
        At the end of a block that imports nothing that could be recorded: what is compiled already
        cannot be rewritten.
    """

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._entered = ExitStack()
        self._finder: Finder | None = None

    def __enter__(self) -> Self:
        running = hook().session
        if running is not None and running.recorder is self._recorder:
            return self  # a thread that the block has started
        self._session = Session(self._recorder)
        recording: AbstractContextManager[Any] = hook().recording(self._session)
        self._entered.enter_context(recording)
        self._finder = self._entered.enter_context(importing())
        return self

    def __exit__(self, kind: Any, error: Any, tb: Any) -> None:
        self._entered.close()
        if self._finder is None or error is not None:
            return
        _require_no_bug(self._session)
        if not self._finder.found and not self._recorder.report.operations:
            raise RuntimeError(
                "nothing was recorded: a NumPy program is recorded by rewriting its modules when "
                "they are imported, and this block imports none. Import in the block the module "
                "that computes, or run promoarray compare --framework numpy SCRIPT"
            )
