"""PyTorch: what NumPy's scalars and arrays are beside a tensor.

As torch 2.13.0 answers (conformance/golden/foreign/torch.txt). ``Tensor.__add__`` and its like take
what they can read a number off; where they cannot, Python asks NumPy's own operator, which computes
on the tensor's values. NumPy's operators in turn leave everything to a tensor, which stands above
them (``__array_priority__``), so that ``np_array + tensor`` is refused.
"""

from promoarray.operations import Family
from promoarray.promotion.foreign import ARRAYS, CALLED, INTS, WRITTEN, Entry, Foreign, Given, case

_OWN = f"b1 {INTS} f16 f32 f64 c64 c128"
"""NumPy's own dtypes; of ml_dtypes' PyTorch knows nothing."""

FOREIGN = Foreign(
    "PyTorch",
    (
        # Tensor.__setitem__ takes what derives from a number of Python's, or has an __index__.
        case(Entry.REFUSED, ARRAYS, of=["setitem"]),
        case(Entry.REFUSED, Given.SCALAR, "b1 f16 f32 c64", of=["setitem"]),
        case(Entry.REFUSED, Given.SCALAR, "b1 i4", of=["getitem"]),
        case(Entry.INT, Given.SCALAR, INTS, of=["getitem"]),
        case(Entry.INT, ARRAYS, "u16 u32 u64 i8 i16 i32 i64", of=["getitem"]),
        case(Entry.ARRAY, of=["getitem"]),
        # A number is read by __index__, else by __float__: that of a complex64 is its real part.
        case(Entry.INT, Given.SCALAR, INTS),
        case(Entry.FLOAT, Given.SCALAR, "b1 f16 f32 f64 c64"),
        case(Entry.COMPLEX, Given.SCALAR, "c128"),
        # Tensor.__eq__, but not __ne__, makes a tensor of an array. Functions take none, which is
        # no rule about dtypes: they compute with it.
        case(Entry.ARRAY, ARRAYS, _OWN, of=["equal"]),
        case(Entry.ARRAY, ARRAYS, forms=CALLED),
        case(Entry.REFUSED, of=[Family.EQUALITY, Family.ORDER, "setitem"]),
        # np_array / tensor is tensor.reciprocal() * np_array.
        case(Entry.NUMPY, of=["divide"], forms=WRITTEN),
        case(Entry.NUMPY, forms=WRITTEN, first=False),
        case(Entry.REFUSED),
    ),
)
