"""What is seen of recorded programs, told without a frame of Python's where it was told before."""

from collections.abc import Callable, Hashable
from typing import Any, Self, final

from typing_extensions import disjoint_base

from promoarray.core.array_base import TypeRecord
from promoarray.dtypes import DType

@final
class Carried:
    """From arrays of another framework to what a type slot would bear.

    Another framework's arrays have no room for it. Only those on which some policy has another
    dtype are held, weakly, so that a program on which all agree costs nothing; of objects that
    cannot be referred to weakly, such as NumPy's scalars, 4096 are kept alive.
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

@final
class Alike:
    """What was told of calls of NumPy's, for those that are alike: ``known.Told``."""

    def __new__(
        cls,
        *,
        recorder: Any,
        carried: Carried,
        is_library: Callable[[str], bool],
        ndarray: type,
        generic: type,
        dtype: type,
        scalar_class: Callable[[Any], Hashable],
        move: str,
        by_value: bool,
    ) -> Self: ...
    def clear(self) -> None:
        """Forget all."""
    def __len__(self) -> int: ...

@final
class Otherwise:
    """A function, what is asked where it raises an OverflowError or a TypeError, and before.

    Both are called with the arguments, a tuple and a dict; where they answer NotImplemented, the
    function is called, or the error stands.
    """

    def __new__(
        cls,
        function: Callable[..., Any],
        instead: Callable[[tuple[Any, ...], dict[str, Any]], Any] | None,
        before: Callable[[tuple[Any, ...], dict[str, Any]], Any] | None = None,
        /,
    ) -> Self: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

@disjoint_base
class FastHook:
    """Sees the operands and results of rewritten programs.

    A frame and a number name an operation that has begun. Each method returns what it is given,
    and tells the session of what is like nothing that it has seen.
    """

    def __new__(
        cls,
        *,
        ndarray: type,
        generic: type,
        plain: frozenset[type],
        inplace: object,
        operator: object,
        function: object,
        callee_of: Callable[[Any], Any],
        function_type: type,
        method_type: type,
        ufunc: type,
        dispatcher: type,
        stand_in: Callable[[Any], Any],
    ) -> Self: ...
    def __len__(self) -> int:
        """How many operations have begun, and values are held."""
    @property
    def session(self) -> Any:
        """Who is told; None while nothing is recorded."""
    def tell(self, session: Any, past: Any, alike: Alike | None, /) -> None:
        """Have a session told of what is seen, or nobody."""
    def first(self, number: int, x: Any, /) -> Any:
        """The first operand, with which an operation begins."""
    def changed(self, number: int, x: Any, /) -> Any:
        """The first operand of an operation in place."""
    def then(self, number: int, name: str, x: Any, form: object = ..., /) -> Any:
        """The second operand."""
    def done(self, number: int, name: str, x: Any, form: object = ..., /) -> Any:
        """The result; of ``x += y`` the operand itself where it is an array."""
    def key(self, number: int, x: Any, /) -> Any:
        """What ``np.r_`` and ``np.c_`` are given to join."""
    def viewed(self, number: int, name: str, x: Any, /) -> Any:
        """A part or a view of an array."""
    def call(self, number: int, f: Any, /) -> Any:
        """A function that is about to be called."""
    def argument(self, number: int, x: Any, /) -> Any:
        """An argument of it."""
    def named(self, number: int, name: str, x: Any, /) -> Any:
        """A keyword argument."""
    def starred(self, number: int, values: Any, /) -> Any:
        """Arguments in a sequence; an iterator's are not looked at, as that would use them up."""
    def rest(self, number: int, values: Any, /) -> Any:
        """Keyword arguments in a dict."""
    def called(self, number: int, x: Any, /) -> Any:
        """What the function returned."""
    def target(self, number: int, x: Any, /) -> Any:
        """The array of ``x[key] = value``, whose value is there already."""
    def hold(self, number: int, x: Any, /) -> Any:
        """A value that is needed again."""
    def taken(self, number: int, /) -> Any:
        """That value."""
    def released(self, x: Any, /, *numbers: int) -> Any:
        """The end of a chain of comparisons, which may have stopped before all were needed."""
    def forget(self, x: Any, /) -> None:
        """Forget what has begun; and of what is held an array and its views."""
