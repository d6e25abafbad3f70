"""Random NumPy expressions: what a recorded run on NumPy 2 predicts, and what NumPy 1.26 answers.

``python conformance/numpy_expressions.py --numpy1 PYTHON`` makes the expressions, asks a Python
that has NumPy 1.26, and prints those of which the prediction is another. ``--write`` keeps some of
them with the answers in ``golden/numpy1_expressions.txt``, for the tests.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

from numpy1_values import RAISES, asked

GOLDEN = Path(__file__).parent / "golden" / "numpy1_expressions.txt"

DTYPES = """
bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64
complex128
"""
NUMBERS = {
    "bool": ["0", "1"],
    "int": ["0", "1", "2", "100"],
    "int8": ["-1", "-100"],
    "float": ["0", "1.5", "-2.25", "100"],
}
PYTHON = """
True False 0 1 2 -1 7 100 127 128 200 255 256 300 -129 -200 1000 32767 40000 65535 65536 -40000
70000 2147483648 4294967296 -3000000000 9223372036854775807 0.0 0.5 1.5 -2.5 1000.0 70000.0 1e10
1e39 1e300 1j (1.5+2j) 1e39j
"""
OPERATORS = "+ - * / // % ** & | ^ << >> == != < <= > >="
BINARY = """
add subtract multiply divide true_divide floor_divide remainder mod power equal less
greater_equal maximum minimum fmax fmin hypot arctan2 copysign nextafter logaddexp bitwise_and
bitwise_or bitwise_xor left_shift right_shift logical_and logical_or logical_xor
"""
UNARY = """
sqrt exp expm1 log log1p log2 log10 sin cos tanh arcsin arctan sinh square abs negative positive
sign floor ceil trunc rint isnan isfinite signbit logical_not invert reciprocal conj real imag
"""
REDUCED = """
sum prod mean std var max min all any cumsum cumprod argmax sort argsort round
"""


def number(draw: random.Random, dtype: str) -> str:
    """A value that a dtype holds."""
    kinds = {"b": "bool", "u": "int", "i": "int", "f": "float", "c": "float"}
    found = NUMBERS[kinds[dtype[0]]]
    return draw.choice(found + NUMBERS["int8"] if dtype[0] == "i" else found)


def operand(draw: random.Random, depth: int = 0) -> str:
    """An array, a 0-d array, a scalar of NumPy's or of Python's, or a smaller expression."""
    if depth and draw.random() < 0.4:
        return f"({expression(draw, depth - 1)})"
    dtype, way = draw.choice(DTYPES.split()), draw.random()
    value = number(draw, dtype)
    if way < 0.4:
        return f"np.full({draw.choice(['3', '(1, 3)'])}, {value}, np.{name_of(dtype)})"
    if way < 0.55:
        return f"np.array({value}, np.{name_of(dtype)})"
    if way < 0.75:
        return f"np.{name_of(dtype)}({value})"
    return draw.choice(PYTHON.split())


def name_of(dtype: str) -> str:
    """What NumPy 1 and 2 both call it."""
    return "bool_" if dtype == "bool" else dtype


def expression(draw: random.Random, depth: int = 1) -> str:
    """An expression in which something of NumPy's takes part."""
    while True:
        a, b, c = (operand(draw, depth) for _ in range(3))
        forms = [
            *(f"{a} {draw.choice(OPERATORS.split())} {b}" for _ in range(8)),
            *(f"np.{draw.choice(BINARY.split())}({a}, {b})" for _ in range(3)),
            f"-{a}" if a[0] not in "-TF" else f"np.{draw.choice(UNARY.split())}({a})",
            *(f"np.{draw.choice(UNARY.split())}({a})" for _ in range(2)),
            *(f"np.{draw.choice(REDUCED.split())}({a})" for _ in range(2)),
            f"np.where([True, False, True], {a}, {b})",
            f"np.clip({a}, {b}, {c})",
            f"np.concatenate([np.atleast_1d(np.ravel({a})), np.ravel({b})])",
            f"np.stack([np.ravel({a})[:1], np.ravel({b})[:1]])",
        ]
        found = draw.choice(forms)
        if ("np." in found and not found.startswith(("np.round", "np.where"))) or "np." in a:
            return found


