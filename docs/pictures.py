"""Make the pictures of the pages from the real thing: ``python docs/pictures.py [NAME ...]``.

A terminal's picture is what a command prints, in its colours, as SVG. The others are pages in
Chromium (``CHROMIUM`` names it), driven by Playwright (extra ``test-pages``). All go to
``docs/_static/``. The program they show is the one of ``start.md``; ``check`` has its own.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

DOCS = Path(__file__).parent
PICTURES = DOCS / "_static"
COLUMNS = 92
POLICIES = "torch,paddle@3.3"


def program() -> str:
    """The program of ``start.md``."""
    start = (DOCS / "start.md").read_text(encoding="utf-8")
    text = start.partition("\"accuracy.py\").write_text('''\\\n")[2].partition("... ''')")[0]
    return dedent(re.sub(r"(?m)^\.\.\.( |$)", "", text))


TRAINING = """\
import torch

step = torch.zeros((), dtype=torch.bfloat16)
for _ in range(1000):
    step += 1
image = torch.tensor([[10, 250], [3, 7]], dtype=torch.uint8)
brighter = image + 20
"""
"""What ``check`` is shown with."""


def terminal(arguments: str, target: Path, file: str = "accuracy.py", text: str = "") -> None:
    """What a command prints about a program, as SVG without fonts of other servers."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / file).write_text(text or program(), encoding="utf-8")
        printed = subprocess.run(
            [sys.executable, "-m", "promoarray", *arguments.split()],
            cwd=folder,
            env=os.environ | {"FORCE_COLOR": "1", "COLUMNS": str(COLUMNS)},
            capture_output=True,
            text=True,
        )
    if not printed.stdout:
        raise SystemExit(f"promoarray {arguments} printed nothing:\n{printed.stderr}")
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), highlight=False)
    console.print(Text.from_ansi(printed.stdout.rstrip() + "\n"))  # the last line is cut by half
    fonts = re.compile(r"(?s) *@font-face \{\{.*?\n    \}\}\n")
    console.save_svg(
        str(target),
        title=f"promoarray {arguments}",
        theme=MONOKAI,
        code_format=fonts.sub("", CONSOLE_SVG_FORMAT),
        unique_id=target.stem,
    )


def page(arguments: str, target: Path, look: str = "") -> None:
    """The page that a command writes, in a window of Chromium; ``look`` is a script run before."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        (Path(folder) / "accuracy.py").write_text(program(), encoding="utf-8")
        written = Path(folder) / "report.html"
        command = [sys.executable, "-m", "promoarray", *arguments.split(), written.name]
        subprocess.run(command, cwd=folder, check=False, stdout=subprocess.DEVNULL)
        path = os.environ.get("CHROMIUM") or shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        window = browser.new_page(viewport={"width": 1120, "height": 760})
        window.goto(written.as_uri())
        if look:
            window.evaluate(look)
            window.wait_for_timeout(300)
        window.screenshot(path=str(target))
        browser.close()


PAGES: dict[str, Callable[[], None]] = {
    "compare": lambda: terminal(
        f"compare accuracy.py --policies {POLICIES} --run-all --show accuracy",
        PICTURES / "compare.svg",
    ),
    "check": lambda: terminal("check train.py", PICTURES / "check.svg", "train.py", TRAINING),
    "report": lambda: page(
        f"compare accuracy.py --policies {POLICIES} --html", PICTURES / "report.png"
    ),
    "explore": lambda: page(EXPLORE, PICTURES / "explore.png", shown("divide", "int8,float32")),
    "casts": lambda: page(
        EXPLORE, PICTURES / "explore-casts.png", shown("astype", "float32,float8_e4m3fn")
    ),
}
"""Each picture by its name."""

EXPLORE = "explore --policies torch,paddle@3.3,numpy@2 -o"


def shown(operation: str, cell: str) -> str:
    """A script that opens a cell of the explorer, as its address does."""
    return f"() => {{ location.hash = 'policy=torch@2.13&op={operation}&cell={cell}'; }}"


def main(names: list[str]) -> None:
    """Make the pictures that are named, or all."""
    unknown = set(names) - set(PAGES)
    if unknown:
        raise SystemExit(f"no picture {', '.join(sorted(unknown))}; there are {', '.join(PAGES)}")
    for name in names or PAGES:
        PAGES[name]()


if __name__ == "__main__":
    main(sys.argv[1:])
