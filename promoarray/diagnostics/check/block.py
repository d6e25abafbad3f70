"""``pa.check``: what a block of a program loses."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack
from importlib import import_module

from promoarray.context import SingleUse, block_frame, single_use
from promoarray.core.observers import observing
from promoarray.diagnostics.check.arrays import Looked
from promoarray.diagnostics.check.gathered import Run, gathered
from promoarray.diagnostics.check.meant import SHARE
from promoarray.diagnostics.check.report import Report
from promoarray.diagnostics.check.settings import kinds_of
from promoarray.diagnostics.model.lost import UNSTABLE
from promoarray.diagnostics.record.block import FRAMEWORKS, RECORDED, REWRITTEN, recording
from promoarray.diagnostics.record.checks import USUAL, Asked, Checks
from promoarray.diagnostics.record.origins import Origins
from promoarray.diagnostics.record.recorder import Recorder
from promoarray.errors import quoted


def check(
    *kinds: str,
    framework: str | None = None,
    shadow: str = "",
    ulps: float = Asked.ulps,
    share: float = SHARE,
    every: bool = False,
) -> SingleUse[Report]:
    """Look at what a block computes, and tell where numbers are lost.

    The block computes what it would anyway, with promoarray's arrays and with NumPy, PyTorch,
    Paddle and JAX; what JAX compiles is computed op by op where something may be lost. For NumPy
    the lines of the block, and the program's functions, are run from their source; lines for which
    that cannot be are named in the report.

    Parameters
    ----------
    *kinds : str
        What to look for: ``"integer-wrap"``, ``"cast-out-of-range"``, ``"overflow"``,
        ``"nan-born"``, ``"digits-lost"``, ``"absorbed"``, ``"underflow"``,
        ``"implicit-widening"``, ``"unstable"``; by default all but the last.
    framework : str, optional
        ``"numpy"``, ``"torch"``, ``"paddle"``, ``"jax"`` or ``"tensorflow"``; by default
        those that have been imported.
    shadow : str, optional
        ``"float32"`` or ``"float64"``: compute results of fewer bits in that dtype as well, and
        look for ``"unstable"``.
    ulps : float
        So many units in the last place may results be from those.
    share : float
        The share of results that have to vanish before ``"underflow"`` is told, from 0 to 1.
    every : bool
        Whether to look at every element of arrays of more than 2^22, which are sampled else.

    Returns
    -------
    context manager of Report
        Filled when the block ends: ``told`` has the findings, ``str()`` the report.

    Raises
    ------
    ValueError
        If there is no such kind, framework or dtype.

    Examples
    --------
    >>> import promoarray as pa
    >>> with pa.check("integer-wrap") as report:
    ...     pa.asarray([200, 100], dtype=pa.uint8) + pa.asarray([100, 100], dtype=pa.uint8)
    PArray([ 44, 200], dtype=uint8)
    >>> print(report.told[0].words)
    1 of 2 elements wraps: 200 + 100 is 300, and uint8 has 44, first at [0]
    """
    wanted = frozenset(kinds_of(kinds)) if kinds else USUAL
    if shadow not in ("", "float32", "float64"):
        raise ValueError(f"shadow is float32 or float64, not {quoted(shadow)}")
    if framework is not None and framework not in RECORDED:
        names = ", ".join(RECORDED)
        raise ValueError(f"cannot check {quoted(framework)}; write one of {names}")
    asked = Asked(
        wanted | ({UNSTABLE} if shadow else frozenset()),
        None if every else Asked.bound,
        shadow,
        ulps,
    )
    return _check(asked, framework, share)


@single_use
def _check(asked: Asked, framework: str | None, share: float) -> Iterator[Report]:
    report = Report("", [])
    named = (framework,) if framework else _loaded()
    own, runs = Looked(asked), list[Run]()
    try:
        with ExitStack() as entered:
            entered.enter_context(observing(own))
            for name in named:
                version = import_module(name).__version__
                home, checks = RECORDED[name].home(version), Checks(asked)
                kept = {"origins": Origins(), "checks": checks}
                recorder = Recorder(home, (home,), framework=f"{name} {version}", **kept)  # type: ignore[arg-type]
                entered.enter_context(recording(RECORDED[name], recorder))
                runs.append(Run(recorder.report, checks, recorder.flow.flow))
            yield report
    finally:
        gathered(report, [own.ended({}), *runs], share, ignored=True)


def _loaded() -> list[str]:
    """The frameworks that have been imported, NumPy if by the program."""
    from promoarray.diagnostics.record.numpy.loaded import uses_numpy

    found = [name for name in FRAMEWORKS if name in sys.modules]
    return [*found, *REWRITTEN] if uses_numpy(block_frame()) else found
