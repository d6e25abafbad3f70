"""One kernel for an operation with all its casts: what a plan says, element by element.

An operand is cast to what the plan makes of it, then to what is computed in; the result of the
operation is cast to what the plan calls it. Nothing is written to memory in between.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache
from importlib import resources
from itertools import pairwise

from promoarray import dtypes as dt
from promoarray.dtypes import DType, Kind
from promoarray.kernels.cuda import KernelSource, block, preamble
from promoarray.kernels.cuda_element import (
    PARTS,
    code_bits,
    declared,
    loaded,
    saved,
    statements,
    stored,
)
from promoarray.kernels.rule import Rule

__all__ = ["answer", "fused_kernel", "fused_preamble"]

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
        ("maximum minimum fmax fmin", _ALL),
        ("floor_divide remainder pow sign mse_loss", _REALS),
        ("abs", _NUMBERS),
        ("l1_loss", _REALS),
        ("reciprocal", {_FLOAT, _COMPLEX}),
        ("isnan isinf isfinite", {_FLOAT, _COMPLEX}),
        ("signbit", _REALS),
        ("round", {_FLOAT, _COMPLEX}),
        ("floor ceil trunc sqrt copysign nextafter", {_FLOAT}),
        ("sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh", {_FLOAT}),
        ("exp expm1 log log1p log2 log10 atan2 hypot logaddexp poisson_nll_loss", {_FLOAT}),
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
}
_OF_INTEGERS = dict.fromkeys(("floor", "ceil", "trunc", "round", "conj", "real"), "same")
_OF_FLOATS = dict.fromkeys(("conj", "real"), "same")


def _spoken(name: str, compute: DType) -> tuple[str, DType]:
    """What an operation comes down to for a dtype: (operation, the dtype to compute in)."""
    kinds = _OPERATIONS.get(name, set())
    if compute is dt.bool:
        if name in _OF_BOOLS:
            return _OF_BOOLS[name], compute
        if _BOOL not in kinds and (_INT in kinds or name == "conj") and "_loss" not in name:
            return _spoken(name, dt.int8)
    if compute.kind in _INTEGERS:
        return _OF_INTEGERS.get(name, name), compute
    return (_OF_FLOATS.get(name, name) if compute.kind is _FLOAT else name), compute


def answer(name: str, compute: DType) -> DType | None:
    """The dtype of an operation's own result, as NumPy's kernel has it; None if there is no kernel.

    Parameters
    ----------
    name : str
        A name of ``promoarray.operations``.
    compute : DType
    """
    name, compute = _spoken(name, compute)
    if compute not in _TYPES or compute.kind not in _OPERATIONS.get(name, ()):
        return None
    if name in _TRUTHS:
        return dt.bool
    if name == "divide" and compute.kind in _INTEGERS:
        return dt.float64
    return PARTS[compute] if name in ("abs", "real", "imag") and compute in PARTS else compute


# --- The kernel ----------------------------------------------------------------------------------

Casts = Callable[[DType, DType], Rule | None]


@cache
def fused_preamble() -> str:
    """The text in front of every fused kernel."""
    operations = resources.files(__package__).joinpath("operations.h").read_text(encoding="utf-8")
    return preamble() + operations.replace("#pragma once\n", "")


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
        A name of ``promoarray.operations``.
    operands : tuple of DType
        What the buffers hold; never weak.
    inputs, compute, result
        Of the ``Plan``; ``result`` never weak.
    casts : callable
        From (source, target) to the rule of that cast, or None where no kernel can do it (a policy
        whose cast has steps besides the rule).
    low, high : bool
        Which bounds ``clip`` has.

    Returns
    -------
    KernelSource or None
        Of ``x0``, ``x1`` ... to ``y``; ``where`` has its condition in front, a bool ``c``. None
        where there is no such kernel: not an elementwise operation, an operation that is not
        defined for the dtype, or a cast with steps.

    Notes
    -----
    Casts, integers, comparisons, + - * / and sqrt, and what is made of them, give the CPU's bits; a
    NaN that arithmetic makes is that of x86-64 (of ``remainder`` and ``floor_divide`` it may have
    the other sign). Complex products are rounded after each step, where NumPy fuses some on some
    machines. Functions of CUDA's library (``exp``, ``pow``, the modulus ...) are within 4 units in
    the last place of the exact result in float32 and 3 in float64, subnormals
    included. Integers to negative powers, which NumPy refuses, give 0: look for them before.
    """
    count = len(operands)
    computed = inputs if compute is None else (compute,) * count
    lines, values = [], []
    for i, (operand, entered, held) in enumerate(zip(operands, inputs, computed, strict=True)):
        made = _cast_to(f"x{i}", [operand, entered, held], casts)
        if made is None:
            return None
        lines += [loaded(f"x{i}_0", operand, f"&x{i}"), *made[0]]
        values.append(made[1])

    # 1. The operation, on values of the dtype computed in.
    if name == "where":
        lines += _chosen(values, computed)
        own = computed[0]
    else:
        found = _done(name, values, computed, low=low, high=high)
        if found is None:
            return None
        lines += found[0]
        own = found[1]

    # 2. What the plan calls the result.
    made = _cast_to("r", [own, result], casts)
    if made is None:
        return None
    lines += [*made[0], saved(made[1], result, "&y")]
    text = block(lines)
    condition = ["bool c"] if name == "where" else []
    parameters = [f"{stored(d)} x{i}" for i, d in enumerate(operands)]
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    codes = "_".join(d.code for d in (*operands, result))
    return KernelSource(
        f"promoarray_{name}_{codes}_{digest}",
        ", ".join(condition + parameters),
        f"{stored(result)} y",
        text,
        fused_preamble(),
    )


