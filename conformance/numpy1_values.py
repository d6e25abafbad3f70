"""Lines of NumPy programs: what a recorded run carried as NumPy 1 gives, and what 1.26 answers.

``python conformance/numpy1_values.py --numpy1 PYTHON`` makes the lines, asks a Python that has
NumPy 1.26, and prints those of which the recorded run, which NumPy 2 carries out, has another
dtype or other bits and does not say that it has not examined them. ``--write`` keeps some of them
with the answers in ``golden/numpy1_values.txt``, for the tests.
"""

from __future__ import annotations

import argparse
import builtins
import json
import math
import random
import re
import runpy
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

GOLDEN = Path(__file__).parent / "golden" / "numpy1_values.txt"
EXPRESSIONS = GOLDEN.with_name("numpy1_expressions.txt")
"""Random nested expressions of arrays, scalars and numbers, and the dtype that 1.26.4 answered."""
RAISES = "raises"

ARRAYS = [
    "np.array([200, 100, 60], np.uint8)",
    "np.array([-100, 100, 7], np.int8)",
    "np.array([60000, 3], np.uint16)",
    "np.array([-3, 30000], np.int16)",
    "np.array([4000000000, 1, 2], np.uint32)",
    "np.array([2000000000, -5], np.int32)",
    "np.array([5, 2**63 + 5], np.uint64)",
    "np.array([-7, 3, 2**40])",
    "np.array([0.1, 0.2], np.float32)",
    "np.array([1.5, 2.25], np.float16)",
    "np.array([0.1, 1e300])",
    "np.array([1+2j, 0.1], np.complex64)",
    "np.array([True, False])",
]
NUMBERS = ["0", "1", "3", "7", "-1", "100", "255", "300", "70000", "2**31", "2**40", "0.1", "2.5",
           "1e-3", "50.5", "True"]  # fmt: skip
SCALARS = ["np.uint8(200)", "np.int8(-5)", "np.uint16(1000)", "np.int64(3)", "np.uint64(7)",
           "np.float32(0.1)", "np.float64(0.1)", "np.float16(2.5)", "np.array(3)", "np.array(0.1)",
           "np.int32(70000)", "np.bool_(True)"]  # fmt: skip
OPERATORS = ["+", "-", "*", "/", "//", "%", "**", "&", "|", "^", "<<", ">>", "==", "<", ">="]

