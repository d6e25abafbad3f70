"""Call every public function of an installed framework while it is recorded: which are understood?

    python conformance/understood.py torch|paddle|jax|numpy [--module NAME] [--only NAME]
    python conformance/understood.py torch paddle jax numpy --write    # keeps what was answered
    python conformance/understood.py --tables      # makes the recorder's table of what was kept
    python conformance/understood.py --publish     # and the docs' page

Arguments that a function accepts come from PyTorch's own samples (``op_db``, which needs
``expecttest``), or are found by trying (``arguments.py``). Then it is called with operands of every
dtype, and with pairs. A function that no arguments were found for is named as not tried.

``golden/understood/<framework>.json`` has of each function as what the recorder counts it, and the
dtypes of its results, by those of its operands.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import signal
import subprocess
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from importlib import import_module
from itertools import product
from pathlib import Path
from time import process_time
from typing import Any

import promoarray as pa
from promoarray.diagnostics.record.recorder import Recorder
from promoarray.diagnostics.record.report import (
    APPROXIMATE,
    CAST,
    MAKE,
    MOVE,
    OPERATION,
    REFUSES,
    UNKNOWN,
)
from promoarray.dtypes import BY_NAME
from promoarray.promotion.plan import Refusal

sys.path.insert(0, str(Path(__file__).resolve().parent))
import understood_tables
from arguments import Given, is_operand, leaves, mapped, parameters_of, tried
from namespaces import FRAMEWORKS, Asked
from runner import fill, markdown

HERE = Path(__file__).resolve().parent
GOLDEN = HERE / "golden" / "understood"
PAGE = HERE.parent / "docs" / "understood.md"
LIMIT = 40
"""So many seconds of computing a function may take, with all dtypes."""
LOOKING = 3
"""So many of them arguments are looked for."""
PAIRED = ["bool", "int32", "int64", "float16", "float32", "complex64"]
"""Dtypes of which functions of several operands are asked every pair."""


class Loose:
    """The dtypes of results that our policy does not give for the last step of an expansion."""

    def __init__(self) -> None:
        self.found: Counter[str] = Counter()
        self._saw = Recorder.saw

    def __enter__(self) -> Loose:
        def saw(
            recorder: Any, name: str, operands: Any, result: Any, *args: Any, **how: Any
        ) -> Any:
            part_of = how.get("part_of") or ""
            if not how.get("exact", True) and result.array is not None:
                self._compare(recorder, name, operands, result, how, part_of)
            return self._saw(recorder, name, operands, result, *args, **how)

        Recorder.saw = saw  # type: ignore[method-assign]
        return self

    def __exit__(self, *raised: object) -> None:
        Recorder.saw = self._saw  # type: ignore[method-assign]

    def _compare(
        self, recorder: Any, name: str, operands: Any, result: Any, how: Any, part_of: str
    ) -> None:
        home = recorder.home
        seen = tuple(pa.core.operands.operand_of(x, home) for x in operands)
        form, options = how.get("form", pa.operations.Form.OPERATOR), how.get("options", {})
        decided = home.decide(name, seen, tuple(operands), form, options=options)
        said = REFUSES
        if not isinstance(decided, Refusal):
            said = (
                decided.plan.result if home.weak_arrays else home.strong(decided.plan.result)
            ).name
        if said != result.dtype.name:
            given = ", ".join(map(str, seen))
            self.found[f"{part_of} as {name}({given}): {said}, not {result.dtype.name}"] += 1


def call(function: Any, args: Any, kwargs: Any) -> Any:
    """Carry out a call; of NumPy's this line is rewritten."""
    return function(*args, **kwargs)


