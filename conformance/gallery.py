"""Run the examples; write docs/gallery.md, or check that it is true.

    python conformance/gallery.py            exit status 1 if something differs from what is made
    python conformance/gallery.py --write    write it

Made are the page, the reports of the longer programs, ``examples/reports/``, and the program that
``promoarray port`` writes. A program's docstring has its title, in the threads the address, and its
command. Programs of libraries that are not installed keep what the page has of them.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from promoarray.diagnostics.progress import Progress

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "gallery.md"

INTRODUCTION = """\
# Gallery

Problems that people asked about in public, each as a program of a few lines, with the report and
the line to write. The first ones are written in the array API, for `promoarray compare`; then come
programs of PyTorch, JAX and NumPy that stop over a dtype (`promoarray why`), and that lose numbers
(`promoarray check`). The longer programs at the end have whole reports in `examples/reports/`.
`python conformance/gallery.py --write` makes this page. [ported.md](ported.md) shows how programs
run in the real frameworks after `promoarray port`.
"""

THREADS = {
    "NumPy 1 to NumPy 2": ("packet_bytes", "zero_d_scalar", "unsigned_offset"),
    "Another dtype, without a word": ("silent_upcast", "integer_plus_float", "zero_d_tensor"),
    "Refused elsewhere": ("mixed_multiply", "where_scalar", "same_dtype_only"),
    "Casts to low precision and to integers": (
        "float8_overflow",
        "nan_to_integer",
        "float8_mixed",
    ),
    "Stopped over a dtype": (
        "lora_input",
        "image_features",
        "clamp_targets",
        "masked_half",
        "autocast_query",
        "fire_counter",
    ),
    "Numbers that were lost": (
        "vegetation_index",
        "neighbour_weights",
        "rotary_positions",
        "powers_of_256",
        "posix_times",
    ),
}
PROGRAMS = {
    "digits": """\
Means and sums of integers decide: `xp.mean(images)` of uint8 (line 26) is float64 in NumPy and
float32 in JAX, stays uint8 in TensorFlow and Paddle, which leaves an integer of the brightness, and
is refused by PyTorch, aclnn and ONNX. Write `xp.mean(xp.astype(images, xp.float64))`, and likewise
for the accuracy, a mean of bools (line 78). With these two and `edges / 16` (line 34) JAX with x64
has NumPy's dtypes; PyTorch needs ten casts.""",
    "attention": """\
Almost everything stays bfloat16. The positions do not: a quotient of integers (line 57) is float64
in NumPy and JAX, float32 in PyTorch, Paddle and aclnn. Of `xp.where(causal, scores, -1e9)` (line
65) Paddle makes float32, and all after it is float32, too: write the number as
`xp.asarray(-1e9, dtype=xp.bfloat16)`. NumPy 1 has no bfloat16 and aclnn no float8; the report names
what to use there.""",
    "kmeans": """\
`xp.sum` of uint16 squares (line 30) is uint64 in NumPy and JAX, int64 in PyTorch, int32 in
TensorFlow; in Paddle it stays uint16, which a squared distance of two colours exceeds. Summing
`xp.astype(..., xp.uint64)` is right everywhere. Sums of uint8 (line 37), a quotient of integers
(line 38) and uint8 times a Python float (line 42) are the other lines to edit.""",
    "image_pipeline": """\
`mask / 255` (line 26) is float64 in NumPy, float32 in JAX, PyTorch, TensorFlow, Paddle and aclnn,
and stays uint8 in ONNX: 0, but where the mask is 255. Write `xp.astype(mask, xp.float64) / 255`, or
float32 if the model has no use for more. uint16 beside float32 (line 22) is refused by four
policies, and 0 as an operand of `where` (line 20) by Paddle: cast the one, and give the other its
dtype. The thumbnail (line 39) has the same dtype everywhere, but not the same bytes: sharpening
goes beyond 255, which wraps in NumPy and is 255 in JAX and TensorFlow; clip it before.""",
    "training": """\
Adam's corrections decide: `0.9**step` of an int64 step (line 41) is float64 in NumPy, so that
`corrected` is, and float32 in PyTorch, Paddle, aclnn and ONNX. In JAX `step` is weakly typed, as
`xp.asarray(0)` was made of a Python number, and `corrected` is float32 as well. The casts are at
lines 41 and 42. `weights -= ...` (line 43) keeps float32 where it is in place; where it is not,
float64 on its right makes the weights float64: there write
`weights = xp.astype(weights - ..., xp.float32)`.""",
    "telemetry": """\
NumPy 2 refuses two lines, bytes times 256 (lines 25 and 33): cast the bytes to uint16 before. One
changes without an error: a Python float times a 0-d float32 (line 29) was float64. `promoarray port
examples/telemetry.py --run numpy@1 --to numpy@2` wrote
[telemetry_ported.py](../examples/telemetry_ported.py), four casts, one of which keeps `kelvin`
float32 after the offset is float64 again.""",
}
"""Longer programs, and what their reports found."""

