"""Settings of a project: the table ``[tool.promoarray]`` of its ``pyproject.toml``.

A setting is an option of a command line, without its dashes. Under ``[tool.promoarray]`` it holds
for each command that has the option, under ``[tool.promoarray.COMMAND]`` for that command, and
under ``[tool.promoarray.files."PATTERN"]`` where the program's path matches. What the command line
says goes before.
"""

from __future__ import annotations

import argparse
import difflib
import glob
import os
import tomllib
from collections.abc import Iterator, Mapping
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, NamedTuple

FILES, IGNORE = "files", "ignore"

ONE_RUN = frozenset(
    ["help", "json", "schema", "write", "update-baseline", "save", "line", "value", "expr"]
)
"""Options of a single run, of which a project has no setting."""

Commands = Mapping[str, argparse.ArgumentParser]


class Settings(NamedTuple):
    """The table of a project, and where it stands."""

    path: Path
    table: Mapping[str, Any]

    def check(self, commands: Commands) -> None:
        """Refuse what no command has."""
        every = {name for each in commands.values() for name in _options(each)}
        self._known("", self.table, {*every, *commands, FILES})
        for name in self.table.keys() & commands.keys() - every:
            if not isinstance(self.table[name], Mapping):
                raise ValueError(f"{self.path}: {_titled(name)} is no table")
        for name, table in self._tables():
            self._known(name, table, {*_options(commands[name])} if name in commands else every)

    def fill(self, parser: argparse.ArgumentParser, command: str, script: str = "") -> None:
        """Make the settings the defaults of a command's options, those of files if the program is
        one of them; ``ValueError`` if something is no setting of the command, or has no such
        value."""
        options = _options(parser)
        files = [(n, t) for n, t in self._tables() if self._is_of(n, script)]
        own = [(n, t) for n, t in self._tables() if n == command]
        for name, table in own:
            self._known(name, table, {*options})
        for name, table in (("", self.table), *own, *files):
            for key in options.keys() & table.keys():
                if key != IGNORE or (name, table) not in files:
                    action = options[key]
                    parser.set_defaults(**{action.dest: self._value(name, table[key], action)})
                    action.required = False
        if IGNORE in options:
            parser.set_defaults(ignore_in=dict(self._ignored(options[IGNORE])))

    def shown(self) -> Iterator[tuple[str, Any]]:
        """Yield each setting, by its whole name."""
        for name, table in (("", self.table), *self._tables()):
            for key, x in table.items():
                if not isinstance(x, Mapping):
                    yield f"{_titled(name)} {key}", x

    def _tables(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        for name, table in self.table.items():
            if isinstance(table, Mapping) and name != FILES:
                yield name, table
        files = self.table.get(FILES, {})
        if not isinstance(files, Mapping):
            raise ValueError(f"{self.path}: [tool.promoarray.files] is no table")
        for pattern, table in files.items():
            if not isinstance(table, Mapping):
                raise ValueError(f'{self.path}: [tool.promoarray.files."{pattern}"] is no table')
            yield f'{FILES}."{pattern}"', table

    def _ignored(self, action: argparse.Action) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield what is ignored in the files of a pattern, an absolute one."""
        for name, table in self._tables():
            if IGNORE in table and (pattern := _pattern(name)):
                yield self._absolute(pattern), self._value(name, table[IGNORE], action)

    def _is_of(self, name: str, script: str) -> bool:
        """Whether a table is that of files of which the program is one."""
        pattern = _pattern(name)
        return bool(script and pattern) and fnmatch(
            os.path.realpath(script), self._absolute(pattern)
        )

    def _absolute(self, pattern: str) -> str:
        """A pattern from the file's folder on, whose own name is none."""
        return os.path.join(glob.escape(str(self.path.parent)), os.path.normpath(pattern))

    def _known(self, name: str, table: Mapping[str, Any], known: set[str]) -> None:
        for key, x in table.items():
            if key not in known or (isinstance(x, Mapping) and name):
                near = difflib.get_close_matches(key, known, n=1)
                every = ", ".join(sorted(known))
                hint = f"Did you mean {near[0]}?" if near else f"Write one of {every}"
                raise ValueError(f"{self.path}: {_titled(name)} has no {key!r}. {hint}")

    def _value(self, name: str, x: Any, action: argparse.Action) -> Any:
        try:
            return self._read(x, action)
        except (TypeError, ValueError, argparse.ArgumentTypeError) as error:
            key = max(action.option_strings, key=len)[2:]
            more = "; what one command takes stands in [tool.promoarray.COMMAND]"
            more = "" if name or key in ("policies", IGNORE) else more
            raise ValueError(
                f"{self.path}: {_titled(name)} {key} = {x!r}: {error}{more}"
            ) from error

    def _read(self, x: Any, action: argparse.Action) -> Any:
        """Return a value as the option reads it on the command line."""
        if action.nargs == 0:
            if type(x) is not bool:
                raise TypeError("it is true or false")
            return action.const if x else not action.const
        every = x if isinstance(x, list) else [x]
        if not all(type(each) in (str, int, float) for each in every):
            raise TypeError("it is a text, a number or a list of texts")
        text = ",".join(map(str, every))
        if "--policies" in action.option_strings or action.metavar == "POLICY":
            from promoarray.diagnostics.run.frameworks import named

            named(text)
        if action.metavar == "FILE":  # from the file of the settings on
            return str(self.path.parent / text)
        if action.choices is not None and text not in action.choices:
            raise ValueError(f"it is {' or '.join(map(str, action.choices))}")
        return action.type(text) if callable(action.type) else text


def find(start: Path | None = None) -> Settings | None:
    """Return the settings of the nearest ``pyproject.toml`` that has some, from a folder
    upwards."""
    folder = (start or Path.cwd()).resolve()
    for each in (folder, *folder.parents):
        if (path := each / "pyproject.toml").is_file():
            table = _table(path)
            if table is not None:
                return Settings(path, table)
    return None


def _table(path: Path) -> Mapping[str, Any] | None:
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise ValueError(f"{path} cannot be read: {error}") from error
    tool = data.get("tool")
    table = tool.get("promoarray") if isinstance(tool, dict) else None
    if table is not None and not isinstance(table, Mapping):
        raise ValueError(f"{path}: [tool.promoarray] is no table")
    return table


def _titled(name: str) -> str:
    return f"[tool.promoarray.{name}]" if name else "[tool.promoarray]"


def _pattern(name: str) -> str:
    """The pattern of a table of files; "" of another table."""
    return name.removeprefix(f'{FILES}."').removesuffix('"') if name.startswith(f"{FILES}.") else ""


def _options(command: argparse.ArgumentParser) -> dict[str, argparse.Action]:
    """The options of a command that a project may set, each by its first long name."""
    long = {
        next((s[2:] for s in action.option_strings if s.startswith("--")), ""): action
        for action in command._actions
    }
    return {name: each for name, each in long.items() if name and name not in ONE_RUN}
