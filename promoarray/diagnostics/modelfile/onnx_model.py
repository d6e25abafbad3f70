"""Answer of a process about an ONNX model: its Recording, with values where they can be had."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from promoarray.console import counted, listed
from promoarray.diagnostics.modelfile import graph
from promoarray.diagnostics.modelfile.graph import Model
from promoarray.diagnostics.modelfile.mend import missing, write_mended
from promoarray.diagnostics.modelfile.question import SECONDS, Question, Read
from promoarray.diagnostics.modelfile.recording import Recorder
from promoarray.diagnostics.modelfile.values import (
    SEED,
    Evaluation,
    given_inputs,
    made_inputs,
    spelled,
)
from promoarray.errors import clipped
from promoarray.promotion.registry import as_policy

NEWEST = 25
"""The opset that the bare name ``onnx`` stands for."""


SIZES = (2, 1, 64)
"""Where a size is not fixed: those that are tried, until every node gives values."""

MOST_TOLD = 8
"""So many edges are named."""


def recorded(question: Question) -> Read:
    """Record a model."""
    model = graph.read(question.path)
    own = f"onnx@{model.opset}"
    names = question.policies or tuple(dict.fromkeys((own, f"onnx@{NEWEST}")))
    edges, mended = missing(model), []
    if question.fix:
        mended = [
            f"Mended: {each}." for each in _some(write_mended(model, question.fix, question.inputs))
        ]
        mended.append(f"Written: {question.fix}, checked by onnx.checker and run.")
    elif edges or any(node.contradicted for node in model.nodes):
        mended = [f"{each}." for each in _some([*map(str, edges)])]
        mended.append("compare --fix FILE writes the model with the casts it lacks, checked.")
    found = _best(
        model, partial(Recorder, model, tuple(map(as_policy, names)), question.asked), question
    )
    return Read(found.found, own, names, f"onnx {graph.onnx().__version__}", tuple(mended))


def _some(lines: list[str]) -> list[str]:
    more = len(lines) - MOST_TOLD
    return [*lines[:MOST_TOLD], *([f"{counted(more, 'more edge')} of this kind"] * (more > 0))]


def _best(model: Model, recorder: Any, question: Question) -> Recorder:
    """Record it with the inputs by which most of it can be computed."""
    if not question.values:
        return _plain(recorder(), "Values were not looked at, as --dtypes-only asks.")
    if question.inputs:
        given = given_inputs(model, question.inputs)
        return _run(model, recorder(), given, f"Values of the inputs in {question.inputs}.")[1]
    free = any(s is None for v in model.inputs.values() for s in v.shape or ())
    best: tuple[int, Recorder] | None = None
    for size in SIZES if free else (1,):
        feeds = made_inputs(model, size)
        if feeds is None:
            break
        names = [f"{name} {spelled(v)}" for name, v in model.inputs.items()]
        where = f"; where a size is not fixed it is {size}" * free
        said = f"Values of random inputs of seed {SEED}: {listed(names or ['none'])}{where}."
        tried = _run(model, recorder(), feeds, said)
        if best is None or tried[0] < best[0]:
            best = tried
        if not tried[0]:
            break
    if best is None:
        return _plain(
            recorder(), "Values were not looked at: no inputs can be made; --inputs FILE."
        )
    return best[1]


def _plain(recorder: Recorder, said: str) -> Recorder:
    recorder.found.notes.insert(0, said)
    return recorder


def _run(
    model: Model, recorder: Recorder, feeds: Mapping[str, Any], said: str
) -> tuple[int, Recorder]:
    """Look at the values of one run; return how many nodes gave none, too."""
    run = Evaluation(model, recorder.saw, SECONDS)
    try:
        run.run(feeds)
    except TimeoutError:
        said += f" After {SECONDS:.0f} s no further node was computed."
    except Exception as error:
        said += f" The reference evaluator stopped: {clipped(f'{type(error).__name__}: {error}')}."
        run.failed |= dict.fromkeys((n.number for n in model.nodes), "the evaluator stopped")
    recorder.ended(run.failed)
    return len(run.failed) + run.empty, _plain(recorder, said)
