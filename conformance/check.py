"""Compare promoarray with what the real frameworks answered; print only the cells that differ.

    python conformance/check.py [GOLDEN ...]        e.g. torch numpy2; all of them without a name

Exit status 1 if a cell differs that `departures.toml` does not name, or if a departure named there
no longer differs.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import departures
import tables

import promoarray as pa
from promoarray.diagnostics.progress import Progress
from promoarray.dtypes import BY_CODE, WEAK, DType, weak_bool, weak_complex, weak_float, weak_int
from promoarray.operations import Form
from promoarray.policies import Operand, Policy, Rank, Refusal, as_policy
from promoarray.promotion.in_force import policy as in_force

HERE = Path(__file__).resolve().parent
GOLDEN = HERE / "golden"

_SAID = "# policy: "
POLICY_OF = {
    path.stem: head.removeprefix(_SAID)
    for path in sorted(GOLDEN.glob("*.txt"))
    for head in [path.read_text("utf-8").partition("\n")[0]]
    if head.startswith(_SAID)
}
"""The policy that each golden file is the truth of, as its first line says."""

SCALARS = {
    "bool": (weak_bool, True),
    "int": (weak_int, 1),
    "float": (weak_float, 1.0),
    "complex": (weak_complex, 1 + 0j),
}
RANKS = {
    "array_0d": (Rank.ARRAY, Rank.ZERO_D),
    "0d_array": (Rank.ZERO_D, Rank.ARRAY),
    "0d_0d": (Rank.ZERO_D, Rank.ZERO_D),
    "operator_0d": (Rank.ZERO_D, Rank.ZERO_D),
    "inplace_0d": (Rank.ARRAY, Rank.ZERO_D),
}
# The oracles ask by the short names; ours are the array API's.
NAMES = {
    "left_shift": "bitwise_left_shift",
    "right_shift": "bitwise_right_shift",
    "mod": "remainder",
}
NAMES |= {"greater_than": "greater", "smooth_l1_loss": "huber_loss"}


class Cell(NamedTuple):
    """One recorded answer beside ours."""

    section: str
    row: str
    column: str
    recorded: str
    ours: str

    @property
    def differs(self) -> bool:
        """Whether the two part. A missing kernel is not an answer, unless it names its dtype."""
        return self.recorded != "?" and self.recorded.lstrip("?") != self.ours

    def __str__(self) -> str:
        said = f"recorded {self.recorded}, ours {self.ours}"
        return f"{self.section}: {self.row} {self.column} -> {said}"


def compare(golden: str, pattern: str = "* : * : *") -> Iterator[Cell]:
    """Ask the policy every question of a golden file that a pattern names."""
    policy = as_policy(POLICY_OF[golden])
    for section, cells in promised(_sections(golden)).items():
        if not section.startswith("scalars/"):
            for (row, column), recorded in _named(pattern, section, cells):
                yield Cell(section, row, column, recorded, answer(policy, section, row, column))


@cache
def _sections(golden: str) -> dict[str, tables.Cells]:
    return tables.read(GOLDEN / f"{golden}.txt")[1]


def _named(pattern: str, section: str, cells: tables.Cells) -> Iterator[tuple[Any, str]]:
    """The cells of a section that a pattern names; most patterns name few sections."""
    sections, rows, columns = departures.parts(pattern)
    if departures.is_any(section, sections):
        for (row, column), recorded in cells.items():
            if departures.is_any(row, rows) and departures.is_any(column, columns):
                yield (row, column), recorded


def promised(sections: Mapping[str, Any]) -> dict[str, Any]:
    """The sections that a policy answers for.

    Of a function that TensorFlow has twice, that is the one in the namespace of NumPy's names
    which follows the modes (``tnp/where``); for those there that do not (``tnp_other/add``) nothing
    answers.
    """
    return {
        section: cells
        for section, cells in sections.items()
        for kind, _, name in [section.partition("/")]
        if kind != "tnp_other" and (kind == "tnp" or f"tnp/{name}" not in sections)
    }


def question(
    policy: Policy, section: str, row: str, column: str
) -> tuple[str, tuple[Operand, ...], Form]:
    """The operation that a cell asks, of a section that asks an operation of dtypes."""
    kind, _, name = section.partition("/")
    if kind in _OF_ONE:
        return column.partition("[")[0], (Operand(BY_CODE[row]),), Form.FUNCTION
    ranks, by_value = RANKS.get(kind, (Rank.ARRAY, Rank.ARRAY)), policy.by_value is not None
    operands = (_operand(by_value, x, rank) for x, rank in zip((row, column), ranks, strict=True))
    forms = dict.fromkeys(("operator", "operator_0d"), Form.OPERATOR) | {
        "inplace": Form.INPLACE,
        "inplace_0d": Form.INPLACE,
    }
    return NAMES.get(name, name), (*operands,), forms.get(kind, Form.FUNCTION)


def numbers(row: str, column: str) -> tuple[Any, ...]:
    """The Python numbers of a cell, 1 of each kind, as oracles ask them; None of an array."""
    ones = {"bool": True, "int": 1, "float": 1.0, "complex": 1 + 0j}
    return ones.get(row), ones.get(column)


def answer(policy: Policy, section: str, row: str, column: str) -> str:
    """Ask a policy what a golden file's cell asks; the answer is written as there."""
    kind, _, name = section.partition("/")
    name = NAMES.get(name, name)
    if kind in _OF_ONE:
        plan = policy.plan(*question(policy, section, row, column))
        index = column.rstrip("]").partition("[")[2]
        if isinstance(plan, Refusal) or not index:
            return _code(plan)
        return (plan.result, *plan.extra_results)[int(index)].code
    if kind == "clip":
        x, bound = (_operand(policy.by_value is not None, code) for code in (row, column))
        return _code(policy.plan("clip", (x, bound, bound), Form.FUNCTION))
    if kind == "by_value":
        scalar = _number(column)
        operand = Operand(WEAK[type(scalar)], Rank.SCALAR, scalar)
        return _code(policy.plan(name, (Operand(BY_CODE[row]), operand), Form.FUNCTION))
    if kind == "scalars_0d":
        value = _VALUES[BY_CODE[row].kind.category](column)
        operands = Operand(BY_CODE[name]), Operand(BY_CODE[row], Rank.ZERO_D, value)
        return _code(policy.plan("add", operands))
    name, operands, form = question(policy, section, row, column)
    if kind == "types":
        return _code(_TYPES[name](policy, *operands))
    # A signature is what computing does not ask for.
    taken = policy.signature_refusal(name, operands) if form is Form.FUNCTION else None
    return _code(taken or policy.plan(name, operands, form))


