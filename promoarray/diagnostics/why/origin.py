"""Lines that made a dtype, each with what it was made of."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from promoarray.core.call_site import Site, is_library, source_of
from promoarray.diagnostics.model.flow import (
    ASSIGNMENT,
    CALL,
    CAST,
    DEFAULT,
    ENTRY,
    MADE,
    OPERATION,
    Flow,
    RecordedOperation,
    Source,
)
from promoarray.diagnostics.record.report import AUTOCAST
from promoarray.diagnostics.run.notebook import own_line
from promoarray.diagnostics.spans import name_of
from promoarray.dtypes import BY_CODE, WEAK
from promoarray.operations import OPERATIONS


@dataclass(frozen=True)
class Step:
    """One line on the way to where a dtype came from."""

    depth: int
    name: str  # the array, as the line that it is read at has it
    dtype: str
    made: RecordedOperation
    why: str  # "" where the dtype is that of what it was made of
    between: int = 0  # so many operations before it that only kept the dtype

    @property
    def ends(self) -> bool:
        """Whether the dtype came into being there."""
        return bool(self.why)

    @property
    def promotes(self) -> bool:
        """Whether it came into being there of others."""
        return self.ends and self.made.kind == OPERATION

    def to_dict(self) -> dict[str, Any]:
        """Return it as data."""
        place = self.made.place
        return {
            "name": self.name,
            "dtype": self.dtype,
            "file": place.program.file,
            "line": place.program.line,
            "expression": place.program.expression,
            "inside": None if place.site == place.program else str(place.site),
            "why": self.why,
            "depth": self.depth,
        }


class Origins:
    """Answers from a flow what made each array.

    Parameters
    ----------
    flow : Flow
    """

    def __init__(self, flow: Flow) -> None:
        self._made: dict[int, RecordedOperation] = {}
        for each in flow.operations:
            if each.kind not in (CALL, ASSIGNMENT):
                self._made.setdefault(each.makes, each)

    def of(self, source: Source | None, name: str) -> list[Step]:
        """Return the way back from an array, the array's own line first."""
        return [*self._back(source, name, 0, set())]

    def _back(self, source: Source | None, name: str, depth: int, met: set[int]) -> Iterator[Step]:
        made = self._made.get(source[0]) if source else None
        if source is None or made is None or made.makes in met or depth > _DEEPEST:
            return
        if not 0 <= source[1] < len(made.results):  # of a recording that is damaged
            return
        between = 0
        dtype, first = _name(made.results[source[1]]), made
        while not reason(made, source[1]) and (before := self._alone(made, dtype)) is not None:
            inner = self._made.get(before[0])
            if inner is None or inner.makes in met:
                break
            met.add(made.makes)
            made, source, between = inner, before, between + 1
        met.add(made.makes)
        if made is not first:
            yield Step(depth, name, dtype, first, "")
            name, depth, between = "", depth + 1, between - 1
        why = reason(made, source[1])
        if not why and not any(made.sources):
            why = "the dtype of what it is given"
        yield Step(depth, name, dtype, made, why, max(between, 0))
        if made.kind == ENTRY:
            for each in sorted(found for some in made.sources for found in some)[:1]:
                yield from self._back(each, "", depth + 1, met)
        promotes = made.kind == OPERATION and made.name not in _COUNTING
        if promotes or (made.kind == MADE and len(set(codes(made))) > 1):
            for n, text in enumerate(operand_texts(made)):
                if codes(made)[n : n + 1] == [made.results[source[1]]] and why:
                    for each in sorted(made.sources[n])[:1]:
                        yield from self._back(each, text, depth + 1, met)

    def _alone(self, made: RecordedOperation, dtype: str) -> Source | None:
        """What an operation has its dtype from that only kept it."""
        for given, found in zip(made.operands, made.sources, strict=True):
            if given.code and _name(given.code) == dtype and found:
                return min(found)
        return None


_DEEPEST = 6


def codes(made: RecordedOperation) -> list[str]:
    """Return the dtypes of operands, weak ones of Python numbers among them."""
    return [g.code or WEAK[type(g.value)].code for g in made.operands]


