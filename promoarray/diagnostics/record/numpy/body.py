"""The lines of a block: passed over where they are compiled, and run from their source instead.

The first line of the block raises an error, which brings its context manager to its end: there the
lines are run with the hook, with the variables of the frame that they stand in.
"""

from __future__ import annotations

import ast
import ctypes
import sys
from collections.abc import Callable, Iterator
from dis import Bytecode, opmap
from types import CellType, CodeType, FrameType, FunctionType
from typing import Any

from promoarray.diagnostics.record.numpy.loaded import Source, source_of_code
from promoarray.diagnostics.record.numpy.rewriting import (
    LOOK_AROUND,
    RESERVED,
    warned_already,
)


class Unknown(Exception):
    """Why the lines of a block cannot be run from their source."""


class Skipped(BaseException):
    """Raised at the first line of a block, which its context manager takes for its end."""


class Body:
    """The lines of a block, to be run when it has been passed over.

    Parameters
    ----------
    frame : Frame
        Which enters the block.
    first : int
        Its first line.
    """

    def __init__(self, frame: FrameType, first: int, run: Callable[[], object]) -> None:
        self.frame, self._first, self._run = frame, first, run

    def skip(self) -> None:
        """Have the frame raise ``Skipped`` where the block begins."""
        sys.settrace(lambda *event: None)
        self.frame.f_trace = self._traced

    def _traced(self, frame: FrameType, event: str, _: Any) -> Any:
        if event != "line" or frame.f_lineno < self._first:
            return self._traced
        if _ends_block(frame.f_code, frame.f_lasti):
            raise Skipped
        self.trace_no_more()  # it runs as it is
        return None

    def trace_no_more(self) -> None:
        """Have nothing of the frame be traced."""
        sys.settrace(None)
        self.frame.f_trace = None

    def run(self) -> None:
        """Run the lines in the place of those that were passed over."""
        try:
            self._run()
        except BaseException as error:
            _forget_skipped(error)
            raise


def entered(frame: FrameType) -> Body | None:
    """Return the lines of the block that a frame is about to enter; None if there is nothing to do,
    as they are rewritten.

    Raises
    ------
    Unknown
        If they cannot be run from their source.
    """
    if RESERVED in frame.f_code.co_names:
        return None
    if sys.gettrace() is not None:
        raise Unknown("a debugger, or what measures coverage, follows its lines")
    source = source_of_code(frame.f_code, frame.f_globals)
    if source is None:
        raise Unknown("its source is not known")
    return _body(source, frame)


def _body(source: Source, frame: FrameType) -> Body | None:
    """The lines of the block that a frame enters; None if they do nothing."""
    code = frame.f_code
    outer: Any = [*ast.walk(source.tree())]
    found = next((x for x in outer if isinstance(x, ast.With) and _is_entered(x, frame)), None)
    if found is None or (mode := _mode(source, code, found.lineno)) is None:
        raise Unknown("its source is not known")
    if all(map(_is_idle, found.body)):
        return None
    _require_whole(found)
    if code.co_name != "<module>":
        _require_public(found)
    if not code.co_flags & _OPTIMIZED:
        if code.co_freevars:
            raise Unknown("it stands in a class in a function")
        names: Any = frame.f_globals, frame.f_locals
        made = source.compiled(mode(found.body))
        return Body(frame, _first(found), lambda: exec(made, *names))
    function = next(x for x in outer if found in ast.walk(x) and _is_of(x, code))
    return Body(frame, _first(found), _in_function(frame, found, function, source.compiled))


def _mode(source: Source, code: CodeType, line: int) -> Callable[[list[ast.stmt]], Any] | None:
    """How what stands at the top was compiled: as a whole, or a statement alone; None if code
    is none of it."""
    if code in source.functions:
        return _module
    with warned_already():
        every = source.plain().body
        for body in (every, [x for x in every if _covers(x, line)]):
            for mode in (_module, ast.Interactive):
                if source.compiled(mode(body)) == code:
                    return mode
    return None


def _forget_skipped(error: BaseException) -> None:
    """Take the end of what was passed over out of what led to an error."""
    each: BaseException | None = error
    while each is not None:
        if isinstance(each.__context__, Skipped):
            each.__context__ = None
        each = each.__context__


