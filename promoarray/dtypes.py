"""The dtypes: one object each, known by identity.

A dtype is a row: its name, its code (bit widths, as tables and lattices are written), its kind, its
bits, the NumPy dtype that stores it and, for floats, the layout of its bits. The weak types
``b* i* f* c*`` are rows too: what a Python scalar is until it meets an array. So no ``weak=`` flag
travels anywhere, and "what does int8 + 2.5 give" is a cell of a table like any other.

The storage is where the bits lie, not what they mean. Nothing may branch on ``np.dtype.kind``:
ml_dtypes answers ``V``, ``f`` and ``W`` for floats.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from promoarray.errors import quoted, suggestion

# What promoarray itself takes from here: the dtypes, and the class they are of.
__all__ = [
    "DType",
    "bfloat16",
    "bool",
    "complex32",
    "complex64",
    "complex128",
    "float4_e2m1fn",
    "float6_e2m3fn",
    "float6_e3m2fn",
    "float8_e3m4",
    "float8_e4m3",
    "float8_e4m3b11fnuz",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
    "float16",
    "float32",
    "float64",
    "int2",
    "int4",
    "int8",
    "int16",
    "int32",
    "int64",
    "string",
    "uint2",
    "uint4",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]


class Kind(StrEnum):
    """What sort of number a dtype holds. The order is that of the categories.

    Each is the letter of NumPy's ``dtype.kind``, which array libraries compare ours with.
    """

    BOOL = "b"
    UINT = "u"
    INT = "i"
    FLOAT = "f"
    COMPLEX = "c"
    STRING = "T"

    @property
    def words(self) -> str:
        """The kind as the array API standard calls it, such as "real floating"."""
        return _WORDS[self]

    @property
    def category(self) -> int:
        """Bool 0, integers 1, floats 2, complex 3: PyTorch's ladder, which most rules climb."""
        return _CATEGORY[self]


_WORDS = {
    Kind.BOOL: "bool",
    Kind.UINT: "unsigned integer",
    Kind.INT: "signed integer",
    Kind.FLOAT: "real floating",
    Kind.COMPLEX: "complex floating",
    Kind.STRING: "string",
}

_CATEGORY = {
    Kind.BOOL: 0,
    Kind.UINT: 1,
    Kind.INT: 1,
    Kind.FLOAT: 2,
    Kind.COMPLEX: 3,
    Kind.STRING: 4,
}


INTEGERS = frozenset({Kind.INT, Kind.UINT})
BITS = INTEGERS | {Kind.BOOL}
"""Kinds whose bits mean themselves: what ``&``, ``|`` and ``^`` take."""
REALS = INTEGERS | {Kind.FLOAT}
ORDERED = BITS | REALS
"""Kinds that ``<`` compares."""
INEXACT = frozenset({Kind.FLOAT, Kind.COMPLEX})
NUMBERS = REALS | {Kind.COMPLEX}
"""Kinds that arithmetic takes where bools are not numbers."""


