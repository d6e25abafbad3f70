"""Calls at which nothing was recorded: read from the traceback of their error, and tried again.

The line has the operation, its frame the operands. An operand that arithmetic made of them, such
as ``x.sum()``, is computed again; where another call made one, nothing is said.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator
from importlib import import_module
from math import prod
from types import FrameType, ModuleType, TracebackType
from typing import Any, NamedTuple

from promoarray.core.call_site import Site, of_library, of_promoarray, site_of, source_of
from promoarray.diagnostics.edits.source import SourceText
from promoarray.diagnostics.model.failed import Failed
from promoarray.diagnostics.record.block import RECORDED
from promoarray.diagnostics.record.origins import MOST_ELEMENTS, Origins
from promoarray.diagnostics.record.recorder import Recorder

_OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "truediv",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.MatMult: "matmul",
    ast.BitAnd: "and",
    ast.BitOr: "or",
    ast.BitXor: "xor",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
    ast.USub: "neg",
    ast.UAdd: "pos",
    ast.Invert: "invert",
}


class _Operation(NamedTuple):
    """An operation that the source has, with what it is given there."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    writes: bool = False


class _Unknown(Exception):
    """What an expression was is not known without computing it again."""


def failed_of(error: BaseException) -> tuple[str, Failed] | None:
    """Return the framework and the call of a program's line that raised an error."""
    last = [each for each in _entries(error) if _of_program(each.tb_frame)][-1:]
    if not last or not isinstance(error, Exception):
        return None
    ((entry),) = last
    frame = entry.tb_frame
    site = site_of(frame.f_code, entry.tb_lasti, entry.tb_lineno)
    try:
        found = _operation(site, frame)
    except (_Unknown, SyntaxError, ValueError, RecursionError, MemoryError, OSError):
        return None
    if found is None or (framework := _framework(found)) is None:
        return None
    return _tried(framework, found, error, frame, site)


def _entries(error: BaseException) -> Iterator[TracebackType]:
    entry = error.__traceback__
    while entry is not None:
        yield entry
        entry = entry.tb_next


def _of_program(frame: FrameType) -> bool:
    return not (of_library(frame) or of_promoarray(frame))


def _tried(
    framework: str, found: _Operation, error: Exception, frame: FrameType, site: Site
) -> tuple[str, Failed] | None:
    known, version = RECORDED[framework], import_module(framework).__version__
    origins, name = Origins(), f"{framework} {version}"
    recorder = Recorder(known.home(version), (), framework=name, origins=origins)
    kind: Any = import_module(known.adapter).Recording.kind
    called = getattr(found.function, "__name__", type(found.function).__name__)
    given = called, found.function, found.args, found.kwargs, frame
    origins.failed(kind(recorder, *given), error, found.function, found.args, found.kwargs)
    failed = origins.stopped(error)
    if failed is None:
        return None
    failed.site = failed.program = site
    if found.writes and failed.operands:
        failed.operands[0] = failed.operands[0]._replace(written=True)
    return name, failed


def _framework(found: _Operation) -> str | None:
    """The framework whose arrays an operation is given, or that it is a function of."""
    modules = [type(x).__module__ for x in (*found.args, *found.kwargs.values())]
    modules += [getattr(found.function, "__module__", "") or ""]
    roots = [each.partition(".")[0].replace("jaxlib", "jax") for each in modules]
    return next((each for name in _INNER_FIRST for each in roots if each == name), None)


_INNER_FIRST = ("torch", "paddle", "jax", "numpy")
"""NumPy's arrays are given to the others, too."""


_PURE_WORDS = """
    abs sqrt exp log sum mean max min argmax argmin prod cumsum round floor ceil astype reshape
    ravel flatten transpose squeeze clip dot matmul float double half long int to
"""
_PURE = frozenset(_PURE_WORDS.split())
"""Functions and methods that change nothing, draw nothing, and give the same again."""


def _is_plain(x: Any) -> bool:
    """Whether it is a number, or an array of numbers of a library, and no large one."""
    of_library = type(x).__module__.partition(".")[0].replace("jaxlib", "jax") in _INNER_FIRST
    if not (of_library and hasattr(x, "dtype")):
        return type(x) in (int, float)
    return str(x.dtype) != "object" and prod(x.shape) <= MOST_ELEMENTS


