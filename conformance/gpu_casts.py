"""What PyTorch or JAX makes of bits on a GPU otherwise than on the CPU when it casts them.

    python conformance/gpu_casts.py torch
    python conformance/gpu_casts.py jax --publish     and write the table into docs/gpu.md
    python conformance/gpu_casts.py torch --policy torch@2.11-cuda     where a policy is not the GPU

Every pair of dtypes that the framework has: all codes of 16 bits and fewer, 65,536 of wider ones,
among them the ends of every integer, ties of the short floats and their neighbours. All NaN are
alike. It needs a GPU, and the framework with its libraries for one.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from datetime import date
from typing import Any, NamedTuple

import numpy as np
from runner import ROOT, fill, markdown

import promoarray as pa
from promoarray import dtypes as dt
from promoarray.dtypes import DType, Kind

PAGE = ROOT / "docs" / "gpu.md"
COUNT = 1 << 16
Bits = np.ndarray[Any, Any]
Cast = Callable[[DType, Bits, DType, bool], Bits]
"""From a dtype, its codes, another dtype and whether on the GPU to the codes made; or it raises."""

# --- Frameworks ----------------------------------------------------------------------------------


def torch_() -> tuple[str, list[DType], Cast]:
    import torch

    def cast(source: DType, codes: Bits, target: DType, on_gpu: bool) -> Bits:
        raw = torch.from_numpy(codes.view(np.uint8).copy())
        given = raw.view(getattr(torch, source.name)) if source is not dt.bool else raw.bool()
        made = (given.cuda() if on_gpu else given).to(getattr(torch, target.name))
        return bits(made.cpu().view(torch.uint8).numpy(), target)

    known = [d for d in dt.CONCRETE if d.bits >= 8 and hasattr(torch, d.name)]
    return f"PyTorch {torch.__version__}", known, cast


def jax_() -> tuple[str, list[DType], Cast]:
    os.environ |= {"JAX_ENABLE_X64": "1", "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
    import jax

    def cast(source: DType, codes: Bits, target: DType, on_gpu: bool) -> Bits:
        place = jax.devices("gpu" if on_gpu else "cpu")[0]
        given = jax.device_put(codes.view(source.storage), place)
        return bits(np.asarray(jax.lax.convert_element_type(given, target.storage)), target)

    names = {name for name in dir(jax.numpy) if name in dt.BY_NAME} | {"bool"}
    known = [d for d in dt.CONCRETE if d.name in names and d.bits >= 8]
    return f"JAX {jax.__version__}", known, cast


FRAMEWORKS = {"torch": torch_, "jax": jax_}


def beside(policy: str, cast: Cast, device: str) -> Cast:
    """A policy's casts in the place of the CPU's, beside a framework's on a device."""

    def run(source: DType, codes: Bits, target: DType, on_gpu: bool) -> Bits:
        if on_gpu:
            return cast(source, codes, target, device == "gpu")
        x = pa.PArray._wrap(codes.view(source.storage), source)
        with pa.policy(policy), np.errstate(all="ignore"):
            return bits(x.astype(target)._buffer, target)

    return run


def torch_integers(values: Bits, source: DType, target: DType) -> Bits:
    """What floats become in an integer dtype of PyTorch's on a GPU, by rule.

    A register of 32 bits, or of 64 where that is too narrow, saturates, and the low bits of it are
    kept. That of unsigned integers is unsigned, but uint8 goes through int64. NaN is 0, or the
    highest bit alone where the float or the register has 64 bits (PTX ISA, ``cvt``).
    """
    through_int64 = target is dt.uint8
    width = 64 if target.bits == 64 or through_int64 else 32
    signed = target.kind is Kind.INT or through_int64
    low, beyond = (-(1 << width - 1), 1 << width - 1) if signed else (0, 1 << width)
    of_nan = 1 << width - 1 if 64 in (width, source.bits) else 0
    found = []
    for value in values.astype(np.float64).tolist():
        if value != value:
            found.append(of_nan)
        elif value <= low or value >= beyond:
            found.append(low if value <= low else beyond - 1)
        else:
            found.append(int(value))
    mask = (1 << target.bits) - 1
    return np.array([n & mask for n in found], f"u{target.bits // 8}").reshape(-1, 1)


# --- Codes ---------------------------------------------------------------------------------------


def bits(values: Any, dtype: DType) -> Bits:
    """Codes of a dtype, of a complex number a row of two."""
    part = dtype.part.storage.itemsize
    codes: Bits = np.ascontiguousarray(values).reshape(-1).view(np.uint8).view(f"u{part}")
    return codes.reshape(-1, 2 if dtype.kind is Kind.COMPLEX else 1)