class Trial:
    """One function that is asked, and what was told of it.

    Parameters
    ----------
    asked : Asked
    name : str
    function : callable
    report : RecordedReport
    """

    def __init__(self, asked: Asked, name: str, function: Callable[..., Any], report: Any) -> None:
        self._asked, self._name, self._function, self._report = asked, name, function, report
        self.told: Counter[tuple[str, str]] = Counter()

    def carry_out(self, given: Given, dtypes: list[str]) -> list[str]:
        """Call it with operands of these dtypes; return those of its results."""
        rest = iter(dtypes)

        def argument(x: Any) -> Any:
            return self._asked.argument(x, next(rest) if is_operand(x) else "")

        args, kwargs = mapped(argument, given.args), mapped(argument, given.kwargs)
        self._report.understood  # noqa: B018  # counts what was counted elsewhere
        self._report.calls.clear()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = self._asked.carry_out(call, self._function, args, kwargs)
        self._report.understood  # noqa: B018
        told = Counter(self._report.calls)
        found = self._asked.dtypes_of(made)
        self.told += told
        return found

    def given(self) -> Given | None:
        """Arguments that it accepts: operands if it takes any, that make an array if any do."""
        accepted, fallen = None, False
        begun = process_time()
        for dtype, given in product(("float32", "int64", "complex64"), [*self._candidates()]):
            if process_time() - begun > LOOKING:
                break
            with suppress(Exception):
                made = self.carry_out(given, [dtype] * given.operands)
                self.told.clear()
                if made and given.operands:
                    return given
                accepted = given if made and not fallen else accepted or given
                fallen = fallen or bool(made)
            if fallen and dtype != "float32":
                break
        return accepted

    def _candidates(self) -> Iterator[Given]:
        yield from self._asked.samples(self._name)
        for parameters in parameters_of(self._asked.spelt(self._function)):
            yield from tried(parameters)


def answers(asked: Asked, name: str, function: Any, report: Any, loose: Loose) -> dict[str, Any]:
    """What was told of a function, and what it answered by the dtypes of its operands."""
    trial = Trial(asked, name, function, report)
    given = trial.given()
    if given is None:
        return {}
    report.drift.clear(), loose.found.clear()
    rows = {}
    slots = given.operands
    single = [[d] * slots for d in asked.dtypes]
    pairs = [[a] + [b] * (slots - 1) for a, b in product(PAIRED, PAIRED) if a != b]
    pairs = [pair for pair in pairs if set(pair) <= set(asked.dtypes)]
    for dtypes in single + (pairs if slots > 1 else []):
        with suppress(Exception):
            rows[" ".join(dtypes[:2])] = " ".join(trial.carry_out(given, dtypes))
    kinds = Counter[str]()
    for (kind, _), count in trial.told.items():
        kinds[kind] += count
    return {
        "kind": UNKNOWN if UNKNOWN in kinds else max(kinds, key=kinds.__getitem__, default=""),
        "names": sorted({n for _, n in trial.told}),
        "drift": [*map(str, report.drift), *loose.found],
        "slots": [i for i, x in enumerate(given.args) if any(map(is_operand, leaves(x)))],
        "rows": rows,
    }


def ask(framework: str, only: str, module: str, begin: int, out: Any) -> None:
    """Ask the functions of a framework from one on, and write what was answered, a line each."""
    asked = FRAMEWORKS[framework]()
    asked.examples()  # before anything is recorded
    with Loose() as loose, pa.record(framework, "numpy@2") as report:
        every = list(asked.functions())  # those that stand there while it is
        for number, (of, name, function) in enumerate(every):
            if (
                number < begin
                or (module and of != module)
                or (only and name not in only.split(","))
            ):
                continue
            print(json.dumps([number, of, name]), file=out, flush=True)
            signal.setitimer(signal.ITIMER_PROF, LIMIT)
            signal.alarm(LIMIT * 5)
            found = answers(asked, name, function, report, loose)
            print(json.dumps([number, of, name, found]), file=out, flush=True)


