"""``promoarray completion SHELL``: the script by which a shell completes the command line.

shtab makes it of the argument parser; what the parser cannot know, which words are policies,
dtypes, operations and files, is told here by the names that arguments have in the help.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from promoarray.dtypes import BY_NAME
from promoarray.operations import OPERATIONS
from promoarray.promotion.registry import families

SHELLS = ("bash", "zsh", "fish", "tcsh", "powershell")

FILES = ("FILE", "SCRIPT")


def script(parser: argparse.ArgumentParser, shell: str) -> str:
    """Return the script of a shell, to be evaluated or written where the shell looks for them.

    Raises
    ------
    ImportError
        If shtab is not installed.
    """
    import shtab

    words = {
        "POLICY": [*families(), *(name for names in families().values() for name in names)],
        "DTYPE": [name for name, dtype in BY_NAME.items() if not dtype.weak],
        "OP": list(OPERATIONS),
    }
    words["A,B,C"] = words["POLICY"]
    for action in _actions(parser):
        if action.metavar in FILES:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
        elif action.metavar in words and not action.choices:
            action.complete = _one_of(str(action.metavar))  # type: ignore[attr-defined]
    return str(shtab.complete(parser, shell, preamble=_functions(words).get(shell, "")))


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from _actions(command)


def _one_of(metavar: str) -> dict[str, str]:
    name = _name(metavar)
    return {"bash": name, "zsh": name, "fish": f"({name})"}


def _functions(words: dict[str, list[str]]) -> dict[str, str]:
    """What completes the words of each name; tcsh and PowerShell complete the rest only."""
    made: dict[str, list[str]] = {"bash": [], "zsh": [], "fish": []}
    for metavar, known in words.items():
        name, every = _name(metavar), " ".join(dict.fromkeys(known))
        made["bash"].append(f"{name}() {{ compgen -W '{every}' -- \"$1\"; }}")
        made["zsh"].append(f"{name}() {{ compadd -- {every}; }}")
        made["fish"].append(f"function {name}; string split ' ' '{every}'; end")
    return {shell: "\n".join(lines) for shell, lines in made.items()}


def _name(metavar: str) -> str:
    return f"_promoarray_{'policies' if ',' in metavar else metavar.lower()}"
