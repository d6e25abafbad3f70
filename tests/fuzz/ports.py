"""Random programs ported: the same program but for casts, which agrees, or is said not to.

Arithmetic, functions, methods, loops, functions called with several dtypes, brackets and comments,
in one file, ported from one policy to one or two.
"""

from __future__ import annotations

import ast
import tempfile
from pathlib import Path

from numpy.random import Generator
from ported import InProcess, ported, text

from fuzz.layouts import one_of
from promoarray.diagnostics.model.final_difference import unequal
from promoarray.diagnostics.port.ported import Ported

START = """\
import promoarray as xp
a, b = xp.asarray([3, 1, 2], dtype=xp.{}), xp.asarray([1, 2, 5], dtype=xp.{})
z = xp.asarray(2, dtype=xp.{})
n, r = 3, 0.3
def f(x):
    return x / 2 + x
def g(x, y):
    s = x + 1
    return s * 0.5 + s * y  # twice
"""
DTYPES = ["int8", "uint8", "int16", "int64", "uint64", "float32", "float64", "bfloat16", "bool"]
POLICIES = ["numpy@2", "numpy@1", "torch@2.13", "jax@x64", "paddle@3.3", "aclnn@8.5"]
POLICIES += ["tensorflow", "onnx@25"]
ATOMS = ["a", "b", "z", "n", "r", "2", "-1", "0.5", "True", "a[0]", "b[1:]", "(a)", "xp.ones(3)"]
ATOMS += ["0x11", "1e-3", "7.0", "-a"]
TWO = [
    *("{} + {}", "({} - {})", "{} * ({})", "{} / {}", "({})**{}", "{} // {}", "{} < {}"),
    *(
        "xp.where(a > 1, {}, {})",
        "xp.maximum({}, {})",
        "g({}, {})",
        "(\n    {}  # left\n    * {}\n)",
    ),
    *("xp.concat([a, b])[:3] + {} - {}", "xp.asarray([1.5, 2, 3]) * {} + {}"),
    *("{} & {}", "{} | ({})", "{} == {}", "{} >= {}", "{}  %  ({})"),
]
ONE = [
    *("xp.sum({})", "xp.mean({})", "xp.sqrt({})", "-({})", "f({})", "({}).sum()", "abs({})"),
    *("xp.astype(xp.asarray({}), xp.int16)", "xp.asarray({}, dtype=xp.float32)", "[{}][0]"),
    *("(lambda v: v * 0.25)({})", "max([{}], key=id)", "xp.arange(3) + {}"),
]


def expression(random: Generator, depth: int) -> str:
    """Return an expression."""
    if depth == 0 or random.random() < 0.2:
        return str(one_of(random, ATOMS))
    pattern = str(one_of(random, TWO if random.random() < 0.6 else ONE))
    return pattern.format(*(expression(random, depth - 1) for _ in range(pattern.count("{}"))))


def program(random: Generator, path: Path, run: str) -> bytes:
    """Return a program of those lines that run under a policy, one after the other."""
    lines = []
    for number in range(random.integers(1, 5)):
        lines.append(f"y{number} = {expression(random, random.integers(1, 4))}")
        if random.random() < 0.2:
            lines.append(f"for i in range(2):\n\ty{number} = y{number} + {expression(random, 1)}")
        if random.random() < 0.1:
            lines.append(f"w{number} = xp.zeros(3)\nw{number}[0] = {expression(random, 1)}")
    text = START.format(*(one_of(random, DTYPES) for _ in range(3)))
    for line in lines:
        path.write_text(text + line, encoding="utf-8")
        if not InProcess(path)(run).stopped:
            text += f"{line}\n"
    ends = str(one_of(random, ["\n", "", "\n\n"]))
    newline = str(one_of(random, ["\n", "\r\n"]))
    return (text.rstrip("\n") + ends).replace("\n", newline).encode()


def once(random: Generator) -> int:
    """Port one program; return how many edits it got."""
    run, *to = (str(p) for p in random.permutation(POLICIES)[: random.integers(2, 4)])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "program.py")
        path.write_bytes(written := program(random, path, run))
        source = written.decode()
        try:
            done = ported(path, run, *to)
        except ValueError:
            return 0  # the program itself is refused
        edited = text(done) or source
        assert _same_but_for_casts(source, edited), f"{source}\n{edited}"
        path.write_bytes(edited.encode())
        wanted, refused = done.final, {each.policy for each in done.checked if not each.agrees}
        if run in refused and not done.edits:
            return 0  # nothing is proved: what is told is of edits that were taken back
        for name in (run, *to):
            ran = InProcess(path)(name)
            apart = ran.stopped or unequal(wanted, ran.final)
            assert bool(apart) == (name in refused), f"{run} {to} {name}\n{edited}\n{apart}"
        assert run not in refused, f"the run itself is another: {run} {to}\n{source}\n{edited}"
        assert not refused or done.left or _by_values(done), f"{run} {to}\n{edited}\n{done.checked}"
        return len(done.edits)


def _by_values(done: Ported) -> bool:
    """Whether no dtype differs: arithmetic itself does, or making an array of Python numbers."""
    return not any(
        "PromotionError" in each.stopped or any(d.dtype for d in each.unequal)
        for each in done.checked
    )


class _Bare(ast.NodeTransformer):
    """Takes every cast away, and every dtype that is asked for; numbers are told apart by value."""

    def __init__(self) -> None:
        self.constants: list[object] = []

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        node.keywords = [word for word in node.keywords if word.arg != "dtype"]
        if name in ("astype", "asarray") and node.args:
            inner = node.args[0]
            return inner.elts[0] if isinstance(inner, ast.List) and len(inner.elts) == 1 else inner
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        """Of a cast for some passes alone, what the others have."""
        is_cast = ast.unparse(node.test).startswith("hasattr(")
        return self.visit(node.orelse) if is_cast else self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        self.constants.append(node.value)
        whole = isinstance(node.value, float) and node.value.is_integer()
        return ast.Constant(int(node.value)) if whole or isinstance(node.value, bool) else node


def _same_but_for_casts(source: str, edited: str) -> bool:
    """Whether nothing but casts differs, and of numbers ``2.0`` for ``2``, ``1`` for ``True``."""
    before, after = _Bare(), _Bare()
    if ast.dump(before.visit(ast.parse(source))) != ast.dump(after.visit(ast.parse(edited))):
        return False
    pairs = zip(map(type, before.constants), map(type, after.constants), strict=True)
    return all(old is new or (old, new) in ((int, float), (bool, int)) for old, new in pairs)
