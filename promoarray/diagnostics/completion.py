"""Completion of the command line by a shell: ``promoarray completion SHELL``."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from promoarray.diagnostics.model.kinds import SELECTORS
from promoarray.dtypes import BY_NAME
from promoarray.operations import OPERATIONS
from promoarray.promotion.registry import families

FILES = ("FILE", "SCRIPT")

LISTS = ("A,B,C", "KINDS", "LOSSES")
"""Several, apart by commas, of which the last is completed."""

BASH = r"""
_promoarray() {
  # "@" breaks words for bash, so that torch@2 comes in three; here it is one word.
  local line="${COMP_LINE:0:COMP_POINT}" words
  read -a words <<< "$line"
  [[ "$line" == *[[:space:]] ]] && words+=("")
  local COMP_WORDS=("${words[@]}") COMP_CWORD=$((${#words[@]} - 1))
  local word="${words[COMP_CWORD]}"
  _shtab_promoarray promoarray "$word"
  # What bash puts it in place of begins behind the last break.
  local kept="${word%"${word##*[$COMP_WORDBREAKS]}"}"
  COMPREPLY=("${COMPREPLY[@]#"$kept"}")
}
complete -o bashdefault -F _promoarray promoarray
"""


def script(parser: argparse.ArgumentParser, shell: str) -> str:
    """Return the script of a shell, to be evaluated or written where the shell looks for them;
    without shtab raise ``ImportError``."""
    import shtab

    from promoarray.diagnostics.model.lost import CHECKS

    words = {
        "POLICY": [*families(), *(name for names in families().values() for name in names)],
        "DTYPE": [name for name, dtype in BY_NAME.items() if not dtype.weak],
        "OP": list(OPERATIONS),
    }
    words |= {"A,B,C": words["POLICY"], "KINDS": list(SELECTORS), "LOSSES": list(CHECKS)}
    for action in _actions(parser):
        if action.metavar in FILES:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
        elif action.metavar in words and not action.choices:
            name = _name(str(action.metavar))
            by_shell = {"bash": name, "zsh": name, "fish": f"({name})"}
            action.complete = by_shell  # type: ignore[attr-defined]
    found = str(shtab.complete(parser, shell, preamble=_functions(words).get(shell, "")))
    # With shtab's condition ``source FILE`` takes the script for a function that zsh loads.
    found = found.replace("[-1] == eval ]]", "[-1] == (eval|file) ]]")
    return found + BASH if shell == "bash" else found


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from _actions(command)


def _functions(words: dict[str, list[str]]) -> dict[str, str]:
    """What completes the words of each name; tcsh and PowerShell complete the rest only."""
    made: dict[str, list[str]] = {"bash": [], "zsh": [], "fish": []}
    for metavar, known in words.items():
        name, every = _name(metavar), " ".join(dict.fromkeys(known))
        several = metavar in LISTS
        last = '-P "${1%"${1##*,}"}" -- "${1##*,}"' if several else '-- "$1"'
        made["bash"].append(f"{name}() {{ compgen -W '{every}' {last}; }}")
        skip = "compset -P '*,'; " if several else ""
        made["zsh"].append(f"{name}() {{ {skip}compadd -- {every}; }}")
        each = f"(string split ' ' '{every}')"
        before = "(string replace -r '[^,]*$' '' -- (commandline -ct))" if several else ""
        made["fish"].append(f"function {name}; printf '%s\\n' {before}{each}; end")
    return {shell: "\n".join(lines) for shell, lines in made.items()}


def _name(metavar: str) -> str:
    return f"_promoarray_{'policies' if ',' in metavar else metavar.lower()}"
