"""Edits at the call of a library: which argument to cast, found through what feeds the operation.

An operation of a library is not the program's to edit, but what it is given is. The way back from
an operand, over operations that keep its dtype, ends at an array that the program has made; the
argument that it stands for is cast, if all that the library does with it answers as in the run.
"""

from __future__ import annotations

import ast
import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from promoarray.core.call_site import Site
from promoarray.diagnostics.edits.answers import Port, candidates
from promoarray.diagnostics.edits.occurrences import Asked, Span, span_of
from promoarray.diagnostics.edits.place import Found, SourceOperation, Unedited
from promoarray.diagnostics.edits.source import SourceText
from promoarray.diagnostics.model.flow import (
    ASSIGNMENT,
    CAST,
    MADE,
    OPERATION,
    Flow,
    Given,
    RecordedOperation,
    Source,
)
from promoarray.dtypes import BY_CODE, WEAK, DType
from promoarray.promotion.plan import Operand, Plan, Rank
from promoarray.promotion.policy import Policy

INSIDE = "it is carried out inside of a library"


def at_call(place: SourceOperation, flows: Sequence[Flow]) -> Found:
    """Casts of the arguments of the program's call in which a library carries something out, after
    which all policies answer what the run answered; ``Unedited`` if there are none."""
    first = place.concerned[0]
    for flow in flows:
        inner = [each for each in flow.operations if _within(each, first.span)]
        if inner and isinstance(place.node, ast.Call):
            found = _Call(place, flow, inner).casts()
            return tuple(
                place.wrap(node, dtype, operand=n) for n, (node, dtype) in enumerate(found.items())
            ), ""
    raise Unedited(INSIDE)


def _within(operation: RecordedOperation, span: Span) -> bool:
    """Whether a library carries it out in a call of the program's."""
    at = operation.place
    return at.site != at.program and at.program.line == span.line and span_of(at.program) == span


class _Call:
    """A call of a library in the program, with what it carries out there."""

    def __init__(self, place: SourceOperation, flow: Flow, inner: list[RecordedOperation]) -> None:
        self._place, self._flow, self._inner = place, flow, inner
        self._makers = {each.makes for each in inner}
        self._given: list[Any] = []
        call = place.node
        while isinstance(call, ast.Call):  # and ``kernel(x)`` of ``kernel(x).to_dense()``
            words = [word.value for word in call.keywords if word.arg]
            self._given += [part for each in (*call.args, *words) for part in _parts(each)]
            call = getattr(call.func, "value", None)

    def casts(self) -> dict[Any, DType]:
        """From arguments to what they are cast to."""
        found: dict[Any, DType] = {}
        for asked in self._place.needing:
            for node, dtype in self._casts_for(asked).items():
                if found.setdefault(node, dtype) is not dtype:
                    raise Unedited(f"{INSIDE}, which needs several dtypes of one argument")
        return found

    def _casts_for(self, asked: Asked) -> dict[Any, DType]:
        for given in self._proposed(asked):
            changed: dict[Source, DType] = {}
            try:
                nodes = {}
                for operation in self._of(asked):
                    for index, dtype in given.items():
                        for source in self._outside(operation, index):
                            nodes[self._argument(source)] = dtype
                            changed[source] = dtype
                _Asking(self._place.port, self._flow, self._makers).check(changed)
            except Unedited:
                continue
            if nodes:
                return nodes
        raise Unedited(INSIDE)

    def _proposed(self, asked: Asked) -> Iterator[Mapping[int, DType]]:
        """Casts after which all answer as the run does there, and to what it meets further on."""
        for casts in candidates(self._place.port, asked, {}):
            if casts.operands and not casts.result and not {*casts.operands} & {*asked.scalars}:
                yield casts.operands
        met = {_operand(given).type: None for each in self._inner for given in each.operands}
        for index, operand in enumerate(asked.operands):
            for dtype in met:
                wider = dtype.kind.category > operand.type.kind.category and not dtype.weak
                if wider and operand.rank is not Rank.SCALAR:
                    yield {index: dtype}

    def _of(self, asked: Asked) -> Iterator[RecordedOperation]:
        """The operations that were asked about so."""
        types = [operand.type.code for operand in asked.operands]
        for each in self._inner:
            if each.name == asked.name and [_operand(g).type.code for g in each.operands] == types:
                yield each

    def _outside(self, operation: RecordedOperation, index: int) -> Iterator[Source]:
        """What the program has made of which an operand is, in the same dtype."""
        waiting, met = [*operation.sources[index]], set[Source]()
        if not waiting:
            raise Unedited(INSIDE)
        while waiting:
            source = waiting.pop()
            if source in met:
                continue
            met.add(source)
            if source[0] not in self._makers:
                yield source
                continue
            maker = self._flow.makers[source[0]]
            codes = {given.code for given in maker.operands if given.code}
            before = [each for sources in maker.sources for each in sources]
            if maker.kind not in (OPERATION, MADE) or codes != {maker.results[source[1]]}:
                raise Unedited(INSIDE)  # the library has chosen the dtype
            waiting += before

    def _argument(self, source: Source) -> Any:
        """The argument of the call that is an array."""
        maker = self._flow.makers.get(source[0])
        found = [each for each in self._given if maker and self._stands_for(each, maker)]
        if len(found) != 1:
            raise Unedited(INSIDE)
        return found[0]

    def _stands_for(self, node: Any, maker: RecordedOperation) -> bool:
        """Whether an argument is what an operation made: in its text, or where it was assigned."""
        program = maker.place.program
        if span_of(program).file != self._place.concerned[0].span.file or not program.extent:
            return False
        return any(_contains(each, program.extent) for each in texts(self._place.source, node))


