"""Programs of several lines that change what earlier ones made: in place, by key, by a view."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from programs.program import words
from programs.writer import Writer

OPERATORS = words("+ - * / // % ** == != < > <= >= & | ^")
IN_PLACE = words("+ - * / // % & | ^")
STEPS = words("operator in_place setitem move clip sum join pick cast")
VIEWS = ("{0}[0]", "{0}[:, 1]", "{0}[1:]", "{0}[...]", "{0}[::-1]", "reshape({0}, (3, 2))")


def changed_view(w: Writer) -> None:
    """A view changed in place, and what its array is then."""
    x = w.array((2, 3))
    view = w.line(w.one(VIEWS).format(x))
    w.lines.append(f"{view} {w.one(IN_PLACE)}= {w.scalar() if w.chance(0.7) else w.array(())}")
    w.line(f"{x}[...]", (2, 3))


def changed_element(w: Writer) -> None:
    """An element picked out and changed in place, which is a view where 0-d arrays are."""
    x = w.array((3,))
    view = w.line(f"{x}[{w.one(('0', '-1', '0, ...'))}]")
    w.lines.append(f"{view} {w.one(IN_PLACE)}= {w.scalar(plain=0.9)}")
    w.line(f"{x}[...]", (3,))


def story(w: Writer) -> None:
    """Three to six lines on arrays of one shape, some of which change an array."""
    names = [w.array((3,)), w.array((3,)), w.array(())]
    for _ in range(w.random.randrange(3, 7)):
        x, y = w.one(names[:2] + names[3:]), w.one((w.one(names), w.scalar(plain=0.9)))
        match w.one(STEPS):
            case "in_place":
                w.lines.append(f"{x} {w.one(IN_PLACE)}= {y}")
            case "setitem" if "setitem" in w.functions:
                names.append(w.line(f"setitem({x}, {w.one(('0', '...', 'slice(1, None)'))}, {y})"))
            case "move":
                names.append(w.line(f"{w.known(('flip', 'sort', 'abs'))}({x})"))
            case "clip" if "clip" in w.functions:
                names.append(w.line(f"clip({x}, 0, {w.scalar(('int', 'float'), plain=0.9)})"))
            case "sum":
                names[2] = w.line(f"{w.known(('sum', 'max', 'mean', 'prod', 'min'))}({x})")
            case "join":
                joined = f"{w.known(('concat', 'stack'))}([{x}, {w.one(names[:2])}])"
                names.append(w.line(f"{joined}[{w.one(('::2', '0', '1:'))}]"))
            case "pick":
                names[2] = w.line(f"{x}[{w.one(('0', '-1', '0, ...'))}]")
            case "cast":
                names.append(w.line(f"astype({x}, {w.one(w.dtypes)})"))
            case _:
                names.append(w.line(f"{x} {w.one(OPERATORS)} {y}"))


CHAPTERS: Mapping[Callable[[Writer], None], int] = {changed_view: 4, changed_element: 2, story: 12}
"""The chapters, and how often programs come from them. All need arrays that can be changed."""
