"""``promoarray align``: run two programs, and say at which operation one first leaves the other."""

from __future__ import annotations

import argparse
import ast
import json
import os
import sys
import tempfile
import zipfile
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from html import escape
from pathlib import Path

from promoarray.console import console, folded, visible
from promoarray.diagnostics.align import dtypes_alone
from promoarray.diagnostics.align.departure import DTYPE, OUTSIDE, VALUES, Departure
from promoarray.diagnostics.align.exported import candidates, dtypes_changed
from promoarray.diagnostics.align.graph import Graph, Node, Value, distance, in_layout, read
from promoarray.diagnostics.align.pairing import Pairing
from promoarray.diagnostics.align.report import Aligned
from promoarray.diagnostics.align.rounding import (
    NOISE,
    Place,
    measured,
    moved,
    moved_again,
    noise_text,
    note,
    saved_noise,
)
from promoarray.diagnostics.align.search import find
from promoarray.diagnostics.align.weights import proposed, read_map
from promoarray.diagnostics.exit_codes import (
    FAILED,
    NOTHING,
    SIGNAL,
    USAGE,
    UsageError,
)
from promoarray.diagnostics.file_format import ONNX, format_of
from promoarray.diagnostics.modelfile.reading import write_tape
from promoarray.diagnostics.progress import Progress
from promoarray.diagnostics.record.block import RECORDED
from promoarray.diagnostics.record.report import RecordedReport
from promoarray.diagnostics.record.saved import is_saved, save
from promoarray.diagnostics.record.saved import read as read_saved
from promoarray.diagnostics.record.tape import MEMBER, Array, TapeAsked
from promoarray.diagnostics.run.frameworks import expected
from promoarray.diagnostics.run.program import Ended, Program, Texts, of_script, say
from promoarray.diagnostics.run.steps import ALL, Training
from promoarray.diagnostics.run.task import Task
from promoarray.diagnostics.whole_file import require_place, write_whole
from promoarray.io.reading import explained
from promoarray.promotion.registry import as_policy

_say = partial(say, "align")

SCHEMA = Path(__file__).with_name("report.schema.json")

TAPED = ("torch", "paddle", "jax")
"""What programs of are run side by side."""


AGAIN = 8
"""So many results are taken out, where a call departs again in another pass."""


class Failed(Exception):
    """A program that did not run to its end; the message says where."""


