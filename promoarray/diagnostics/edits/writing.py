"""Writing casts into a source text: pieces put in at the ends of expressions, all else as it is."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from promoarray.diagnostics.edits.operands import called_name, symbol_of
from promoarray.diagnostics.edits.source import Extent, SourceText
from promoarray.diagnostics.edits.spelling import OWN, Spelling
from promoarray.dtypes import DType

NEW_NAMES = ("pa", "promoarray", "promoarray_")
"""By what name promoarray is imported where a file has none."""


class Wrap(NamedTuple):
    """One cast.

    Attributes
    ----------
    node : ast.AST
        Around which expression; for a dtype that is asked for, of which call.
    dtype : DType
    how : str
        One of ``_FORMS``, ``dtype`` for a keyword, ``retyped`` for a dtype that is named already,
        ``float`` for a literal, ``stored`` for a constructor, ``operator`` for ``a & b``;
        ``result`` and ``target`` of an augmented assignment, which becomes a plain one.
    text : str
        What is written for the dtype; "" for its name.
    name : str
        The name of the namespace there; "" if it has none.
    outer : bool
        Whether it is of an operand: it goes around a cast of the same expression as a result.
    operand : int or None
        Which operand of its operation it casts.
    """

    node: Any
    dtype: DType
    how: str = "astype"
    text: str = ""
    name: str = ""
    outer: bool = False
    operand: int | None = None


class Piece(NamedTuple):
    """A text in the place of another; of one that is put in, ``start`` is ``end``.

    Attributes
    ----------
    start, end : int
    text : str
    wrapped : tuple of int
        The extent of what is cast.
    opens : bool
        Whether it stands before that.
    layer : int
        How many casts of the same expression are inside of this one.
    """

    start: int
    end: int
    text: str
    wrapped: Extent
    opens: bool = False
    layer: int = 0

    @property
    def order(self) -> tuple[int, ...]:
        """Inner casts end first, and outer ones begin first."""
        start, end = self.wrapped
        if self.opens:
            return self.start, 1, -end, -self.layer
        return self.start, 2 * (self.start < self.end), -start, self.layer


_FORMS: dict[str, Callable[[Spelling], str]] = {
    "asarray": lambda words: words.array,
    "row": lambda words: words.array.replace("x,", "[x],"),
    "wrapped": lambda words: words.cast.replace("x", words.number, 1),
    "astype": lambda words: words.cast,
}
"""From how an operand is cast to a template; all else are Python's types."""


