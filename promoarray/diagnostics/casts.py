"""Bits and values of casts under several policies: ``promoarray cast``, and part of ``explain``."""

from __future__ import annotations

import cmath
import math
import re
from argparse import Namespace
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from promoarray import dtypes as dt
from promoarray.console import Matrix, Printable, html_table, visible
from promoarray.core import host
from promoarray.core.cast import convert, explicit
from promoarray.core.refusals import cast_refusal
from promoarray.dtypes import INTEGERS, DType, Kind
from promoarray.errors import quoted
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy
from promoarray.promotion.scalars import bounds
from promoarray.promotion.table_text import python_scalar

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

Buffer = np.ndarray[Any, Any]

DEFAULT = "numpy,jax,torch,tensorflow,paddle,mindspore,aclnn,onnx"
"""One policy of every framework."""


# -- values ---------------------------------------------------------------------------------------


class CastValue(NamedTuple):
    """One value.

    Attributes
    ----------
    bits : str
        In hexadecimal, two digits per byte, the real part of a complex number first; "" for a
        string.
    value : str
        As Python writes it.
    """

    bits: str
    value: str

    def __str__(self) -> str:
        return f"{self.bits} {self.value}".lstrip()


def cells(buffer: Buffer, dtype: DType) -> list[CastValue]:
    """Return the bits and values of a buffer."""
    if dtype is dt.string:
        return [CastValue("", repr(text)) for text in buffer.reshape(-1).tolist()]
    parts = 2 if dtype.kind is Kind.COMPLEX else 1
    width = dtype.storage.itemsize // parts
    codes = np.ascontiguousarray(buffer).view(f"u{width}").reshape(-1, parts)
    mask = (1 << dtype.bits) - 1 if dtype.bits < 8 else -1
    return [
        CastValue("0x" + "_".join(f"{int(c) & mask:0{2 * width}x}" for c in row), _shown(value))
        for row, value in zip(codes, host.decoded(buffer, dtype).reshape(-1).tolist(), strict=True)
    ]


def _shown(value: Any) -> str:
    return f"{value:.9g}" if type(value) is float and math.isfinite(value) else str(value)


@dataclass(frozen=True, slots=True)
class Answer:
    """What policies say of an operation or a cast.

    Attributes
    ----------
    policies : tuple of str
        Those that agree on it, of one family.
    dtype : str or None
        The result's; None where it is refused.
    weak : bool
        Whether the result is weakly typed.
    reason : str
        Why it is refused, or what is raised.
    values : tuple of CastValue
        What the values shown become, in a cast.
    signature : str
        What the framework's function does not take, though promoarray's does; else "".
    kernel : str
        That the framework has no kernel for it, where promoarray computes it all the same, or what
        lists of dtypes say of one; else "".
    note : str
        That the cast is ml_dtypes', where no source of the policies defines it.
    asked : bool
        Whether anything is known of it: a rule, or what the framework answered.
    """

    policies: tuple[str, ...]
    dtype: str | None
    weak: bool = False
    reason: str = ""
    values: tuple[CastValue, ...] = ()
    signature: str = ""
    kernel: str = ""
    note: str = ""
    asked: bool = True

    @property
    def who(self) -> str:
        """The policies, long runs of editions shortened."""
        runs = [[*run] for _, run in groupby(self.policies, lambda name: name.partition("@")[0])]
        return visible(
            ", ".join(
                f"{run[0]} … {run[-1]} ({len(run)} editions)" if run[3:] else ", ".join(run)
                for run in runs
            )
        )

    @property
    def why(self) -> str:
        """Why it is refused, or else what the framework's function does not take."""
        return self.reason or self.signature or self.kernel

    @property
    def what(self) -> str:
        """The result's dtype, that there is none, or that nothing is known."""
        if not self.asked:
            return "not known"
        return "refused" if self.dtype is None else self.dtype + " (weak)" * self.weak

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as data, without the policies."""
        said: dict[str, Any] = {"dtype": self.dtype, "weak": self.weak, "reason": self.reason}
        said |= {"note": self.note} if self.note else {}
        said |= {} if self.asked else {"asked": False}
        return {**said, "values": [v._asdict() for v in self.values]} if self.values else said


def cast_answer(
    policy: Policy, values: Buffer, source: DType, target: DType, **settings: Any
) -> Answer:
    """Return what a policy makes of values, or why it does not cast them.

    ``saturate`` and ``round_mode`` apply to the policies that have them; the others ignore them.
    """
    names = (policy.name,)
    known = {name: value for name, value in settings.items() if name in policy.cast.knobs}
    refused = cast_refusal(policy, source, target)
    if refused:
        return Answer(names, None, reason=refused)
    given = policy.cast.gives.get(target) if source is not target else None
    target = given.dtype if given else target
    try:
        made = tuple(cells(explicit(policy, values, source, target, **known), target))
    except (TypeError, ValueError, OverflowError) as error:
        if dt.string not in (source, target):  # else some text is not a number, or does not fit
            raise
        return Answer(names, None, reason=str(error))
    note = given.why if given else policy.cast.borrowed(source, target)
    return Answer(names, target.name, values=made, note=note)


# -- the table ------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class CastTable(Printable):
    """What values become in a cast, under several policies."""

    source: str
    target: str
    given: Sequence[CastValue]
    answers: Sequence[Answer]
    # what is not marked as other; by default what most policies make of each value
    usual: Sequence[CastValue] = ()

    @property
    def headline(self) -> str:
        """The cast."""
        return f"{self.source} to {self.target}"

    @property
    def answered(self) -> dict[str, tuple[CastValue, ...]]:
        """What the policies that make the cast answer."""
        return {each.who: each.values for each in self.answers if each.dtype is not None}

    def remarks(self) -> list[str]:
        """Return why policies refuse, and whose casts are not their own, each thing once."""
        said: dict[str, list[str]] = {}
        for why in ("reason", "note"):
            for each in self.answers:
                if getattr(each, why):
                    said.setdefault(getattr(each, why), []).append(each.who)
        return [visible(f"{', '.join(names)}: {why}") for why, names in said.items()]

    def to_dict(self) -> dict[str, Any]:
        """Return the values as data."""
        answered = self.answered.items()
        return {
            "source": self.source,
            "target": self.target,
            "values": [
                {
                    "given": given._asdict(),
                    "policies": {name: values[index]._asdict() for name, values in answered},
                }
                for index, given in enumerate(self.given)
            ],
            "refused": {each.who: each.reason for each in self.answers if each.reason},
            "notes": {each.who: each.note for each in self.answers if each.note},
        }

    def _rows(self) -> list[list[str | Text]]:
        """The head, the values given, and a row per policy; yellow is what is unusual."""
        from rich.text import Text

        usual = self.usual or [
            Counter(each).most_common(1)[0][0] for each in zip(*self.answered.values(), strict=True)
        ]
        rows: list[list[str | Text]] = [["", *(cell.value for cell in self.given)]]
        bits = (_BREAK.sub(r"\1 ", cell.bits) for cell in self.given)
        rows.append([self.source, *(Text(each, overflow="fold") for each in bits)])
        for name, values in self.answered.items():
            marks = ("" if a == b else "yellow" for a, b in zip(values, usual, strict=True))
            rows.append([name, *map(Text, map(visible, map(str, values)), marks)])
        return rows

    def __rich__(self) -> RenderableType:
        return self.body(self.headline)

    def body(self, title: str) -> RenderableType:
        """Return the table and the remarks below a title of one's own."""
        from rich.console import Group
        from rich.text import Text

        said = (Text(each, "dim") for each in self.remarks())
        shown = (Text(title), Matrix(self._rows(), gap=2)) if self.given else ()
        return Group(*shown, *said)

    def html(self) -> str:
        """Return the values as a part of a page."""
        rows = [(name, *map(str, found)) for name, found in self.answered.items()]
        said = "".join(f"<p>{escape(each)}</p>" for each in self.remarks())
        given = (self.source, *(cell.bits for cell in self.given))
        return html_table(("", *(cell.value for cell in self.given)), [given, *rows]) + said


