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
    """Refuse a place that cannot be written to, before all the work.

    Raises
    ------
    OSError
        If it is a folder, or lies in none.
    """
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
    """Put files in place: all are written beside their places before the first is replaced.

    They keep their modes, and a link stays a link.
    """
    staged: list[tuple[Path, Path]] = []
    try:
        for path, data in files:
            real = path.resolve()
            if real.exists() and not os.access(real, os.W_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
            handle, name = tempfile.mkstemp(dir=real.parent, prefix=f".{real.name}.")
            beside = Path(name)
            staged.append((beside, real))
            with open(handle, "wb") as out:
                out.write(data)
                out.flush()
                os.fsync(out.fileno())
            beside.chmod(real.stat().st_mode if real.exists() else 0o666 & ~_umask())
        while staged:
            beside, real = staged[0]
            beside.replace(real)
            staged.pop(0)
    finally:
        for beside, _ in staged:
            with contextlib.suppress(OSError):
                beside.unlink()


@contextlib.contextmanager
def written_whole(target: Path) -> Iterator[BinaryIO]:
    """Yield a file to write to, which replaces the target at the end, and not after an error."""
    real = target.resolve()
    handle, name = tempfile.mkstemp(dir=real.parent, prefix=f".{real.name}.")
    try:
        with open(handle, "wb") as out:
            yield out
        Path(name).chmod(real.stat().st_mode if real.exists() else 0o666 & ~_umask())
        Path(name).replace(real)
    finally:
        Path(name).unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