class Writer:
    """Makes pieces of casts.

    Parameters
    ----------
    source : SourceText
    words : Spelling
        Those of the framework that the program is written for.
    """

    def __init__(self, source: SourceText, words: Spelling = OWN) -> None:
        self.source, self.words = source, words
        self.replaced: set[Extent] = set()
        names = NEW_NAMES if words is OWN else (words.namespace, f"{words.namespace}_")
        self._new = next((name for name in names if name not in source.names), "")

    def pieces(self, wraps: Iterable[Wrap]) -> list[Piece]:
        """Return what is to be put in, in the order of the text."""
        by_node: dict[int, list[Wrap]] = {}
        every = dict.fromkeys(w._replace(name=w.name or self._new) for w in wraps)
        for wrap in every:
            by_node.setdefault(id(wrap.node), []).append(wrap)
        found: list[Piece] = []
        rebinding = [w for w in by_node.values() if isinstance(w[0].node, ast.AugAssign)]
        for several in by_node.values():
            if several in rebinding:
                continue
            several.sort(key=lambda wrap: (wrap.how not in _INSIDE, wrap.outer))
            inside = [wrap for wrap in several if wrap.how in _INSIDE]
            for wrap in inside:
                found += _INSIDE[wrap.how](self, wrap)
            found += self._around([wrap for wrap in several if wrap.how not in _INSIDE])
        for several in rebinding:
            found += [*self._rebound(several, found)]
        return sorted(found, key=lambda piece: piece.order)

    def imported(self, wraps: Iterable[Wrap]) -> list[Piece]:
        """Return the import of the namespace, if the name of one is missing."""
        if all(wrap.name for wrap in wraps):
            return []
        module, text = self.words.module, self.source.text
        alias = "" if self._new == module else f" as {self._new}"
        body, at = self.source.tree.body, 0
        while at < len(body) and _comes_first(body[at], at):
            at += 1
        end = "\r\n" if "\r\n" in text else "\n"
        first: Any = body[at]
        line = min([first.lineno, *(d.lineno for d in getattr(first, "decorator_list", ()))])
        if at:
            line = min(line, (body[at - 1].end_lineno or 0) + 1)
        start = self.source.offset(line, 0)
        return [Piece(start, start, f"import {module}{alias}{end}", (start, len(text) + 1), True)]

    def _dtype(self, wrap: Wrap) -> str:
        return wrap.text or self.words.dtype_of(wrap.dtype, wrap.name)

    # -- around an expression ---------------------------------------------------------------------

    def _around(self, wraps: Sequence[Wrap]) -> Iterator[Piece]:
        if not wraps:
            return
        node = wraps[0].node
        extent = self.source.extent(node)
        outer = self.source.in_parentheses(extent)
        layers = [self._layer(wrap, node) for wrap in wraps]
        start, end = extent
        if layers[0][0] == "":
            bare = isinstance(node, _POSTFIX) and "\n" not in self.source.text[start:end]
            if outer and not bare:
                (start, end), inner = outer, None
            else:
                inner = None if isinstance(node, _POSTFIX) else ("(", ")")
                outer = outer if bare else None
        else:
            inner = None
            if isinstance(node, _KEEPS) and outer:
                (start, end), outer = outer, None
        if isinstance(node, ast.Constant) and type(node.value) is bool and _makes(wraps[0]):
            self.replaced.add(extent)
            yield Piece(*extent, str(int(node.value)), extent)
        every = [inner, *layers] if inner else layers
        for layer, (before, after) in enumerate(every):
            first = layer == 0 and outer is not None and (start, end) == extent
            a, b = outer if outer and (first or layer) else (start, end)
            if layer == len(every) - 1 and self._touches(a, before):
                yield Piece(a, a, " ", (a, len(self.source.text)), True)
            if first or before:
                yield Piece(a, start if first else a, before, (a, b), True, layer)
            yield Piece(end if first else b, b, after, (a, b), False, layer)

    def _layer(self, wrap: Wrap, node: Any) -> tuple[str, str]:
        """What stands before and behind an expression that is cast."""
        dtype, quoted = self._dtype(wrap), self.source.quoted(node)
        if wrap.how == "either":
            template = self.words.either or self.words.array
            if "{x}" in template:
                template = template.replace("{x}", "x", 1).replace("{x}", quoted)
                before, _, after = template.partition("x")
                _, after = self.words.around(f"x{after}", wrap.name, dtype)
                return before, after
            return self.words.around(template, wrap.name, dtype)
        if wrap.how == "guarded":  # a number has no dtype
            before, after = self.words.around(self.words.cast, wrap.name, dtype)
            return f"({before}", f'{after} if hasattr({quoted}, "dtype") else {quoted})'
        if wrap.how == "clip":
            template = "x.clip(dtype)" if self.words.casts_by_method else "ns.clip(x, dtype)"
            return self.words.around(template, wrap.name, wrap.text)
        form = _FORMS.get(wrap.how)
        template = form(self.words) if form else f"{wrap.how}(x)"
        return self.words.around(template, wrap.name, dtype)

    def _touches(self, offset: int, text: str) -> bool:
        """Whether a word stands directly before a word that is put in: ``return-x``."""
        before = self.source.text[offset - 1 : offset]
        return text[:1].isidentifier() and (before.isidentifier() or before.isdigit())

    # -- inside of an expression ------------------------------------------------------------------

    def _asks(self, wrap: Wrap) -> Iterator[Piece]:
        """``f(x, dtype=...)``."""
        call, extent = wrap.node, self.source.extent(wrap.node)
        given = [*call.args, *(word.value for word in call.keywords)]
        at = max((self.source.extent(each)[1] for each in given), default=extent[1] - 1)
        while given and (outer := self.source.text.find(")", at, extent[1] - 1)) >= 0:
            if self.source.text[at:outer].strip():
                break
            at = outer + 1
        text = f"{', ' if given else ''}dtype={self._dtype(wrap)}"
        yield Piece(at, at, text, extent)

    def _retyped(self, wrap: Wrap) -> Iterator[Piece]:
        """Another dtype where one is named; ``node`` is that."""
        extent = self.source.extent(wrap.node)
        self.replaced.add(extent)
        yield Piece(*extent, self._dtype(wrap), extent)

    def _literal(self, wrap: Wrap) -> Iterator[Piece]:
        """``2.0`` for ``2``."""
        extent = self.source.extent(wrap.node)
        self.replaced.add(extent)
        yield Piece(extent[1], extent[1], ".0", extent)

    def _stored(self, wrap: Wrap) -> Iterator[Piece]:
        """``np.array([-1]).astype(np.uint8)``, and ``np.asarray(-1).astype(np.uint8)[()]``."""
        call, extent = wrap.node, self.source.extent(wrap.node)
        dtype = dtype_argument(call)
        if dtype is None:
            func = self.source.extent(call.func)
            self.replaced.add(func)
            yield Piece(*func, f"{wrap.name}.asarray", func)
            after = f".astype({self.source.quoted(call.func)})[()]"
            yield Piece(extent[1], extent[1], after, extent)
            return
        value = dtype.value if isinstance(dtype, ast.keyword) else dtype
        start, end = self.source.extent(dtype)
        self.replaced.add((start, end))
        others = [self.source.extent(e) for e in (*call.args, *call.keywords) if e is not dtype]
        before = max((e for _, e in others if e <= start), default=None)
        if before is None:  # it is the first
            yield Piece(start, min(s for s, _ in others), "", (start, end))
        else:
            comma = self.source.text.index(",", before)
            yield Piece(comma, end, "", (start, end))
        yield Piece(extent[1], extent[1], f".astype({self.source.quoted(value)})", extent)

    def _operator(self, wrap: Wrap) -> Iterator[Piece]:
        """``(a & b)`` for ``a * b``."""
        node, extent = wrap.node, self.source.extent(wrap.node)
        self.replaced.add(extent)
        start, end = self.source.extent(node.left)[1], self.source.extent(node.right)[0]
        at = self.source.text.index(symbol_of(node.op), start, end)
        yield Piece(at, at + len(symbol_of(node.op)), wrap.text, extent)
        alone = isinstance(self.source.parents.get(node), (ast.Assign, ast.Return, ast.Call))
        if self.source.in_parentheses(extent) is None and not alone:
            yield Piece(extent[0], extent[0], "(", extent, True)
            yield Piece(extent[1], extent[1], ")", extent)

    def _rebound(self, wraps: Sequence[Wrap], others: Sequence[Piece]) -> Iterator[Piece]:
        """``x = cast(x - y)`` for ``x -= y``."""
        node, extent = wraps[0].node, self.source.extent(wraps[0].node)
        self.replaced.add(extent)
        target, value = self.source.extent(node.target), self.source.extent(node.value)
        value = self.source.in_parentheses(value) or value
        left, before, after = self.source.quoted(node.target), "", ""
        for wrap in wraps:
            a, b = self._layer(wrap._replace(how="astype"), node.target)
            if wrap.how == "target":
                left = f"{a}{left}{b}"
            else:
                before, after = (a, b) if a else ("(", f"){b}")
        cast = any(piece.wrapped == self.source.extent(node.value) for piece in others)
        if not cast and not _binds_closer(node, value != self.source.extent(node.value)):
            after = f"){after}"
            left_open = "("
        else:
            left_open = ""
        text = f" = {before}{left} {symbol_of(node.op)} {left_open}"
        yield Piece(target[1], value[0], text, extent)
        if after:
            yield Piece(value[1], value[1], after, extent)