class Format(NamedTuple):
    """How a float's bits are laid out, as the casts need it.

    Attributes
    ----------
    exponent, mantissa, bias : int
        Field widths and the exponent bias.
    largest : int
        Code of the largest finite value.
    inf, nan : int or None
        Codes of +Inf and of NaN; None where the format has none. For the ``fnuz`` formats NaN is
        the code of the missing -0.
    negative_zero, signed : bool
        Whether there is a -0, and a sign bit at all.
    """

    exponent: int
    mantissa: int
    bias: int
    largest: int
    inf: int | None
    nan: int | None
    negative_zero: builtins.bool = True
    signed: builtins.bool = True


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class DType:
    """A dtype. There is one object per dtype.

    Two of them are equal if they are one object. A dtype also equals what names it where a dtype is
    taken: a NumPy or ml_dtypes dtype or scalar type, or a string, ``x.dtype == np.int8``; what
    names none, or two, is not equal. As with NumPy's dtypes the hash is not that of the string, nor
    is it that of the NumPy dtype: ``x.dtype in {np.int8, np.int16}`` is False, a tuple in place of
    the set makes it True.

    Attributes
    ----------
    name : str
        Array-API or ml_dtypes name, such as ``"int8"`` or ``"float8_e4m3fn"``.
    code : str
        Short name with bit widths, such as ``"i8"`` or ``"f8_e4m3fn"``; ``"i*"`` is a weak type.
    kind : Kind
    bits : int
        Width of one element; 0 for weak types and strings.
    storage : numpy.dtype or None
        What holds it in memory; None for weak types, whose storage the policy chooses.
    format : Format or None
        Layout of the bits of a float; None for other kinds.

    Examples
    --------
    >>> bfloat16.bits, bfloat16.format.exponent, bfloat16.format.mantissa
    (16, 8, 7)
    >>> asarray([1.5], dtype="bfloat16").dtype is bfloat16
    True
    """

    name: str
    code: str
    kind: Kind
    bits: int
    storage: Any = None
    format: Format | None = None

    @property
    def weak(self) -> builtins.bool:
        """Whether this is what a Python scalar is before it meets an array."""
        return self.storage is None

    @property
    def plain(self) -> DType:
        """The dtype itself; of one that a program read while policies are compared, the run's."""
        return self

    @property
    def part(self) -> DType:
        """The float that a complex dtype is a pair of; any other dtype itself."""
        return BY_CODE[_PARTS.get(self.code, self.code)]

    @property
    def complexified(self) -> DType | None:
        """The complex dtype of pairs of a float; complex64 for bfloat16, which has none itself.

        A complex dtype is its own. None for dtypes that have none: bools, integers, strings and
        floats of 8 bits and fewer.
        """
        return BY_CODE.get(_COMPLEX.get(self.code, ""))

    def __eq__(self, other: object) -> builtins.bool:
        if type(other) is DType:
            return self is other
        if isinstance(other, np.dtype):  # in native byte order, as NumPy says from its side
            return self.storage is not None and builtins.bool(self.storage == other)
        if not isinstance(other, (str, type)) or isinstance(other, Kind):  # "b" is int8 for NumPy
            return NotImplemented
        try:
            return self is as_dtype(other)
        except TypeError:
            return False

    # What keeps executables and plans has dtypes in its keys: none may hash in Python. NumPy's own
    # dtypes equal strings and scalar types without their hash, too.
    __hash__ = object.__hash__

    @property
    def __numpy_dtype__(self) -> np.dtype[Any]:
        """The NumPy or ml_dtypes dtype of that name, for ``np.dtype`` and whoever calls it."""
        if self.storage is None:
            raise TypeError(f"{self.name} has no NumPy dtype; write that of the array, x.dtype")
        storage: np.dtype[Any] = self.storage
        return storage

    @property
    def itemsize(self) -> builtins.int:
        """The bytes of one element in memory: 1 for the narrow dtypes too."""
        return self.__numpy_dtype__.itemsize

    @property
    def type(self) -> Any:
        """NumPy's or ml_dtypes' scalar type of that name, as ``numpy.dtype.type``."""
        return self.__numpy_dtype__.type

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """Answer ``np.result_type(x.dtype, y.dtype)`` under the policy in force, as arrays do."""
        return _array_function[0](type(self), func, types, args, kwargs)

    def __repr__(self) -> str:
        return f"promoarray.{self.name}"

    def __str__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[Any, ...]:
        return _by_code, (self.code,)


_array_function: list[Callable[..., Any]] = []
"""What answers NumPy's functions of dtypes: it stands above, and puts itself here."""


def set_array_function(answer: Callable[..., Any]) -> None:
    """Have NumPy's functions of dtypes answered by a function, as of arrays."""
    _array_function[:] = [answer]


if (*map(int, np.__version__.split(".")[:2]),) < (2, 4):  # knows this attribute alone
    DType.dtype = DType.__numpy_dtype__  # type: ignore[attr-defined]

_PARTS = {"c32": "f16", "c64": "f32", "c128": "f64", "c*": "f*"}
_COMPLEX = {part: code for code, part in _PARTS.items()} | {code: code for code in _PARTS}
_COMPLEX["bf16"] = "c64"


def _by_code(code: str) -> DType:
    return BY_CODE[code]


def _ieee(exponent: int, mantissa: int) -> Format:
    top = (1 << exponent) - 1 << mantissa
    quiet = top | 1 << (mantissa - 1)
    return Format(exponent, mantissa, (1 << exponent - 1) - 1, top - 1, top, quiet)


# The float formats beyond IEEE 754: name, then the row of Format. OFP8 and OCP MX v1.0 give the
# fn and e8m0 types; "FNUZ" has no -0, and NaN in its place (Graphcore, AMD; arXiv 2206.02915).
_SMALL_FLOATS = {
    "float8_e3m4": _ieee(3, 4),
    "float8_e4m3": _ieee(4, 3),
    "float8_e4m3b11fnuz": Format(4, 3, 11, 0x7F, None, 0x80, negative_zero=False),
    "float8_e4m3fn": Format(4, 3, 7, 0x7E, None, 0x7F),
    "float8_e4m3fnuz": Format(4, 3, 8, 0x7F, None, 0x80, negative_zero=False),
    "float8_e5m2": _ieee(5, 2),
    "float8_e5m2fnuz": Format(5, 2, 16, 0x7F, None, 0x80, negative_zero=False),
    "float8_e8m0fnu": Format(8, 0, 127, 0xFE, None, 0xFF, negative_zero=False, signed=False),
    "float6_e2m3fn": Format(2, 3, 1, 0x1F, None, None),
    "float6_e3m2fn": Format(3, 2, 3, 0x1F, None, None),
    "float4_e2m1fn": Format(2, 1, 1, 0x7, None, None),
}


