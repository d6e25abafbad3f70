"""Chapters, and how they are measured: several passes over each, every pass a process of its own.

A process has its layout of memory, its hash seeds and its minute of the machine, which move all of
its times together; what repeated minima of one process would call noise is less than what two runs
differ by. So the noise of a line is what its passes differ by.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

CHAPTERS = {
    "dispatch": "one_element:lines",
    "operations": "operations:lines",
    "throughput": "throughput:lines",
    "chains": "throughput:chains",
    "casts": "casts:lines",
    "memory": "memory:lines",
    "threads": "threads:lines",
    "reports": "reports:lines",
    "start": "start:lines",
    "growth": "growth:lines",
}
"""Each chapter, and the generator of its lines."""

WITH_PEERS = ("dispatch", "throughput", "chains", "casts")
"""Chapters that other libraries stand in; the others do without, a process has less in it."""


class Asked(NamedTuple):
    """What is to be measured."""

    chapters: tuple[str, ...]
    peers: tuple[str, ...]
    quick: bool
    passes: int
    only: str = ""
    lot: str = ""


Event = dict[str, Any]
"""What a pass tells: a line, or why a chapter or a peer is left out."""


# --- In the process of a pass --------------------------------------------------------------------


def one_pass(asked: Asked) -> Iterator[Event]:
    """Measure the chapters once."""
    from machine import load
    from measure import Options, Unavailable, measure
    from peers import keep_to_one_core
    from peers import load as load_peers

    options = Options(asked.quick, asked.lot)
    wanted: tuple[str, ...] = ()
    if set(asked.chapters) & {*WITH_PEERS}:
        keep_to_one_core()
        wanted = asked.peers
    peers, missing = load_peers(wanted)
    for name, why in missing.items():
        yield {"peer": name, "why": why}
    for chapter in asked.chapters:
        module, _, name = CHAPTERS[chapter].partition(":")
        yield {"chapter": chapter, "load": load()}
        try:
            for line in getattr(import_module(module), name)(peers, options):
                if asked.only in line.name:
                    told = {"line": line.name, "unit": line.unit, "bounds": dict(line.bounds)}
                    yield {"chapter": chapter, **told, "values": measure(line, options)}
        except Unavailable as error:
            yield {"chapter": chapter, "why": str(error)}


def main() -> None:
    """Run a pass as the parent asks for it, and write what it tells to the file it names."""
    target, text = sys.argv[1:]
    given = json.loads(text)
    asked = Asked(**given | {key: tuple(given[key]) for key in ("chapters", "peers")})
    with open(target, "w", encoding="utf-8") as file:
        for event in one_pass(asked):
            file.write(json.dumps(event) + "\n")
            file.flush()


# --- In the process that asks --------------------------------------------------------------------


def run(asked: Asked, tell: Callable[[str], None]) -> dict[str, Any]:
    """Measure what is asked for; return the chapters and what was left out."""
    chapters: dict[str, dict[str, Any]] = {
        name: {"load": [], "left_out": None, "lines": []} for name in asked.chapters
    }
    left_out: dict[str, str] = {}
    for number in range(asked.passes):
        tell(f"pass {number + 1} of {asked.passes}")
        for part in _parts(asked.chapters):
            for event in _process(asked._replace(chapters=part), tell):
                _keep(event, chapters, left_out)
    return {"chapters": chapters, "left_out": left_out}


def _parts(chapters: Iterable[str]) -> Iterator[tuple[str, ...]]:
    """The chapters with peers share a process, as importing those takes longest."""
    if together := tuple(name for name in chapters if name in WITH_PEERS):
        yield together
    yield from ((name,) for name in chapters if name not in WITH_PEERS)


def _process(asked: Asked, tell: Callable[[str], None]) -> Iterator[Event]:
    from peers import ENVIRONMENT

    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder, "events")
        command = [sys.executable, __file__, str(target), json.dumps(asked._asdict())]
        tell(f"  {', '.join(asked.chapters)}")
        done = subprocess.run(
            command, env=os.environ | ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        if target.exists():
            yield from map(json.loads, target.read_text(encoding="utf-8").splitlines())
        if done.returncode:
            said = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
            why = f"its process ended with status {done.returncode}: {''.join(said)}"
            for chapter in asked.chapters:
                yield {"chapter": chapter, "why": why}


def _keep(event: Event, chapters: dict[str, dict[str, Any]], left_out: dict[str, str]) -> None:
    if "peer" in event:
        left_out[event["peer"]] = event["why"]
        return
    chapter = chapters[event["chapter"]]
    if "why" in event:
        chapter["left_out"] = event["why"]
    elif "load" in event:
        chapter["load"].append(event["load"])
    else:
        _add(event, chapter["lines"])


def _add(event: Event, lines: list[dict[str, Any]]) -> None:
    """Put a pass's numbers to those of the passes before."""
    for line in lines:
        if line["name"] == event["line"]:
            break
    else:
        told = {"unit": event["unit"], "bounds": event["bounds"]}
        line = {"name": event["line"], **told, "values": {}}
        lines.append(line)
    for who, number in event["values"].items():
        line["values"].setdefault(who, []).append(number)


if __name__ == "__main__":
    main()
