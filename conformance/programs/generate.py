"""Random programs over the whole namespace: each function with random dtypes, ranks, scalars and
options, in place, assignment, creation, and chains of three to six of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import Any

from programs import arguments, calls, stories
from programs.program import words
from programs.writer import SCALARS, AbsentError, Writer

BROADCASTING = (
    *(((3,), (3,)), ((2, 3), (3,)), ((3,), ()), ((), (3,)), ((), ()), ((2, 1), (3,)), ((2,), (2,))),
    *(((1,), (3,)), ((3,), (1,)), ((0,), (1,)), ((1,), ())),
)

UNARY = words(
    "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp expm1 log log1p log2 "
    "log10 sqrt reciprocal abs negative positive sign square floor ceil trunc round isnan "
    "isinf isfinite signbit conj real imag logical_not bitwise_invert"
)
BINARY = words(
    "add subtract multiply divide floor_divide remainder pow equal not_equal less less_equal "
    "greater greater_equal logical_and logical_or logical_xor bitwise_and bitwise_or "
    "bitwise_xor bitwise_left_shift bitwise_right_shift maximum minimum fmax fmin atan2 hypot "
    "copysign nextafter logaddexp"
)
OPERATORS = words("+ - * / // % ** == != < <= > >= & | ^ << >>")
IN_PLACE = words("+ - * / // % ** & | ^ << >>")
REDUCTIONS = words("sum prod mean std var max min all any argmax argmin count_nonzero")
FACTORED = words("det inv cholesky pinv slogdet svdvals eigvalsh matrix_rank qr")
TRANSFORMS = words("fft ifft fftn ifftn rfft ihfft irfft hfft fftshift ifftshift")


Chapter = Callable[[Writer], Any]


def pair(w: Writer, *, dtypes: Sequence[str] = (), scalars: float = 0.4) -> tuple[str, str]:
    """Two operands: arrays of shapes that broadcast, or an array and a Python scalar."""
    if w.chance(scalars):
        x, y = w.array(dtypes=dtypes), w.scalar()
        return (x, y) if w.chance(0.6) else (y, x)
    left, right = w.one(BROADCASTING)
    return w.array(left, dtypes), w.array(right, dtypes)


def unary(w: Writer) -> str:
    """A function of one array."""
    x = w.array()
    return w.line(f"{w.known(UNARY)}({x})", w.shapes[x])


def unary_operator(w: Writer) -> str:
    """``-x``, ``+x``, ``~x``."""
    x = w.array()
    return w.line(f"{w.one('-+~')}{x}", w.shapes[x])


def binary(w: Writer) -> str:
    """A function of two operands."""
    function = w.known(BINARY)
    x, y = pair(w, scalars=0.3)
    return w.line(f"{function}({x}, {y})")


def operator(w: Writer) -> str:
    """An operator."""
    symbol = w.one(OPERATORS)
    x, y = pair(w, scalars=0.5)
    left = f"({x})" if x.startswith("-") else x  # -2 ** a is -(2 ** a)
    return w.line(f"{left} {symbol} {y}")


def in_place(w: Writer) -> None:
    """An operator in place."""
    symbol = w.one(IN_PLACE)
    left, right = w.one([b for b in BROADCASTING if len(b[0]) >= len(b[1]) and b[0] != (1,)])
    x = w.array(left)
    y = w.scalar() if w.chance(0.5) else w.array(right)
    w.lines.append(f"{x} {symbol}= {y}")


def assign(w: Writer) -> str:
    """``x[key] = value``."""
    x = w.array(w.one(((3,), (3,), (2, 3), ())))
    shape = w.shapes[x]
    key = "..." if not shape else w.one(("0", "-1", "...", "slice(1, None)"))
    value = w.scalar() if w.chance(0.6) else w.array(())
    return w.line(f"setitem({x}, {key}, {value})", shape)


def index(w: Writer) -> str:
    """``x[key]``."""
    x = w.array(w.one(((3,), (2, 3))))
    return w.line(f"{x}[{w.one(('0', '-1', '...', '1:', '::-1', 'None', '0:0'))}]")


def shared(w: Writer) -> str:
    """What a view and its array share."""
    x = w.array((2, 3))
    views = "{0}[0]", "{0}[:, 1:]", "{0}[...]", "reshape({0}, (6,))", "flip({0}, axis=0)"
    views = *views, "permute_dims({0}, (1, 0))", "squeeze(expand_dims({0}, axis=0), axis=0)"
    views = *views, "broadcast_to({0}, (2, 3))", "astype({0}, float32)", "asarray({0})"
    view = w.line(w.one(views).format(x))
    w.line(f"setitem({view}, ..., 1)")
    return w.line(f"{x}[...]", (2, 3))


def where(w: Writer) -> str:
    """``where``."""
    shape = w.one(((3,), (2, 3), ()))
    condition = w.array(shape, ["bool"])
    if w.chance(0.15):
        x, y = w.scalar(), w.scalar()
    elif w.chance(0.5):
        x, y = w.array(w.one((shape, ()))), w.scalar()
        x, y = (x, y) if w.chance(0.5) else (y, x)
    else:
        x, y = w.array(shape), w.array(w.one((shape, ())))
    return w.line(f"where({condition}, {x}, {y})", shape)


def clip(w: Writer) -> str:
    """``clip``."""
    x = w.array(w.one(((3,), (2, 3), ())))
    bounds = [
        w.scalar(("int", "int", "float", "bool", "complex") if w.chance(0.2) else ("int", "float"))
        if w.chance(0.7)
        else w.array(w.one((w.shapes[x], ())))
        for _ in range(2)
    ]
    bounds[w.random.randrange(2)] = "None" if w.chance(0.3) else bounds[0]
    return w.line(f"clip({x}, {bounds[0]}, {bounds[1]})", w.shapes[x])


def reduce(w: Writer) -> str:
    """A reduction."""
    function = w.known(REDUCTIONS)
    x = w.array(plain=True if w.chance(0.5) else None)
    options = f", axis={w.axis(w.shapes[x])}"
    if function in ("std", "var") and w.chance(0.4):
        options += f", correction={w.one(('1', '0', '1.0'))}"
    elif function not in ("count_nonzero",) and w.chance(0.3):
        options += ", keepdims=True"
    if function in ("sum", "prod") and w.chance(0.2):
        options += f", dtype={w.one(w.dtypes)}"
    return w.line(f"{function}({x}{options})")


def accumulate(w: Writer) -> str:
    """``cumulative_sum``, ``cumulative_prod``, ``diff``."""
    function = w.known(("cumulative_sum", "cumulative_prod", "diff"))
    x = w.array(w.one(((3,), (2, 3), (9,))), plain=True if w.chance(0.6) else None)
    axis = "-1" if function == "diff" else "0"
    dtype = f", dtype={w.one(w.dtypes)}" if function != "diff" and w.chance(0.2) else ""
    return w.line(f"{function}({x}, axis={axis}{dtype})")


def join(w: Writer) -> str:
    """``concat`` and ``stack`` of two or three arrays."""
    function, shape = w.known(("concat", "stack")), w.one(((2,), (2, 3)))
    arrays = [w.array(shape) for _ in range(w.one((2, 2, 3)))]
    return w.line(f"{function}([{', '.join(arrays)}], axis={w.axis(shape, none=False)})")


_MOVES = {
    "reshape": "({0}, (-1,))",
    "flip": "({0}, axis=0)",
    "roll": "({0}, 1, axis=0)",
    "expand_dims": "({0}, axis=0)",
    "permute_dims": "({0}, (1, 0))",
    "moveaxis": "({0}, 0, 1)",
    "broadcast_to": "({0}, (2, 2, 3))",
    "repeat": "({0}, 2, axis=0)",
    "tile": "({0}, (2, 1))",
    "unstack": "({0}, axis=0)",
    "tril": "({0})",
    "triu": "({0})",
    "matrix_transpose": "({0})",
    "zeros_like": "({0})",
    "ones_like": "({0})",
    "linalg.diagonal": "({0})",
    "linalg.trace": "({0})",
}


def move(w: Writer) -> str:
    """What moves values, or makes an array like another."""
    function = w.known(tuple(_MOVES))
    return w.line(function + _MOVES[function].format(w.array((2, 3))))


def take(w: Writer) -> str:
    """``take`` and ``take_along_axis``."""
    x = w.array((3,))
    indices = w.line(f'array("{w.one(_INDEX)}", [2, 0], (2,))', (2,))
    return w.line(f"{w.known(('take', 'take_along_axis'))}({x}, {indices}, axis=0)")


_INDEX = ("int64", "int64", "int32", "int8", "uint8", "bool")


def order(w: Writer) -> str:
    """Sorting, searching, sets."""
    function = w.known(
        ("sort", "sort", "argsort", "unique_values", "unique_counts", "unique_inverse", "nonzero")
    )
    x = w.array((3,))
    descending = ", descending=True" if function == "sort" and w.chance(0.3) else ""
    return w.line(f"{function}({x}{descending})")


def search(w: Writer) -> str:
    """``searchsorted`` and ``isin``."""
    if "isin" in w.functions and w.chance(0.5):
        x, y = w.array((3,)), w.array((2,)) if w.chance(0.7) else w.scalar()
        return w.line(f"isin({x}, {y})")
    x = w.line(f'array("{w.one(w.dtypes)}", [0, 1, 1], (3,))', (3,))
    y = w.array((2,)) if w.chance(0.7) else w.scalar()
    return w.line(f"{w.known(('searchsorted',))}({x}, {y})")


def product(w: Writer) -> str:
    """Products of matrices and vectors."""
    function = w.known(("matmul", "matmul", "@", "vecdot", "tensordot", "linalg.outer"))
    function = "@" if w.chance(0.25) else function
    shapes = {
        "vecdot": (((3,), (3,)), ((2, 3), (3,))),
        "tensordot": (((2, 2), (2, 2)),),
        "linalg.outer": (((2,), (3,)),),
    }.get(function, (((2, 2), (2, 2)), ((2, 3), (3,)), ((2,), (2,))))
    left, right = w.one(shapes)
    x = w.array(left, plain=True)
    y = w.scalar() if w.chance(0.1) else w.array(right, plain=True)
    if function == "@":
        return w.line(f"{x} @ {y}")
    return w.line(f"{function}({x}, {y}{', axes=1' if function == 'tensordot' else ''})")


def cross(w: Writer) -> str:
    """``linalg.cross`` and ``solve``."""
    function = w.known(("linalg.cross", "linalg.solve"))
    if function == "linalg.cross":
        return w.line(f"{function}({w.array((3,), plain=True)}, {w.array((3,), plain=True)})")
    x = w.line(f'array("{w.one(w.dtypes)}", [1, 0, 1, 1], (2, 2))', (2, 2))
    return w.line(f"{w.known(('linalg.solve',))}({x}, {w.array((2,), plain=True)})")


def factor(w: Writer) -> str:
    """Linear algebra of one matrix."""
    function = w.known([f"linalg.{name}" for name in (*FACTORED, "matrix_power", "vector_norm")])
    x = w.line(f'array("{w.one(w.dtypes)}", [3, 1, 1, 2], (2, 2))', (2, 2))
    power = f", {w.one((0, 1, 2, 3))}" if function == "linalg.matrix_power" else ""
    return w.line(f"{function}({x}{power})")


def transform(w: Writer) -> str:
    """A Fourier transform."""
    function = w.known([f"fft.{name}" for name in TRANSFORMS])
    return w.line(f"{function}({w.array((3,) if w.chance(0.7) else (2, 3), plain=True)})")


def cast(w: Writer) -> str:
    """``astype``."""
    x = w.array(dtypes=w.castable)
    return w.line(f"astype({x}, {w.one(w.castable)})", w.shapes[x])


def common_type(w: Writer) -> str:
    """``result_type``."""
    x, y = pair(w)
    return w.line(f"result_type({x}, {y})")


def given(w: Writer) -> str:
    """``asarray`` of Python numbers, in lists or alone, with a dtype or without."""
    kinds = w.one((("int",), ("float",), ("complex",), ("bool",), SCALARS, ("int", "float")))
    count = w.one((0, 1, 1, 2, 3))
    values = [w.scalar(kinds, plain=0.5) for _ in range(count)]
    data = f"[{', '.join(values)}]" if count != 1 or w.chance(0.5) else values[0]
    dtype = f", dtype={w.one(w.dtypes)}" if w.chance(0.4) else ""
    return w.line(f"asarray({data}{dtype})", (count,))


def filled(w: Writer) -> str:
    """``full``, ``full_like``, ``zeros``, ``ones``."""
    dtype = f", dtype={w.one(w.dtypes)}" if w.chance(0.5) else ""
    function = w.known(("full", "full", "full_like", "full_like", "zeros", "ones"))
    if function == "full_like":
        return w.line(f"full_like({w.array((2,))}, {w.scalar(plain=0.5)}{dtype})", (2,))
    value = f", {w.scalar(plain=0.5)}" if function == "full" else ""
    return w.line(f"{function}({w.one(((2,), (2, 2), ()))}{value}{dtype})", (2,))


def ranged(w: Writer) -> str:
    """``arange``, ``linspace``, ``eye``."""
    dtype = f", dtype={w.one(w.dtypes)}" if w.chance(0.5) else ""
    function = w.known(("arange", "arange", "linspace", "eye"))
    if function == "eye":
        return w.line(f"eye(2{dtype})")
    ends = [w.one(("0", "1", "-2", "5", "0.5", "2.5", "-1.5", "300", "True", "1j")) for _ in "ab"]
    if function == "linspace":
        return w.line(f"linspace({ends[0]}, {ends[1]}, {w.one((0, 1, 2, 5))}{dtype})")
    step = w.one(("", "", ", 1", ", 2", ", 0.5", ", -1", ", 100", ", 1.0"))
    if "300" in ends:
        step = ", 100" if ends[1] == "300" else ", -100"
    return w.line(
        f"arange({', '.join(ends[: 1 if not step and w.chance(0.5) else 2])}{step}{dtype})"
    )


def grid(w: Writer) -> str:
    """``meshgrid`` and ``broadcast_arrays``."""
    function = w.known(("meshgrid", "broadcast_arrays"))
    x, y = w.array((2,)), w.array((3,) if function == "meshgrid" else (1,))
    return w.line(f"{function}({x}, {y})")


def chain(w: Writer) -> None:
    """Three to six operations, each on results of those before."""
    names = [w.array((3,)), w.array(w.one(((3,), (), (1,))))]
    for _ in range(w.random.randrange(3, 7)):
        x, y = w.one(names), w.one((w.one(names), w.scalar(plain=0.9)))
        step = w.one(("operator", "operator", "function", "unary", "reduce", "cast", "where"))
        expression = {
            "operator": f"{x} {w.one(OPERATORS[:13])} {y}",
            "function": f"{w.known(BINARY)}({x}, {w.one(names)})",
            "unary": f"{w.known(UNARY)}({x})",
            "reduce": f"{w.known(('sum', 'mean', 'max', 'prod', 'min'))}({x})",
            "cast": f"astype({x}, {w.one(w.dtypes)})",
            "where": f"where({w.one(names)} > 0, {x}, {y})",
        }[step]
        names.append(w.line(expression))


CHAPTERS: Mapping[Chapter, int] = {
    operator: 30,
    binary: 16,
    unary: 10,
    unary_operator: 3,
    in_place: 12,
    assign: 9,
    index: 2,
    where: 8,
    clip: 8,
    reduce: 12,
    accumulate: 4,
    join: 6,
    move: 5,
    take: 2,
    order: 5,
    search: 4,
    product: 7,
    cross: 2,
    factor: 4,
    transform: 3,
    cast: 8,
    common_type: 4,
    given: 7,
    filled: 7,
    ranged: 5,
    grid: 1,
    chain: 20,
    shared: 2,
    **calls.CHAPTERS,
    **arguments.CHAPTERS,
    **stories.CHAPTERS,
}
"""The chapters programs come from, and how often."""

_NEEDS: Mapping[Chapter, str] = {
    assign: "setitem",
    shared: "setitem",
    where: "where",
    clip: "clip",
    cast: "astype",
    common_type: "result_type",
    given: "asarray",
    search: "searchsorted",
}


def programs(seed: object, count: int, described: Mapping[str, Any]) -> Iterator[str]:
    """Make programs; those of one seed and one framework are always the same.

    Parameters
    ----------
    seed : object
    count : int
    described : mapping
        What the framework says it has.
    """
    functions, traits = described["functions"], described["traits"]
    chapters = [
        (chapter, weight)
        for chapter, weight in CHAPTERS.items()
        if _NEEDS.get(chapter, functions[0]) in functions
        and ("mutable" in traits or (chapter is not shared and chapter not in stories.CHAPTERS))
    ]
    drawn, weights = zip(*chapters, strict=True)
    for number in range(count):
        random = Random(f"{seed}:{number}")
        while True:
            writer = Writer(random, described)
            try:
                random.choices(drawn, weights)[0](writer)
            except AbsentError:
                continue
            yield "\n".join(writer.lines)
            break