@dataclass
class Side:
    """One of the two programs, or a run of it that was saved."""

    path: str
    arguments: list[str]
    folder: str
    most: int  # calls
    steps: Training = ALL
    saved: bool = False
    model: bool = False  # whether it is an ONNX file
    beside: Graph | None = None  # the other's run, which has the inputs of a file
    runs: int = 0
    ended: Ended | None = None
    noise: dict[Place, float] = field(default_factory=dict)
    tried: bool = False  # whether that was measured

    def measures(self, graph: Graph) -> bool:
        """Whether what rounding does to it is not known yet, and can be."""
        return not (self.saved or self.tried or graph.measured)

    def measure(
        self,
        graph: Graph,
        given: dict[str, Array] | None = None,
        made: dict[tuple[int, int], Array] | None = None,
    ) -> None:
        """Run it again with its beginning moved, so that its values know what rounding does."""
        self.tried = True
        with suppress(Failed):  # a program that minds a unit in the last place
            again = self.run(moved(graph, given or {}), moved_again(made or {}))
            self.noise = measured(graph, again)
        note(graph, self.noise)

    def run(
        self,
        given: dict[str, Array] | None = None,
        made: dict[tuple[int, int], Array] | None = None,
        texts: Texts | None = None,
    ) -> Graph:
        """Run it, with some values in place of its own, and return what it did.

        Raises
        ------
        Failed
        NotSaved, UsageError
        """
        if self.saved:
            self.noise = saved_noise(self.path)
            return note(read(self.path), self.noise)
        self.runs += 1
        tape = f"{self.folder}/{self.runs}.zip"
        asked = TapeAsked(tape, given or {}, made or {}, self.most)
        if self.model:
            write_tape(self.path, asked, candidates(self.beside))
            return note(read(tape), self.noise)
        found = expected(self.path, None, "auto", self.arguments)
        libraries = tuple(name for name in found.libraries if name in TAPED)
        if not libraries:
            known = ", ".join(TAPED)
            raise UsageError(f"{self.path} imports none of {known}, of which programs are aligned")
        home, steps = RECORDED[libraries[0]].editions[0][1], self.steps.of(libraries[0])
        task = Task((home,), framework=libraries[0], libraries=libraries, tape=asked, steps=steps)
        program: Program = of_script(self.path, self.arguments)
        ended = program.run(task, None, quiet=self.runs > 1, aside=True, texts=texts)
        self.ended = self.ended or ended
        ended.say_bugs("align")
        if ended.status or not os.path.exists(tape):
            raise Failed(ended.stopped_under(libraries[0]) if ended.status else "nothing ran")
        if ended.bugs:  # behind which nothing is known
            raise Failed(f"{self.path} was not recorded to its end")
        return note(read(tape), self.noise)

    @property
    def without_values(self) -> str:
        """Why its values cannot be compared; "" if they can."""
        if self.model:
            return ""
        if self.saved:
            with explained(f"{self.path} is no recording"), zipfile.ZipFile(self.path) as archive:
                saved = MEMBER in archive.namelist()
            return "" if saved else f"{self.path} has none (align --save keeps them)"
        found = expected(self.path, None, "auto", self.arguments).framework
        if not found or found in TAPED:
            return ""
        return f"{self.path} is a program of {found}, of which none are kept"

    def report(self) -> RecordedReport:
        """Return what it did, without values.

        Raises
        ------
        Failed
        NotSaved, UsageError
        """
        if self.saved:
            return read_saved(self.path)
        found = expected(self.path, None, "auto", self.arguments)
        if self.model or not found.framework:
            raise UsageError(f"{self.path} is no program whose dtypes are recorded")
        home = RECORDED[found.framework].editions[0][1]
        steps = self.steps.of(found.framework)
        task = Task((home,), framework=found.framework, libraries=found.libraries, steps=steps)
        self.ended = ended = of_script(self.path, self.arguments).run(
            task, None, quiet=False, aside=True
        )
        ended.say_bugs("align")
        if ended.status:
            raise Failed(ended.stopped_under(found.framework))
        report = ended.report(as_policy(home), ())
        assert isinstance(report, RecordedReport)
        return report

    def write(self, path: str) -> None:
        """Write the first run as a recording with its values."""
        assert self.ended is not None
        home = as_policy(self.ended.findings[0].run)
        save(self.ended.report(home, ()), path)
        kept = Path(path).read_bytes()
        whole = Path(self.folder, "whole.zip")
        whole.write_bytes(kept)
        with zipfile.ZipFile(whole, "a") as into, zipfile.ZipFile(f"{self.folder}/1.zip") as tape:
            for name in tape.namelist():
                into.writestr(zipfile.ZipInfo(name), tape.read(name), zipfile.ZIP_DEFLATED)
            into.writestr(zipfile.ZipInfo(NOISE), noise_text(self.noise), zipfile.ZIP_DEFLATED)
        write_whole(Path(path), whole.read_bytes())


def main(args: argparse.Namespace) -> int:
    """Run the command; return its exit status, one of ``exit_codes``."""
    if args.schema:
        sys.stdout.write(SCHEMA.read_text(encoding="utf-8"))
        return NOTHING
    with tempfile.TemporaryDirectory(prefix="promoarray-") as folder:
        sides: list[Side] = []
        try:
            for name, path in (("first", args.first), ("second", args.second)):
                sides += [_side(path, args, f"{folder}/{name}")] if path else []
            for path in filter(None, (args.html, args.save)):
                require_place(Path(path))
            if len(sides) < 2:
                return _only_saved(sides, args)
            if without := next(filter(None, (each.without_values for each in sides)), ""):
                first, second = (each.report() for each in sides)
                found = dtypes_alone.aligned(first, second, without, args.differences)
            else:
                found = _aligned(sides[0], sides[1], args)
        except Failed as error:
            _say(str(error))
            ended = next((each.ended for each in sides if each.ended and each.ended.status), None)
            return SIGNAL - ended.status if ended and ended.status < 0 else FAILED
        except (OSError, ValueError) as error:
            _say(str(error))
            return USAGE
        _write(found, args)
        return found.status


