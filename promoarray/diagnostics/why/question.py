"""``pa.why``: where the dtype of an array came from, or those at which a call stopped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from promoarray.core.array_base import Array
from promoarray.core.call_site import sites
from promoarray.diagnostics.model.flow import Flow
from promoarray.diagnostics.record.block import RECORDED, failed_in, recordings
from promoarray.diagnostics.record.flow import Produced
from promoarray.diagnostics.record.recorder import Recorder
from promoarray.diagnostics.why import post_mortem
from promoarray.diagnostics.why.explained import Explained
from promoarray.diagnostics.why.origin import Origins, expressions
from promoarray.errors import quoted


def why(x: Any, /) -> Explained:
    """Say where the dtype of an array came from, line by line, or why a call stopped.

    Parameters
    ----------
    x : array or exception
        An array of any shape that was made inside ``with pa.record(...)``: of PyTorch, Paddle, JAX,
        NumPy, or a PArray under ``pa.record("promoarray")``. Or the exception of a call that failed
        in there; of one that failed elsewhere it is told what its line and its variables say.

    Returns
    -------
    Explained
        Which prints, shows in a notebook, and has ``to_dict()``. Where nothing was recorded of
        ``x`` it says so, and what to write.

    Raises
    ------
    TypeError
        If it is neither an array nor an exception.

    See Also
    --------
    record : What has to be around the lines that make the array.

    Notes
    -----
    Recordings are asked as long as their block is open; of those that have ended, the last. They
    hold arrays weakly. Edits are checked by running a program with them, so they are written by
    ``promoarray why SCRIPT`` alone.

    Examples
    --------
    >>> import promoarray as pa
    >>> with pa.record("promoarray"):
    ...     x = pa.asarray([1, 2], dtype=pa.int8) + 1.5
    >>> pa.why(x).to_dict()["asked"][0]["origin"][0]["why"]
    'int8 + Python float is float64'
    """
    if isinstance(x, BaseException):
        return _stopped(x)
    if not hasattr(x, "dtype"):
        raise TypeError(f"why takes an array, or the exception of a call; not {quoted(x)}")
    return of_array(x, _name())


def of_array(x: Any, name: str) -> Explained:
    """Explain an array by what it is called."""
    for framework, slot, flow in _slots(x):
        if isinstance(slot, Produced):
            return Explained(framework, None, [], asked=[(name, Origins(flow).of(slot.source, ""))])
    return Explained(_framework(x), None, [], note=_unknown(name, x))


def _name() -> str:
    """What the line that asks calls the array."""
    asked = sites()[1].expression
    given = expressions(asked) if asked.partition("(")[0].endswith("why") else []
    return given[-1] if given else "it"


def _slots(x: Any) -> Iterator[tuple[str, Any, Flow]]:
    """What an array carries of each recording."""
    if isinstance(x, Array):
        slot = x._type
        if isinstance(slot, Produced):
            yield "promoarray", slot, slot.flow
        return
    for recorder in recordings():
        yield recorder.report.framework, recorder.carried.slot(x), recorder.flow.flow


def _stopped(error: BaseException) -> Explained:
    return stopped(error, recordings()) or Explained("", None, [], note=_unheard(error))


def stopped(error: BaseException, recorders: Iterable[Recorder]) -> Explained | None:
    """Explain the call that raised an error, by what some recorders have; of one that none has, by
    what its frame has. None if it is no call that is known."""
    recorder, failed = None, None
    for recorder in recorders:
        if (failed := failed_in(recorder, error)) is not None:
            break
    if recorder is not None and failed is not None:
        framework, flow = recorder.report.framework, recorder.flow.flow
    elif (found := post_mortem.failed_of(error)) is not None:
        (framework, failed), flow = found, Flow()
    else:
        return None
    explained = Explained.of(framework, failed, flow)
    explained.note = _NO_EDIT if failed.for_a_dtype else ""
    return explained


_NO_EDIT = "  An edit is checked by a run of the program with it: promoarray why SCRIPT writes one."


def _unheard(error: BaseException) -> str:
    """Say of an exception that no recorded call raised it."""
    from promoarray.errors import PromotionError

    if isinstance(error, PromotionError):
        return str(error)
    return (
        f"{type(error).__name__}: no recorded call raised it, or another failed since. Catch it in "
        'the block that records: with pa.record("torch"): try: ... except Exception as e: '
        "print(pa.why(e))"
    )


def _framework(x: Any) -> str:
    module = type(x).__module__.partition(".")[0]
    return "jax" if module == "jaxlib" else module


def _unknown(name: str, x: Any) -> str:
    framework = _framework(x)
    if framework not in (*RECORDED, "promoarray"):
        return f"{name}: arrays of {framework} are not recorded"
    dtype = str(x.dtype).rpartition(".")[2]
    return (
        f"{name}  {dtype}: it was not made while recording. Put the lines that make it into: "
        f'with pa.record("{framework}"): ...'
    )
