"""Files that are there in full or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


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


def write_whole(target: Path, text: str) -> None:
    """Write a file that is there in full or not at all: beside its place first, then renamed."""
    if target.exists() and not target.is_file():  # a pipe or a device, which cannot be replaced
        target.write_text(text, encoding="utf-8", errors="backslashreplace")
        return
    real = target.resolve()  # a link stays a link
    with tempfile.NamedTemporaryFile(
        "w",
        encoding="utf-8",
        errors="backslashreplace",
        dir=real.parent,
        prefix=f".{real.name}.",
        delete=False,
    ) as out:
        beside = Path(out.name)
        try:
            out.write(text)
            out.flush()
            beside.chmod(real.stat().st_mode if real.exists() else 0o666 & ~_umask())
            beside.replace(real)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
