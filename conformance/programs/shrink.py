"""The smallest program that still differs in the same way."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from programs.compare import Difference
from programs.program import makes_operand, target

MOST = 60
"""So many smaller programs are tried."""


def smallest(found: Difference, asked: Callable[[str], Difference | None]) -> Difference:
    """Make a program smaller as long as it differs in the same operation and kind.

    Parameters
    ----------
    found : Difference
    asked : callable
        From a program to its difference.
    """
    left = MOST
    while left > 0:
        for program in _smaller(found.program):
            left -= 1
            again = asked(program)
            if again and again.group == found.group:
                found = again
                break
            if left <= 0:
                return found
        else:
            return found
    return found


def _smaller(program: str) -> Iterator[str]:
    lines = program.splitlines()
    for number in range(len(lines) - 2, -1, -1):
        name = target(lines[number])
        rest = lines[:number] + lines[number + 1 :]
        if not any(re.search(rf"\b{name}\b", line) for line in lines[number + 1 :]):
            yield "\n".join(rest)
    for number, line in enumerate(lines):
        if makes_operand(line):
            for smaller in _smaller_arrays(line):
                yield "\n".join([*lines[:number], smaller, *lines[number + 1 :]])


def _smaller_arrays(line: str) -> Iterator[str]:
    """The same array with fewer values, and with simpler ones."""
    head, _, inner = line.partition("array(")
    dtype, values, shape = _split(inner[:-1])
    if len(shape) == 1 and len(values) > 1:
        for value in dict.fromkeys(values):
            yield f"{head}array({dtype}, [{value}], (1,))"
    simple = "True" if "bool" in dtype else "1"
    for index, value in enumerate(values):
        if value not in (simple, f"{simple}.0"):
            changed = [*values[:index], simple, *values[index + 1 :]]
            yield f"{head}array({dtype}, [{', '.join(changed)}], {shape})"


def _split(inner: str) -> tuple[str, list[str], tuple[int, ...]]:
    call = ast.parse(f"f({inner})").body[0].value  # type: ignore[attr-defined]
    dtype, values, shape = call.args
    written = [ast.unparse(value) for value in values.elts]
    return ast.unparse(dtype).replace("'", '"'), written, ast.literal_eval(shape)
