"""Weights of a file that survive a cast, tensor by tensor: ``promoarray cast FILE --to DTYPE``."""

from __future__ import annotations

import os
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from promoarray.console import Matrix, Printed, counted, listed, visible
from promoarray.core.cast import explicit
from promoarray.core.refusals import cast_refusal
from promoarray.diagnostics.cast_report import CastReport, report_of
from promoarray.diagnostics.exit_codes import FINDINGS, INCOMPLETE, NOTHING
from promoarray.diagnostics.file_format import GGUF, INDEX, READS, SAFETENSORS, NotReadable
from promoarray.diagnostics.modelfile.weights import Weight, weights, write_safetensors
from promoarray.diagnostics.progress import Progress
from promoarray.dtypes import DType, Kind
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy

if TYPE_CHECKING:
    from rich.console import RenderableType

DEFAULT = "torch"
MOST = 20
"""So many tensors are shown; the data have all."""

_HEAD = ("tensor", "dtype", "elements", "beyond", "become", "NaN", "to zero", "largest rel. error")


@dataclass(frozen=True, repr=False)
class Survival(Printed):
    """What a cast does to the weights of a file."""

    path: str
    target: str
    reports: dict[str, dict[str, CastReport]]  # from a policy to that of each tensor by its name
    refused: dict[tuple[str, str], str]  # from a policy and a dtype to why it does not cast it
    unread: dict[str, list[str]]  # from types that are not read, as blocks of 4 bits, to tensors

    @property
    def status(self) -> int:
        """The exit status: nothing is found where no policy refuses a tensor or loses a value."""
        every = [x for found in self.reports.values() for x in found.values()]
        if self.refused or any(sum(_losses(x).values()) for x in every):
            return FINDINGS
        return INCOMPLETE if self.unread else NOTHING

    def to_dict(self) -> dict[str, Any]:
        """Return all there is as data."""
        return {
            "file": self.path,
            "target": self.target,
            "tensors": {
                policy: {name: x.to_dict() | {"beyond": x.beyond} for name, x in found.items()}
                for policy, found in self.reports.items()
            },
            "refused": [{"policy": p, "dtype": d, "why": w} for (p, d), w in self.refused.items()],
            "not_read": self.unread,
        }

    def _rows(self, found: dict[str, CastReport]) -> list[tuple[str, ...]]:
        """Those that lose most first."""

        def loss(item: tuple[str, CastReport]) -> tuple[Any, ...]:
            x = item[1]
            return x.beyond, x.flushed_to_zero, x.largest_relative_error

        shown = sorted(found.items(), key=loss, reverse=True)[:MOST]
        return [(visible(name), *_cells(x)) for name, x in shown]

    def _summary(self, policy: str) -> str:
        found = [*self.reports[policy].values()]
        losses: Counter[str] = sum(map(_losses, found), Counter())
        told = [f"{losses[what]} {what}" for what in (*_TOLD, *(losses.keys() - _TOLD))]
        total = counted(sum(x.size for x in found), "value")
        hidden = f"; {len(found) - MOST} more are not shown (--json)" * (len(found) > MOST)
        of = f"{policy}: of {total} in {counted(len(found), 'tensor')}"
        return f"{of}, {', '.join(told)}{hidden}."

    def _left(self) -> list[str]:
        said = [f"{p} does not cast {d}: {why}" for (p, d), why in self.refused.items()]
        for kind, names in self.unread.items():
            said.append(f"Not read, {kind}: {listed(names, most=3)}.")
        return [*map(visible, said)]

    def __rich__(self) -> RenderableType:
        from rich.console import Group
        from rich.text import Text

        parts: list[RenderableType] = [Text(visible(f"{self.path} to {self.target}"), "bold")]
        for policy, found in self.reports.items():
            parts.append(Text(self._summary(policy)))
            if found:
                parts.append(Matrix([[*_HEAD], *map(list, self._rows(found))], gap=2))
        return Group(*parts, *map(Text, self._left()))


_TOLD = ("beyond the range", "become zero")


