"""Source files as they are on the disk: read, written whole or not at all, and as a patch."""

from __future__ import annotations

import codecs
import difflib
import io
import os
import subprocess
import tokenize
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Source:
    """A source file."""

    path: Path
    data: bytes

    @staticmethod
    def read(path: Path) -> Source:
        """Read a file."""
        return Source(path, path.read_bytes())

    @property
    def encoding(self) -> str:
        """What it is written in, by its first lines."""
        found, _ = tokenize.detect_encoding(io.BytesIO(self.data).readline)
        return "utf-8" if found == "utf-8-sig" else found

    @property
    def text(self) -> str:
        """Its text, with its line ends as they are; an error if it is not in the encoding that it
        names."""
        return self.data.removeprefix(codecs.BOM_UTF8).decode(self.encoding)

    def with_text(self, text: str) -> Source:
        """Return the file with another text, in its own encoding."""
        mark = codecs.BOM_UTF8 if self.data.startswith(codecs.BOM_UTF8) else b""
        return Source(self.path, mark + text.encode(self.encoding))


def patch(changed: list[tuple[Source, Source]], folder: Path) -> bytes:
    """Return a unified diff of files before and after, which ``git apply`` and ``patch -p1`` take
    in a folder above them."""
    parts = []
    for old, new in changed:
        name = old.path.resolve().relative_to(folder.resolve()).as_posix()
        parts += _unified(name, old.data, new.data)
    return b"".join(parts)


def _unified(name: str, old: bytes, new: bytes) -> list[bytes]:
    lines = difflib.diff_bytes(
        difflib.unified_diff,
        _lines(old),
        _lines(new),
        _quoted(f"a/{name}"),
        _quoted(f"b/{name}"),
        lineterm=b"\n",
    )
    return [
        line if line.endswith(b"\n") else line + b"\n\\ No newline at end of file\n"
        for line in lines
    ]


def _lines(data: bytes) -> list[bytes]:
    """Lines as patches have them, which end with \\n alone."""
    parts = data.split(b"\n")
    return [part + b"\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def _quoted(name: str) -> bytes:
    """A file's name as git writes it: with a tab after blanks, in C's quotes if it must."""
    raw = os.fsencode(name)
    if any(c < 32 or c in b'"\\' or c == 127 for c in raw):
        escaped = "".join(
            chr(c) if 32 <= c < 127 and c not in b'"\\' else f"\\{c:03o}" for c in raw
        )
        return f'"{escaped}"'.encode()
    return raw + (b"\t" if b" " in raw else b"")


def folder_of(paths: list[Path]) -> Path:
    """Return where the patch is to be applied: the current folder, if all files lie below."""
    here, real = Path.cwd().resolve(), [path.resolve() for path in paths]
    if all(path.is_relative_to(here) for path in real):
        return here
    return Path(os.path.commonpath([path.parent for path in real]))


def uncommitted(paths: list[Path]) -> list[Path]:
    """Return the files under git that have changes which are not committed."""
    found = []
    for path in paths:
        real = path.resolve()
        command = ["git", "status", "--porcelain", "--", real.name]
        try:
            told = subprocess.run(
                command, cwd=real.parent, capture_output=True, timeout=30, check=False
            )
        except (OSError, subprocess.TimeoutExpired):  # there is no git
            return []
        if told.returncode == 0 and told.stdout.strip():
            found.append(path)
    return found