def _rows() -> list[DType]:
    rows = [DType("bool", "b1", Kind.BOOL, 8, np.dtype(np.bool))]
    for bits in (2, 4, 8, 16, 32, 64):
        for sign, kind in (("", Kind.INT), ("u", Kind.UINT)):
            name = f"{sign}int{bits}"
            rows.append(DType(name, f"{sign or 'i'}{bits}", kind, bits, _storage(name)))
    for name, layout in _SMALL_FLOATS.items():
        code = "f" + name.removeprefix("float")
        rows.append(DType(name, code, Kind.FLOAT, int(code[1]), _storage(name), layout))
    rows.append(DType("bfloat16", "bf16", Kind.FLOAT, 16, _storage("bfloat16"), _ieee(8, 7)))
    for bits, layout in ((16, _ieee(5, 10)), (32, _ieee(8, 23)), (64, _ieee(11, 52))):
        name = f"float{bits}"
        rows.append(DType(name, f"f{bits}", Kind.FLOAT, bits, _storage(name), layout))
    for bits in (32, 64, 128):
        name = f"complex{bits}"
        rows.append(DType(name, f"c{bits}", Kind.COMPLEX, bits, _storage(name)))
    rows.append(DType("string", "str", Kind.STRING, 0, np.dtypes.StringDType()))
    for scalar, code, kind in (
        ("bool", "b*", Kind.BOOL),
        ("int", "i*", Kind.INT),
        ("float", "f*", Kind.FLOAT),
        ("complex", "c*", Kind.COMPLEX),
    ):
        rows.append(DType(f"weak_{scalar}", code, kind, 0))
    return rows


def _storage(name: str) -> np.dtype[Any]:
    return np.dtype(getattr(ml_dtypes, name, name))


BY_CODE = {row.code: row for row in _rows()}
BY_NAME = {row.name: row for row in BY_CODE.values()}
BY_STORAGE = {row.storage: row for row in BY_CODE.values() if row.storage is not None}

bool = BY_CODE["b1"]
int2, int4, int8, int16, int32, int64 = (BY_CODE[f"i{n}"] for n in (2, 4, 8, 16, 32, 64))
uint2, uint4, uint8, uint16, uint32, uint64 = (BY_CODE[f"u{n}"] for n in (2, 4, 8, 16, 32, 64))
float4_e2m1fn = BY_CODE["f4_e2m1fn"]
float6_e2m3fn = BY_CODE["f6_e2m3fn"]
float6_e3m2fn = BY_CODE["f6_e3m2fn"]
float8_e3m4 = BY_CODE["f8_e3m4"]
float8_e4m3 = BY_CODE["f8_e4m3"]
float8_e4m3b11fnuz = BY_CODE["f8_e4m3b11fnuz"]
float8_e4m3fn = BY_CODE["f8_e4m3fn"]
float8_e4m3fnuz = BY_CODE["f8_e4m3fnuz"]
float8_e5m2 = BY_CODE["f8_e5m2"]
float8_e5m2fnuz = BY_CODE["f8_e5m2fnuz"]
float8_e8m0fnu = BY_CODE["f8_e8m0fnu"]
bfloat16 = BY_CODE["bf16"]
float16, float32, float64 = (BY_CODE[f"f{n}"] for n in (16, 32, 64))
complex32, complex64, complex128 = (BY_CODE[f"c{n}"] for n in (32, 64, 128))
string = BY_CODE["str"]
weak_bool, weak_int, weak_float, weak_complex = (BY_CODE[c] for c in ("b*", "i*", "f*", "c*"))

WEAK_TYPES = (weak_bool, weak_int, weak_float, weak_complex)

WEAK = dict(
    zip((builtins.bool, builtins.int, builtins.float, builtins.complex), WEAK_TYPES, strict=True)
)
"""The type of a Python scalar. Exact types only: ``np.float64`` is a float, but a 0-d array."""

STANDARD = (
    bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64,
    float32, float64, complex64, complex128,
)  # fmt: skip
"""The dtypes of the array API standard."""

NATIVE = frozenset({*STANDARD, float16})
"""The dtypes that every array library has, and every backend holds as themselves."""

