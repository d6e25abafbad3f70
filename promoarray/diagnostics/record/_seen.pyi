"""What is seen of recorded programs, told without a frame of Python's where it was told before."""

from typing import Any, Self, final

from typing_extensions import disjoint_base

from promoarray.core.array_base import TypeRecord
from promoarray.dtypes import DType

@final
class Carried:
    """From arrays of another framework to what a type slot would bear.

    Another framework's arrays have no room for it. Only those on which some policy has another
    dtype are held, weakly, so that a program on which all agree costs nothing; of objects that
    cannot be referred to weakly, such as NumPy's scalars, some hundred are kept alive that the
    program has no more.
    """

    def __new__(cls, dtype_class: type[DType], /) -> Self: ...
    def get(self, x: Any, dtype: DType, /) -> DType | TypeRecord:
        """What an array of a dtype carries; the dtype itself where all policies agree on it."""
    def slot(self, x: Any, /) -> TypeRecord | None:
        """What an array carries; None if all policies agree on it."""
    def put(self, x: Any, slot: DType | TypeRecord | None, /) -> None:
        """Note what an array carries from now on; a dtype, or None, where all policies agree."""
    def __contains__(self, x: Any, /) -> bool: ...
    def __len__(self) -> int: ...

OPERATORS: tuple[str, ...]
"""The operations that operators are, in the order of the numbers that ``operate`` is given."""

@final
class Bound:
    """A function with its place, where no argument tells that, or of which is told later."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

@disjoint_base
class FastHook:
    """Carries out the operations of rewritten programs, and tells the session of them.

    What it was told of an operation it counts for those that are alike: at the same place, with
    operands between which no policy makes a difference.
    """

    def __new__(
        cls,
        parts: tuple[Any, ...],
        floats: list[tuple[float, float]],
        ints: list[tuple[int, int]],
        /,
    ) -> Self:
        """Make a hook of the classes that it knows, and of the functions that it asks.

        The classes are NumPy's arrays, scalars, dtypes, ufuncs and dispatched functions, Python's
        functions and methods, ``Callee`` and ``Otherwise``. Then come the classes that have nothing
        to do with NumPy; what answers what is called in the place of a function, the class of a
        number, and whether a file is a library's. Between two numbers of the lists no policy tells
        values apart.
        """
    @property
    def session(self) -> Any:
        """Who is told; None while nothing is recorded."""
    def tell(
        self, session: Any, does: Any, recorder: Any, carried: Carried | None, by_value: bool, /
    ) -> None:
        """Have a session told of what is seen, or nobody."""
    def flush(self) -> None:
        """Tell the report how often calls were told again."""
    def forget_calls(self) -> None:
        """Forget what was told of calls."""
    def operate(self, number: int, /, *operands: Any) -> Any:
        """Carry out an operator."""
    def item(self, x: Any, key: Any, /) -> Any:
        """``x[key]``."""
    def attribute(self, x: Any, name: str, /) -> Any:
        """An attribute that is a part or a view of an array."""
    def contains(self, x: Any, values: Any, /) -> bool:
        """``x in values``."""
    def call(self, number: int, f: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Call a function."""
    def bound(self, number: int, f: Any, later: bool, /) -> Bound:
        """A function whose call has room for no number, or of which is told later.

        It then answers itself, and has the result.
        """
    def result(self, bound: Bound, /) -> Any:
        """That result."""
    def loaded_item(self, x: Any, key: Any, /) -> tuple[Any, Any, Any]:
        """An item, with its owner and its key."""
    def loaded_attribute(self, x: Any, name: str, /) -> tuple[Any, str, Any]:
        """An attribute, with its owner and its name."""
    def augment(
        self, number: int, loaded: tuple[Any, Any, Any], value: Any, /
    ) -> tuple[Any, Any, Any]:
        """Carry out an operation in place on what was loaded: what is to be stored, and where."""
    def store(self, number: int, value: Any, x: Any, key: Any, /) -> tuple[Any, Any, Any]:
        """Tell of ``x[key] = value``, which is about to be stored."""
    def put(self, what: tuple[Any, Any, Any], /) -> None:
        """Store it."""
    def put_attribute(self, what: tuple[Any, Any, Any], /) -> None:
        """Store it as an attribute."""
