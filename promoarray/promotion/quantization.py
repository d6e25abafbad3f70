"""Rules by which a framework quantizes: floats to scaled integers or narrow floats, and back.

Everywhere it is ``saturate(round(x / scale) + zero_point)``, and ``(q - zero_point) * scale``. A
``Quantization`` says what is a framework's own in it: the types, the dtype computed in, how it is
divided, where halves go, what NaN becomes. ``promoarray.extras.quantization`` carries it out.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from promoarray import dtypes as dt
from promoarray.dtypes import INTEGERS, DType
from promoarray.kernels.cast_mode import Beyond, NanWithout
from promoarray.promotion.cast_rules import SATURATE, CastRule, case, dtypes
from promoarray.promotion.source import Source


class Rounding(NamedTuple):
    """How a quotient becomes an integer."""

    # "after", "before", "fused": when the zero point is added: to the integer; to the quotient, and
    # the sum is rounded to the dtype computed in before it is to an integer; or so in one step with
    # the product.
    adds: str = "after"
    halves: str = "even"  # "even", "up": where halves go; up is ``floor(q + 0.5)``
    nan: str = "lowest"  # "lowest", "highest", "zero": what it becomes
    # Of how many bits the integer is that the zero point is added to, if any: what it cannot hold,
    # NaN too, is its lowest number, and the sum wraps.
    register: int = 0


class Rounds(NamedTuple):
    """How some calls round."""

    name: str  # "quantize", "fake_quantize"
    along: tuple[bool, ...]  # with one scale, with several
    to: frozenset[DType]
    rounding: Rounding


class Faked(NamedTuple):
    """What a framework's ``fake_quantize`` of its own takes, and to what; its dtype is x's."""

    title: str  # the function it is
    given: frozenset[DType]
    targets: frozenset[DType]


class Range(NamedTuple):
    """How ``dynamic_quantize`` makes a scale and a zero point of the ends of a range."""

    # Whether 0 is taken into the range first; else halves of the zero point go up.
    zero: bool = True
    least: float = 0.0  # the smallest scale
    # Whether the quotient ``low / scale`` is rounded, and not the zero point.
    rounds_quotient: bool = False


@dataclass(frozen=True, eq=False, kw_only=True)
class Quantization:
    """How a framework quantizes."""

    title: str  # the function it is
    # ``given``, ``scales``, ``targets``, ``restored``: what is quantized, by which scales, to what;
    # what dequantized numbers may be.
    given: frozenset[DType]
    scales: frozenset[DType]
    targets: frozenset[DType]
    restored: frozenset[DType]
    # What ``dynamic_quantize`` takes, and to what.
    ranged: tuple[frozenset[DType], frozenset[DType]]
    default: DType | None = dt.uint8  # the target that is meant where none is named
    # What is divided in, and what a Python float is as a scale. None: the precision asked for, else
    # the dtype of the scale.
    compute: DType | None = None
    # What is divided in whatever the scale is, and whatever is asked for.
    divides: DType | None = None
    # Whether x is multiplied by ``1 / scale``, which is rounded, and not divided.
    multiplies: bool = False
    # The first that is about a call holds; without one ``Rounding()``.
    roundings: tuple[Rounds, ...] = ()
    one_type: bool = False  # whether x and scale must be of one type
    # Whether zero points are of the target's dtype, and not of any integer's.
    own_zero_points: bool = False
    axis: int | None = 1  # the axis of a vector of scales where none is named; None asks for it
    # From an argument that its functions do not have to what to do about it.
    lacks: Mapping[str, str] = field(default_factory=dict)
    cast: CastRule | None = None  # how narrow floats are made; None: as the policy casts
    # Its ``fake_quantize``. None: it is one of the other two after the other, in the dtype of the
    # scale.
    faked: Faked | None = None
    # Whether ``fake_quantize`` counts from the lowest number, as TensorFlow's does.
    shifted: bool = False
    range: Range = field(default_factory=Range)
    # From quirks of the policy's casts to the fields that they change.
    quirks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    own: bool = True  # whether it is the framework's own, and not borrowed from ONNX
    sources: tuple[Source, ...] = ()

    def computes_in(self, scale: DType, precision: DType | None) -> DType:
        """Return the dtype that is divided in.

        By a power of two (float8_e8m0fnu) float32 divides exactly, and integers float64.
        """
        if asked := self.divides or self.compute or precision:
            return asked
        if scale.kind in INTEGERS:
            return dt.float64
        return dt.float32 if scale is dt.float8_e8m0fnu else scale

    def with_quirks(self, names: Iterable[str]) -> Quantization:
        """Return the rule with the quirks that are on."""
        changes = [self.quirks[name] for name in names if name in self.quirks]
        return replace(self, **dict(ChainMap(*map(dict, changes)))) if changes else self

    def rounding(self, name: str, along: bool, target: DType) -> Rounding:
        """Return how a call rounds: with one scale, or several along an axis."""
        for row in self.roundings:
            if row.name == name and along in row.along and target in row.to:
                return row.rounding
        return Rounding()


FLOATS = dtypes("f16 bf16 f32 f64")

BORROWED = Quantization(
    title="QuantizeLinear of ONNX, for every dtype",
    given=FLOATS | dtypes("ints"),
    scales=FLOATS | dtypes("scale i32"),
    targets=dtypes("int2 int4 i8 u8 i16 u16 i32 u32 float4 float6 float8"),
    restored=FLOATS,
    ranged=(FLOATS, dtypes("int2 int4 i8 u8 i16 u16 float4 float6 float8")),
    cast=CastRule(
        cases=(
            case("float8", saturate=True, overflow=Beyond.LARGEST, infinity=Beyond.LARGEST),
            case("float4 float6", overflow=Beyond.LARGEST, infinity=Beyond.LARGEST),
            case("float4", nan_without=NanWithout.LARGEST, keep_nan_sign=False),
        ),
        knobs={"saturate": SATURATE},
    ),
    own=False,
    sources=(Source("ONNX Operators", "QuantizeLinear, DequantizeLinear", "1.23.2"),),
)
"""The rule of policies whose framework has no quantization: ONNX's definition."""
