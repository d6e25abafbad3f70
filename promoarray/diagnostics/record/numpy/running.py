"""Running a NumPy program as it is, and recording it."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from types import FrameType
from typing import Any, Self

from promoarray.context import block_frame
from promoarray.core.call_site import of_promoarray
from promoarray.diagnostics.record.numpy.body import Body, Skipped, Unknown, entered
from promoarray.diagnostics.record.numpy.checked import CheckedSession
from promoarray.diagnostics.record.numpy.failed import called
from promoarray.diagnostics.record.numpy.hook import hook
from promoarray.diagnostics.record.numpy.importing import importing
from promoarray.diagnostics.record.numpy.loaded import functions_rewritten, has_numpy
from promoarray.diagnostics.record.numpy.numpy1_emulation import Past
from promoarray.diagnostics.record.numpy.session import Session
from promoarray.diagnostics.record.recorder import Recorder
from promoarray.promotion.policy import Policy


@contextmanager
def rewriting(
    recorder: Recorder, *, packages: Sequence[str] = (), past: Policy | None = None
) -> Iterator[Session]:
    """Rewrite what is imported in a block, and record it.

    Parameters
    ----------
    packages : sequence of str
        Installed libraries whose operations are recorded, too.
    past : Policy, optional
        ``numpy@1``: what NumPy 2 stops at is done as this policy does it, and the run goes on.
    """
    kind = Session if recorder.checks is None else CheckedSession
    session = kind(recorder, None if past is None else Past(recorder, past), packages)
    with importing(packages), hook().recording(session):
        yield session


def _require_no_bug(session: Session) -> None:
    if session.bug:
        raise RuntimeError(f"recording went wrong, which is a bug in promoarray:\n{session.bug}")


class Recording:
    """Record what a block does with NumPy: its lines, the functions of the program that it calls,
    and the modules that it imports.
    """

    kind = staticmethod(called)
    """What makes a call of a library's function that failed."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._entered = ExitStack()
        self._session: Session | None = None
        self._body: Body | None = None

    def __enter__(self) -> Self:
        running = hook().session
        if running is not None and running.recorder is self._recorder:
            return self  # a thread that the block has started
        frame = block_frame()
        frame = None if frame is None or of_promoarray(frame) else frame
        if running is not None and running.thread != threading.get_ident():
            self._leave("what NumPy computes", _ANOTHERS, frame)
            return self
        with self._entered:
            self._session = self._entered.enter_context(rewriting(self._recorder))
            self._session.thread = threading.get_ident()
            if why := self._entered.enter_context(functions_rewritten()):
                self._leave("the program's functions", why, frame)
            if frame is not None:
                self._enter(frame)
            self._entered = self._entered.pop_all()
        return self

    def _enter(self, frame: FrameType) -> None:
        try:
            self._body = entered(frame)
        except Unknown as unknown:
            self._leave("the block's own lines", str(unknown), frame)
        if self._body is not None:
            self._body.skip()

    def _leave(self, what: str, why: str, frame: FrameType | None) -> None:
        """Note what is not recorded, where something may be computed."""
        if frame is not None and has_numpy(frame):
            self._recorder.unexamined(what, why, frame)

    def __exit__(self, kind: Any, error: Any, tb: Any) -> bool:
        with self._entered:
            if self._body is not None:
                self._body.trace_no_more()
            if self._body is not None and not isinstance(error, Skipped):
                self._leave("the block's own lines", _NO_CODE, self._body.frame)
            elif self._body is not None:
                self._body.run()
                error = None
        if error is None and self._session is not None:
            _require_no_bug(self._session)
        return error is None


_NO_CODE = "Python makes no code of its first line that could be passed over"
_ANOTHERS = "another thread's block, or the whole run, is recorded already"
