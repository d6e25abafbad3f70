"""Condense recorded casts into the files that the tests read.

python conformance/condense_casts.py DATA RECORDS...
python conformance/condense_casts.py casts_arm64.npz RECORDS...

DATA is a folder with ``cast_inputs.npz`` (bit patterns by dtype), ``cast_bits.npz`` and
``cast_index.json`` (what ml_dtypes, JAX, PyTorch, onnx.reference and onnxruntime made of them, and
what ONNX's tables say). RECORDS are files of ``conformance/oracles/casts.py``, named numpy1,
tensorflow, paddle331, paddle262 and mindspore. It writes

* ``golden/casts.npz`` from DATA, and
* ``golden/casts_more.npz`` from RECORDS: the same layout, whose entries may be those of casts.npz.

The second form writes another such file from RECORDS alone, of another machine: numpy2_arm64,
torch_arm64, and of either numpy2_arm64_rows, torch_arm64_rows.

All leave out casts of a type to itself, among integers and to wider types, where nothing can be
lost, and of 16-bit floats to 32- and 64-bit integers, which are large; they keep those of JAX and
TensorFlow from bfloat16 and float32 to float64, which lose subnormals. Results that are equal are
stored once; inputs that are all codes in order are not.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from promoarray.backends.numpy.cast import widens
from promoarray.dtypes import BY_NAME, DType, Kind

GOLDEN = Path(__file__).resolve().parent / "golden"
Arrays = dict[str, np.ndarray[Any, Any]]

MORE = """\
Bits that frameworks gave for casts with Python 3.11, recorded by
conformance/oracles/casts.py: {versions}{other}.
index: "source|target" -> who -> entry, here or, with a leading "casts.", in casts.npz, which has
the inputs, too."""


def loses(source: DType, target: DType) -> bool:
    """Whether a cast can lose something, so that it is worth a record."""
    whole = (Kind.BOOL, Kind.INT, Kind.UINT)
    if source is target or (source.kind in whole and target.kind in whole):
        return False
    large = source.bits == 16 and target.kind in whole and target.bits >= 32
    return not large and not _widens(source, target)


def _widens(source: DType, target: DType) -> bool:
    if widens(source, target):
        return True
    a, b = source.format, target.format
    if b is None:
        return False
    if a is None:  # integers, whose every bit the significand has to hold
        return source.bits <= b.mantissa and target.bits >= 32
    return target.bits >= 32 and source.bits < target.bits


FLUSHED = ("bfloat16|float64", "float32|float64")


def condense_more(records: list[Path], old: Arrays, data: Path | None = None) -> Arrays:
    """The frameworks of RECORDS, and of DATA JAX's casts to float64."""
    known = {value.tobytes() + value.dtype.str.encode(): f"casts.{k}" for k, value in old.items()}
    index: dict[str, dict[str, str]] = {}
    out: Arrays = {}

    def add(pair: str, who: str, result: np.ndarray[Any, Any]) -> None:
        mark = result.tobytes() + result.dtype.str.encode()
        if mark not in known:
            known[mark] = f"m{len(out)}"
            out[known[mark]] = result
        index.setdefault(pair, {})[who] = known[mark]

    versions = []
    for path in sorted(records):
        with np.load(path) as file:
            versions.append(f'{file["version"]} ("{path.stem}")')
            for pair in file.files:
                if pair == "version":
                    continue
                source, target = (BY_NAME[name] for name in pair.split("|"))
                if loses(source, target) or (path.stem == "tensorflow" and pair in FLUSHED):
                    add(pair, path.stem, file[pair])
    if data is not None:
        recorded = json.loads((data / "cast_index.json").read_text(encoding="utf-8"))
        with np.load(data / "cast_bits.npz") as bits:
            for pair in FLUSHED:
                entry = next(k for k, who in recorded[pair]["native"].items() if "jax" in who)
                add(pair, "jax", bits[entry])
    other = "; and jax 0.10.2 where casts.npz leaves it out" * (data is not None)
    note = MORE.format(versions=", ".join(versions), other=other)
    return {"note": np.array(note), "index": np.array(json.dumps(index)), **out}


def condense(data: Path, note: np.ndarray[Any, Any], pairs: list[str]) -> Arrays:
    """The pairs of DATA that can lose something, in the order of their names."""
    recorded = json.loads((data / "cast_index.json").read_text(encoding="utf-8"))
    index: dict[str, dict[str, dict[str, list[str]]]] = {}
    entries: Arrays = {}
    names: dict[str, str] = {}
    with np.load(data / "cast_bits.npz") as bits:
        for pair in pairs:
            modes = recorded[pair]
            for mode, results in modes.items():
                for key, who in results.items():
                    kept = [name for name in who if not name.startswith("onnxref1162")]
                    if kept:
                        name = names.setdefault(key, f"c{len(names)}")
                        entries[name] = bits[key]
                        index.setdefault(pair, {}).setdefault(mode, {})[name] = kept
    with np.load(data / "cast_inputs.npz") as given:
        inputs = {
            f"in_{name}": given[name]
            for name in given.files
            if not np.array_equal(given[name], np.arange(len(given[name])))
        }
    return {"note": note, "index": np.array(json.dumps(index)), **inputs, **entries}


def main(data: Path, records: list[Path]) -> None:
    """Write both files, or a third."""
    with np.load(GOLDEN / "casts.npz") as file:
        old = dict(file)
    if data.suffix == ".npz":
        np.savez_compressed(GOLDEN / data.name, **condense_more(records, old))
        return
    recorded = json.loads((data / "cast_index.json").read_text(encoding="utf-8"))
    pairs = sorted(p for p in recorded if loses(*(BY_NAME[name] for name in p.split("|"))))
    new = condense(data, old["note"], pairs)
    np.savez_compressed(GOLDEN / "casts.npz", **new)
    np.savez_compressed(GOLDEN / "casts_more.npz", **condense_more(records, new, data))


if __name__ == "__main__":
    main(Path(sys.argv[1]), [Path(path) for path in sys.argv[2:]])
