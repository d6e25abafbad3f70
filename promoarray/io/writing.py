"""Files that are written whole or not at all, and stay what they are: owner, mode, links."""

from __future__ import annotations

import errno
import io
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Any, cast

Fill = Callable[[IO[bytes]], None]
"""What writes the content."""


def write(path: str, fill: Fill) -> None:
    """Write a file.

    A new file, or one with a single name in a folder that can be written to, appears complete: it
    is written beside the path and renamed. Where renaming would cut a hard link, change the owner
    or is not allowed, the content is written elsewhere first and then into the file. What is no
    regular file (a pipe, a device) is written to as it comes.

    Raises OSError if the path is a folder, is read-only or cannot be written to.
    """
    try:
        there = os.stat(path)
    except FileNotFoundError:
        _create(path, fill)
        return
    if not stat.S_ISREG(there.st_mode):
        with open(path, "wb") as out:  # which refuses a folder and a socket
            fill(cast(IO[bytes], _Stream(out)))
        return
    with _open_to_overwrite(path):
        pass  # what is read-only is not replaced either
    if not _replace(path, there, fill):
        with _open_to_overwrite(path) as target:
            _overwrite(target, there.st_size, fill)


def _open_to_overwrite(path: str) -> IO[bytes]:
    """Open a file as it is: neither cut off nor read."""
    return open(os.open(path, os.O_WRONLY | getattr(os, "O_BINARY", 0)), "wb")


class _Stream(io.RawIOBase):
    """A file without positions: a device has some, and they do not move as it is written to."""

    def __init__(self, out: IO[bytes]) -> None:
        self.out = out

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        return self.out.write(data)


def _create(path: str, fill: Fill) -> None:
    if not path or os.path.basename(path) in ("", ".", ".."):  # which realpath would drop
        number = errno.EISDIR if path else errno.ENOENT
        raise OSError(number, os.strerror(number), path)
    real = os.path.realpath(path)  # a link to no file yet stays a link
    temporary = beside(real)
    try:
        out = _new(temporary)
    except OSError as error:  # of the name that was given
        raise type(error)(error.errno, error.strerror, path) from None
    _finish(out, temporary, real, fill)


def _replace(path: str, there: os.stat_result, fill: Fill) -> bool:
    """Replace a regular file by one of the same owner, mode and attributes, if that can be."""
    real = os.path.realpath(path)
    if there.st_nlink != 1 or not _is_file(real, there):
        return False
    temporary = beside(real)
    try:
        out = _new(temporary)
    except OSError:  # a folder that is read-only, or full
        return False
    return _finish(out, temporary, real, fill, there)


def _is_file(real: str, there: os.stat_result) -> bool:
    """Whether a path leads to the file: those below /proc/self/fd lead to names that are gone."""
    try:
        return os.path.samestat(os.stat(real), there)
    except OSError:
        return False


def beside(real: str) -> str:
    """The path of a temporary file: not the name with an ending, which might be too long."""
    return os.path.join(os.path.dirname(real), f".{secrets.token_hex(8)}.tmp")


def _new(path: str) -> IO[bytes]:
    return open(path, "xb")


def _finish(
    out: IO[bytes], temporary: str, real: str, fill: Fill, like: os.stat_result | None = None
) -> bool:
    """Fill a temporary file and rename it; False if it cannot be made like the one there is."""
    try:
        with out:
            if like is not None and not _made_like(temporary, real, like):
                os.unlink(temporary)
                return False
            fill(out)
            out.flush()
            os.fsync(out.fileno())
        os.replace(temporary, real)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
    return True


def _made_like(temporary: str, real: str, there: os.stat_result) -> bool:
    """Give a file the mode, the attributes and the owner of another."""
    try:
        shutil.copystat(real, temporary)  # its time passes as it is written to
        if hasattr(os, "chown"):
            os.chown(temporary, there.st_uid, there.st_gid)
            os.chmod(temporary, stat.S_IMODE(there.st_mode))  # chown has cleared what is special
    except OSError:
        return False
    return True


def _overwrite(target: IO[bytes], size: int, fill: Fill) -> None:
    """Write into a file what is complete elsewhere, once there is room for all of it."""
    with tempfile.TemporaryFile() as complete:
        fill(complete)
        wanted = complete.seek(0, os.SEEK_END)
        try:
            if hasattr(os, "posix_fallocate") and wanted:
                os.posix_fallocate(target.fileno(), 0, wanted)
        except OSError as error:
            target.truncate(size)
            if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                raise  # and otherwise the file system cannot say
        try:
            _copy(complete, target)
        except KeyboardInterrupt:  # a moment later there is a whole file
            _copy(complete, target)
            raise
        target.truncate(wanted)
        os.fsync(target.fileno())


def _copy(source: IO[bytes], target: IO[bytes]) -> None:
    source.seek(0)
    target.seek(0)
    shutil.copyfileobj(source, target)
    target.flush()
