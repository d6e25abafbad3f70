"""An operation of the source with all passes through it, as an edit is sought for it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from promoarray.diagnostics.edits.answers import Casts, Port, candidates, holds
from promoarray.diagnostics.edits.occurrences import Asked, Occurrence
from promoarray.diagnostics.edits.operands import folded
from promoarray.diagnostics.edits.source import SourceText
from promoarray.dtypes import DType
from promoarray.operations import Form
from promoarray.promotion.plan import Rank


class Wrap(NamedTuple):
    """One cast."""

    node: Any  # around which expression; for a dtype that is asked for, of which call
    dtype: DType
    # of ``Spelling.template``, or ``dtype``, ``param_dtype`` ... for a keyword, ``retyped`` for a
    # dtype that is named already, ``literal`` for ``2.0``, ``stored`` for a constructor,
    # ``operator`` for ``a & b``, ``start`` for that of a sum; ``result`` and ``target`` of an
    # augmented assignment, which becomes a plain one
    how: str = "astype"
    text: str = ""  # what is written for the dtype; "" for its name
    name: str = ""  # the name of the namespace there
    operand: int | None = None  # which operand of its operation it casts; None of its result


class Unedited(Exception):
    """Why an operation has no edit."""


@dataclass
class SourceOperation:
    """One operation of the source, with all passes through it."""

    port: Port
    source: SourceText
    node: Any
    group: Sequence[Occurrence]
    concerned: list[Occurrence]  # those for which some policy answers otherwise

    def __post_init__(self) -> None:
        first = self.concerned[0]
        self.words: Spelling = SPELLINGS[first.framework]
        names = self.source.names_of(self.words.module, self.node, first.names)
        used = [n.id for n in ast.walk(self.node) if isinstance(n, ast.Name) and n.id in names]
        self.name: str = next(iter((*used, *names)), "") or self._new_name()
        self.every = list(dict.fromkeys(s.asked for s in self.group))
        self.needing = list(dict.fromkeys(s.asked for s in self.concerned))
        self.operands: list[Any] = self.source.operands(self.node, first)
        self.folds = folded(self.node, first.asked.name) is not None

    def _new_name(self) -> str:
        """The name by which the namespace is to be imported, which is free in the file."""
        free = (name for name in self.words.namespaces if name not in self.source.names)
        name = next(free, f"{self.words.namespaces[-1]}_")
        while name in self.source.names:
            name += "_"
        return name

    @property
    def wanted(self) -> set[DType]:
        """The dtypes that the run gave."""
        return {asked.wanted for asked in self.every}

    def wrap(self, node: Any, dtype: DType, how: str = "astype", **more: Any) -> Wrap:
        """A cast, in the words of the place."""
        return Wrap(node, dtype, how, name=self.name, **more)

    def operand(self, index: int) -> Any:
        """An operand as the source has it; None if it stands nowhere."""
        return self.operands[index] if index < len(self.operands) else None

    def ranks(self, index: int) -> set[Rank]:
        """The ranks that an operand has in the passes."""
        return {asked.operands[index].rank for asked in self.every}


Found = tuple[tuple[Wrap, ...], str]
"""Casts, and what they lose."""


RESULT = -1
"""Stands for the result among the operands."""

Types = tuple[DType | None, ...]
"""The dtypes of operands in one pass, None of a Python number."""

Condition = tuple[tuple[int, Types], ...]
"""Operands, and the dtypes of each."""

Cases = tuple[tuple[Condition, DType], ...]
"""What an operand becomes under which condition."""


class Rule(NamedTuple):
    """What an operand becomes, by the dtypes of a pass."""

    operand: int  # ``RESULT`` for that
    dtype: DType  # what it becomes in the first pass that needs it
    of: int | None = None  # the operand whose dtype it takes in every pass
    cases: Cases = ()
    otherwise: DType | None = None  # what it becomes else; None if it stays

    @property
    def operands(self) -> set[int]:
        """The operands whose text is written."""
        asked = {index for condition, _ in self.cases for index, _ in condition}
        return (asked | {self.operand, self.operand if self.of is None else self.of}) - {RESULT}

    def written(self, texts: Sequence[str], named: Callable[[DType], str]) -> str:
        """Write the dtype, of operands with some texts."""
        if self.of is not None:
            return f"{texts[self.of]}.dtype"
        text = named(self.otherwise) if self.otherwise else f"{texts[self.operand]}.dtype"
        for condition, dtype in reversed(self.cases):
            when = " and ".join(_condition(texts[i], types, named) for i, types in condition)
            text = f"{named(dtype)} if {when} else {text}"
        return text


def _condition(text: str, types: Types, named: Callable[[DType], str]) -> str:
    names = [named(dtype) for dtype in types if dtype is not None]
    return f"{text}.dtype " + (f"in ({', '.join(names)})" if names[1:] else f"== {names[0]}")


class _Row(NamedTuple):
    """What an operand has to become in a pass; its own dtype if it stays."""

    types: Types
    own: DType | None
    wanted: DType


def by_dtype(port: Port, every: list[Asked], needing: list[Asked]) -> list[Rule]:
    """Return what operands, or the result, become by the dtypes of a pass; ``Unedited`` if there is
    no such rule."""
    try:
        return _of_operands(port, every, needing)
    except Unedited:
        each = (holds(port, asked, Casts(result=asked.wanted)) for asked in every)
        rows = [_Row(_types(asked), None, asked.wanted) for asked in every]
        if every[0].form is Form.INPLACE or not all(each) or not (rule := _rule(RESULT, rows)):
            raise
        return [rule]


def _of_operands(port: Port, every: list[Asked], needing: list[Asked]) -> list[Rule]:
    chosen: list[tuple[Asked, Casts]] = []
    for asked in every:
        casts: Casts | None = Casts()
        if asked in needing:
            of_arrays = (
                each
                for each in candidates(port, asked, {})
                if each.operands and not each.result and not {*each.operands} & {*asked.scalars}
            )
            casts = next(of_arrays, None)
        if casts is None:
            raise Unedited("it is passed with several dtypes, and no cast is right for all of them")
        chosen.append((asked, casts))
    rules = []
    for index in sorted({i for _, casts in chosen for i in casts.operands}):
        rows = [
            _Row(_types(asked), own := asked.operands[index].type, casts.operands.get(index, own))
            for asked, casts in chosen
            if asked.operands[index].rank is not Rank.SCALAR
        ]
        rule = _rule(index, rows)
        if rule is None:
            raise Unedited("it is passed with several dtypes, which need casts of their own")
        rules.append(rule)
    return rules


def _types(asked: Asked) -> Types:
    return tuple(None if o.rank is Rank.SCALAR else o.type for o in asked.operands)


def _rule(index: int, rows: list[_Row]) -> Rule | None:
    first = next((row.wanted for row in rows if row.wanted is not row.own), None)
    if first is None:  # it has the dtype in the run, and another under the policy
        return None
    own = () if index == RESULT else (index,)
    others = [i for i in range(len(rows[0].types)) if i != index]
    if own and (cases := _cases(rows, own)) is not None:
        return Rule(index, first, None, cases)
    for other in others:
        if all(row.wanted is row.types[other] for row in rows):
            return Rule(index, first, other)
    for other in others:
        for asked in dict.fromkeys(((other,), (*own, other))):
            if (cases := _cases(rows, asked)) is None:
                continue
            if own:
                return Rule(index, first, None, cases)
            return Rule(index, first, None, cases[:-1], cases[-1][1])
    return None


def _cases(rows: list[_Row], asked: tuple[int, ...]) -> Cases | None:
    """Conditions on some operands' dtypes that say what becomes of each row; None if none do."""
    found = []
    for target in dict.fromkeys(row.wanted for row in rows if row.wanted is not row.own):
        needed = {_key(row, asked) for row in rows if row.wanted is target is not row.own}
        kept = {_key(row, asked) for row in rows if row.wanted is not target}
        if needed & kept or any(None in key for key in needed):
            return None
        condition = tuple(
            (i, tuple(dict.fromkeys(key[n] for key in sorted(needed, key=str))))
            for n, i in enumerate(asked)
        )
        if any(_matches(key, condition) for key in kept):
            return None  # of two operands whose dtypes are not free of each other
        found.append((condition, target))
    return tuple(found)