def _is_namespace(x: Any) -> bool:
    return type(x) is ModuleType and x.__name__.partition(".")[0] in _INNER_FIRST


def _computed(function: Any, args: tuple[Any, ...]) -> Any:
    """What numbers and arrays give, computed again."""
    if not all(_is_plain(x) or isinstance(x, (tuple, type)) for x in args):
        raise _Unknown
    try:
        return function(*args)
    except Exception:
        raise _Unknown from None


_ASKING: dict[str, Callable[[Any], Any]] = {"len": len, "int": int, "float": float}


def _operation(site: Site, frame: FrameType) -> _Operation | None:
    source = SourceText(source_of(site.file))
    extent: Any = site.extent
    for node in source.at(extent) if extent else []:
        match node:
            case ast.AugAssign(target=a, op=op, value=b):
                function = getattr(operator, f"__i{_OPERATORS[type(op)]}__")
                return _Operation(function, _values((a, b), frame), {}, writes=True)
            case ast.BinOp(left=a, op=op, right=b) | ast.Compare(left=a, ops=[op], comparators=[b]):
                if type(op) in _OPERATORS:
                    function = getattr(operator, f"__{_OPERATORS[type(op)]}__")
                    return _Operation(function, _values((a, b), frame), {})
            case ast.UnaryOp(op=op, operand=a) if type(op) in _OPERATORS:
                function = getattr(operator, f"__{_OPERATORS[type(op)]}__")
                return _Operation(function, _values((a,), frame), {})
            case ast.Subscript(value=a, slice=key, ctx=ast.Load()):
                return _Operation(operator.getitem, _values((a, key), frame), {})
            case ast.Subscript(value=a, slice=key):
                stored = source.statement(node)
                if isinstance(stored, ast.Assign):
                    args = _values((a, key, stored.value), frame)
                    return _Operation(operator.setitem, args, {}, writes=True)
            case ast.Call(func=func, args=given, keywords=words):
                if any(isinstance(each, ast.Starred) for each in given):
                    return None
                named = {word.arg or "": _value(word.value, frame) for word in words}
                if "" in named:
                    return None
                return _called(_value(func, frame), _values(given, frame), named)
    return None


def _called(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Operation:
    owner, name = getattr(function, "__self__", None), getattr(function, "__name__", "")
    if not hasattr(owner, "dtype"):
        return _Operation(function, args, kwargs)

    def method(owner: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(owner, name)(*args, **kwargs)

    method.__name__ = name
    return _Operation(method, (owner, *args), kwargs)


def _values(nodes: Any, frame: FrameType) -> tuple[Any, ...]:
    return tuple(_value(each, frame) for each in nodes)


def _value(node: ast.AST, frame: FrameType) -> Any:
    """What an expression is that computes nothing: names, attributes, items and displays."""
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name):
            for names in (frame.f_locals, frame.f_globals, frame.f_builtins):
                if name in names:
                    return names[name]
        case ast.Attribute(value=owner, attr=name):
            return getattr(_value(owner, frame), name)
        case ast.Subscript(value=owner, slice=key):
            try:
                return _value(owner, frame)[_value(key, frame)]
            except (IndexError, KeyError, TypeError):
                raise _Unknown from None
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return -value
        case ast.Tuple(elts=parts):
            return _values(parts, frame)
        case ast.List(elts=parts):
            return [*_values(parts, frame)]
        case ast.Slice(lower=lower, upper=upper, step=step):
            return slice(*(part and _value(part, frame) for part in (lower, upper, step)))
        case ast.BinOp(left=a, op=op, right=b) if type(op) in _OPERATORS:
            function = getattr(operator, f"__{_OPERATORS[type(op)]}__")
            return _computed(function, _values((a, b), frame))
        case ast.Call(func=ast.Attribute(value=a, attr=name), args=given, keywords=[]):
            owner, args = _value(a, frame), _values(given, frame)
            if name in _PURE and (_is_plain(owner) or _is_namespace(owner)):
                return _computed(getattr(owner, name, None), args)
        case ast.Call(func=ast.Name(id="len" | "int" | "float" as name), args=[given]):
            return _ASKING[name](_value(given, frame))
    raise _Unknown