_OF_ONE = frozenset({"unary", "reduce", "linalg", "fft", "sets", "sorting"})
"""Sections of functions of one array; ``svd[1]`` is the second result of svd."""

_VALUES = {0: "True".__eq__, 1: int, 2: float, 3: lambda text: complex(float(text))}
"""What a column of ``scalars_0d`` is, by the category of the 0-d array's dtype."""


def _can_cast(policy: Policy, a: Operand, b: Operand) -> DType | None:
    return b.type if policy.can_cast(a.type, b.type) else None


_TYPES = {
    "promote_types": lambda policy, a, b: (
        (common := policy.promote(a.type, b.type)) and policy.strong(common)
    ),
    "result_type": lambda policy, a, b: policy.result_type((a, b)),
    "can_cast": _can_cast,
}


@cache
def _operand(by_value: bool, code: str, rank: Rank = Rank.ARRAY) -> Operand:
    if code in SCALARS:
        dtype, value = SCALARS[code]
        return Operand(dtype, Rank.SCALAR, value if by_value else None)
    dtype = BY_CODE[code]
    one = _ones().get(dtype.kind.category) if by_value and rank is Rank.ZERO_D else None
    return Operand(dtype, rank, one)


@cache
def _ones() -> dict[int, object]:
    return {0: True, 1: 1, 2: 1.0, 3: 1 + 0j}


