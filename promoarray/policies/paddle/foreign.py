"""Paddle: what NumPy's scalars and arrays are beside a tensor.

As paddlepaddle 3.3.1 answers (conformance/golden/foreign/paddle331.txt). Its operators know some of
NumPy's scalars by the names of their types, read float64 and complex128, which derive from Python's
numbers, as such, and refuse the rest. Arrays become tensors of their dtype.
"""

from promoarray.operations import Family
from promoarray.promotion.foreign import ARRAYS, INTS, Entry, Foreign, Given, case

_UNKNOWN = "b1 u8 u16 u32 u64 i8 bf16 f8_e4m3fn f8_e5m2 i4"
_KNOWN_INTS = "i16 i32 i64"
_STORED = "b1 i32 i64 f32 f64 c64 c128"

FOREIGN = Foreign(
    "Paddle",
    (
        case(Entry.FLOAT, Given.SCALAR, "f64", of=["setitem"]),
        case(Entry.COMPLEX, Given.SCALAR, "c128", of=["setitem"]),
        case(Entry.ARRAY, ARRAYS, _STORED, beside=_STORED, of=["setitem"]),
        case(Entry.INT, Given.SCALAR, _KNOWN_INTS, of=["getitem"]),
        case(Entry.ARRAY, ARRAYS, "b1 i32 i64", of=["getitem"]),
        case(Entry.REFUSED, of=["setitem", "getitem", Family.BITWISE, Family.SHIFT]),
        # where makes a 0-d tensor of every scalar.
        case(Entry.ARRAY, of=[Family.WHERE]),
        case(Entry.REFUSED, Given.SCALAR, _UNKNOWN),
        case(
            Entry.REFUSED,
            Given.SCALAR,
            "i16",
            of=[Family.EQUALITY, Family.ORDER, "floor_divide", "remainder"],
        ),
        case(Entry.REFUSED, Given.SCALAR, "i16", of=["divide", "pow"], first=True),
        case(Entry.FLOAT, Given.SCALAR, "f64"),
        case(Entry.COMPLEX, Given.SCALAR, "c128"),
        case(Entry.INT, Given.SCALAR, _KNOWN_INTS, of=["divide"]),
        # Beside a bool tensor a known int is a bool, and beside ints a float is cut off.
        case(Entry.TARGET, Given.SCALAR, _KNOWN_INTS, beside="b1"),
        case(Entry.INT, Given.SCALAR, _KNOWN_INTS),
        case(Entry.TARGET, Given.SCALAR, "f16 f32 c64"),
        case(Entry.ARRAY, ARRAYS, f"b1 {INTS} f16 f32 f64 c64 c128"),
        case(Entry.REFUSED),
    ),
)