def _cast_to(name: str, through: list[DType], casts: Casts) -> tuple[list[str], str] | None:
    """Statements that cast ``<name>_0`` from the first dtype through all others, and the last name.

    None if one of the casts is not a kernel's.
    """
    lines: list[str] = []
    at = 0
    for source, target in pairwise(through):
        if source is target:
            continue
        rule = casts(source, target)
        if rule is None:
            return None
        before, after = f"{name}_{at}", f"{name}_{at + 1}"
        lines += [declared(after, target), *statements(before, after, source, target, rule)]
        at += 1
    return lines, f"{name}_{at}"


def _chosen(values: list[str], computed: tuple[DType, ...]) -> list[str]:
    """One code or the other."""
    own = computed[0]
    parts = ["[0]", "[1]"] if own.kind is _COMPLEX else [""]
    chosen = [f"r_0{p} = load<u8>(&c, 0) ? {values[0]}{p} : {values[1]}{p};" for p in parts]
    return [declared("r_0", own), *chosen]


def _done(
    name: str, values: list[str], computed: tuple[DType, ...], *, low: bool, high: bool
) -> tuple[list[str], DType] | None:
    """Statements that carry out an operation on codes, and the dtype of what it gives."""
    own = answer("maximum" if name == "clip" else name, computed[0])
    if own is None:
        return None
    spoken, dtype = _spoken(name, computed[0])
    types = computed if dtype is computed[0] else (dtype,) * len(computed)
    given = [_value(v, d, t) for v, d, t in zip(values, computed, types, strict=True)]
    call = f"op::{spoken}({', '.join(given)})"
    if name == "clip":
        call = f"op::maximum({given[0]}, {given[1]})" if low else given[0]
        call = f"op::minimum({call}, {given[-1]})" if high else call
    lines = [declared("r_0", own)]
    if own.kind is _COMPLEX:
        lines += [
            f"const {_TYPES[own]} r = {call};",
            "r_0[0] = code_of(r.real);",
            "r_0[1] = code_of(r.imag);",
        ]
    else:
        lines.append(f"r_0 = (u{code_bits(own)})code_of(({_TYPES[own]}){call});")
    return lines, own


def _value(code: str, dtype: DType, computed: DType) -> str:
    """A code as a value to compute with."""
    kind = _TYPES[computed]
    if dtype is dt.bool:
        return f"({kind})({code} != 0)"
    if dtype.kind is _COMPLEX:
        part = _TYPES[PARTS[dtype]]
        pair = ", ".join(f"Held<{part}>::value({code}[{i}])" for i in (0, 1))
        return f"{kind}{{{pair}}}"
    return f"Held<{kind}>::value({code})"