def patterns(dtype: DType) -> Bits:
    """Codes to be cast."""
    random = np.random.default_rng(0)
    width = dtype.storage.itemsize
    if dtype is dt.bool:
        return np.array([0, 1], np.uint8)
    if dtype.kind is Kind.COMPLEX:
        parts = np.resize(patterns(dtype.part), COUNT)
        return np.stack([parts, random.permutation(parts)], axis=1).reshape(-1)
    if width <= 2:
        return np.arange(1 << 8 * width, dtype=f"u{width}")
    codes = random.integers(0, 256, COUNT * width, np.uint8).view(f"u{width}")
    if dtype.kind is not Kind.FLOAT:
        lengths = random.integers(0, 8 * width, codes.size, f"u{width}")
        return np.where(random.integers(0, 2, codes.size) > 0, codes, codes >> lengths)
    found = np.concatenate([_marked(dtype), random.normal(0, 1e3, COUNT // 4)])
    known = found.astype(dtype.storage).view(f"u{width}")
    near = np.concatenate([known, known + 1, known - 1])
    codes[: near.size] = near[:COUNT]
    return codes


def _marked(dtype: DType) -> Bits:
    """Ends of integers, ties of short floats, infinities."""
    powers = 2.0 ** np.arange(66)
    ends = np.concatenate([powers + d for d in (-1.5, -1, -0.5, 0, 0.5, 1, 1.5)])
    numbers = [np.arange(256, dtype=np.uint8).view(d.storage) for d in dt.CONCRETE if _short(d)]
    with np.errstate(all="ignore"):
        values = np.unique(np.concatenate([n.astype(np.float64) for n in numbers]))
    values = values[np.isfinite(values)]
    ties = (values[1:] + values[:-1]) / 2
    return np.concatenate([ends, -ends, ties, values, [np.inf, -np.inf, np.nan, 0.0, -0.0]])


def _short(dtype: DType) -> bool:
    return dtype.kind is Kind.FLOAT and dtype.bits == 8


# --- What differs --------------------------------------------------------------------------------


class Difference(NamedTuple):
    """A pair of dtypes whose casts differ.

    Attributes
    ----------
    source, target : DType
    count : int
        Of the codes tried.
    example : tuple of str
        What is cast, the CPU's answer, the GPU's.
    by_rule : bool
        Whether all of the GPU's answers are those of ``torch_integers``.
    """

    source: DType
    target: DType
    count: int
    example: tuple[str, str, str]
    by_rule: bool


def differences(known: list[DType], cast: Cast, *only: DType) -> Iterator[Difference]:
    """Cast every pair on both, or every dtype to some alone."""
    for source in known:
        codes = patterns(source)
        for target in only or known:
            if target is source:
                continue
            try:
                here, there = (cast(source, codes, target, gpu) for gpu in (False, True))
            except (RuntimeError, TypeError, NotImplementedError, ValueError):
                continue
            apart = ((here != there) & ~(_nan(here, target) & _nan(there, target))).any(axis=1)
            at = np.flatnonzero(apart)
            if at.size:
                given = bits(codes, source)
                telling = at[~_nan(given[at], source).any(axis=1)]  # NaN tells less than a number
                at = telling if telling.size else at
                shown = [_shown(c[at[0]], d) for c, d in
                         ((given, source), (here, target), (there, target))]  # fmt: skip
                by_rule = bool(
                    target.kind in dt.INTEGERS and (there == ruled(given, source, target)).all()
                )
                yield Difference(source, target, at.size, (shown[0], shown[1], shown[2]), by_rule)


def ruled(given: Bits, source: DType, target: DType) -> Bits:
    """By the rule, of complex numbers the real part."""
    with np.errstate(all="ignore"):
        return torch_integers(_values(given, source)[:, 0], source.part, target)


def _values(codes: Bits, dtype: DType) -> Any:
    part = dtype.part.storage
    return np.ascontiguousarray(codes).view(part)


def _nan(codes: Bits, dtype: DType) -> Bits:
    if dtype.format is None and dtype.kind is not Kind.COMPLEX:
        return np.zeros(codes.shape, np.bool)
    with np.errstate(all="ignore"):
        return np.isnan(_values(codes, dtype).astype(np.float64))


def _shown(codes: Bits, dtype: DType) -> str:
    with np.errstate(all="ignore"):
        parts = [str(v) for v in _values(codes, dtype)]
    return parts[0] if len(parts) == 1 else f"{parts[0]}+{parts[1]}j"


def table(found: list[Difference], *places: str) -> str:
    """A line for each target and each answer to its first example: the sources that differ."""
    rows = []
    for target in dict.fromkeys(d.target for d in found):
        alike = [d for d in found if d.target is target]
        first = max(alike, key=lambda d: d.source in (dt.float32, dt.float64))
        sources = ", ".join(d.source.name for d in alike)
        given, here, there = first.example
        rows.append([target.name, sources, f"{first.source} {given}", here, there])
    return markdown(["to", "from", "for example", *places], rows)


def main(arguments: list[str] | None = None) -> int:
    """Print the table; with ``--publish``, put it into the page, too."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("framework", choices=FRAMEWORKS)
    parser.add_argument("--publish", action="store_true", help=f"write {PAGE.name}, too")
    parser.add_argument("--policy", help="what to compare the device with, in place of the CPU")
    parser.add_argument("--device", choices=("gpu", "cpu"), default="gpu", help="beside a policy")
    options = parser.parse_args(arguments)
    version, known, cast = FRAMEWORKS[options.framework]()
    places = "on the CPU", "on the GPU"
    if options.policy:
        places = options.policy, f"on the {options.device.upper()}"
        cast = beside(options.policy, cast, options.device)
    found = list(differences(known, cast))
    title = f"{version}, {len(known)} dtypes, {date.today()}: {len(found)} pairs differ."
    text = f"{title}\n\n{table(found, *places)}"
    if options.policy:
        print(text)
        return int(bool(found))
    print(text)
    if options.framework == "torch":
        print(f"{sum(d.by_rule for d in found)} of them are by the rule of torch_integers")
    if options.publish:
        fill(PAGE, {f"{options.framework}'s casts": f"\n{text}\n"})
    return 0


if __name__ == "__main__":
    sys.exit(main())