def _code(answered: object) -> str:
    if answered is None or isinstance(answered, Refusal):
        return "-"
    dtype = answered if isinstance(answered, DType) else answered.result  # type: ignore[attr-defined]
    return dtype.code


def scalars(golden: str, pattern: str = "* : * : *") -> list[Cell]:
    """Compute the recorded ``array op scalar``: the dtype and the first element, or the error."""
    policy = as_policy(POLICY_OF[golden])
    with in_force(policy):
        return [
            Cell(section, row, column, *_settled(recorded, _computed(section, row, column)))
            for section, cells in _sections(golden).items()
            if section.startswith("scalars/")
            for (row, column), recorded in _named(pattern, section, cells)
        ]


def _number(text: str) -> int | float:
    """A Python number as a column is headed with it."""
    return int(text) if text.lstrip("-").isdigit() else float(text)


def _computed(section: str, row: str, column: str) -> str:
    """What ``ones op scalar`` gives here, written as it was recorded."""
    x = pa.ones(2, dtype=BY_CODE[row])
    value = _number(column)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # overflow to infinity is a value, not news
            y = x + value if section == "scalars/add" else x < value
    except (TypeError, OverflowError) as error:
        return f"!{type(error).__name__}"
    return f"{_weak_code(y)}:{y[0].item()}"


def _weak_code(x: pa.PArray) -> str:
    return (
        next(
            w for w in ("b*", "i*", "f*", "c*") if BY_CODE[w].kind.category == x.dtype.kind.category
        )
        if x.weak_type
        else x.dtype.code
    )


def _settled(recorded: str, ours: str) -> tuple[str, str]:
    """Both answers, the second written as the first where they mean the same."""
    if recorded.startswith("!") and ours.startswith("!"):
        return recorded, recorded  # each framework has errors of its own
    code, _, value = recorded.partition(":")
    our_code, _, our_value = ours.partition(":")
    if code == our_code and _same_value(value, our_value, code):
        return recorded, recorded
    return recorded, ours


def _same_value(a: str, b: str, code: str) -> bool:
    """Whether two printed values are one value of the dtype, to the digits frameworks print."""
    if a == b or {a, b} <= {"True", "False"}:
        return a == b
    x, y = complex(a), complex(b)
    digits = {"f16": 5e-4, "bf16": 4e-3}.get(code, 2e-5)
    return repr(x) == repr(y) or abs(x - y) <= digits * abs(x) or (x != x and y != y)


def unexplained(golden: str, cells: Iterable[Cell]) -> Iterator[Cell]:
    """Yield the cells that differ without standing in `departures.toml`."""
    known = departures.read("departure")
    for cell in cells:
        if cell.differs and not any(d.covers(golden, cell[:3]) for d in known):
            yield cell


def main(names: list[str]) -> int:
    """Print the cells that differ, folded where neighbours agree; return the exit status."""
    status = 0
    names = names or [n for n in POLICY_OF if (GOLDEN / f"{n}.txt").exists()]
    with Progress() as progress:
        for number, golden in enumerate(names):
            progress.step(golden, number / len(names))
            cells = [*compare(golden), *scalars(golden)]
            rest = list(unexplained(golden, cells))
            with progress.away():
                _tell(golden, cells, rest)
            status |= bool(rest)
    return status


def _tell(golden: str, cells: list[Cell], rest: list[Cell]) -> None:
    asked = [c for c in cells if c.recorded != "?"]
    different = sum(c.differs for c in cells)
    for fold in _folded(rest):
        print(f"  {fold}")
    print(
        f"{golden}: {len(asked)} cells, {different - len(rest)} departures, {len(rest)} differ",
        flush=True,
    )


def _folded(cells: list[Cell]) -> Iterator[str]:
    groups: dict[tuple[str, str, str], list[str]] = {}
    for c in cells:
        groups.setdefault((c.section, c.recorded, c.ours), []).append(f"{c.row}·{c.column}")
    for (section, recorded, ours), pairs in groups.items():
        shown = " ".join(pairs[:12]) + (f" … ({len(pairs)})" if len(pairs) > 12 else "")
        yield f"{section}: recorded {recorded}, ours {ours}: {shown}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
