"""Texts of explanations, stored once: what depends on the question alone is a mark in them.

``"¤1: int8 to float32"`` is the same line for every ``x1``; the page puts the words back. Marking
is exact: filling in the marks of a text gives the text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from promoarray.dtypes import BY_CODE, BY_NAME

MARK = "¤"
"""Stands before the letter of a mark; no text of explain has it."""

_DTYPES = sorted((*BY_NAME, *(c for c in BY_CODE if not c.endswith("*"))), key=len, reverse=True)


class Marker:
    """Puts marks into texts.

    Parameters
    ----------
    phrases : mapping
        From a phrase that texts have, such as a policy's title, to its mark.
    """

    def __init__(self, phrases: Mapping[str, str]) -> None:
        self.phrases = dict(phrases)
        words = "|".join(map(re.escape, (*self.phrases, *_DTYPES)))
        self.known: dict[tuple[object, ...], str] = {}
        self.dtypes: dict[str, bool] = {}
        self.pattern = re.compile(rf"(?<![\w@])(?:{words})(?![\w@])")

    def __call__(self, text: str, dtypes: Mapping[str, str]) -> str:
        """Mark a text.

        Parameters
        ----------
        text : str
        dtypes : mapping
            From dtypes by name and code to their marks.

        Raises
        ------
        ValueError
            If the text has the sign of a mark itself.
        """
        key = text, *dtypes.items()
        if key in self.known:
            return self.known[key]
        if MARK in text:
            raise ValueError(f"{text!r} has the sign that marks stand after")

        def mark(found: re.Match[str]) -> str:
            word = found[0]
            letter = self.phrases.get(word) or dtypes.get(word)
            return MARK + letter if letter else word

        return self.known.setdefault(key, self.pattern.sub(mark, text))

    def names_dtype(self, text: str) -> bool:
        """Whether a text has a dtype in it, so that its marks hang on the operands."""
        if text not in self.dtypes:
            words = set(self.pattern.findall(text))
            self.dtypes[text] = not words <= self.phrases.keys()
        return self.dtypes[text]


def filled(text: str, values: Mapping[str, str]) -> str:
    """Put the words back, as the page does; ``values`` go by mark.

    Examples
    --------
    >>> filled("x1: ¤1 to float32", {"1": "int8"})
    'x1: int8 to float32'
    """
    return re.sub(rf"{MARK}(.)", lambda m: values[m[1]], text)
