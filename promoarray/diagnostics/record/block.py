"""``pa.record``: watch what a block does with another framework, and put it to every policy.

Warnings name the lines meanwhile that they name where nobody records.
"""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from importlib import import_module
from types import CodeType, FrameType
from typing import Any, NamedTuple, TextIO

from promoarray.context import single_use
from promoarray.core.observers import observing
from promoarray.diagnostics.ask.observer import DEFAULT
from promoarray.diagnostics.model.failed import Failed
from promoarray.diagnostics.record.flow import FlowRecorder
from promoarray.diagnostics.record.origins import Origins
from promoarray.diagnostics.record.recorder import Recorder
from promoarray.diagnostics.record.replaced import HANDED_ON, HOOKS, Place, Replaced, is_hook
from promoarray.diagnostics.record.report import RecordedReport
from promoarray.errors import quoted
from promoarray.promotion.in_force import get_policy
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy

Hook = Callable[[], AbstractContextManager[Any]]


class Framework(NamedTuple):
    """A framework whose programs can be recorded."""

    # the module with its hook, ``Recording(recorder)``, a context manager of one thread
    adapter: str
    # from which version on which of its policies holds, the newest first
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
    # The hook looks which mode the program has set.
    "tensorflow": Framework(
        "promoarray.diagnostics.record.tensorflow.hook", (((0, 0), "tensorflow"),)
    ),
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
        ``"torch"``, ``"paddle"``, ``"jax"``, ``"tensorflow"`` or ``"numpy"``; or
        ``"promoarray"``, for what ``pa.why`` says of its arrays.
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
    For NumPy the lines of the block, and the program's functions that it calls, are run from their
    source; lines for which that cannot be are named as not examined.

    What a framework does without its Python API is not seen, such as PyTorch's ``backward()``, nor
    what is compiled. Threads that the block starts are recorded as well.
    """
    known = RECORDED.get(framework)
    asked = tuple(as_policy(p) for p in policies or DEFAULT)
    if framework == OWN:
        with _own_recorded(asked) as report:
            yield report
        return
    if known is None:
        names = ", ".join((*RECORDED, OWN))
        raise ValueError(f"cannot record {quoted(framework)}; write one of {names}")
    version = import_module(framework).__version__
    home, name = known.home(version), f"{framework} {version}"
    recorder = Recorder(home, asked, framework=name, origins=Origins())
    with _kept(recorder), recording(known, recorder):
        yield recorder.report


@contextmanager
def _own_recorded(policies: tuple[Policy, ...]) -> Iterator[RecordedReport]:
    """Record what is computed with promoarray's own arrays."""
    report = RecordedReport(get_policy(), policies)
    with observing(FlowRecorder(report)):
        yield report


OWN = "promoarray"

_open: list[Recorder] = []
_ended: list[Recorder] = []
"""The recorder of the block that ended last."""


def recordings() -> tuple[Recorder, ...]:
    """Return the recorders of the blocks that are open, the last to begin first, and of the one
    that ended last."""
    return (*reversed(_open), *_ended)


def failed_in(recorder: Recorder, error: BaseException) -> Failed | None:
    """Return the recorded call that raised an error, or the library's function around it."""
    origins = recorder.origins
    failed = origins.stopped(error) if origins is not None else None
    if origins is None or (failed is not None and (failed.for_a_dtype or failed.untried)):
        return failed
    adapter: Any = import_module(RECORDED[recorder.framework].adapter)
    # Not by ``recorder.guarded``, which hears nothing any more once the program has ended.
    return origins.unheard(recorder, adapter.Recording.kind, error) or failed


@contextmanager
def _kept(recorder: Recorder) -> Iterator[None]:
    """Have a recorder be asked about arrays and errors, while its block lasts and after it."""
    _open.append(recorder)
    try:
        yield
    except Exception as error:
        assert recorder.origins is not None
        recorder.origins.stopped(error)
        raise
    finally:
        _open.remove(recorder)
        _ended[:] = [recorder]
        assert recorder.origins is not None
        recorder.origins.let_go()


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

# -- warnings -------------------------------------------------------------------------------------
#
# A framework warns of the line so many calls up, or, in compiled code, of the one that runs. Where
# it is recorded, the frames of the hook stand in between; here they are passed over.

_before: dict[str, Any] = {}
"""What was there, which programs that hold what stands in its place call afterwards, too."""


def _warn(
    message: Warning | str,
    category: type[Warning] | None = None,
    stacklevel: int = 1,
    source: Any = None,
    **prefixes: Any,
) -> None:
    """Warn of the frame so many levels up, those of hooks not counted."""
    frame: FrameType | None = sys._getframe(1)
    depth, own = 1, 1
    while depth < stacklevel and frame is not None:
        called, frame = frame.f_code, frame.f_back
        passed = _passed(frame, called)
        own += len(passed)
        frame = passed[-1].f_back if passed else frame
        depth += 1
    _before["warn"](message, category, stacklevel + own, source, **prefixes)


def _show(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Show a warning, that of a hook's frame as one of the line that called it.

    A filter that shows each line's warnings once has noted the hook's line: it goes to the other.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename == warnings.__file__:
        frame = frame.f_back
    if filename.startswith(HOOKS) and frame is not None:
        noted = frame.f_globals.get("__warningregistry__", {})
        passed = _passed(frame, frame.f_code)
        frame = passed[-1].f_back if passed else None
        if frame is not None:
            once = noted.pop((str(message), category, lineno), None)
            filename, lineno = frame.f_code.co_filename, frame.f_lineno
            shown = frame.f_globals.setdefault("__warningregistry__", {})
            if shown.get("version") != noted.get("version"):
                shown.clear()
                shown["version"] = noted.get("version")
            key = str(message), category, lineno
            if once and key in shown:
                return
            if once:
                shown[key] = True
    _before["showwarning"](message, category, filename, lineno, file, line)


def _passed(frame: FrameType | None, called: CodeType) -> list[FrameType]:
    """The frames of hooks from this one on, with the function that handed itself to them."""
    passed: list[FrameType] = []
    while frame is not None and is_hook(frame.f_code):
        passed.append(frame)
        frame = frame.f_back
    while frame is not None and frame.f_code.co_filename.endswith(HANDED_ON):
        # The hook is compiled where it knows a call: it has no frame then.
        if not passed and (frame.f_back is None or frame.f_back.f_code is not called):
            break
        passed.append(frame)
        frame = frame.f_back
        if frame is not None and frame.f_code is called:
            passed.append(frame)
            frame = frame.f_back
    return passed


def _of_warnings() -> Iterator[Place]:
    for name, after in (("warn", _warn), ("showwarning", _show)):
        if getattr(warnings, name) is not after:  # as it is where a program has put it back
            _before[name] = getattr(warnings, name)
        yield Place(warnings, name, _before[name], after)


WARNINGS_OF_THE_PROGRAM = Replaced(_of_warnings)
"""Has warnings name the program's lines as long as anybody is in such a block."""
