"""Where a rule is written down."""

from __future__ import annotations

from typing import NamedTuple


class Source(NamedTuple):
    """Where a rule is written down.

    Attributes
    ----------
    title : str
    section : str
    version : str
        Of the document, or of the package that was asked.
    """

    title: str
    section: str = ""
    version: str = ""

    def __str__(self) -> str:
        return ", ".join(filter(None, (self.title, self.section, self.version)))
