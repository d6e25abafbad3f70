"""One kernel for an operation with all its casts: what a plan says, element by element.

An operand is cast to what the plan makes of it, then to what is computed in; the result of the
operation is cast to what the plan calls it. Nothing is written to memory in between.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from promoarray import dtypes as dt
from promoarray.dtypes import DType, Kind
from promoarray.kernels.cast_mode import CastMode
from promoarray.kernels.cuda.element import code_bits, stored
from promoarray.kernels.cuda.kernel_source import (
    KernelSource,
    block,
    declared,
    digest,
    fused_preamble,
    loaded,
    of_library,
    saved,
    statements,
)
from promoarray.kernels.cuda.symbolic import CodeTransform

__all__ = ["answer", "fused_kernel"]

# --- Which operations there are, and of what -----------------------------------------------------

_BOOL, _INT, _UINT, _FLOAT, _COMPLEX = Kind.BOOL, Kind.INT, Kind.UINT, Kind.FLOAT, Kind.COMPLEX
_INTEGERS = {_INT, _UINT}
_REALS = {*_INTEGERS, _FLOAT}
_NUMBERS = {*_REALS, _COMPLEX}
_ALL = {_BOOL, *_NUMBERS}

_OPERATIONS: dict[str, set[Kind]] = {
    name: kinds
    for names, kinds in (
        ("add subtract multiply divide negative positive square", _NUMBERS),
        ("equal not_equal less less_equal greater greater_equal", _ALL),
        ("logical_and logical_or logical_xor logical_not", _ALL),
        ("bitwise_and bitwise_or bitwise_xor bitwise_invert", {_BOOL, *_INTEGERS}),
        ("bitwise_left_shift bitwise_right_shift", _INTEGERS),
        ("maximum minimum fmax fmin clip", _ALL),
        ("floor_divide remainder fmod pow sign mse_loss", _REALS),
        ("abs", _NUMBERS),
        ("l1_loss", _REALS),
        ("reciprocal", {_FLOAT, _COMPLEX}),
        ("isnan isinf isfinite", {_FLOAT, _COMPLEX}),
        ("signbit", _REALS),
        ("round", {_FLOAT, _COMPLEX}),
        ("floor ceil trunc sqrt copysign nextafter fma", {_FLOAT}),
        ("sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh", {_FLOAT}),
        ("exp expm1 log log1p log2 log10 atan2 hypot logaddexp poisson_nll_loss", {_FLOAT}),
        ("single_pow plain_pow whole_shortcut_pow root_shortcut_pow", {_FLOAT}),
        ("shortcut_pow multiplied_pow integer_pow", {_FLOAT}),
        ("conj real imag", {_COMPLEX}),
        ("same", _ALL),
    )
    for name in names.split()
}
_TRUTHS = frozenset(
    {"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"}
    | {"logical_and", "logical_or", "logical_xor", "logical_not"}
    | {"isnan", "isinf", "isfinite", "signbit"}
)

_TYPES = {
    dt.bool: "bool",
    dt.int8: "signed char",
    dt.int16: "short",
    dt.int32: "int",
    dt.int64: "i64",
    dt.uint8: "u8",
    dt.uint16: "u16",
    dt.uint32: "u32",
    dt.uint64: "u64",
    dt.float32: "float",
    dt.float64: "double",
    dt.complex64: "Complex<float>",
    dt.complex128: "Complex<double>",
}
# As in NumPy: bools add by "or" and multiply by "and"; other arithmetic on them is that of int8.
_OF_BOOLS = {
    "add": "logical_or",
    "multiply": "logical_and",
    **dict.fromkeys(("abs", "real", "floor", "ceil", "trunc", "round"), "same"),
    **dict.fromkeys(("positive", "sign"), "same"),  # of 0 and 1, where a policy allows them
}
_OF_INTEGERS = dict.fromkeys(("floor", "ceil", "trunc", "round", "conj", "real"), "same")
_OF_FLOATS = dict.fromkeys(("conj", "real"), "same")


def _resolved(name: str, compute: DType) -> tuple[str, DType]:
    """What an operation comes down to for a dtype: (operation, the dtype to compute in)."""
    kinds = _OPERATIONS.get(name, set())
    if compute is dt.bool:
        if name in _OF_BOOLS:
            return _OF_BOOLS[name], compute
        if _BOOL not in kinds and (_INT in kinds or name == "conj") and "_loss" not in name:
            return _resolved(name, dt.int8)
    if compute.kind in _INTEGERS:
        return _OF_INTEGERS.get(name, name), compute
    return (_OF_FLOATS.get(name, name) if compute.kind is _FLOAT else name), compute


def answer(name: str, compute: DType) -> DType | None:
    """The dtype of an operation's own result, as NumPy's kernel has it; None if there is no
    kernel."""
    if name == "where":
        return compute  # whatever the codes mean
    name, compute = _resolved(name, compute)
    if compute not in _TYPES or compute.kind not in _OPERATIONS.get(name, ()):
        return None
    if name in _TRUTHS:
        return dt.bool
    if name == "divide" and compute.kind in _INTEGERS:
        return dt.float64
    return compute.part if name in ("abs", "real", "imag") else compute


# --- The kernel ----------------------------------------------------------------------------------

Casts = Callable[[DType, DType], tuple[CastMode, tuple[CodeTransform, ...]]]


def fused_kernel(
    name: str,
    operands: tuple[DType, ...],
    inputs: tuple[DType, ...],
    compute: DType | None,
    result: DType,
    casts: Casts,
    *,
    low: bool = False,
    high: bool = False,
) -> KernelSource | None:
    """The kernel of an operation with all its casts, for arrays of any layout that broadcast.

    Parameters
    ----------
    name : str
        A name of ``promoarray.operations``, or of a kernel that some frameworks have in its place.
    operands : tuple of DType
        What the buffers hold; never weak.
    inputs, compute, result
        Of the ``Plan``; ``result`` never weak.
    casts : callable
        From (source, target) to the mode and the transforms of that cast.
    low, high : bool
        Which bounds ``clip`` has.

    Returns
    -------
    KernelSource or None
        Of ``x0``, ``x1`` ... to ``y``; ``where`` has its condition in front, a bool ``c``. None
        where there is no such kernel: not an elementwise operation, or one that is not defined for
        the dtype.

    Notes
    -----
    Casts, integers, comparisons, + - * / and sqrt, and what is made of them, give the CPU's bits; a
    NaN that arithmetic makes is that of x86-64 (of ``remainder``, ``fmod`` and ``floor_divide`` it
    may have the other sign). Complex products are rounded after each step, where NumPy fuses some
    on some machines. Functions of CUDA's library (``exp``, ``pow``, the modulus ...) are within 4
    units in the last place of the exact result in float32 and 3 in float64, subnormals included.
    Integers to negative powers, which NumPy refuses, give 0: look for them first.
    """
    computed = inputs if compute is None else (compute,) * len(operands)
    own = answer(name, computed[0])
    if own is None or (name == "clip" and not (low or high)):
        return None

    # 1. The operands, cast to what is computed in.
    lines, values = [], []
    for i, through in enumerate(zip(operands, inputs, computed, strict=True)):
        made, at = _cast_to(f"x{i}", through, casts)
        lines += [loaded(f"x{i}_0", operands[i], f"&x{i}"), *made]
        values.append(at)

    # 2. The operation.
    if name == "where":
        lines += _where(values, own)
    else:
        lines += _operation(name, values, computed, own, low=low, high=high)

    # 3. What the plan calls the result.
    made, at = _cast_to("r", (own, result), casts)
    lines += [*made, saved(at, result, "&y")]
    text = block(lines)
    condition = ["bool c"] if name == "where" else []
    parameters = [f"{stored(d)} x{i}" for i, d in enumerate(operands)]
    codes = "_".join(d.code for d in (*operands, result))
    return KernelSource(
        f"promoarray_{name}_{codes}_{digest(text)}",
        ", ".join(condition + parameters),
        f"{stored(result)} y",
        text,
        fused_preamble(),
        costly=name in of_library() or computed[0].kind is _COMPLEX,
    )


def _cast_to(name: str, through: tuple[DType, ...], casts: Casts) -> tuple[list[str], str]:
    """Statements that cast ``<name>_0`` from the first dtype through all others; the last name."""
    lines: list[str] = []
    at = 0
    for source, target in pairwise(through):
        if source is target:
            continue
        before, after = f"{name}_{at}", f"{name}_{at + 1}"
        cast = statements(before, after, source, target, *casts(source, target))
        lines += [declared(after, target), *cast]
        at += 1
    return lines, f"{name}_{at}"


def _where(values: list[str], own: DType) -> list[str]:
    """One code or the other."""
    parts = ["[0]", "[1]"] if own.kind is _COMPLEX else [""]
    chosen = [f"r_0{p} = load<u8>(&c, 0) ? {values[0]}{p} : {values[1]}{p};" for p in parts]
    return [declared("r_0", own), *chosen]


def _operation(
    name: str, values: list[str], computed: tuple[DType, ...], own: DType, *, low: bool, high: bool
) -> list[str]:
    """Statements that carry out an operation on codes."""
    resolved, dtype = _resolved(name, computed[0])
    types = computed if dtype is computed[0] else (dtype,) * len(computed)
    given = [_value(v, d, t) for v, d, t in zip(values, computed, types, strict=True)]
    call = f"op::{resolved}({', '.join(given)})"
    if name == "clip" and not (low and high):
        call = f"op::{'maximum' if low else 'minimum'}({', '.join(given)})"
    if own.kind is not _COMPLEX:
        made = f"r_0 = (u{code_bits(own)})code_of(({_TYPES[own]}){call});"
        return [declared("r_0", own), made]
    return [
        declared("r_0", own),
        f"const {_TYPES[own]} r = {call};",
        "r_0[0] = code_of(r.real);",
        "r_0[1] = code_of(r.imag);",
    ]


def _value(code: str, dtype: DType, computed: DType) -> str:
    """A code as a value to compute with."""
    kind = _TYPES[computed]
    if dtype is dt.bool:
        return f"({kind})({code} != 0)"
    if dtype.kind is _COMPLEX:
        part = _TYPES[dtype.part]
        pair = ", ".join(f"Value<{part}>::of({code}[{i}])" for i in (0, 1))
        return f"{kind}{{{pair}}}"
    return f"Value<{kind}>::of({code})"
