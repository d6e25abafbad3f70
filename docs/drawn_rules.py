"""Draw the rules of the policies for their pages: ``python docs/drawn_rules.py``.

A table has the result of ``x1 + x2`` for every pair of dtypes, Python's numbers included; an order
has each dtype below those that it promotes to. Both are drawn from what the policies answer, as
SVG, into ``docs/_static/rules/``; a test draws them again.
"""

from __future__ import annotations

import re
from html import escape
from pathlib import Path

from promoarray.diagnostics.explore.order import order_of
from promoarray.diagnostics.policy_tables import table
from promoarray.dtypes import BY_CODE, DType
from promoarray.policies import as_policy

TARGET = Path(__file__).parent / "_static" / "rules"

PAGES = sorted((Path(__file__).parent / "frameworks").glob("*.md"))
TABLES = [
    name
    for page in PAGES
    for name in re.findall(r"!\[x1 \+ x2 under (\S+)\]", page.read_text(encoding="utf-8"))
]
"""The policies whose tables the pages show."""
ORDERS = ("jax@x64",)

SHOWN = (
    *("b1", "u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64"),
    *("bf16", "f16", "f32", "f64", "c64", "c128"),
    *("b*", "i*", "f*", "c*"),
)
PYTHON = {"b*": "bool", "i*": "int", "f*": "float", "c*": "complex"}
"""What the weak dtypes are called in the margins: Python's types."""

WIDE, HIGH, LEFT, TOP = 34, 22, 70, 70
"""A cell, and the margins with the names."""

HUES = {"b": (150, 30), "u": (188, 55), "i": (218, 75), "f": (30, 85), "c": (295, 50)}
"""Hue and saturation by the kind of the result, as on the page of ``promoarray explore``."""

STYLE = """<style>
text { font: 11px ui-monospace, "DejaVu Sans Mono", monospace; fill: #111; }
.name { font-size: 12px; }
.no { fill: #777; }
</style>"""


def colour(dtype: DType) -> str:
    """The hue says the kind, the lightness the width."""
    kind = "f" if dtype.code.startswith("bf") else dtype.code[0]
    hue, saturation = HUES[kind]
    steps = {0: 0, 16: 2, 32: 3, 64: 4, 128: 5}.get(dtype.bits, 1)
    return f"hsl({hue} {saturation}% {94 - 5 * steps}%)"


def svg(width: int, height: int, title: str, parts: list[str]) -> str:
    """A picture on white, so that it reads on dark pages, too."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"'
        f' viewBox="0 0 {width} {height}" role="img"><title>{escape(title)}</title>'
    )
    ground = f'<rect width="{width}" height="{height}" rx="6" fill="#fff"/>'
    return "\n".join([head, STYLE, ground, *parts, "</svg>\n"])


def words(x: float, y: float, text: str, how: str = "") -> str:
    """A text around a point."""
    return f'<text x="{x:g}" y="{y:g}" {how}>{escape(text)}</text>'


def drawn_table(policy: str) -> str:
    """The table of ``x1 + x2``; the row is the left operand."""
    answers = table(policy, op="+", dtypes=SHOWN)
    parts = [words(LEFT - 8, TOP - 8, "x1 \\ x2", 'text-anchor="end" class="no"')]
    for n, dtype in enumerate(answers.dtypes):
        name = PYTHON.get(dtype.code, dtype.code)
        at, down = LEFT + (n + 0.5) * WIDE, TOP + (n + 0.5) * HIGH + 4
        parts.append(words(LEFT - 8, down, name, 'text-anchor="end" class="name"'))
        turned = f'class="name" transform="rotate(-90 {at + 4:g} {TOP - 8})"'
        parts.append(words(at + 4, TOP - 8, name, turned))
    for i, (a, row) in enumerate(zip(answers.dtypes, answers.cells, strict=True)):
        for j, (b, cell) in enumerate(zip(answers.dtypes, row, strict=True)):
            if a.weak and b.weak:  # Python's own
                continue
            x, y = LEFT + j * WIDE, TOP + i * HIGH
            fill = colour(cell) if cell else "#f1f1f1"
            parts.append(
                f'<rect x="{x}" y="{y}" width="{WIDE - 1}" height="{HIGH - 1}" fill="{fill}"/>'
            )
            how = 'text-anchor="middle"' + ("" if cell else ' class="no"')
            parts.append(words(x + WIDE / 2, y + 15, cell.code if cell else "×", how))
    side = len(answers.dtypes)
    title = f"x1 + x2 under {policy}, for every pair of dtypes"
    return svg(LEFT + side * WIDE + 8, TOP + side * HIGH + 8, title, parts)


def drawn_order(policy: str) -> str:
    """The order of the rule; two dtypes promote to the lowest that lines lead up to from both."""
    order = order_of(as_policy(policy)).to_dict()
    nodes, half = order["nodes"], order["half"]
    across = [x + half + 8 for _, _, _, x, _ in nodes]
    down = [y + 20 for *_, y in nodes]
    parts = []
    for a, b, *between in order["lines"]:
        points = [(across[a], down[a] - 11)]
        points += [(x + half + 8, y + 20) for x, y in zip(between[::2], between[1::2], strict=True)]
        points.append((across[b], down[b] + 11))
        path = " ".join(f"{x:g},{y:g}" for x, y in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="#999"/>')
    for (_, code, *_), x, y in zip(nodes, across, down, strict=True):
        parts.append(
            f'<rect x="{x - half}" y="{y - 11}" width="{2 * half}" height="22" rx="4"'
            f' fill="{colour(BY_CODE[code])}" stroke="#999"/>'
        )
        parts.append(words(x, y + 4, code, 'text-anchor="middle"'))
    width, height = max(across) + half + 8, max(down) + 20
    return svg(round(width), round(height), f"The order of {policy}: what promotes to what", parts)


def pictures() -> dict[str, str]:
    """The text of each picture by its file."""
    tables = {f"{name.replace('@', '-')}.svg": drawn_table(name) for name in TABLES}
    orders = {f"{name.replace('@', '-')}-order.svg": drawn_order(name) for name in ORDERS}
    return tables | orders


def main() -> None:
    """Write them all."""
    TARGET.mkdir(exist_ok=True)
    for file, text in pictures().items():
        (TARGET / file).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
