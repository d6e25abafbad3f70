"""The fast path of operations, and the slots that it reads arrays by."""

from collections.abc import Callable
from typing import Any, Self

from typing_extensions import disjoint_base

def begin(
    observers: list[Any],
    guarding: list[Any],
    policy_here: Callable[[], Any],
    default_policy: list[Any],
    named: dict[Any, Any],
    adopted: dict[Any, Any],
    weak: tuple[object, ...],
    ndarray: type,
    asarray: Callable[..., Any],
    dtype_class: type,
    numpy_dtype: type,
    bool_dtype: object,
    executable: type,
    choice: type,
) -> None:
    """Take over what operators use of Python.

    ``guarding`` has something once ``no_escape`` is loaded; ``named`` has the dtypes that texts and
    NumPy's dtypes were read as, ``adopted`` what NumPy's arrays and scalars are wrapped as.
    """

@disjoint_base
class ArraySlots:
    """A buffer and its type, where the fast path finds them."""

    _buffer: Any
    _type: Any

    @classmethod
    def _wrap(cls, buffer: Any, dtype: Any, /) -> Self:
        """Make an array of a buffer that holds a dtype; checks nothing."""

@disjoint_base
class FastOperator:
    """An operation: an executable if there is one, else ``slow``.

    Parameters
    ----------
    slow : callable
        The long way, with the same arguments.
    name : str
        Of the operation, as keys have it (``Form``).
    kind : {"operation", "getitem", "setitem", "slow"}
        ``"slow"`` has no fast path.
    operands : int
        So many arguments that come first may be operands.
    reflected, conditional, sequence : bool
        Whether they come in the other order; behind a mask, which is the last option; in a list.
    typed : bool
        Whether ``dtype=`` is an operand, the last one.
    by_value : bool
        Whether what follows the arrays is known by its value (``core.move``).
    leaves : bool
        Whether the answer leaves the policy (``core.conversions``).
    option_names, passed_names, defaults : tuple
        What it takes besides; what executables call it, None of what only its default is known of.
    in_order : tuple of str
        The names of arguments that may follow the operands by position.
    texts : tuple of str
        What may be given as a text.
    bound : type, optional
        The class of its arrays if it takes no other.
    makes : type, optional
        The class of the arrays it makes of numbers, lists and NumPy's arrays, or answers for.
    """

    def __new__(
        cls,
        slow: Callable[..., Any],
        name: str,
        *,
        kind: str = "operation",
        operands: int = 3,
        reflected: bool = False,
        conditional: bool = False,
        sequence: bool = False,
        typed: bool = False,
        by_value: bool = False,
        leaves: bool = False,
        option_names: tuple[str, ...] = (),
        passed_names: tuple[str | None, ...] = (),
        defaults: tuple[Any, ...] = (),
        in_order: tuple[str, ...] = (),
        texts: tuple[str, ...] = (),
        bound: type | None = None,
        makes: type | None = None,
    ) -> Self: ...
    def __call__(self, *operands: Any, **options: Any) -> Any: ...
    def __get__(self, instance: Any, owner: type | None = None, /) -> Callable[..., Any]: ...