_BREAK = re.compile(r"([0-9a-f]{8})(?=_?[0-9a-f])")
"""Where the bits of a value may go on in another line."""


# -- the command ----------------------------------------------------------------------------------


def question(args: Namespace, source: DType) -> tuple[list[Policy], Buffer]:
    """Read the arguments: the policies, and the values as the source has them."""
    policies = [as_policy(name.strip()) for name in (args.policies or DEFAULT).split(",")]
    for name, least in (("saturate", 19), ("round_mode", 24)):
        if getattr(args, name) is not None and not any(name in p.cast.knobs for p in policies):
            raise ValueError(f"none of these policies has {name}; onnx@{least} and later have")
    return policies, read([text.strip() for text in args.values], source)


def run(
    args: Namespace, policies: list[Policy], given: Buffer, source: DType, target: DType
) -> CastTable:
    """Answer the command."""
    settings = {"saturate": args.saturate, "round_mode": args.round_mode}
    answers = [cast_answer(p, given, source, target, **settings) for p in policies]
    return CastTable(source.name, target.name, cells(given, source), answers)


def read(texts: list[str], source: DType) -> Buffer:
    """Return values as the source has them: numbers rounded once, or bits such as ``bits:7f``; of
    strings each text as it stands."""
    if source is dt.string:
        return np.array(texts, source.storage)
    made = (_bits(t, source) if t.startswith("bits:") else _number(t, source) for t in texts)
    return np.concatenate([np.zeros(0, source.storage), *made])


def _bits(text: str, source: DType) -> Buffer:
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


def _number(text: str, source: DType) -> Buffer:
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
    made = rounded(value, source)
    if cmath.isfinite(value) and not cmath.isfinite(host.decoded(made, source).item()):
        raise ValueError(
            f"{quoted(text)} is out of the range of {source.name}; write its bits, as in bits:7f"
        )
    return made


def rounded(value: complex, dtype: DType) -> Buffer:
    """Return the nearest value of a dtype, in a buffer."""
    buffer, wide = host.wide(value, dtype)
    return np.asarray(convert(as_policy("numpy"), buffer, wide, dtype)).reshape(1)