def expressions(count: int, seed: int = 0) -> list[str]:
    """So many different ones."""
    draw, found = random.Random(seed), {}
    while len(found) < count:
        found[expression(draw)] = None
    return list(found)


def answer(text: str) -> str:
    """What the NumPy that is installed here answers."""
    import numpy as np

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            made = eval(text, {"np": np})
        except Exception:
            return RAISES
    return dtype_of(made)


def dtype_of(made: object) -> str:
    """The dtype of a result; the type of what is no array."""
    return str(getattr(made, "dtype", type(made).__name__))


def predicted(every: list[str]) -> Iterator[str]:
    """What recording on NumPy 2 says that NumPy 1 answers, one program a line."""
    import numpy as np

    from promoarray.diagnostics.record.numpy.hook import hook
    from promoarray.diagnostics.record.numpy.numpy1_emulation import Past
    from promoarray.diagnostics.record.numpy.operand import operand_of
    from promoarray.diagnostics.record.numpy.rewriting import rewritten
    from promoarray.diagnostics.record.numpy.session import Session
    from promoarray.diagnostics.record.recorder import Recorder
    from promoarray.promotion.registry import as_policy

    run, past = as_policy("numpy@2"), as_policy("numpy@1")
    hooked = hook()
    for number, text in enumerate(every):
        recorder = Recorder(run, (run, past))
        session = Session(recorder, Past(recorder, past))
        scope = {"np": np}
        code = rewritten(f"found = {text}", f"<expression {number}>")
        with warnings.catch_warnings(), np.errstate(all="ignore"), hooked.recording(session):
            warnings.simplefilter("ignore")
            try:
                exec(code, scope)
            except Exception:
                yield RAISES
                continue
        if session.bug:
            raise RuntimeError(f"{text}\n{session.bug}")
        refused = any(d.answers[past.name].dtype is None for d in recorder.report.divergences)
        found = scope["found"]
        operand = operand_of(recorder, found)
        slot = recorder.report.seen(getattr(operand, "_type", None))
        carried = getattr(slot, "answers", {})
        yield RAISES if refused else str(carried.get(past.name) or dtype_of(found))


def read() -> list[tuple[str, str]]:
    """The expressions that are kept, with what NumPy 1.26 answered."""
    lines = GOLDEN.read_text(encoding="utf-8").splitlines()
    return [tuple(line.split("\t")) for line in lines if not line.startswith("#")]  # type: ignore[misc]


def main() -> int:
    """Ask both, and print where they differ."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--numpy1", metavar="PYTHON", default=sys.executable)
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", type=int, default=0, metavar="N", help="keep so many")
    parser.add_argument("--answer", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.answer:
        json.dump([answer(x) for x in json.load(sys.stdin)], sys.stdout)
        return 0
    every = expressions(args.count, args.seed)
    truth, own = asked(args.numpy1, every, __file__), [answer(x) for x in every]
    wrong = 0
    for text, guess, right, now in zip(every, predicted(every), truth, own, strict=True):
        if guess != right:
            wrong += 1
            print(f"{text}\n    predicted {guess}, NumPy 1.26 {right}, here {now}")
    changed = sum(a != b for a, b in zip(truth, own, strict=True))
    print(
        f"{len(every) - wrong} of {len(every)} predicted ({1 - wrong / len(every):.2%}); ", end=""
    )
    print(f"{changed} differ between NumPy 1.26 and this NumPy")
    if args.write:
        head = "# What NumPy 1.26.4 answers: an expression, a tab, the dtype of its result.\n"
        kept = zip(every[: args.write], truth, strict=False)
        lines = "".join(f"{text}\t{right}\n" for text, right in kept)
        GOLDEN.write_text(head + lines, encoding="utf-8")
    return wrong > len(every) // 1000


if __name__ == "__main__":
    sys.exit(main())
