"""Bodies of blocks, which compute the same with ``pa.check`` around them as without.

``python numpy_blocks.py FOLDER`` runs each in each surrounding. The first block of a process
compiles all files of the program, of which this process has few.
"""

from __future__ import annotations

import linecache
import runpy
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np

from promoarray.diagnostics.record.numpy.hook import hook

BODIES = r"""
y = x + 1
x += 1; y = x
for i in range(3): y = x * np.uint8(i)
y = [i * x for i in range(2)]
y = sum(i * x for i in range(2))
y = list(map(lambda v: v + 1, x))
z = 1; y = z; del z
z = x; del x; x = z; y = 2
if len(x) > 1: y = 1
while x[0] > 5: x = x // 2
with np.errstate(all="ignore"): y = x / 0
import numpy.linalg as la; y = la.norm(x)
from numpy import add; y = add(x, 1)
y, *z = x
(y := x + 1)
y = {**dict(a=x)}["a"]
def f(v): return v * 2\ny = f(x)
class K:\n    a = 3\ny = K.a * x
assert x.any(); y = 1
y: object = x * 2
x[0] = 300 - 250; y = x
x[1] += 1; y = x
y = x[0] < x[1] < 250
y = f"{x + 1}"
match x.tolist():\n    case [a, b]:\n        y = a + b
for i in x:\n    if i > 150: continue\n    y = i\n    break
y = 1\n\n\nz = x + 1
"text"\ny = x + 1
pass\ny = x + 1
...\ny = x + 1
if 0:\n    z = 1\ny = x + 1
try:\n    y = x + 1\nfinally:\n    z = x
try:\n    x.nothing\nexcept AttributeError as error:\n    y = str(error)
y = globals()["__name__"]
y = "é" if x[0] else "ü"; z = x + 1
"""

AROUND = {
    "module": "x = np.array([200, 100], np.uint8)\nwith block():\n{}\n",
    "function": "def work(x):\n    with block():\n{}\n    return locals()\nx, y, z = 3 * [None]\n"
    "names = work(np.array([200, 100], np.uint8))\n",
    "loop": "def work(x):\n    for _ in range(2):\n        with block() as report:\n{}\n"
    "    report = None\n    return locals()\nnames = work(np.array([200, 100], np.uint8))\n",
    "method": "class Works:\n    def work(self, x):\n        with block():\n{}\n"
    "        self = None\n        return locals()\n"
    "names = Works().work(np.array([200, 100], np.uint8))\n",
}


def shown(values: dict[str, Any]) -> dict[str, str]:
    """Variables as they can be compared."""
    names = values.get("names", values)
    kept = (bool, int, float, str, list, tuple, np.ndarray, np.generic)
    return {name: repr(x) for name, x in names.items() if isinstance(x, kept) and name[0] != "_"}


def main(folder: Path) -> None:
    """Run all of them."""
    for around, surrounding in AROUND.items():
        indent = {"module": 4, "function": 8, "loop": 12, "method": 12}[around] * " "
        for number, body in enumerate(BODIES.strip().splitlines()):
            text = body.replace("\\n", "\n")
            file = folder / f"{around}_{number}.py"
            filled = surrounding.format(textwrap.indent(text, indent))
            plain = "import numpy as np\nfrom contextlib import nullcontext as block\n" + filled
            checked = "import numpy as np\nfrom promoarray import check as block\n" + filled
            file.write_text(plain, encoding="utf-8")
            wanted = shown(runpy.run_path(str(file)))
            file.write_text(checked, encoding="utf-8")
            linecache.checkcache(str(file))
            found = shown(runpy.run_path(str(file)))
            assert found == wanted, f"{around}: {text}\n{found}\n{wanted}"
            assert sys.gettrace() is None, text
            assert hook().session is None, text
    print(number + 1, "bodies")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