def _ends_block(code: CodeType, instruction: int) -> bool:
    """Whether an error at an instruction goes to a context manager at once.

    It does not where Python makes no code of a block's first line, as of ``try:``.
    """
    table: Any = Bytecode(code)
    for start, end, target, *_ in table.exception_entries:
        if start <= instruction < end:
            return bool(code.co_code[target + 2] == opmap["WITH_EXCEPT_START"])
    return False


_OPTIMIZED = 1
"""Of code whose local variables stand in no dict (``inspect.CO_OPTIMIZED``)."""


def _is_entered(node: ast.With, frame: FrameType) -> bool:
    """Whether a frame enters the last context manager of a statement: the one whose block it is."""
    code, instruction = frame.f_code, frame.f_lasti // 2
    positions = [*code.co_positions()]
    at = positions[instruction]
    if at == _position(node.items[-1].context_expr):
        return True
    if at != _position(node):  # where all of them have the place of the whole, before Python 3.13
        return False
    before = zip(code.co_code[::2], positions[: instruction + 1], strict=False)
    return sum(each == (_ENTER, at) for each in before) == len(node.items)


_ENTER = opmap.get("BEFORE_WITH")


def _position(node: Any) -> tuple[int, ...]:
    return node.lineno, node.end_lineno, node.col_offset, node.end_col_offset


def _first(node: ast.With) -> int:
    """The first line of a block that does something."""
    first: Any = next(x for x in node.body if not _is_idle(x))
    return int(min(x.lineno for x in (first, *getattr(first, "decorator_list", ()))))


def _is_idle(node: ast.stmt) -> bool:
    """Whether Python makes no instruction of a statement."""
    constant = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return constant or isinstance(node, (ast.Pass, ast.Global, ast.Nonlocal))


def _module(body: list[ast.stmt]) -> ast.Module:
    return ast.Module(body, [])