def _key(row: _Row, asked: Iterable[int]) -> Types:
    return tuple(row.types[i] for i in asked)


def _matches(key: Types, condition: Condition) -> bool:
    return all(dtype in types for dtype, (_, types) in zip(key, condition, strict=True))


class Spelling(NamedTuple):
    """The words of a framework."""

    module: str  # what a program imports to have the namespace
    # what the namespace is called where it is imported in no such way; the first that is
    # free
    namespaces: tuple[str, ...]
    cast: str  # the cast of an array, with ``{ns}``, ``{x}`` and ``{dtype}``
    maker: str = "asarray"  # the function that makes an array of a Python number
    # what the dtype of truth values is called, in every version of the framework
    boolean: str = "bool"
    # an array made of a Python number, and the cast of an array, whichever it is given; if
    # empty, ``maker`` takes both
    either: str = ""
    # the functions that make arrays and take a dtype; if empty, all do
    typed: frozenset[str] = frozenset()
    # whether ``int(x)`` of a 0-d array is a number that a person would write there
    scalars: bool = False
    # what makes a dtype the default of the framework's modules; empty if nothing does
    default: str = ""
    # whether its own dtypes are none to NumPy, and casts take their names as well
    quotes: bool = False

    def default_of(self, dtype: DType) -> str:
        """Write what makes a dtype that of the parameters of modules; "" if nothing does."""
        return self.default.format(dtype.name)

    def dtype_of(self, dtype: DType, name: str) -> str:
        """Write a dtype."""
        return f"{name}.{self.boolean if dtype.name == 'bool' else dtype.name}"

    def template(self, how: str) -> str:
        """Return the text of a cast, with ``{ns}``, ``{x}`` and ``{dtype}``."""
        match how:
            case "asarray" | "row":
                x = "[{x}]" if how == "row" else "{x}"
                return f"{{ns}}.{self.maker}({x}, dtype={{dtype}})"
            case "wrapped":
                return self.cast.replace("{x}", f"{{ns}}.{self.maker}({{x}})")
            case "either":
                return self.either or self.template("asarray")
            case "guarded":  # a number has no dtype
                return f'({self.cast} if hasattr({{x}}, "dtype") else {{x}})'
            case "clip":
                return "{x}.clip({dtype})" if self.cast[:3] == "{x}" else "{ns}.clip({x}, {dtype})"
            case "astype" | "result" | "target":
                return self.cast
        return f"{how}({{x}})"  # one of Python's types