PORTED = "telemetry", "numpy@1", "numpy@2"
"""The program that is ported, from which policy and to which."""

_COMMAND = re.compile(r"^ {4}promoarray ((?:compare|why|check) .+?)(?: +#.*)?$", re.MULTILINE)


@dataclass(frozen=True)
class Example:
    """A program of the gallery.

    Attributes
    ----------
    path : Path
    title, words, address, command : str
        What its docstring says: the first sentence, the paragraphs after it, and how it is run.
    code : str
        What follows the docstring.
    """

    path: Path
    title: str
    words: str
    address: str
    command: str
    code: str

    @property
    def link(self) -> str:
        """Its path from the page."""
        return f"../{self.path.relative_to(ROOT).as_posix()}"


def example(path: Path) -> Example:
    """Read a program."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    told = ast.get_docstring(tree) or ""
    command = _COMMAND.search(told)
    if command is None:
        raise ValueError(
            f"{path} has no line that begins with '    promoarray', and compare, why or check"
        )
    docstring = tree.body[0]
    code = "\n".join(text.splitlines()[docstring.end_lineno or 0 :]).strip("\n")
    title, *words = _COMMAND.sub("", told).replace("::", ".").strip().split("\n\n")
    address = next((each for each in words if each.startswith("https://")), "")
    said = [each.strip() for each in words if each != address and not each.startswith(" ")]
    return Example(path, title, "\n\n".join(said), address, command[1], code)


def printed(shown: Example, known: dict[str, str]) -> str:
    """Return what a program prints, run as its docstring says; what is known where it is that."""
    before = known.get(shown.command, "")
    if before and not all(map(find_spec, _LIBRARIES.findall(shown.code))):
        return before
    command, *words = shlex.split(shown.command)
    words += ["--edit"] if command != "compare" else []  # however slow the machine is
    text = _promoarray(command, *words).rstrip()
    if not text:
        raise RuntimeError(f"promoarray {shown.command} printed nothing")
    text = _VERSION.sub(r"\1\2...", text)
    return before if text.split() == before.split() else text


_LIBRARIES = re.compile(r"^import (\w+)", re.MULTILINE)
_VERSION = re.compile(r"\b(numpy |torch )(\d+)\.[\d.]+\d(?:\+\w+)?")
"""Of the libraries that a report names; lines may break elsewhere with another one."""
_SHOWN = re.compile(r"^```console\n\$ promoarray (.*)\n(?s:(.*?))\n```$", re.MULTILINE)


def report(shown: Example) -> str:
    """Return the report of a program alone, without what the program prints."""
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / "report.txt"
        _promoarray(*shlex.split(shown.command), "--all", "--output", str(written))
        return written.read_text(encoding="utf-8")


def ported(name: str, run: str, to: str) -> str:
    """Return a program with the casts that ``promoarray port`` writes."""
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copy(_example_path(name), folder)
        _promoarray("port", copy, "--run", run, "--to", to, "--write")
        return Path(copy).read_text(encoding="utf-8")


def _promoarray(*command: str) -> str:
    environment = os.environ | {"COLUMNS": "100", "NO_COLOR": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "promoarray", *command],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode not in (0, 1):
        raise RuntimeError(f"promoarray {shlex.join(command)}:\n{done.stderr}")
    return done.stdout


def _example_path(name: str) -> Path:
    return ROOT / "examples" / f"{name}.py"


def _report_path(shown: Example) -> Path:
    return ROOT / "examples" / "reports" / f"{shown.path.stem}.txt"


def page(
    threads: dict[str, list[Example]], programs: list[Example], said: dict[Path, str]
) -> Iterator[str]:
    """Yield the parts of the page."""
    yield INTRODUCTION
    for section, examples in threads.items():
        yield f"## {section}\n"
        for each in examples:
            yield f"### {each.title.rstrip('.')}\n"
            yield f"From [a public thread]({each.address}): [{each.path.name}]({each.link})\n"
            yield f"```py\n{each.code}\n```\n"
            yield f"```console\n$ promoarray {each.command}\n{said[each.path]}\n```\n"
    yield "## Longer programs\n"
    for each in programs:
        yield f"### {each.title.rstrip('.')}\n"
        whole = _report_path(each).relative_to(ROOT).as_posix()
        yield f"{each.words.replace('``', '`')}\n"
        yield f"```console\n$ promoarray {each.command}\n{_summary(said[each.path])}\n```\n"
        yield f"{_remark(each, said[each.path])}\n"
        yield f"[{each.path.name}]({each.link}), [the whole report](../{whole})\n"


def _remark(shown: Example, said: str) -> str:
    """What is remarked on a program, which names no line that its report does not."""
    remark = PROGRAMS[shown.path.stem]
    for line in re.findall(
        r"(?<=line )\d+|(?<=lines )\d+|(?<=\d and )\d+", " ".join(remark.split())
    ):
        if f"{shown.path.name}:{line}  " not in said:
            raise ValueError(f"{shown.path.name}: line {line} is not in its report")
    return remark


def _summary(said: str) -> str:
    """The lines of a report about policies, before those about places."""
    return said.partition("\nexamples/")[0]


def main() -> int:
    """Write the page, or tell how it differs; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    threads = {
        section: [example(_example_path(f"threads/{name}")) for name in names]
        for section, names in THREADS.items()
    }
    known = dict(_SHOWN.findall(PAGE.read_text(encoding="utf-8")))
    short = [each for examples in threads.values() for each in examples]
    programs = [example(_example_path(name)) for name in PROGRAMS]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        port = pool.submit(ported, *PORTED)
        asked = [pool.submit(printed, each, known) for each in short]
        asked += [pool.submit(report, each) for each in programs]
        with Progress(f"{len(asked)} examples") as progress:
            for number, _ in enumerate(as_completed(asked), 1):
                progress.step(done=number / len(asked))
        reports = [each.result() for each in asked]
    said = dict(zip([each.path for each in (*short, *programs)], reports, strict=True))
    made = {PAGE: "\n".join(page(threads, programs, said))}
    made |= {_report_path(each): said[each.path] for each in programs}
    made[_example_path(f"{PORTED[0]}_ported")] = port.result()
    return sum(_write(path, text, options.write) for path, text in made.items()) and 1


def _write(path: Path, text: str, write: bool) -> int:
    """Write a file, or tell how it differs from what was made; return whether it does."""
    known = path.read_text(encoding="utf-8") if path.exists() else ""
    if write:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return 0
    lines = difflib.unified_diff(known.splitlines(), text.splitlines(), str(path), "made", n=2)
    print("\n".join(lines))
    return known != text


if __name__ == "__main__":
    sys.exit(main())