def _losses(x: CastReport) -> Counter[str]:
    """How many values are lost, by how."""
    kept_nan = x.nan_out - x.overflowed_to_nan
    losses = x.beyond, x.flushed_to_zero, x.truncated, x.nan_in - kept_nan, x.lost_imaginary
    names = *_TOLD, "lose their fraction", "NaN become numbers", "lose their imaginary part"
    return Counter({name: n for name, n in zip(names, losses, strict=True) if n})


def _cells(x: CastReport) -> tuple[str, ...]:
    ways = {
        "its ends": x.saturated,
        "Inf": x.overflowed_to_inf,
        "NaN": x.overflowed_to_nan,
        "others": x.wrapped,
    }
    become = ", ".join(name for name, count in ways.items() if count)
    numbers = x.beyond, become, x.nan_in, x.flushed_to_zero
    told = (str(each) if each else "" for each in numbers)
    return x.source, str(x.size), *told, f"{x.largest_relative_error:.3g}"


def survival(args: Namespace, kind: str, target: DType) -> Survival:
    """Cast the weights of a file, a block at a time."""
    path, *others = args.values
    if kind not in (SAFETENSORS, GGUF, INDEX):
        raise NotReadable(f"{path} holds a program ({kind}); {READS}")
    if others or args.source:
        raise ValueError(
            f"{path} is cast alone, from the dtypes it has: promoarray cast FILE --to DTYPE"
        )
    policies = [as_policy(name.strip()) for name in (args.policies or DEFAULT).split(",")]
    settings = {"saturate": args.saturate, "round_mode": args.round_mode}
    if args.out and len(policies) > 1:
        raise ValueError("--out writes what one policy makes: name it with --policies")
    found = Survival(path, target.name, {p.name: {} for p in policies}, {}, {})
    every = weights(path, kind)
    with Progress() as progress:
        for number, weight in enumerate(every):
            progress.step(f"{weight.name}", number / len(every))
            if weight.dtype is None:
                found.unread.setdefault(weight.kind, []).append(weight.name)
            else:
                _cast(found, weight, policies, target, settings)
        if args.out:
            progress.step(f"writing {args.out}", 0.9)
            _write(args.out, found, every, policies[0], target, settings)
    return found


def _write(
    out: str, found: Survival, every: list[Weight], policy: Policy, target: DType, settings: Any
) -> None:
    """Write the floats cast, and all others as they are."""
    for why in (*found.refused.values(), *(f"{kind} is not read" for kind in found.unread)):
        raise ValueError(f"{out} is not written: {why}")
    if any(os.path.exists(out) and os.path.samefile(out, each.path) for each in every):
        raise ValueError("--out names a file that is read; write to another")
    known = {k: v for k, v in settings.items() if k in policy.cast.knobs and v is not None}

    def made(weight: Weight) -> tuple[Weight, DType, Iterator[Any]]:
        source = weight.dtype
        assert source is not None
        if source.kind is not Kind.FLOAT:
            return weight, source, weight.blocks()
        cast = (explicit(policy, x, source, target, **known) for x in weight.blocks())
        return weight, target, cast

    write_safetensors(Path(out), [*map(made, every)])


def _cast(
    found: Survival, weight: Weight, policies: list[Policy], target: DType, settings: Any
) -> None:
    source = weight.dtype
    assert source is not None
    asked = []
    for policy in policies:
        if why := cast_refusal(policy, source, target):
            found.refused[policy.name, source.name] = why
        else:
            known = {k: v for k, v in settings.items() if k in policy.cast.knobs and v is not None}
            asked.append((policy, known))
    empty = np.empty(0, source.storage)
    made = {p.name: report_of(p, empty, source, target, **known) for p, known in asked}
    for block in weight.blocks() if asked else ():
        for policy, known in asked:
            of_block = report_of(policy, block, source, target, **known)
            made[policy.name] = made[policy.name].and_of(of_block)
    for name, report in made.items():
        found.reports[name][weight.name] = report
