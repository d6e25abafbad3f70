"""Run the examples under ``promoarray compare``; write docs/gallery.md, or check that it is true.

    python conformance/gallery.py            exit status 1 if the page is not what they print
    python conformance/gallery.py --write    write it

A program's docstring has its title, in the threads the address, and its command.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "gallery.md"

INTRODUCTION = """\
# Gallery

Programs that people asked about in public, each cut down to a few lines of the array API, and what
`promoarray compare` says of them: the line, and what to write. Then longer programs, of which the
reports are in `examples/reports/`. Every report is made by `python conformance/gallery.py --write`,
and checked by `.ci/run`.
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
}
PROGRAMS = ("digits", "attention", "kmeans", "image_pipeline", "training", "telemetry")

_COMMAND = re.compile(r"^ {4}promoarray (compare .+)$", re.MULTILINE)


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
        raise ValueError(f"{path} has no line that begins with '    promoarray compare'")
    docstring = tree.body[0]
    code = "\n".join(text.splitlines()[docstring.end_lineno or 0 :]).strip("\n")
    title, *words = _COMMAND.sub("", told).replace("::", ".").strip().split("\n\n")
    address = next((each for each in words if each.startswith("https://")), "")
    said = [each.strip() for each in words if each != address]
    return Example(path, title, "\n\n".join(said), address, command[1], code)


def report(shown: Example, *, own_output: bool = True) -> str:
    """Run a program as its docstring says, and return what is printed."""
    command = shlex.split(shown.command)
    if not own_output:
        command += ["--output", os.devnull]
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
        raise RuntimeError(f"promoarray {shown.command}:\n{done.stderr}")
    return done.stdout.rstrip()


def page(threads: dict[str, list[Example]], said: dict[Path, str]) -> Iterator[str]:
    """Yield the parts of the page."""
    yield INTRODUCTION
    for section, examples in threads.items():
        yield f"## {section}\n"
        for each in examples:
            yield f"### {each.title.rstrip('.')}\n"
            yield f"From [a public thread]({each.address}): [{each.path.name}]({each.link})\n"
            yield f"```py\n{each.code}\n```\n"
            yield f"```console\n$ promoarray {each.command}\n{said[each.path]}\n```\n"


def main() -> int:
    """Write the page, or tell how it differs; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    threads = {
        section: [example(ROOT / "examples" / "threads" / f"{name}.py") for name in names]
        for section, names in THREADS.items()
    }
    every = [each for examples in threads.values() for each in examples]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        said = dict(zip([each.path for each in every], pool.map(report, every), strict=True))
    made = {PAGE: "\n".join(page(threads, said))}
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
