"""TensorFlow: what NumPy's scalars and arrays are beside a tensor.

As tensorflow-cpu 2.21.0 answers (conformance/golden/foreign/tf_legacy.txt). Operators and functions
convert what is no tensor to the dtype of the tensor it stands beside, with NumPy's own casts: a
float64 1.5 beside int8 is 1. ``tf.add`` alone converts its first argument before it looks further.
"""

from promoarray.operations import Family
from promoarray.promotion.foreign import CALLED, INTS, WRITTEN, Entry, Foreign, Given, case

_INDICES = (
    case(Entry.INT, Given.SCALAR, INTS, of=["getitem"]),
    case(Entry.INT, Given.ZERO_D, "i16 i32 i64", of=["getitem"]),
    case(Entry.ARRAY, Given.ARRAY, "b1", of=["getitem"]),
    case(Entry.REFUSED, of=["getitem"]),
    case(Entry.ARRAY, of=["setitem"]),
)

FOREIGN = Foreign(
    "TensorFlow",
    (*_INDICES, case(Entry.ARRAY, of=["add"], forms=CALLED, first=True), case(Entry.TARGET)),
)

_NOT_THERE = "f8_e4m3fn f8_e5m2 i4"

FOREIGN_IN_MODES = Foreign(
    "TensorFlow",
    (
        *_INDICES,
        case(
            Entry.TARGET,
            of=[Family.ORDER, Family.BITWISE, Family.SHIFT, Family.FLOAT_BINARY, "not_equal"],
        ),
        case(
            Entry.REFUSED,
            dtypes=_NOT_THERE,
            of=[Family.ARITHMETIC, Family.DIVIDE, Family.FLOOR_DIVIDE],
            forms=WRITTEN,
            first=True,
        ),
        case(Entry.TARGET, dtypes=_NOT_THERE),
    ),
)
"""With NumPy behaviour: arrays of their dtypes to what promotes, as before to the others, and of
dtypes that the lattice does not have."""