def main(words: list[str]) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("frameworks", nargs="*", metavar="framework")
    parser.add_argument(
        "--module", default="", help="the functions of one module, as torch.special"
    )
    parser.add_argument("--only", default="", help="some functions, with commas")
    parser.add_argument("--tables", action="store_true", help="make the recorder's table")
    parser.add_argument("--publish", action="store_true", help="write the docs' page")
    parser.add_argument("--write", action="store_true", help="keep what was answered")
    parser.add_argument("--begin", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args(words)
    for framework in options.frameworks:
        if options.begin is not None:
            ask(framework, options.only, options.module, options.begin, sys.stdout)
            continue
        found = list(_in_processes(framework, options))
        show(found)
        if options.write:
            write(framework, found)
    if options.tables:
        understood_tables.write(
            {name: read(name)[1] for name in FRAMEWORKS if (GOLDEN / f"{name}.json").exists()}
        )
    if options.publish:
        publish()
    return 0


def write(framework: str, found: list[list[Any]]) -> None:
    """Keep what was answered: functions that answer alike share a row."""
    rows: list[dict[str, str]] = []
    functions = []
    for _, module, name, answer in found:
        kept = {key: x for key, x in answer.items() if x and key != "rows"}
        if answer:
            row = {_coded(given): _coded(made) for given, made in answer["rows"].items()}
            rows += [row] * (row not in rows)
            kept["row"] = rows.index(row)
        functions.append([module, name, kept])
    version = import_module(framework).__version__
    data = {"version": version, "date": datetime.now(UTC).date().isoformat()}
    lines = [f'"{key}": {json.dumps(value)}' for key, value in data.items()]
    for key, values in (("rows", rows), ("functions", functions)):
        lines.append(f'"{key}": [\n' + ",\n".join(map(json.dumps, values)) + "\n]")
    path = GOLDEN / f"{framework}.json"
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def _coded(dtypes: str) -> str:
    return " ".join(BY_NAME[x].code if x in BY_NAME else x for x in dtypes.split())


def read(framework: str) -> tuple[str, list[list[Any]]]:
    """Read what was kept: of which version and when, and the answers."""
    data = json.loads((GOLDEN / f"{framework}.json").read_text(encoding="utf-8"))
    empty = {"kind": "", "names": [], "drift": [], "slots": []}
    found = [
        [0, module, name, empty | kept | {"rows": data["rows"][kept["row"]]} if kept else {}]
        for module, name, kept in data["functions"]
    ]
    return f"{data['version']}, {data['date']}", found


def _in_processes(framework: str, options: Any) -> Iterator[list[Any]]:
    """What was answered, by processes that a function may end."""
    begin, last = 0, None
    while begin is not None:
        command = [sys.executable, __file__, framework, "--begin", str(begin)]
        command += ["--module", options.module, "--only", options.only]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            begin = None
            for line in process.stdout or ():
                if line[0] != "[":
                    continue
                last = json.loads(line)
                if len(last) == 4:
                    yield last
                    if sys.stderr.isatty():
                        print(f"\r{framework}: {last[1]}.{last[2]}\33[K", end="", file=sys.stderr)
        if process.returncode < 0 and last is not None and len(last) == 3:  # it ended the process
            yield [*last, {}]
            begin = last[0] + 1
        elif process.returncode:
            raise SystemExit(process.returncode)


def show(found: list[list[Any]]) -> None:
    """Print the share understood by module, and the names that are not."""
    for module, rows in by_module(found).items():
        of = Share(rows)
        told = ", ".join(f"{n} {kind}" for kind, n in of.kinds.most_common())
        print(f"{module}: {of.understood} of {of.asked}, {of.text} understood: {told}")
        print(f"   not understood: {' '.join(of.not_understood)}")
        print(f"   not tried: {' '.join(of.not_tried)}")
        drift = [line for row in rows if row[3] for line in row[3]["drift"][:1]]
        print(*(f"   drift {line}" for line in drift), sep="\n")


class Share:
    """How many of some functions are understood.

    What makes no array, and tells nothing, only asks: it is not counted.
    """

    def __init__(self, rows: list[list[Any]]) -> None:
        asked = [row for row in rows if row[3] and (row[3]["kind"] or any(row[3]["rows"].values()))]
        self.kinds = Counter(row[3]["kind"] for row in asked if row[3]["kind"] not in ("", UNKNOWN))
        self.asked, self.understood = len(asked), self.kinds.total()
        self.not_understood = [row[2] for row in asked if row[3]["kind"] in ("", UNKNOWN)]
        self.not_tried = [row[2] for row in rows if not row[3]]

    @property
    def text(self) -> str:
        """The share, rounded down."""
        return f"{math.floor(1000 * self.understood / max(self.asked, 1)) / 10} %"


KINDS = (OPERATION, APPROXIMATE, MOVE, MAKE, CAST)


def publish() -> None:
    """Write what was kept into the docs' page."""
    shares, left = [], []
    for framework in FRAMEWORKS:
        version, found = read(framework)
        modules = by_module(found)
        for module, rows in {f"**{framework} {version}**": found, **modules}.items():
            of = Share(rows)
            counts = (str(of.kinds[kind] or "") for kind in KINDS)
            shares.append([module, str(of.asked), of.text, *counts, str(len(of.not_tried) or "")])
            if module in modules:
                left += [[module, " ".join(of.not_understood), " ".join(of.not_tried)]]
    header = ["module", "functions", "understood", *KINDS, "not tried"]
    names = ["module", "not understood", "not tried"]
    parts = {"shares": markdown(header, shares), "names": markdown(names, left)}
    fill(PAGE, parts)


def by_module(found: list[list[Any]]) -> dict[str, list[list[Any]]]:
    """The rows of each module."""
    made: dict[str, list[list[Any]]] = {}
    for row in found:
        made.setdefault(row[1], []).append(row)
    return made


if __name__ == "__main__":
    os.environ.setdefault("GLOG_minloglevel", "4")
    sys.exit(main(sys.argv[1:]))
