"""What to write where NumPy 2 refuses to store a Python int that NumPy 1 wraps around.

The int becomes an array of its own dtype first, whose cast wraps around in both.
"""

from __future__ import annotations

import ast

from promoarray.core.call_site import Site
from promoarray.diagnostics.shadow.fixes import namespace_in
from promoarray.diagnostics.shadow.spellings import SPELLINGS

_DTYPE = {"array": 1, "asarray": 1, "asanyarray": 1, "full": 2}
"""Functions that store numbers in a dtype, and where it stands among their arguments."""


def written(site: Site) -> str:
    """Write the statement or call at a place so that it wraps around; "" where that is not known.

    Examples
    --------
    ``x[0] = 300`` becomes ``x[0] = np.asarray(300).astype(x.dtype)``, ``np.uint8(300)`` becomes
    ``np.asarray(300).astype(np.uint8)``.
    """
    source = site.expression or site.text
    try:
        (statement,) = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    namespace = namespace_in(site.file, source, SPELLINGS["numpy"])
    match statement:
        case ast.Assign(targets=[ast.Subscript(value=x)], value=value):
            made = _array(namespace, value)
            statement.value = _cast(made, ast.Attribute(x, "dtype", ast.Load()))
            return ast.unparse(statement)
        case ast.Expr(value=ast.Call() as call):
            edited = _called(call, namespace)
            return ast.unparse(edited) if edited else ""
    return ""


def _called(call: ast.Call, namespace: str) -> ast.expr | None:
    """A call without its dtype, and the cast to it."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    named = [keyword for keyword in call.keywords if keyword.arg == "dtype"]
    place = _DTYPE.get(name)
    if named:
        rest = [keyword for keyword in call.keywords if keyword not in named]
        return _cast(ast.Call(call.func, call.args, rest), named[0].value)
    if place is not None and len(call.args) == place + 1:
        return _cast(ast.Call(call.func, call.args[:place], call.keywords), call.args[place])
    if name.startswith(("int", "uint")) and len(call.args) == 1 and not call.keywords:
        return _cast(_array(namespace, call.args[0]), call.func)
    return None


def _array(namespace: str, x: ast.expr) -> ast.expr:
    return ast.Call(ast.Attribute(ast.Name(namespace), "asarray", ast.Load()), [x], [])


def _cast(x: ast.expr, dtype: ast.expr) -> ast.expr:
    return ast.Call(ast.Attribute(x, "astype", ast.Load()), [dtype], [])