FORMS = {
    "operators": r"""
A O P ¦ P O A ¦ A O S ¦ S O A ¦ S O P ¦ P O S ¦ S O T ¦ A[0] O P ¦ P O A[-1] ¦ A[0] O S
A[0] O A[1]
""",
    "grammar": r"""
f"{A[0] O P}" ¦ f"{(A[0] O P):>{8 * 2}}" ¦ [x O P for x in A]
{n: x O P for n, x in enumerate(A)} ¦ sorted({float(x + P) for x in A}) ¦ list(x O P for x in A)
(lambda x, y=A[0] O P: (x O P, y))(A[1]) ¦ (y := A[0] O P) + y
A[0] O P if A[0] < P else A[1] O P ¦ P < A[0] < S ¦ [*(x O P for x in A)] ¦ dict(k=A[0] O P)
A[: int(A.size - 1)] O P ¦ eval("a O P", {"a": A[0]}) ¦ [x for x in A if x O P]
(A[0] O P, A[1] O S)[0] ¦ not A[0] < P ¦ -(A[0] O P)
""",
    "python": r"""
sum(A) ¦ sum(A, P) ¦ sum(x O P for x in A) ¦ sum([A[0], P, A[1], P]) ¦ sum(A.tolist())
functools.reduce(operator.add, A) ¦ functools.reduce(operator.mul, A, P)
functools.reduce(lambda x, y: x * 2 + y, A) ¦ math.prod(A) ¦ math.prod(A, start=P)
list(itertools.accumulate(A)) ¦ list(itertools.accumulate(A, operator.mul, initial=P))
list(map(operator.mul, A, [P] * 3)) ¦ list(map(lambda x: x O P, A)) ¦ list(map(abs, A))
list(map(np.sqrt, A)) ¦ list(itertools.starmap(pow, [(A[0], 2)])) ¦ list(map(sum, [A, A]))
list(map(functools.partial(operator.add, P), A)) ¦ max(A[0], P) ¦ min(A[0], P, S)
max(A, key=lambda x: x * 2) ¦ sorted([A[0], P, S, A[1]]) ¦ abs(A[0]) + P ¦ round(A[0] * 3, 1)
pow(A[0], 2) ¦ pow(A, 2) ¦ pow(A[0], P) ¦ divmod(A[0], P) ¦ divmod(P, A[0]) ¦ divmod(A, P)
divmod(A[0], A[1]) ¦ operator.add(A[0], P) ¦ operator.truediv(P, A[0]) ¦ operator.lt(A[0], P)
P in list(A) ¦ P in A ¦ A[0] in [P, S] ¦ list(A).count(P) ¦ list(A).index(A[1])
statistics.median(A) ¦ statistics.mean(A[:2]) ¦ statistics.median_low(list(A))
heapq.nsmallest(2, [A[0], P, A[1]]) ¦ bisect.bisect([0, P, 1000], A[0]) ¦ any(x O P for x in A)
all(x < P for x in A) ¦ list(filter(lambda x: x < P, A)) ¦ float(A[0] O P) ¦ int(abs(A[0]) * P)
math.floor(A[0] / 3) ¦ math.sqrt(abs(A[0]) * P) ¦ math.fsum(x O P for x in A)
[x + y for x, y in zip(A, itertools.repeat(P))] ¦ operator.itemgetter(0)(A) O P
collections.Counter(int(x) for x in A)
""",
    "functions": r"""
np.add(A, P) ¦ np.subtract(P, A) ¦ np.multiply(A, S) ¦ np.true_divide(A, P)
np.floor_divide(A, P) ¦ np.power(A, 2) ¦ np.power(A[0], P) ¦ np.mod(A, P) ¦ np.maximum(A, P)
np.minimum(S, A) ¦ np.fmax(A, P) ¦ np.hypot(A, P) ¦ np.bitwise_and(A, P) ¦ np.left_shift(A, 2)
np.equal(A, P) ¦ np.less(A[0], P) ¦ np.where(A > 2, A, P) ¦ np.where(A > 2, P, S)
np.where(A > 2, A, S) ¦ np.clip(A, 1, P) ¦ np.clip(A, a_min=1, a_max=P) ¦ A.clip(1, P)
A.clip(max=P) ¦ np.clip(A, S, None) ¦ np.add.outer(A, P) ¦ np.multiply.outer(A[0], P)
np.add.reduce(A) ¦ np.add.accumulate(A) ¦ np.sum(A) ¦ A.sum() ¦ A.mean() ¦ np.prod(A) ¦ A.cumsum()
np.var(A) ¦ np.mean(A[:2]) ¦ A.max() ¦ np.ptp(A) ¦ A.dot(A) ¦ np.dot(A, P) ¦ np.dot(A, A)
np.outer(A, P) ¦ np.inner(A, A) ¦ np.vdot(A, A) ¦ np.concatenate([A, A])
np.concatenate([A, np.array([P])]) ¦ np.append(A, P) ¦ np.hstack([A, P]) ¦ np.stack([A, A])
np.insert(A, 1, P) ¦ np.insert(A, [0, 1], P) ¦ np.full(3, P, np.uint8)
np.full(3, fill_value=P, dtype=np.int16) ¦ np.full(2, S) ¦ np.full_like(A, P)
np.full_like(A, fill_value=P) ¦ np.array([A[0], P]) ¦ np.array([P, S])
np.array([P, 1], dtype=np.uint8) ¦ np.asarray(P, np.int8) ¦ np.uint8(P) ¦ np.int16(P)
np.float32(P) ¦ np.array(P, A.dtype) ¦ np.arange(A[0], A[0] + 3) ¦ np.arange(S, 5)
np.linspace(A[0], P, 3) ¦ np.linspace(0, S, 3) ¦ np.linspace(A, P, 3)
np.geomspace(1, abs(A[0]) + 1, 3) ¦ np.percentile(A, 50) ¦ np.percentile(A, P)
np.quantile(A, 0.3) ¦ np.median(A) ¦ np.average(A, weights=[1, 2, 3][: A.size]) ¦ np.average(A)
np.interp(P, [0, 300], [A[0], A[1]]) ¦ np.select([A > 2, A < 1], [A, P], default=S)
np.piecewise(A, [A > 2], [P, S]) ¦ np.choose([0, 1], [A[:2], P]) ¦ np.diff(A)
np.diff(A, prepend=P) ¦ np.ediff1d(A) ¦ np.gradient(A * 1.0) ¦ np.gradient(A)
np.cross(A[:2], A[:2]) ¦ np.kron(A, P) ¦ np.convolve(A, [1, P]) ¦ np.polyval([1, P], A)
np.polyval(A, P) ¦ np.trace(np.diag(A)) ¦ np.isclose(A, P) ¦ np.allclose(A, P)
np.array_equal(A, [P] * A.size) ¦ np.isin(A, [P, 3]) ¦ np.unique(A)
np.searchsorted(np.sort(A), P) ¦ np.digitize(A, [1, P]) ¦ np.bincount([1, 2]) ¦ np.histogram(A, 3)
np.cumsum(A, dtype=np.int64) ¦ np.round(A, 1) ¦ np.around(A[0] / 3, 2) ¦ np.nan_to_num(A)
np.sign(A) ¦ np.abs(A) ¦ np.negative(A) ¦ np.square(A) ¦ np.reciprocal(A) ¦ np.sqrt(abs(A) * 1)
np.floor(A / 2) ¦ np.ldexp(A[:1] * 0.5, 3) ¦ np.float_power(A[:1], 2) ¦ np.heaviside(A, P)
np.gcd(A, P) ¦ np.lcm(A[:1], P) ¦ np.copysign(A, P) ¦ np.logaddexp(A * 0, P)
np.logical_and(A, P) ¦ np.tile(A, 2) ¦ np.pad(A, 1, constant_values=P) ¦ np.roll(A, 1)
np.repeat(A, 2) ¦ np.triu(np.outer(A, A)) ¦ np.einsum('i,i', A, A) ¦ np.einsum(',i', P, A)
np.tensordot(A, A, 1) ¦ np.matmul(A, A) ¦ np.linalg.norm(A) ¦ np.cov(A) ¦ np.corrcoef(A, A)
np.nansum(A) ¦ np.nanmean(A) ¦ float(np.count_nonzero(A)) ¦ np.argmax(A)
np.put_along_axis(a := A, np.array([0]), P, 0) or a
np.ma.masked_array(A, [True] + [False] * (A.size - 1)).sum() ¦ np.ma.array(A) + P
np.char.add(['a'], 'b') ¦ np.emath.sqrt(-P) ¦ np.emath.power(A, 2) ¦ np.vander(A) ¦ np.fft.fft(A)
np.trapz(A) if hasattr(np, 'trapz') else np.trapezoid(A) ¦ np.unwrap(A * 1.0)
np.apply_along_axis(lambda x: x O P, 0, A) ¦ np.vectorize(lambda x: x O P)(A)
np.fromiter((x O P for x in A), float) ¦ np.fromfunction(lambda i: i O P, (3,))
np.frompyfunc(lambda x: x + P, 1, 1)(A) ¦ np.nditer(A).operands[0] O P ¦ np.ndarray.sum(A)
np.result_type(A, P) ¦ np.can_cast(P, np.uint8) ¦ np.min_scalar_type(P) ¦ np.r_[A, P]
np.c_[A, A] ¦ np.meshgrid(A, P) ¦ np.broadcast_to(P, 3) ¦ np.divmod(A, P) ¦ np.modf(A * 1.0)
np.frexp(A * 1.0) ¦ np.rint(A) ¦ np.deg2rad(A) ¦ np.sinc(A) ¦ np.angle(A) ¦ np.real(A)
np.lib.scimath.sqrt(P) ¦ np.lib.stride_tricks.sliding_window_view(A, 2)
np.polynomial.polynomial.polyval(P, A * 1.0) ¦ np.polynomial.Polynomial([1, 2])(A)
np.poly1d([1, P])(A) ¦ np.poly1d([1, 2]) + P ¦ np.resize(A, 5) ¦ np.block([A, A])
""",
    "statements": r"""
a = A.copy(); a += P; r = a ¦ a = A.copy(); a *= S; r = a ¦ a = A.copy(); a[0] = P; r = a
a = A.copy(); a[0] += P; r = a ¦ a = A.copy(); a[1:] -= P; r = a
a = A.copy(); a[:2] = [P, 1]; r = a ¦ a = A.copy(); a.fill(P); r = a
a = A.copy(); np.put(a, [0], P); r = a ¦ a = A.copy(); a[0], b = P, 1; r = a
a = A.copy(); np.copyto(a, A, casting='unsafe'); r = a
a = A.copy(); np.putmask(a, a > 2, P); r = a ¦ a = A.copy(); np.place(a, a > 2, [P]); r = a
a = A.copy(); np.add(a, P, out=a); r = a
a = A.copy(); np.multiply(a, S, out=a, casting='unsafe'); r = a
a = A.copy(); np.add.at(a, [0], P); r = a ¦ a = A.copy(); a.flat[0] = P; r = a
a = A.copy(); a.put([0], P); r = a ¦ a = A.copy(); np.clip(a, 1, P, out=a); r = a
a = A.copy(); v = a[1:]; v += P; r = a
a = A.copy(); np.fill_diagonal(m := np.outer(a, a), P); r = m ¦ for a, b in [(A[0], P)]: r = a O b
class C: x = A[0] O P ¶ r = C.x ¦ r = 0 ¶ while r < 3: r = r + abs(A[0])
def f(x, y=A[0] O P): return x O P, y ¶ r = f(A[1])
def g(): ¶     yield A[0] O P ¶ r = next(g())
try: ¶     raise ValueError(A[0] O P) ¶ except ValueError as e: r = e.args[0]
x: int = A[0] O P ¶ r = x ¦ class C: pass ¶ c = C(); c.x = A[0]; c.x += P; r = c.x
d = {'k': A[0]}; d['k'] O= P; r = d['k']
match A[0] O P: ¶     case x if x O P: r = x ¶     case _: r = A[1] O P
with warnings.catch_warnings() as w: ¶     r = A[0] O P
s = 0 ¶ for x in A: s += x ¶ r = s & 0xFFFF ¦ s = A[0] ¶ for x in A[1:]: s = s * 31 + x ¶ r = s
h = 5381 ¶ for x in A: h = ((h << 5) + h) ^ int(x) ¶ r = h & 0xFFFFFFFF
h = np.uint32(2166136261) ¶ for x in A.astype(np.uint32): h = (h ^ x) * np.uint32(16777619) ¶ r = h
r = sum(A) % 256 ¦ r = (sum(A) + 1) / len(A) ¦ r = max(A) - min(A)
r = sum(x * x for x in A) / A.size
s1, s2 = 1, 0 ¶ for x in A: s1 = (s1 + x) % 65521; s2 = (s2 + s1) % 65521 ¶ r = (s2 << 16) | s1
r = (A - A.mean()) / (A.std() + P) ¦ r = A / A.max() * P ¦ r = (A[0] - A[1]) ** 2
r = A * np.float64(0.5) + P ¦ m = A.mean(); r = np.sum((A - m) ** 2) / (A.size - 1)
r = np.sqrt(np.mean(np.square(A))) ¦ exec('r = a O P', d := {'a': A[0]}); r = d['r']
""",
}
"""Lines by kind: those of one row stand apart by ¦, and a line of several by ¶."""

