"""Tell which kernels PyTorch has on CUDA, by the lists of dtypes in its own tests (``op_db``).

    python conformance/torch_cuda.py [--check]
    python conformance/torch_cuda.py --device cuda    # ask a GPU, print where it differs

Needs PyTorch and expecttest, no GPU. The tests hold these lists against devices: what they do not
list has to fail. A function is taken whose list for the CPU is what the CPU answered when it was
asked (``golden/functions/torch.json``); of others, and of dtypes that the tests do not try or list
by the GPU at hand (float16, bfloat16, complex32), nothing is told to lack. Results are the CPU's.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import functions

_LISTED = ("b1", "u8", "i8", "i16", "i32", "i64", "f32", "f64", "c64", "c128")
_TRIED = (*_LISTED, "f16", "bf16")
NAMES = {code: name for name, code in functions._ask.CODES.items()}


def lists() -> dict[str, list[Any]]:
    """The entries of ``op_db`` by the names that they have."""
    from torch.testing._internal.common_methods_invocations import op_db

    found: dict[str, list[Any]] = {}
    for op in op_db:
        for name in (op.name, *(alias.name for alias in op.aliases)):
            found.setdefault(name, []).append(op)
    return found


def called(call: str) -> Iterator[str]:
    """Names that ``op_db`` may have for the function of a call."""
    named = re.match(r"\[?\(?([A-Za-z_][\w.]*)\(", call)
    if named:
        path = re.sub(r"^(torch|Tensor)\.", "", re.sub(r"^F\.", "nn.functional.", named[1]))
        yield from (path, f"nn.functional.{path}", f"linalg.{path}", f"fft.{path}")
        yield f"special.{path}"


def codes(dtypes: Any) -> set[str]:
    """The dtypes of a list that the tests try, by code."""
    names = {str(dtype).removeprefix("torch.") for dtype in dtypes}
    return {code for code in _TRIED if NAMES[code] in names}


def cells(name: str, call: str, known: dict[str, list[Any]]) -> dict[str, str]:
    """What is told of a function: the CPU's results, and what CUDA lacks."""
    asked = functions.golden("torch")[name]
    taken = {code for code in _TRIED if asked.get(code, ".")[0] not in "-?."}
    entries = next((known[each] for each in called(call) if each in known), [])
    entry = next((each for each in entries if codes(each.dtypes) == taken), None)
    cuda = None if entry is None or name[-1] in "_)" else codes(entry.dtypesIfCUDA)
    lacks = set() if cuda is None else {c for c in _LISTED if c not in cuda and asked[c] != "-"}
    return {
        code: functions.NO_KERNEL if code in lacks else re.sub(r"^\?.*", ".", text)
        for code, text in asked.items()
    }


# --- Asking a device ------------------------------------------------------------------------------

PROCESSES = os.cpu_count() or 1
Answers = dict[str, dict[str, str]]
LOST = "!lost"
"""In the place of an answer: the question cost the process its GPU."""


def _oracle(device: str) -> Any:
    """The questions to PyTorch, of the dtypes that its tests try, on arrays of a device.

    Kernels trip over rarer dtypes by an assertion on the GPU, which no process survives.
    """
    os.environ["CUDA_LAUNCH_BLOCKING"] = "1"  # or a later question would get the error
    import torch

    torch.set_default_device(device)
    asked = functions.oracle(functions._torch(), "torch")
    sections = {
        name: replace(
            section,
            rows={code: code for code in section.rows if code in _TRIED},
            refusal=_surviving(section.refusal),
        )
        for name, section in asked.sections.items()
    }
    return replace(asked, sections=sections)


def _surviving(refusal: Any) -> Any:
    """After an error that loses the GPU a new process goes on."""

    def said(error: Exception) -> str:
        if re.search("CUDA error|device-side assert", str(error)):
            with open(sys.argv[sys.argv.index("--journal") + 1], "a", encoding="utf-8") as journal:
                journal.write(f"\t{LOST}\n")
            os.execv(sys.executable, [sys.executable, *sys.argv])
        return str(refusal(error))

    return said


EDITIONS = {device: partial(_oracle, device) for device in ("cpu", "cuda")}


def asked(device: str, names: list[str]) -> Answers:
    """The answers of a device, in several processes."""
    parts = [names[i::PROCESSES] for i in range(PROCESSES)]
    with ThreadPoolExecutor(PROCESSES) as pool:
        done = pool.map(partial(functions._ask._drive, device), [part for part in parts if part])
    found = {name: cells for _, answers in done for name, cells in answers.items()}
    return {name: {code: text for (code, _), text in found[name].items()} for name in found}


def differences(lists: Answers, device: Answers, cpu: Answers) -> Iterator[str]:
    """What a device answers otherwise than its list says, a line a function.

    Where this PyTorch answers otherwise on the CPU, too, that is its version and left out.
    """
    recorded = functions.golden("torch")
    for name, row in lists.items():
        alike: dict[str, list[str]] = {}
        for code, got in device.get(name, {}).items():
            text, here = row[code], cpu[name][code]
            if (
                text != "."
                and _type(here) == _type(recorded[name][code])
                and _type(text) != _type(got)
            ):
                alike.setdefault(f"{_type(text)} listed, {_type(got)} there", []).append(code)
        if alike:
            yield f"{name}: " + "; ".join(f"{' '.join(c)}: {what}" for what, c in alike.items())


def _type(answer: str) -> str:
    return re.sub(":[^;]*", "", answer)


def ask(device: str, out: Path | None) -> int:
    """Print where a device differs from the lists; write what it and the CPU answer."""
    import torch

    rows = {row.name for row in functions.rows() if row.calls["torch"]}
    lists = {n: cells for n, cells in functions.golden("torch_cuda").items() if n in rows}
    found = {place: asked(place, [*lists]) for place in dict.fromkeys((device, "cpu"))}
    lines = list(differences(lists, found[device], found["cpu"]))
    cells = sum(lists[name][code] != "." for name, row in found[device].items() for code in row)
    print(f"torch {torch.__version__}, {device}: {cells} cells, {len(lines)} functions differ")
    print("\n".join(lines))
    for place in found if out else ():
        assert out is not None
        sections = {n: {(code, n): t for code, t in row.items()} for n, row in found[place].items()}
        functions.write(
            out / f"torch_{place}_asked.json",
            {"framework": f"torch {torch.__version__}, {place}"},
            sections,
        )
    return int(bool(lines))


def main() -> int:
    """Write the file, say whether it is as PyTorch's lists are, or ask a device."""
    if "--journal" in sys.argv:
        functions._ask.main(EDITIONS, form=functions)
        return 0
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--device", choices=EDITIONS)
    parser.add_argument("--out", type=Path, help="a folder for the answers of a device")
    options = parser.parse_args()
    if options.device:
        return ask(options.device, options.out)
    import torch

    path, known = functions.GOLDEN / "torch_cuda.json", lists()
    rows = {row.name: row.calls["torch"] for row in functions.rows()}
    answers = {n: cells(n, rows[n], known) for n in functions.golden("torch") if n in rows}
    said = f"torch {torch.__version__.partition('+')[0]}, the lists of its tests (op_db)"
    sections = {n: {(code, n): text for code, text in row.items()} for n, row in answers.items()}
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    functions.write(path, {"framework": said}, sections)
    return int(options.check and path.read_text(encoding="utf-8") != before)


if __name__ == "__main__":
    sys.exit(main())
