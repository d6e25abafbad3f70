"""``promoarray cast``: the bits and values of casts, side by side under several policies."""

from __future__ import annotations

import cmath
from argparse import Namespace
from collections import Counter
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from promoarray import dtypes as dt
from promoarray.console import Printable, html_table
from promoarray.core import host
from promoarray.core.cast import convert
from promoarray.diagnostics.explain.cast_values import CastValue, answers, cells
from promoarray.dtypes import INTEGERS, DType, Kind
from promoarray.errors import quoted
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy
from promoarray.promotion.scalars import bounds
from promoarray.promotion.table_text import python_scalar

if TYPE_CHECKING:
    from rich.console import RenderableType

DEFAULT = "numpy,jax,torch,tensorflow,paddle,mindspore,aclnn,onnx"
"""One policy of every framework."""


def read(texts: list[str], source: DType) -> np.ndarray[Any, Any]:
    """Read values as the source has them: numbers rounded once, or bits such as ``bits:7f``.

    Of strings each text is a value as it stands.

    Raises
    ------
    ValueError
        If a text is not a number, or does not fit.
    """
    if source is dt.string:
        return np.array(texts, source.storage)
    out = np.zeros(len(texts), source.storage)
    for index, text in enumerate(texts):
        out[index : index + 1] = _one(text, source)
    return out


def _one(text: str, source: DType) -> np.ndarray[Any, Any]:
    if text.startswith("bits:"):
        if source.kind is Kind.COMPLEX:
            raise ValueError(f"{quoted(text)}: bits are for real dtypes only")
        try:
            code = int(text.removeprefix("bits:"), 16)
        except ValueError:
            raise ValueError(f"{quoted(text)} is not a hexadecimal number; write bits:7f") from None
        top = 1 if source is dt.bool else (1 << source.bits) - 1
        if not 0 <= code <= top:
            raise ValueError(
                f"{quoted(text)} is not a code of {source.name}: write bits:0 to bits:{top:x}"
            )
        return np.array([code], f"u{source.storage.itemsize}").view(source.storage)
    value = python_scalar(text)
    if value is None:
        raise ValueError(f"{quoted(text)} is not a number; write 1.5, -0.0, inf, nan, or bits:7f")
    if source.kind in INTEGERS:
        low, high = bounds(source)
        if type(value) is not int or not low <= value <= high:
            raise ValueError(
                f"{quoted(text)} is not a value of {source.name}, which holds {low} to {high}"
            )
    if type(value) is complex and source.kind is not Kind.COMPLEX:
        raise ValueError(f"{quoted(text)} is not a value of {source.name}")
    buffer, wide = host.wide(value, source)
    made = np.asarray(convert(as_policy("numpy"), buffer, wide, source)).reshape(1)
    if cmath.isfinite(value) and not cmath.isfinite(host.decoded(made, source).item()):
        raise ValueError(
            f"{quoted(text)} is out of the range of {source.name}; write its bits, as in bits:7f"
        )
    return made


def question(args: Namespace, source: DType) -> tuple[list[Policy], np.ndarray[Any, Any]]:
    """Read the arguments: the policies, and the values as the source has them.

    Raises
    ------
    ValueError
        If a text is not a value of the source, or no policy has an argument that is given.
    """
    policies = [as_policy(name.strip()) for name in (args.policy or DEFAULT).split(",")]
    if args.saturate is not None and not any("saturate" in p.cast.knobs for p in policies):
        raise ValueError("none of these policies has saturate; onnx@19 and later have")
    if args.round_mode is not None and not any("round_mode" in p.cast.knobs for p in policies):
        raise ValueError("none of these policies has round_mode; onnx@24 and later have")
    return policies, read([text.strip() for text in args.values], source)


@dataclass(frozen=True, repr=False)
class CastTable(Printable):
    """What values become in a cast, under several policies.

    Attributes
    ----------
    source, target : DType
    given : list of CastValue
    made : dict
        From policy name to what the values become, or to why it refuses.
    notes : dict
        From the name of a policy whose sources do not define the cast to what it is then.
    """

    source: DType
    target: DType
    given: list[CastValue]
    made: dict[str, list[CastValue] | str]
    notes: dict[str, str] = field(default_factory=dict)

    @property
    def headline(self) -> str:
        """The cast."""
        return f"{self.source.name} to {self.target.name}"

    @property
    def answered(self) -> dict[str, list[CastValue]]:
        """What the policies that make the cast answer."""
        return {name: found for name, found in self.made.items() if not isinstance(found, str)}

    @property
    def refused(self) -> dict[str, str]:
        """Why the others refuse."""
        return {name: found for name, found in self.made.items() if isinstance(found, str)}

    def _remarks(self) -> list[tuple[str, str]]:
        return [*self.notes.items(), *self.refused.items()]

    def to_dict(self) -> dict[str, Any]:
        """Return the values as data."""
        return {
            "source": self.source.name,
            "target": self.target.name,
            "values": [
                {
                    "given": given.to_dict(),
                    "policies": {
                        name: found[index].to_dict() for name, found in self.answered.items()
                    },
                }
                for index, given in enumerate(self.given)
            ],
            "refused": self.refused,
            "notes": self.notes,
        }

    def __rich__(self) -> RenderableType:
        """A row per policy, a column per value; yellow is what differs from most policies."""
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        shown = Table(show_edge=False, box=None, padding=(0, 2, 0, 0))
        shown.add_column("", no_wrap=True)
        for cell in self.given:
            shown.add_column(Text(cell.value), no_wrap=True)
        shown.add_row(Text(self.source.name, "bold"), *(c.bits for c in self.given))
        columns = zip(*self.answered.values(), strict=True)
        common = [Counter(column).most_common(1)[0][0] for column in columns]
        for name, found in self.answered.items():
            texts = (
                Text(str(cell), "" if cell == usual else "yellow")
                for cell, usual in zip(found, common, strict=True)
            )
            shown.add_row(Text(name, "bold"), *texts)
        said = (Text(f"{name}: {why}", "dim") for name, why in self._remarks())
        return Group(Text(self.headline), shown, *said)

    def html(self) -> str:
        """Return the values as a part of a page."""
        rows = [(name, *map(str, found)) for name, found in self.answered.items()]
        said = "".join(f"<p>{escape(f'{name}: {why}')}</p>" for name, why in self._remarks())
        given = (self.source.name, *(cell.bits for cell in self.given))
        return html_table(("", *(cell.value for cell in self.given)), [given, *rows]) + said


def run(
    args: Namespace,
    policies: list[Policy],
    given: np.ndarray[Any, Any],
    source: DType,
    target: DType,
) -> CastTable:
    """Answer the command."""
    settings = {"saturate": args.saturate, "round_mode": args.round_mode}
    made = {p.name: answers(p, given, source, target, **settings) for p in policies}
    notes = {p.name: p.cast.borrowed(source, target) for p in policies}
    shown = {name: note for name, note in notes.items() if note and not isinstance(made[name], str)}
    return CastTable(source, target, cells(given, source), made, shown)