def _covers(node: ast.stmt, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def _is_of(node: Any, code: CodeType) -> bool:
    """Whether code is that of a function."""
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return False
    first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
    return (node.name, first) == (code.co_name, code.co_firstlineno)


_FUNCTIONS = ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda
_LEAVE = ast.Return, ast.Yield, ast.YieldFrom, ast.Await, ast.AsyncFor, ast.AsyncWith
_LOOPS = ast.For, ast.While


def _require_whole(node: ast.With) -> None:
    """Require a block that can stand alone: what it begins ends in it."""
    last = node.items[-1]
    header: Any = last.optional_vars or last.context_expr
    if _first(node) <= header.end_lineno:
        raise Unknown("it stands in the line of its with")
    for each in node.body:
        _require_no_leaving(each, in_loop=False)


def _require_public(node: ast.With) -> None:
    """Require that its names are the same elsewhere."""
    for name in _names(node.body):
        if name in _LOOK_AROUND or (name[:2] == "__" != name[-2:]):
            raise Unknown(f"{name} is another where it is run")


_LOOK_AROUND = LOOK_AROUND - {"globals"} | {"__class__"}


def _require_no_leaving(node: ast.AST, *, in_loop: bool) -> None:
    if isinstance(node, _LEAVE) or (isinstance(node, (ast.Break, ast.Continue)) and not in_loop):
        raise Unknown(f"it has a {type(node).__name__.lower()}")
    if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
        return
    for each in ast.iter_child_nodes(node):
        _require_no_leaving(each, in_loop=in_loop or isinstance(node, _LOOPS))


def _names(nodes: list[Any]) -> Iterator[str]:
    """All names that stand in some statements."""
    for each in (x for node in nodes for x in ast.walk(node)):
        for field in ("id", "name", "attr", "asname", "rest", "arg"):
            if isinstance(name := getattr(each, field, None), str):
                yield name


def _bound(nodes: list[Any], function: ast.AST) -> set[str]:
    """The names that statements of a function bind, without the functions in them."""
    made: Any = type(function)(**vars(_function("of", [], nodes or [ast.Pass()])))
    with warned_already():
        code = compile(ast.fix_missing_locations(_module([made])), "<block>", "exec")
    names = (x.names for node in nodes for x in ast.walk(node) if isinstance(x, ast.Global))
    (own,) = _inner_once(code)
    return {*own.co_varnames, *own.co_cellvars}.union(*names)


# -- blocks in functions, whose variables stand in no dict ----------------------------------------


def _in_function(
    frame: FrameType, node: ast.With, function: ast.FunctionDef, compiled: Callable[[Any], CodeType]
) -> Callable[[], None]:
    """What runs the lines of a block with the variables of a frame, and changes them there.

    The lines are a function in a function: of the outer are the variables.
    """
    if any(isinstance(x, ast.Nonlocal) for x in ast.walk(function)):
        raise Unknown(_SHARED)
    code, bound = frame.f_code, _bound(node.body, function)
    local = {*code.co_varnames, *code.co_cellvars, *code.co_freevars}
    at = next(n for n, x in enumerate(function.body) if node in ast.walk(x))
    around = [x for x in function.body[at : at + 1] if x is not node]
    shared = {*code.co_freevars} | _captured([*function.body[:at], *around])
    elsewhere = _bound([*around, *function.body[at + 1 :]], function)
    if bound & shared:
        raise Unknown(_SHARED)
    if _captured(node.body) & local & elsewhere:
        raise Unknown("a function in it keeps a variable that is assigned elsewhere")
    if local & _deleted(node) and not _ARE_COPIES:
        raise Unknown("it deletes a variable")
    node.body = [_Unannotated().visit(each) for each in node.body]
    declared: list[ast.stmt] = []
    declared += [ast.Nonlocal(sorted(bound & local))] if bound & local else []
    declared += [ast.Global(sorted(bound - local))] if bound - local else []
    inner = _function(code.co_name, [], [*declared, *node.body])
    outer = _function("outer", sorted(local), [inner])
    (of_outer,) = _inner_once(compiled(ast.fix_missing_locations(_module([outer]))))
    (made,) = _inner_once(of_outer)

    def run() -> None:
        variables = frame.f_locals
        cells = {
            name: CellType(variables[name]) if name in variables else CellType()
            for name in made.co_freevars
        }
        try:
            FunctionType(made, frame.f_globals, code.co_name, None, tuple(cells.values()))()
        finally:
            _write(frame, variables, {name: cells[name] for name in bound & {*cells}})

    return run


_SHARED = "it assigns a variable that other functions have, too"


class _Unannotated(ast.NodeTransformer):
    """Takes the annotations of variables away, which a function does not compute."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        if not isinstance(node.target, ast.Name):
            return node
        made = ast.Assign([node.target], node.value) if node.value else ast.Pass()
        return ast.copy_location(made, node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        return node


def _function(name: str, parameters: list[str], body: list[ast.stmt]) -> Any:
    given = ast.arguments([], [ast.arg(each) for each in parameters], None, [], [], None, [])
    return ast.FunctionDef(name, given, body, [], None, None)


def _inner_once(code: CodeType) -> list[CodeType]:
    return [each for each in code.co_consts if isinstance(each, CodeType)]


def _captured(nodes: list[Any]) -> set[str]:
    """The names that stand in functions which may outlive some statements."""
    found: set[str] = set()
    every = [x for each in nodes for x in ast.walk(each)]
    given = {id(x) for each in every if isinstance(each, ast.Call) for x in each.args}
    for node in (x for x in every if id(x) not in given or isinstance(x, ast.Lambda)):
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef, ast.GeneratorExp)):
            found |= {x.id for x in ast.walk(node) if isinstance(x, ast.Name)}
    return found


def _write(frame: FrameType, variables: Any, cells: dict[str, CellType]) -> None:
    """Have the variables of a frame be what is in some cells."""
    for name, cell in cells.items():
        try:
            variables[name] = cell.cell_contents
        except ValueError:  # it was deleted
            if _ARE_COPIES:
                variables.pop(name, None)
    if _ARE_COPIES:
        ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(frame), ctypes.c_int(1))


_ARE_COPIES = sys.version_info < (3, 13)
"""Whether ``frame.f_locals`` has copies of a function's variables, of which it can delete some."""


def _deleted(node: ast.AST) -> set[str]:
    names = (x for x in ast.walk(node) if isinstance(x, ast.Name))
    return {x.id for x in names if isinstance(x.ctx, ast.Del)}
