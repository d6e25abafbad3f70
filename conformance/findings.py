"""Run the programs of docs/findings.md: does the installed version still do what the page says?

    python conformance/findings.py [--python INTERPRETER ...]      without one: this one

Each finding has a program and what it prints. Every interpreter runs the programs whose modules it
has; a program that prints this is *reproduced*, another is *not*, with what it printed. Exit status
1 if one is not, 3 if none ran.
"""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

PAGE = Path(__file__).resolve().parent.parent / "docs" / "findings.md"
LONGEST = 10
"""Lines of a program, without blank ones."""

_BLOCKS = re.compile(r"```python\n(.*?)```\n\n```text\n(.*?)```", re.DOTALL)


class Finding(NamedTuple):
    """A section of the page."""

    title: str
    program: str
    output: str

    @property
    def modules(self) -> list[str]:
        """What the program imports."""
        nodes = ast.walk(ast.parse(self.program))
        names = [n.module or "" for n in nodes if isinstance(n, ast.ImportFrom)]
        nodes = ast.walk(ast.parse(self.program))
        names += [a.name for n in nodes if isinstance(n, ast.Import) for a in n.names]
        return sorted({name.partition(".")[0] for name in names})


def findings(page: Path = PAGE) -> Iterator[Finding]:
    """Read the page; each section has its program and output."""
    for section in page.read_text(encoding="utf-8").split("\n## ")[1:]:
        title = section.partition("\n")[0]
        for program, output in _BLOCKS.findall(section):
            yield Finding(title, program, output)


def has(python: str, modules: list[str]) -> bool:
    """Whether an interpreter has all of these modules."""
    code = f"from importlib.util import find_spec; exit(not all(map(find_spec, {modules})))"
    return not subprocess.run([python, "-c", code], check=False, capture_output=True).returncode


def printed(python: str, program: str) -> str:
    """What a program prints; of one that fails, the last line of its error."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "finding.py")
        script.write_text(program, encoding="utf-8")
        done = subprocess.run(
            [python, str(script)], check=False, capture_output=True, text=True, timeout=300
        )
    return done.stdout if not done.returncode else done.stderr.strip().rpartition("\n")[2] + "\n"


def main(arguments: list[str]) -> int:
    """Run the command; returns its exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--python", action="append", help="an interpreter; may be given again")
    pythons = parser.parse_args(arguments).python or [sys.executable]
    outcomes = []
    for finding in findings():
        python = next((each for each in pythons if has(each, finding.modules)), None)
        if python is None:
            print(f"not installed  {finding.title} ({', '.join(finding.modules)})")
            continue
        said = printed(python, finding.program)
        outcomes.append(said == finding.output)
        print(f"{'reproduced   ' if outcomes[-1] else 'not          '}  {finding.title}")
        if not outcomes[-1]:
            print(f"    printed {said!r}, not {finding.output!r}")
    print(f"{sum(outcomes)} of {len(outcomes)} reproduced")
    return int(not all(outcomes)) if outcomes else 3


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