def _parts(node: Any) -> Iterator[Any]:
    """An argument; of a list, a tuple or a dict what stands in it."""
    match node:
        case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Dict(values=parts):
            for each in parts:
                yield from _parts(each)
        case _:
            yield node


def _contains(node: Any, extent: Any) -> bool:
    begin, end = (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)
    return bool(begin <= (extent[0], extent[1]) and (extent[2], extent[3]) <= end)


def texts(source: SourceText, node: Any, deep: int = 4) -> Iterator[Any]:
    """The expressions in which an argument may be made: itself, what was assigned to it last, and,
    of a function's parameter, what the file's calls of the function give for it."""
    yield node
    if not isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) or not deep:
        return
    name, scope = ast.unparse(node), node
    while not isinstance(scope, ast.Module):
        scope = source.parents[scope]
        if not isinstance(scope, (ast.FunctionDef, ast.Module)):
            continue
        every = [
            (each.lineno, each.value)
            for each in ast.walk(scope)
            if isinstance(each, ast.Assign) and each.lineno < node.lineno
            if name in map(ast.unparse, each.targets)
        ]
        if every:
            yield from texts(source, max(every, key=lambda each: each[0])[1], deep - 1)
            return
        if isinstance(scope, ast.FunctionDef) and name in _parameters(scope):
            for given in _given_for(source.tree, scope, name):
                yield from texts(source, given, deep - 1)
            return


def _parameters(function: ast.FunctionDef) -> list[str]:
    return [each.arg for each in (*function.args.posonlyargs, *function.args.args)]


def _given_for(tree: ast.AST, function: ast.FunctionDef, parameter: str) -> Iterator[Any]:
    """What the calls of a function give for a parameter."""
    names = _parameters(function)
    for call in ast.walk(tree):
        match call:
            case ast.Call(func=ast.Name(id=function.name)):
                given = dict(zip(names, call.args, strict=False))
                given |= {word.arg: word.value for word in call.keywords if word.arg}
                if parameter in given:
                    yield given[parameter]


class _Asking:
    """Asks the policies again about what a library does with arrays of other dtypes."""

    def __init__(self, port: Port, flow: Flow, inner: set[int]) -> None:
        self._port, self._flow, self._inner = port, flow, inner

    def check(self, changed: dict[Source, DType]) -> None:
        """Raise if a policy answers otherwise than the run, or if what comes out changes."""
        given, changed = {*changed}, dict(changed)
        for each in self._flow.operations:
            found = [next((s for s in sources if s in changed), None) for sources in each.sources]
            if not any(found):
                continue
            if each.makes in self._inner:
                self._again(each, [changed[s] if s else None for s in found], changed)
            elif any(s is not None and s not in given for s in found):
                raise Unedited(INSIDE)
        if {*self._flow.finals.values()} & (changed.keys() - given):
            raise Unedited(INSIDE)

    def _again(
        self, each: RecordedOperation, types: list[DType | None], changed: dict[Source, DType]
    ) -> None:
        if each.kind == CAST:
            return
        if each.kind == ASSIGNMENT or each.policy != self._port.run.name:  # another library's
            raise Unedited(INSIDE)
        if each.kind != OPERATION:
            made = [next(filter(None, types))] * len(each.results)
        else:
            operands = [
                operand._replace(type=dtype) if dtype else operand
                for operand, dtype in zip(map(_operand, each.operands), types, strict=True)
            ]
            answers = {self._answer(policy, each, operands) for policy in self._port.every}
            if len(answers) != 1:
                raise Unedited(INSIDE)
            made = [*answers.pop()]
        for which, (code, dtype) in enumerate(zip(each.results, made, strict=False)):
            if BY_CODE[code] is not dtype:
                changed[each.makes, which] = dtype

    @staticmethod
    def _answer(
        policy: Policy, each: RecordedOperation, operands: Sequence[Operand]
    ) -> tuple[DType, ...]:
        values = tuple(o.value if o.rank is Rank.SCALAR else None for o in operands)
        decided = policy.decide(each.name, tuple(operands), values, each.form, options=each.options)
        if not isinstance(plan := getattr(decided, "plan", None), Plan):
            raise Unedited(INSIDE)
        return tuple(map(policy.strong, (plan.result, *plan.extra_results)))


def _operand(given: Given) -> Operand:
    if not given.code:
        return Operand(WEAK[type(given.value)], Rank.SCALAR, given.value)
    return Operand(BY_CODE[given.code], Rank.ZERO_D if given.flat else Rank.ARRAY, given.value)


# -- whom to tell ---------------------------------------------------------------------------------


def distribution_of(site: Site) -> str:
    """Return the name and version of what is installed that a line is of; "" of generated code."""
    if site.file.startswith("<"):  # as of a graph
        return ""
    package = package_of(site.file)
    return _installed(package) if package else f"Python {platform.python_version()}"


def package_of(file: str) -> str:
    """Return the installed package that a file is of, by its name in an import; "" of others."""
    folder, _, inner = file.replace(os.sep, "/").rpartition("-packages/")
    return inner.partition("/")[0].removesuffix(".py") if folder else ""


@cache
def _installed(package: str) -> str:
    from importlib.metadata import packages_distributions, version

    name = next(iter(packages_distributions().get(package, ())), "")
    return f"{name} {version(name)}" if name else package
