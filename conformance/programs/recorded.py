"""What frameworks answered, kept so that the tests replay it without any: text, compressed."""

from __future__ import annotations

import lzma
from collections.abc import Iterable, Iterator
from pathlib import Path

GOLDEN = Path(__file__).resolve().parent.parent / "golden" / "programs"


def write(name: str, described: dict[str, object], asked: Iterable[tuple[str, list[str]]]) -> Path:
    """Keep programs with their answers; what a line writes out answers itself and is left out."""
    said = {key: described[key] for key in ("version", "policy", "seed")}
    blocks = ["\n".join(f"# {key}: {value}" for key, value in said.items())]
    for program, answers in asked:
        pairs = zip(program.splitlines(), answers, strict=False)
        blocks.append("\n".join(f"{line}\n= {answer}" for line, answer in pairs))
    GOLDEN.mkdir(parents=True, exist_ok=True)
    path = GOLDEN / f"{name}.txt.xz"
    path.write_bytes(lzma.compress("\n\n".join(blocks).encode(), preset=9))
    return path


def read(name: str) -> tuple[dict[str, str], Iterator[tuple[str, list[str]]]]:
    """Read what was kept: what the framework was, and each program with its answers."""
    head, *blocks = lzma.decompress((GOLDEN / f"{name}.txt.xz").read_bytes()).decode().split("\n\n")
    meta = dict(line[2:].split(": ", 1) for line in head.splitlines())
    return meta, map(_read, blocks)


def _read(block: str) -> tuple[str, list[str]]:
    lines = block.splitlines()
    program = [line for line in lines if not line.startswith("= ")]
    return "\n".join(program), [line[2:] for line in lines if line.startswith("= ")]
