"""The format of a file, by how it begins; nothing of it is run or unpickled."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

ONNX, PT2, SAFETENSORS, GGUF = "ONNX model", "PyTorch export archive", "safetensors", "GGUF"
INDEX = "index of safetensors"

READS = (
    "compare, check and align read an ONNX model (.onnx), and compare a torch.export archive "
    "(.pt2); cast reads the weights of .safetensors, of their .index.json, and of .gguf"
)


class NotReadable(ValueError):
    """A file is damaged, or of a format that is not read."""


def format_of(path: str) -> str:
    """Return the format of a file: one of those above, "" of text, of what Python runs, of a
    recording, or of no file; ``NotReadable`` if it is some other binary file."""
    if not os.path.isfile(path):
        return ""
    if path.endswith(_INDEX):
        return INDEX
    with open(path, "rb") as file:
        head = file.read(4096)
    suffix = Path(path).suffix.lower()
    if suffix in _BY_NAME:
        return _BY_NAME[suffix]
    if head[:4] == b"GGUF":
        return GGUF
    if head[8:9] == b"{" and int.from_bytes(head[:8], "little") < os.path.getsize(path):
        return SAFETENSORS
    if zipfile.is_zipfile(path):
        names = _names(path)
        if any(name.endswith("models/model.json") for name in names):
            return PT2
        if {"__main__.py", "recording.json"} & {*names}:  # which Python runs, or --save wrote
            return ""
        pickled = any(name.endswith(".pkl") for name in names)
        raise NotReadable(f"{path} is a zip file{_PICKLED if pickled else ''}; {READS}")
    if suffix in _PYTHON or (b"\0" not in head and _is_text(head)):
        return ""
    if len(head) > 2 and head[0] == 8 and head[1] < 64 and head[2] in (0x12, 0x3A, 0x42):
        return ONNX  # ir_version, then the producer, the graph or the opsets
    raise NotReadable(f"{path} is a binary file of a format that is not known here; {READS}")


_BY_NAME = {".onnx": ONNX, ".pt2": PT2, ".safetensors": SAFETENSORS, ".gguf": GGUF}
_INDEX = ".safetensors.index.json"
_PYTHON = (".py", ".pyc", ".pyw", ".ipynb", ".json", ".txt")
_PICKLED = " of pickles, such as torch.save writes, and pickles run code as they are read"


def names_format(path: str) -> bool:
    """Return whether a file is one of these by its name."""
    return Path(path).suffix.lower() in _BY_NAME or path.endswith(_INDEX)


def _names(path: str) -> list[str]:
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.namelist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, RuntimeError) as error:
        raise NotReadable(f"{path} is a damaged zip file: {error}") from error


def _is_text(head: bytes) -> bool:
    try:
        head.decode()
    except UnicodeDecodeError as error:
        if error.start < len(head) - 4:  # else a letter that is cut
            return b"coding" in head[:200]  # of another encoding, which Python reads
    return not set(head) & _CONTROLS


_CONTROLS = {*range(32)} - {*b"\t\n\r\f\x1b"}
