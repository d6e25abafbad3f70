"""Compiled parts of a PyTorch program: run eagerly while it is recorded, or named where it runs.

Dynamo would trace the mode with the program, and compute something else. With every call of what it
compiled it asks for its stance: it is told that of ``force_eager``, whatever the program sets.
A function that is scripted runs as Python has it; the rest of TorchScript runs in C++ as ever,
where no mode hears of it. What only traces, such as an export, traces as ever, unheard: the graph
that it makes is recorded when it runs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial, wraps
from typing import Any

import torch
from torch.fx.experimental import proxy_tensor

from promoarray.diagnostics.record.call import Call
from promoarray.diagnostics.record.replaced import Place, Watched, carry_out, unheard
from promoarray.diagnostics.record.report import EAGER

BY_ITSELF = "it runs what was compiled, where no Python function is called"

_TRACING: tuple[tuple[Any, *tuple[str, ...]], ...] = (
    (torch.jit, "trace", "trace_module"),
    (torch.export, "export", "save", "load"),
    (torch.export.ExportedProgram, "run_decompositions"),
    (torch.onnx, "export"),
    (getattr(proxy_tensor, "_MakefxTracer", None), "trace"),
)


def places(watched: Watched) -> Iterator[Place]:
    """What is replaced from the start on; once Dynamo is loaded there is more."""
    frames, name = torch._C._dynamo.eval_frame, "set_eval_frame"  # which Dynamo takes from there
    yield Place(frames, name, frames.set_eval_frame, _eager(watched, frames.set_eval_frame))
    yield from _of_dynamo(watched)
    for kind in (torch._C.ScriptFunction, torch._C.ScriptMethod):
        call = vars(kind)["__call__"]
        yield Place(kind, "__call__", call, _by_itself(watched, call, "TorchScript"))
    for owner, name, what in (
        (torch.cuda.CUDAGraph, "replay", "a CUDA graph"),
        (torch.func, "linearize", "torch.func.linearize"),  # which traces, and computes
    ):
        if function := getattr(owner, name, None):
            yield Place(owner, name, function, _by_itself(watched, function, what))
    for owner, *names in _TRACING:
        for name in names:
            if function := getattr(owner, name, None):  # not all have all of them
                yield Place(owner, name, function, unheard(watched, function))


# -- Dynamo ---------------------------------------------------------------------------------------


def _of_dynamo(watched: Watched) -> Iterator[Place]:
    """What is replaced of Dynamo, once it is loaded."""
    frames = sys.modules.get("torch._dynamo.eval_frame")
    for name in ("_callback_from_stance", "set_eval_frame"):
        if (before := getattr(frames, name, None)) is not None:
            yield Place(frames, name, before, _eager(watched, before))
    name = "set_fullgraph_compiled_frame_count"
    if (before := getattr(frames, name, None)) is not None:
        yield Place(frames, name, before, _one_frame(watched, before))


def _eager(watched: Watched, function: Callable[..., Any]) -> Callable[..., Any]:
    """What stands in the place of a function that is given what Dynamo does with the frames of a
    call: nothing, if the call is recorded."""

    @wraps(function)
    def answered(callback: Any) -> Any:
        if not watched.watchers:  # Dynamo may trace what runs here: no generator, which it refuses
            return function(callback)
        for place in _of_dynamo(watched):
            watched.add(place)
        if callback:
            callback = None
            for watcher in watched.watchers:
                watcher.recorder.count(EAGER, "torch.compile")
        return function(callback)

    return answered


def _one_frame(watched: Watched, function: Callable[..., Any]) -> Callable[..., Any]:
    """What stands in the place of the count of frames, of which ``fullgraph=True`` requires one."""

    @wraps(function)
    def counted(count: int) -> int:
        before: int = function(count)
        return (before or 1) if watched.watchers else before

    return counted


# -- what runs by itself --------------------------------------------------------------------------


def _by_itself(watched: Watched, function: Callable[..., Any], what: str) -> Callable[..., Any]:
    """What stands in the place of a function that runs what was compiled, which is named."""

    def named(call: Call) -> None:
        call.recorder.unexamined(call.name, BY_ITSELF, call.frame, called=True)
        for result in call.results():
            call.recorder.made(result)

    @wraps(function)
    def called(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        eager = getattr(
            self, "_torchdynamo_inline", None
        )  # the function, for Dynamo to run instead
        script = getattr(self, "__name__", "") == "ScriptFunction"  # no trace has a name
        if eager is not None and script and watched.watchers:
            for watcher in watched.watchers:
                watcher.recorder.count(EAGER, "torch.jit.script")
            return eager(*args, **kwargs)
        name = f"{self.name} in {what}" if hasattr(self, "name") else what
        given = called, name, named, args, kwargs, sys._getframe(1)
        with watched.silent() as watchers:
            return carry_out(watchers, *given, partial(function, self))

    return called