CONCRETE = tuple(row for row in BY_CODE.values() if not row.weak and row is not string)
"""Every dtype an array of numbers can have, narrow ones included."""

# What the Python types mean as a dtype argument, as in NumPy, PyTorch and JAX.
_PYTHON = {
    builtins.bool: bool,
    builtins.int: int64,
    builtins.float: float64,
    builtins.complex: complex128,
    builtins.str: string,
}


def as_dtype(dtype: object) -> DType:
    """Return the DType that ``dtype`` names.

    Parameters
    ----------
    dtype : DType, str, numpy.dtype, type
        A DType; a name or code (``"int8"``, ``"bf16"``); a NumPy or ml_dtypes dtype or scalar type,
        in any byte order. Codes that NumPy reads otherwise, such as ``"i8"`` (8 bits here, 8 bytes
        there), are refused rather than guessed. Or ``bool``, ``int``, ``float``, ``complex``, which
        mean bool, int64, float64 and complex128 as they do in NumPy.

    Returns
    -------
    DType

    Raises
    ------
    TypeError
        If it is not a dtype of promoarray's, or names two.
    """
    if type(dtype) is DType:
        return dtype
    if isinstance(dtype, DType):
        return dtype.plain
    if isinstance(dtype, str):
        found = _from_text(dtype)
    elif isinstance(dtype, type) and dtype in _PYTHON:
        found = _PYTHON[dtype]
    else:
        found = _from_numpy(dtype)
    if found is None or found.weak:
        names = [row.name for row in (*CONCRETE, string)]
        near = suggestion(dtype, names) if isinstance(dtype, str) else ""
        meant = f". {near}" if near.startswith("Did") else ""
        known = f"Write one of: {', '.join(names)}{meant}"
        raise TypeError(f"{quoted(dtype)} is not a dtype promoarray knows. {known}")
    if _is_lasting(dtype, found):
        NAMED[dtype] = found
    return found


NAMED: dict[Any, DType] = {}
"""Texts, dtypes of NumPy's and classes that were read as a dtype, which the fast path looks up."""


def is_narrow(dtype: DType) -> builtins.bool:
    """Whether tables leave a dtype out unless all are asked for: floats of 8 bits and fewer,
    integers of fewer than 8, and strings."""
    return dtype is string or dtype.bits < (16 if dtype.kind is Kind.FLOAT else 8)


def _is_lasting(named: Any, found: DType) -> builtins.bool:
    """Whether there are few such objects, so that all may be kept: no classes of a program's."""
    if isinstance(named, type):
        return named in _PYTHON or named is found.storage.type
    return found is not string and (type(named) is str or isinstance(named, np.dtype))


def _from_text(text: str) -> DType | None:
    if text in BY_NAME:
        return BY_NAME[text]
    ours, theirs = BY_CODE.get(text), _from_numpy(text)
    if ours and theirs and ours is not theirs:
        raise TypeError(
            f"{text!r} is {ours.name} by bits and {theirs.name} by bytes, as NumPy reads it. "
            f"Write {ours.name!r} or {theirs.name!r}"
        )
    return ours or theirs


def _from_numpy(dtype: Any) -> DType | None:
    try:
        storage = np.dtype(dtype)
    # All that NumPy says to other words; the last, to lists nested too deep.
    except (TypeError, ValueError, SyntaxError, Warning, RecursionError):
        return None
    if dtype is None or isinstance(dtype, bytes):  # NumPy makes float64 of None
        return None
    if isinstance(storage, np.dtypes.StringDType):
        return string
    return BY_STORAGE.get(storage) or BY_STORAGE.get(storage.newbyteorder("="))


_ISDTYPE = {
    "bool": {Kind.BOOL},
    "signed integer": {Kind.INT},
    "unsigned integer": {Kind.UINT},
    "integral": INTEGERS,
    "real floating": {Kind.FLOAT},
    "complex floating": {Kind.COMPLEX},
    "numeric": NUMBERS,
}


def isdtype(dtype: object, kind: object) -> builtins.bool:
    """Return whether ``dtype`` is of ``kind``; see ``promoarray.isdtype``."""
    if isinstance(kind, tuple):
        try:
            return any(isdtype(dtype, k) for k in kind)
        except RecursionError:
            raise TypeError("isdtype: the tuples of kinds are nested too deep") from None
    row = as_dtype(dtype)
    if isinstance(kind, str) and kind in _ISDTYPE:
        return row.kind in _ISDTYPE[kind]
    try:
        return row is as_dtype(kind)
    except TypeError:
        kinds = ", ".join(map(repr, _ISDTYPE))
        raise TypeError(
            f"{quoted(kind)} is not a kind of dtype. Write a dtype or one of {kinds}"
        ) from None
