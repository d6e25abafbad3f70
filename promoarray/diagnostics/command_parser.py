"""The parser of a command, which says where the arguments of a program that it runs go."""

from __future__ import annotations

import argparse
import difflib
import shlex
from collections.abc import Sequence
from typing import Any, NoReturn

OF_PROGRAMS = ("compare", "diff", "bisect", "port")
"""The commands that run a program, whose own arguments stand behind ``--``."""


class CommandParser(argparse.ArgumentParser):
    """A parser whose errors tell options that are misspelled from arguments of the program."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong, and exit."""
        if "SCRIPT:" in message:  # with -m MODULE, an argument of the module stands in its place
            message += self._behind_dashes("-m MODULE", "ARGS")
        super().error(message)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Say which choice a misspelled one nearly is, in place of all there are."""
        known = () if action.choices is None else tuple(action.choices)
        near = difflib.get_close_matches(str(value), map(str, known), n=1)
        if near and value not in known:
            raise argparse.ArgumentError(action, f"no {value!r}. Did you mean {near[0]}?")
        super()._check_value(action, value)

    def unrecognized(self, words: Sequence[str]) -> NoReturn:
        """Say that nothing takes these words, and what was meant; then exit."""
        given = shlex.join(words)
        near = self._near(words[0].partition("=")[0])
        hint = f". Did you mean {near}?" if near else self._behind_dashes("SCRIPT", given)
        super().error(f"unrecognized arguments: {given}{hint}")

    def _near(self, word: str) -> str:
        """The option that a word nearly is, or whose first letter it is; "" if there is none."""
        options = [name for name in self._option_string_actions if word.startswith("-")]
        found = difflib.get_close_matches(word, options, n=1, cutoff=0.8)
        found = found or [name for name in options if name.startswith(f"-{word}")]
        return found[0] if found else ""

    def _behind_dashes(self, program: str, words: str) -> str:
        if self.prog.split()[-1] not in OF_PROGRAMS:
            return ""
        return f"; the program's own arguments go after --: {self.prog} {program} -- {words}"