PRELUDE = (
    "import bisect, collections, functools, heapq, itertools, math\n"
    "import operator, statistics, warnings\n"
    "import numpy as np\n"
)


def lines(seed: int, each: int, kinds: tuple[str, ...] = tuple(FORMS)) -> Iterator[str]:
    """Make some lines of each form; each puts its result in ``r``."""
    draw = random.Random(seed)
    for kind in kinds:
        for form in re.split(" ¦ |\n", FORMS[kind].strip()):
            form = form.replace(" ¶ ", "\n")
            made = {}
            for _ in range(each if any(x in form for x in ("P", "S")) else max(each // 2, 6)):
                made[_filled(form, draw)] = None
            every = (text if kind == "statements" else f"r = {text}" for text in made)
            yield from filter(_is_python, every)


def _is_python(text: str) -> bool:
    """Whether a line can be compiled: comparisons are no operators in place."""
    try:
        compile(text, "line", "exec")
    except SyntaxError:
        return False
    return True


def _filled(form: str, draw: random.Random) -> str:
    words = {
        "A": draw.choice(ARRAYS),
        "P": draw.choice(NUMBERS),
        "S": draw.choice(SCALARS),
        "T": draw.choice(SCALARS),
        "O": draw.choice(OPERATORS),
    }
    words["P"] = f"({words['P']})" if words["P"][0] == "-" or "**" in words["P"] else words["P"]
    pieces, at = [], 0
    while at < len(form):
        here = form[at]
        alone = (at == 0 or not form[at - 1].isalnum()) and (
            at + 1 == len(form) or not form[at + 1].isalnum()
        )
        pieces.append(words.get(here, here) if alone and not form[:at].endswith(".") else here)
        at += 1
    return "".join(pieces)


def described(x: Any) -> str:
    """An object as text: dtype and bits of what is NumPy's."""
    import numpy as np

    if isinstance(x, np.ma.MaskedArray):
        return f"masked {described(x.filled())}"
    if isinstance(x, (np.ndarray, np.generic)) and x.dtype.kind in "biufc":
        values = [repr(v) for v in np.asarray(x).ravel().tolist()]
        kind = "array" if isinstance(x, np.ndarray) else "scalar"
        return f"{kind} {x.dtype.name}{list(x.shape)} {' '.join(values)}"
    if isinstance(x, np.ndarray):
        return f"{x.dtype.kind}{list(x.shape)} {[described(v) for v in x.ravel().tolist()]}"
    if isinstance(x, (list, tuple)):
        return f"({', '.join(map(described, x))})"  # NumPy 2 makes tuples of some lists
    if isinstance(x, dict):
        return f"dict({', '.join(f'{k}: {described(v)}' for k, v in x.items())})"
    return f"{type(x).__name__} {x}"


def dtype_of(answer: str) -> str:
    """The dtype of a described result; the type of what is not NumPy's."""
    kind, _, rest = answer.partition(" ")
    return rest.partition("[")[0] if kind in ("array", "scalar") else kind


def alike(a: str, b: str) -> bool:
    """Whether two answers are the same, but for the last bits of a float64.

    Those of powers and exponentials hang on the loops that a processor has.
    """
    one, other = (_NUMBER.split(text) for text in (a, b))
    if len(one) != len(other):
        return False
    return all(x == y or _close(x, y) for x, y in zip(one, other, strict=True))


_NUMBER = re.compile(r"(-?\d+\.\d+(?:e[-+]?\d+)?)")


def _close(a: str, b: str) -> bool:
    try:
        return math.isclose(float(a), float(b), rel_tol=1e-15)
    except ValueError:
        return False


def answers(texts: list[str]) -> list[str]:
    """What the NumPy that runs this gives."""
    found = []
    for text in texts:
        names: dict[str, Any] = {}
        try:
            exec(PRELUDE + text, names)
            found.append(described(names["r"]))
        except Exception:
            found.append(RAISES)
    return found


def carried(texts: list[str]) -> list[tuple[str, bool]]:
    """What a recorded run gives that is carried as NumPy 1, and whether it was examined."""
    import numpy as np

    from promoarray.diagnostics.record.block import REWRITTEN
    from promoarray.diagnostics.record.numpy.running import rewriting
    from promoarray.diagnostics.record.recorder import Recorder
    from promoarray.policies import as_policy

    past = as_policy("numpy@1")
    home = REWRITTEN["numpy"].home(np.__version__)
    recorder = Recorder(home, (past, home))
    source, first = [PRELUDE + "found = []"], []
    for n, text in enumerate(texts):
        first.append(sum(part.count("\n") + 1 for part in source) + 1)
        body = "\n".join(f"    {line}" for line in text.split("\n"))
        source.append(
            f"def line_{n}():\n{body}\n    return r\n"
            f"try: found.append(described(line_{n}()))\n"
            f"except Exception: found.append({RAISES!r})"
        )
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "lines.py"
        source[0] = source[0].replace(
            "found = []", "from numpy1_values import described; found = []"
        )
        script.write_text("\n".join(source) + "\nimport builtins; builtins.found_lines = found\n")
        sys.path.insert(0, str(Path(__file__).parent))
        with rewriting(recorder, past=past) as recorded:
            runpy.run_path(str(script), {"__builtins__": builtins}, "__main__")
    assert not recorded.bug, recorded.bug
    kept = builtins.__dict__.pop("found_lines")
    unseen = {each.program.line for each in recorder.report.unexamined}
    in_texts = any(each.program.file == "<string>" for each in recorder.report.unexamined)
    ends = [*first[1:], 1 << 60]
    return [
        (
            answer,
            not any(begin <= line < end for line in unseen)
            and not (in_texts and ("eval(" in text or "exec(" in text)),
        )
        for text, answer, begin, end in zip(texts, kept, first, ends, strict=True)
    ]


def asked(python: str, texts: list[str]) -> list[str]:
    """What another Python answers."""
    ran = subprocess.run(
        [python, "-W", "ignore", __file__, "--answer"],
        input=json.dumps(texts),
        capture_output=True,
        text=True,
        check=True,
    )
    found: list[str] = json.loads(ran.stdout)
    return found


def read() -> list[tuple[str, str]]:
    """The lines that are kept, with what 1.26 answers."""
    rows = (json.loads(row) for row in GOLDEN.read_text(encoding="utf-8").splitlines())
    return [(text, answer) for text, answer in rows]


def expressions() -> list[tuple[str, str]]:
    """The expressions that are kept, with the dtypes."""
    rows = EXPRESSIONS.read_text(encoding="utf-8").splitlines()[1:]
    return [(text, dtype) for text, _, dtype in (row.partition("\t") for row in rows)]


def main() -> int:
    """Compare, and print what differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--numpy1", help="a Python that has NumPy 1.26")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--each", type=int, default=12, help="lines of each form")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--answer", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    if args.answer:
        json.dump(answers(json.load(sys.stdin)), sys.stdout)
        return 0
    texts = list(lines(args.seed, args.each))
    right = asked(args.numpy1, texts)
    found = carried(texts)
    wrong = unexamined = 0
    for text, answer, (mine, examined) in zip(texts, right, found, strict=True):
        unexamined += not examined
        if not alike(mine, answer) and examined:
            wrong += 1
            print(f"{text!r}\n    NumPy 1: {answer}\n    carried: {mine}")
    print(f"{len(texts)} lines, {unexamined} not examined, {wrong} wrong")
    if args.write:
        rows = [json.dumps(row) for row in zip(texts, right, strict=True)]
        GOLDEN.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