_TYPED = frozenset(
    (
        *("array", "asarray", "asanyarray", "arange", "full", "zeros", "ones", "empty"),
        *("eye", "identity", "tri", "linspace", "logspace", "geomspace", "randint", "integers"),
        *("loadtxt", "genfromtxt"),
    )
)
"""NumPy's functions that take a dtype: windows and most of those that draw numbers do not."""

OWN = Spelling("promoarray", ("pa", "promoarray"), "{ns}.astype({x}, {dtype})")
SPELLINGS = {
    "": OWN,
    # ``tensor`` would copy, off its graph, what is a tensor in other passes; so does ``to_tensor``.
    "torch": Spelling(
        *("torch", ("torch",), "{x}.to({dtype})", "as_tensor"),
        default="torch.set_default_dtype(torch.{})",
    ),
    "paddle": Spelling(
        *("paddle", ("paddle",), "{x}.astype({dtype})", "to_tensor"),
        default='paddle.set_default_dtype("{}")',
        quotes=True,
        either=(
            "({x}.astype({dtype}) if {ns}.is_tensor({x}) else {ns}.to_tensor({x}, dtype={dtype}))"
        ),
    ),
    "jax": Spelling("jax.numpy", ("jnp",), "{x}.astype({dtype})", boolean="bool_"),
    "tensorflow": Spelling(
        "tensorflow",
        ("tf",),
        "{ns}.cast({x}, {dtype})",
        "constant",
        either="{ns}.cast({x}, {dtype})",
    ),
    "numpy": Spelling(
        *("numpy", ("np",), "{x}.astype({dtype})"), boolean="bool_", typed=_TYPED, scalars=True
    ),
}
"""From the framework of a program that was recorded, "" of promoarray's own, to its words."""