_INSIDE: dict[str, Any] = {
    "dtype": Writer._asks,
    "retyped": Writer._retyped,
    "literal": Writer._literal,
    "stored": Writer._stored,
    "operator": Writer._operator,
}
"""What is written inside of an expression, and by which method."""

_POSTFIX = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)
_KEEPS = (ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.GeneratorExp, ast.Tuple, ast.Starred)
_CLOSER = ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.MatMult, ast.Pow


def _makes(wrap: Wrap) -> bool:
    return wrap.how in ("asarray", "row")


def _binds_closer(node: ast.AugAssign, parentheses: bool) -> bool:
    """Whether what stands right of ``-=`` needs no parentheses right of ``-``."""
    if parentheses or isinstance(node.value, (*_POSTFIX, ast.Constant)):
        return True
    sums = isinstance(node.op, (ast.Add, ast.Sub))
    return sums and isinstance(node.value, ast.BinOp) and isinstance(node.value.op, _CLOSER)


def dtype_argument(call: ast.Call) -> Any:
    """Return the argument of a constructor that names its dtype; None if there is none."""
    named = next((word for word in call.keywords if word.arg == "dtype"), None)
    at = _DTYPE_AT.get(called_name(call))
    return named or (call.args[at] if at is not None and len(call.args) > at else None)


_DTYPE_AT = {"array": 1, "asarray": 1, "asanyarray": 1, "full": 2, "zeros": 1, "ones": 1}
"""Functions that store numbers in a dtype, and where it stands among their arguments."""


def _comes_first(statement: ast.stmt, at: int) -> bool:
    if isinstance(statement, ast.Expr):
        value = statement.value
        return at == 0 and isinstance(value, ast.Constant) and isinstance(value.value, str)
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