def _side(path: str, args: argparse.Namespace, folder: str) -> Side:
    os.mkdir(folder)
    if not os.path.isfile(path):
        raise UsageError(f"no such file: {path}")
    found = format_of(path)
    if found not in ("", ONNX):
        raise UsageError(
            f"{path} is a file of the format {found}; align takes programs, runs that "
            "it saved, and ONNX models"
        )
    steps = Training(args.steps, args.sample)
    return Side(path, args.args, folder, args.calls or 0, steps, is_saved(path), found == ONNX)


def _only_saved(sides: list[Side], args: argparse.Namespace) -> int:
    side = next(iter(sides), None)
    if side is None or not args.save or side.saved or side.model:
        raise UsageError("name two programs; or one, and --save RUN.zip to align it later")
    side.measure(side.run())
    side.write(args.save)
    print(f"Written: {args.save}")
    return NOTHING


def _aligned(first: Side, second: Side, args: argparse.Namespace) -> Aligned:
    """Run both, the second as often as there are differences to take out."""
    asked = read_map(args.weights)
    with Progress() as progress:
        progress.step(f"running {first.path}", 0.0)
        # the inputs of a file are the other's
        before = first.beside = second.run() if first.model and not second.model else None
        theirs = second.beside = first.run()
        progress.step(f"running {second.path}", 0.2)
        mine = before or second.run()
        copied, alone, (own, others) = proposed(theirs, mine, asked)
        given = {each.second.name: each.values for each in copied} | others
        if (given and second.saved) or (own and first.saved):
            which = second.path if given and second.saved else first.path
            raise UsageError(f"{which} is saved, and begins with other numbers: name the program")
        theirs = first.run(own) if own else theirs
        mine = second.run(given) if given else mine
        found = Aligned(theirs, mine, copied, alone, {*own, *others})
        made: dict[tuple[int, int], Array] = {}
        pair = partial(Pairing, packed={each.packed for each in copied if each.packed})
        while True:
            progress.step("looking for the next difference", 0.5)
            pairing = pair(theirs, mine)
            departure = find(pairing, made)
            if not made:
                found.changed = dtypes_changed(pairing)
            if departure is not None and departure.kind in (VALUES, OUTSIDE):
                progress.step("measuring what rounding does", 0.3)
                if second.measures(mine):
                    second.measure(mine, given, made)
                    continue
                if first.measures(theirs):
                    first.measure(theirs, own)
                    continue
            found.count(pairing, departure is None)
            if departure is None and found.open and pairing.noise and first.measures(theirs):
                first.measure(theirs, own)  # in which the same may be noise
                continue
            if departure is None:
                return found
            behind = departure.kind == OUTSIDE or _is_of_gradients(departure.second, pairing)
            if behind and _gradients_go_through(mine, made):
                found.ended = "Gradients go through the line named: they were not looked at."
                return found
            again = any(map(departure.repeats, found.departures))
            if again and len(made) >= AGAIN:
                found.ended = "The call departs again: what follows was not looked at."
                return found
            if not again:
                if args.edit and not (second.saved or second.model):
                    _try_edit(departure, second, partial(pair, theirs), given, made)
                found.departures.append(departure)
            if len(found.departures) >= args.differences:
                found.ended = "What follows was not looked at (--differences)."
                return found
            if departure.kind == DTYPE and departure.theirs is None:  # of ``of_cast_alone``
                found.ended = "Rounding around the cast may hide more: mend it, and align again."
                return found
            counterpart = _counterpart(departure, pairing)
            if counterpart is None or second.saved:
                found.ended = "What follows was not looked at: nothing stands for the result there."
                return found
            at = (departure.goes_on or departure.second).number
            if (at, counterpart[0]) in made:
                found.ended = "It stays when it is taken out: what follows was not looked at."
                return found
            made[at, counterpart[0]] = counterpart[1]
            mine = second.run(given, made)


def _gradients_go_through(run: Graph, made: Collection[tuple[int, int]]) -> bool:
    """Whether gradients go through a call of which a result was taken out, as of the call itself.

    None go through what a call writes into its operands: running averages, or weights.
    """
    into = {id(then) for node in run.nodes for _, then in node.replaced}
    calls = {node.number: node for node in run.nodes if not node.step}
    return any(id(calls[number].results[place]) not in into for number, place in made)