def reason(made: RecordedOperation, which: int = 0) -> str:
    """Say why what an operation makes has its dtype; "" if it is that of what it is made of."""
    result = made.results[which]
    name = _name(result)
    given = [each.code for each in made.operands if each.code]
    match made.kind:
        case kind if kind == DEFAULT:
            return f"the default dtype of {_NUMBERS[made.options['weak'][0]]}"
        case kind if kind == CAST:
            return "cast there"
        case kind if kind == ENTRY:
            what = "data" if made.options["data"] else "asked for"
            kept = ", as jax_enable_x64 is not set" if made.policy.startswith("jax") else ""
            wide = BY_CODE[made.options["source"]].name
            return f"{wide} {what}, which the framework narrows{kept}"
        case kind if kind == MADE and made.options.get("kind") == AUTOCAST:
            return f"autocast runs {made.name} in {name}"
        case kind if kind == MADE and made.options.get("named"):
            own = made.place.site == made.place.program
            return "the dtype that it names" if own else "the dtype that is named in there"
        case kind if kind == MADE and not given and made.name in _EMPTY:
            return "the default dtype"
        case kind if kind == MADE and made.name == "from_numpy" and not any(made.sources):
            return "the dtype of the NumPy array"
        case kind if kind == MADE and made.name in _TAKING and not any(made.sources):
            return "the dtype of the data that it takes in"
        case kind if kind == MADE and not given and made.name == "astype":  # np.float64(0.5)
            return "the dtype that it names"
        case kind if kind == MADE and not given:
            return f"what {made.name} makes"
        case kind if kind == MADE and result in given and len({*given}) == 1:
            return ""
        case kind if kind == MADE:
            return f"{made.name}({_types(made)}) is {name}"
    if made.name in _COUNTING:
        return f"what {made.name} makes"
    if all(code == result for code in given) and given:
        return ""
    return f"{_formula(made)} is {name}"


_COUNTING = frozenset({"argmax", "argmin", "argsort", "bincount", "count_nonzero", "searchsorted"})
"""Operations whose results are counts and places, of whatever they are counted."""

_EMPTY = frozenset({"create_parameter", "empty", "ones", "rand", "randn", "zeros"})
"""What makes floats of the default dtype, also of one that the program has set."""

_TAKING = frozenset({"as_tensor", "asarray", "tensor", "to_tensor"})
"""What takes in data of other libraries, with the dtype that they have."""

_NUMBERS = {"b": "truth values", "i": "Python integers", "f": "Python floats", "c": "complex"}


def _types(made: RecordedOperation) -> str:
    return ", ".join(_worded(code) for code in codes(made))


def _name(code: str) -> str:
    """A dtype's name; of a weak one, which no program can write, in words."""
    dtype = BY_CODE[code]
    return f"weak {_PYTHON[code[0]]}" if dtype.weak else dtype.name


def _worded(code: str) -> str:
    dtype = BY_CODE[code]
    return f"Python {_PYTHON[code[0]]}" if code.endswith("*") else dtype.name


_PYTHON = {"b": "bool", "i": "int", "f": "float", "c": "complex"}


def _formula(made: RecordedOperation) -> str:
    """An operation of dtypes, with its symbol where it has one."""
    known = OPERATIONS.get(made.name)
    given = [_name(x.code) if x.code else _worded(WEAK[type(x.value)].code) for x in made.operands]
    symbol = known.symbol if known else ""
    if symbol and len(given) == 2:
        return f"{given[0]} {symbol} {given[1]}"
    return f"{made.name}({', '.join(given)})"


def operand_texts(made: RecordedOperation) -> list[str]:
    """Return the operands of an operation as its line has them; dtypes where it does not say."""
    count = len(made.operands)
    place = made.place
    found = expressions(place.site.expression) if place.site == place.program else []
    return found if len(found) == count else [""] * count


def expressions(text: str) -> list[str]:
    """Return the operands of an expression, or the arguments of a call."""
    try:
        node = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return _augmented(text)
    match node:
        case ast.BinOp(left=a, right=b) | ast.Compare(left=a, comparators=[b]):
            return [ast.unparse(a), ast.unparse(b)]
        case ast.Subscript(value=a, slice=key):
            return [ast.unparse(a), ast.unparse(key)]
        case ast.UnaryOp(operand=a):
            return [ast.unparse(a)]
        case ast.Call(func=ast.Attribute(value=owner), args=args):
            given = [ast.unparse(each) for each in args]
            module = ast.unparse(owner).split(".")  # such as torch.linalg
            known = module[0] in _NAMESPACES and all(map(str.isidentifier, module))
            return given if known else [ast.unparse(owner), *given]
        case ast.Call(args=args):
            return [ast.unparse(each) for each in args]
    return []


