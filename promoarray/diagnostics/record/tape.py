"""Tape of a run: every call with the values that it was given and made, for two runs to be paired.

Values are known by their bits: what two calls have in common is what one made and the other was
given, whatever object holds it, so that views and what is written in place need no care.
"""

from __future__ import annotations

import hashlib
import io
import json
import random
import zipfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from promoarray.core.call_site import Site
from promoarray.dtypes import BY_NAME

MEMBER = "tape.json"
VERSION = 1

MOST_KEPT = 1 << 29
"""So many bytes of values are kept; calls with others are named."""

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class TapeAsked:
    """Where to write a tape, and the values that a run goes on with in place of its own."""

    path: str
    given: Mapping[str, Array] = field(default_factory=dict)  # by the value that they replace
    made: Mapping[tuple[int, int], Array] = field(default_factory=dict)  # by call and result
    most: int = 0  # at most so many calls; 0 for all


class Tape:
    """The calls of a process."""

    def __init__(self, asked: TapeAsked) -> None:
        self.asked = asked
        self.calls: list[dict[str, Any]] = []
        self.values: dict[str, dict[str, Any]] = {}
        self._sites: dict[Site, int] = {}
        self._size = 0
        self.unread: Counter[str] = Counter()
        self.left: list[str] = []  # what was not looked at, and why
        self._kept: dict[str, Array] = {}

    def value(self, array: Array | None, dtype: str) -> str:
        """Keep a value; return the name by which it is known."""
        if array is None:
            return ""
        whole = np.ascontiguousarray(array)
        head = f"{dtype}{array.shape}".encode()
        name = hashlib.blake2b(head + whole.tobytes(), digest_size=12).hexdigest()
        if name not in self.values:
            kept = self._size + whole.nbytes <= MOST_KEPT
            self.values[name] = {"dtype": dtype, "shape": [*array.shape], "kept": kept}
            if kept:
                self._size += whole.nbytes
                self._kept[name] = whole.reshape(array.shape).copy()
        return name

    def put(self, row: dict[str, Any], at: tuple[Site, Site]) -> None:
        """Add a call."""
        site, program = (self._sites.setdefault(each, len(self._sites)) for each in at)
        self.calls.append(row | {"site": site, "program": program})

    @property
    def full(self) -> bool:
        """Whether as many calls were taken as are asked for."""
        return bool(self.asked.most) and len(self.calls) >= self.asked.most

    def write(self) -> None:
        """Write it to its file, as it is by now."""
        fields = ("file", "line", "text", "expression")
        data = {
            "version": VERSION,
            "calls": self.calls,
            "values": self.values,
            "sites": [{name: getattr(site, name) for name in fields} for site in self._sites],
            "unread": dict(self.unread),
            "left": self.left,
        }
        with zipfile.ZipFile(self.asked.path, "w") as archive:
            archive.writestr(MEMBER, json.dumps(data, separators=(",", ":")))
            for name, array in self._kept.items():
                plainly = array if array.dtype.isbuiltin == 1 else array.view(f"u{array.itemsize}")
                written = io.BytesIO()
                np.save(written, plainly, allow_pickle=False)
                archive.writestr(f"values/{name}.npy", written.getvalue())


def decoded(array: Array, dtype: str) -> Array:
    """Return the values of a file's array in the storage of their dtype."""
    known = BY_NAME[dtype]
    return array if array.dtype == known.storage else array.view(known.storage)


def seed(library: str, module: Any) -> None:
    """Have a library draw the same numbers in every run of a program that sets no seed itself."""
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002  # which programs draw from
    if library == "torch":
        module.manual_seed(0)
    elif library == "paddle":
        module.seed(0)