def _is_of_gradients(node: Node, pairing: Pairing) -> bool:
    """Whether a node of the second run, or what takes it in, is made of what no recorded call made
    and has no pair."""
    left = [node, *(each for x in node.results for each in x.readers)]
    seen = {*left}
    for each in left:  # which grows
        if any(x.maker is None and x.inexact and x not in pairing.pairs for x in each.operands):
            return True
        makers = {x.maker for x in each.operands if x.maker is not None} - seen
        seen |= makers
        left += makers
    return False


def _counterpart(departure: Departure, pairing: Pairing) -> tuple[int, Array] | None:
    """What the second program goes on with: the first's value of its call's result."""
    number, first = (departure.goes_on or departure.second).number, departure.first
    call = next(n for n in pairing.second.nodes if n.number == number and not n.step)
    if first is None:
        return None
    if (instead := departure.instead) is not None:
        moved = in_layout(instead, call.results[0])
        return None if moved is None else (0, moved)
    behind: list[Node] = []
    left = [first]
    while left and len(behind) < 60:
        node = left.pop(0)
        if node not in behind:
            behind.append(node)
            left += [each for x in node.results for each in x.readers]
    places = [n for n, x in enumerate(call.results) if x.array is not None]
    departing = [n for n in places if call.results[n] in pairing.departing(call)]
    for place in departing or places:
        x = call.results[place]
        same = [
            (distance(y, x), node.operation != call.operation, y)
            for node in behind
            if not node.step
            for y in node.results
            if y.size == x.size and y.array is not None
        ]
        near: list[Value] = [y for *_, y in sorted(same, key=lambda each: each[:2])]
        alike = [y for _, other, y in sorted(same, key=lambda e: e[:2]) if not other]
        chosen = (alike or near)[:1] if call.operation else near[:1]
        step, theirs = first.step and departure.goes_on is None, departure.theirs
        if step and theirs is not None and theirs.size == x.size:
            whole = [y for *_, y in same if y.maker and y.maker.number == first.number]
            chosen = [min((theirs, *whole), key=lambda y: distance(y, x))]
        if not chosen and departure.theirs and departure.theirs.size == x.size:
            chosen = [departure.theirs]  # a step of a function
        if chosen and (moved := in_layout(chosen[0], x)) is not None:
            return place, moved
    return None


def _try_edit(
    departure: Departure,
    second: Side,
    pair: Callable[[Graph], Pairing],
    given: dict[str, Array],
    made: dict[tuple[int, int], Array],
) -> None:
    """Write the first's number in the place of the second's, where that ends the difference."""
    place = departure.second.place
    if departure.numbers is None:
        return
    try:
        text = Path(place.file).read_text(encoding="utf-8")
        tree = ast.parse(text)
    except (OSError, SyntaxError, ValueError):
        return
    number, wanted = departure.numbers[1], repr(departure.numbers[0])
    lines = text.splitlines(keepends=True)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            if node.value != number or node.lineno != place.line:
                continue
            line = lines[place.line - 1].encode()
            changed = line[: node.col_offset] + wanted.encode() + line[node.end_col_offset :]
            lines[place.line - 1] = changed.decode()
            texts = {Path(place.file): "".join(lines).encode()}
            try:
                after = find(pair(second.run(given, made, texts)), made)
            except Failed:
                return
            if after is None or after.at != departure.at:
                departure.edit = lines[place.line - 1].strip()
                departure.then = "checked: with it, the line gives what the first program's does"
            return


def _write(found: Aligned, args: argparse.Namespace) -> None:
    sys.stdout.flush()
    if args.json:
        print(json.dumps(found.to_dict(), indent=2))
    else:
        from rich.text import Text

        target = console(None)
        for line in found.lines():
            for part in folded(Text(visible(line)), target, target.width):
                print(part.plain)
    if args.html:
        body = escape("\n".join(map(visible, found.lines())))
        title = escape(f"{args.first} and {args.second}")
        page = (
            "<!doctype html><html lang=en><meta charset=utf-8>"
            f"<title>promoarray align {title}</title><h1>{title}</h1><pre>{body}</pre></html>\n"
        )
        write_whole(Path(args.html), page)
