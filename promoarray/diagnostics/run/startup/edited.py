"""Has Python read edited texts in place of files on the disk; imports nothing of promoarray."""

import io
import linecache
import os
import pickle
import tokenize
from importlib.machinery import SourceFileLoader
from typing import Any


def install(path: str) -> None:
    """Have imports, ``runpy`` and what quotes source lines see the texts that a file holds.

    It is a pickle: from the real path of each edited file to its bytes.
    """
    with open(path, "rb") as file:
        texts: dict[str, bytes] = pickle.load(file)
    stats, read = SourceFileLoader.path_stats, SourceFileLoader.get_data
    update, opened = linecache.updatecache, io.open_code

    def path_stats(self: Any, path: Any) -> Any:
        if os.path.realpath(path) in texts:
            raise OSError("what was compiled before is of another text")
        return stats(self, path)

    def get_data(self: Any, path: Any) -> bytes:
        edited = texts.get(os.path.realpath(path))
        return read(self, path) if edited is None else edited

    def updatecache(filename: Any, *others: Any) -> Any:
        edited = texts.get(os.path.realpath(filename))
        if edited is None:
            return update(filename, *others)
        encoding, _ = tokenize.detect_encoding(io.BytesIO(edited).readline)
        lines = io.TextIOWrapper(io.BytesIO(edited), encoding).readlines()
        linecache.cache[filename] = len(edited), None, lines, filename
        return lines

    def open_code(path: str) -> Any:  # of what runpy runs, such as the script in a new process
        edited = texts.get(os.path.realpath(path))
        return opened(path) if edited is None else io.BytesIO(edited)

    for owner, function in (
        (SourceFileLoader, path_stats),
        (SourceFileLoader, get_data),
        (linecache, updatecache),
        (io, open_code),
    ):
        setattr(owner, function.__name__, function)
