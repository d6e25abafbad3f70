"""Files that are there in full or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO


def require_place(target: Path) -> None:
    """Refuse a place that cannot be written to, before all the work."""
    if target.is_dir():
        raise IsADirectoryError(f"{target} is a folder; write the name of a file")
    if not target.resolve().parent.is_dir():
        raise FileNotFoundError(f"no such folder for {target}")


def write_whole(target: Path, text: str | bytes) -> None:
    """Write a file that is there in full or not at all."""
    data = text if isinstance(text, bytes) else text.encode("utf-8", "backslashreplace")
    if target.exists() and not target.is_file():  # a pipe or a device, which cannot be replaced
        target.write_bytes(data)
    else:
        put_all([(target, data)])


def put_all(files: list[tuple[Path, bytes]]) -> None:
    """Put files in place: all are written beside their places before the first is replaced."""
    with contextlib.ExitStack() as replaced:
        for path, data in files:
            out = replaced.enter_context(written_whole(path))
            out.write(data)
            out.flush()


@contextlib.contextmanager
def written_whole(target: Path) -> Iterator[BinaryIO]:
    """Yield a file to write to, which replaces the target at the end, and not after an error.

    It keeps the target's mode, and a link stays a link.
    """
    real = target.resolve()
    if real.exists() and not os.access(real, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(target))
    handle, name = tempfile.mkstemp(dir=real.parent, prefix=f".{real.name}.")
    try:
        with open(handle, "wb") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        Path(name).chmod(real.stat().st_mode if real.exists() else 0o666 & ~_umask())
        Path(name).replace(real)
    finally:
        Path(name).unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