def _augmented(text: str) -> list[str]:
    try:
        body = ast.parse(text.strip()).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    match body:
        case [ast.AugAssign(target=a, value=b)]:
            return [ast.unparse(a), ast.unparse(b)]
    return []


def is_constant(text: str) -> bool:
    """Return whether an expression is a number, a text or None as it stands there."""
    try:
        ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return False
    return True


_NAMESPACES = frozenset(
    {"torch", "F", "paddle", "jnp", "np", "numpy", "jax", "nn", "pa", "promoarray", "tf", "xp"}
)


def at(made: RecordedOperation) -> str:
    """Say where an operation stands: the program's line, and that of a library that it led to."""
    return where(made.place.site, made.place.program)


def where(site: Site, program: Site) -> str:
    """Say where something stands: the program's line, and that of a library that it led to."""
    if site == program or not is_library(site.file):
        return name_of(program)
    return f"{name_of(program)}, in {_short(site)}"


def _short(site: Site) -> str:
    parts = site.file.replace("\\", "/").rsplit("site-packages/", 1)[-1]
    return f"{parts}:{site.line}"


def assigned(program: Site, names: Sequence[str]) -> str:
    """Say where the program assigns what has one of these names, if it does so once.

    The name of ``net.weight`` is ``net``. It is looked for where the program stands in the source,
    then in what is around that.
    """
    try:
        tree = ast.parse(source_of(program.file))
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    around = [
        node
        for node in ast.walk(tree)
        if isinstance(node, _SCOPES) and node.lineno <= program.line <= (node.end_lineno or 0)
    ]
    for name in sorted({each.partition(".")[0] for each in names}):
        for scope in (*reversed(around), tree):
            found = _bound(scope, name, program)
            if found is not None:
                if found:
                    return found
                break
    return ""


_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef)


def _bound(scope: Any, name: str, program: Site) -> str | None:
    """Say where a scope binds a name; "" if it does so more than once, None if it does not."""

    def at_line(node: Any) -> str:
        file, line = own_line(program.file, node.lineno)
        return f"{Path(file).name}:{line}"

    stored = [*_stores(scope, name)]
    if isinstance(scope, _SCOPES):
        args = scope.args
        every = *args.posonlyargs, *args.args, *args.kwonlyargs
        if any(each.arg == name for each in every) and not stored:
            return f"a parameter of {scope.name}, {at_line(scope)}"
    match stored:
        case []:
            return None
        case [ast.Assign(value=value) as node] if not _holds(node, program.line):
            return f"{ast.unparse(value)}, {at_line(node)}"
        case [ast.For(iter=value) as node]:
            return f"each of {ast.unparse(value)}, {at_line(node)}"
    return ""


def _holds(node: ast.stmt, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def _stores(scope: Any, name: str) -> Iterator[ast.AST]:
    """Yield the statements of a scope that bind a name, those in place left out."""
    waiting = [*ast.iter_child_nodes(scope)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, (*_SCOPES, ast.ClassDef, ast.Lambda, ast.AugAssign)):
            continue
        targets = [node.target] if isinstance(node, ast.For) else getattr(node, "targets", [])
        whole = [ast.unparse(each) for each in targets] == [name]
        named = isinstance(node, ast.Name) and node.id == name
        if whole or (named and not isinstance(getattr(node, "ctx", None), ast.Load)):
            yield node
        waiting += [x for x in ast.iter_child_nodes(node) if not (whole and x in targets)]


def lines(steps: Sequence[Step], indent: str, *, first: str = "") -> Iterator[str]:
    """Write the way back, a line each."""
    for n, step in enumerate(steps):
        head = first if n == 0 else f"{step.name}  {step.dtype}" if step.name else step.dtype
        why = f": {step.why}" if step.why else ""
        kept = f" (… {step.between} more that keep it)" if step.between > 0 else ""
        margin = indent + "  " * step.depth
        yield f"{margin}{head}  {step.made.place.program.expression}, {at(step.made)}{why}{kept}"
