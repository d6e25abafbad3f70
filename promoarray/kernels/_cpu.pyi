"""The casts of cast.h over arrays."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from typing_extensions import Buffer

# NumPy's own stubs call an array a Buffer from Python 3.12 on only.
_Buffer: TypeAlias = Buffer | np.ndarray[Any, Any]

# Kind, bits and the fields of promoarray.dtypes.Format, -1 for a code that a format does not have.
_Row: TypeAlias = tuple[int, int, int, int, int, int, int, int, bool, bool]

# A mode, alone or with an adjustment.
_Adjustment: TypeAlias = bytes | int | tuple[tuple[int, int, int], ...]
_Manner: TypeAlias = tuple[int, ...] | tuple[tuple[int, ...], _Adjustment]

def cast(
    src: _Buffer,
    dst: _Buffer,
    source_row: _Row,
    target_row: _Row,
    mode: tuple[int, ...],
    tuned: bool = True,
    adjustment: _Adjustment | None = None,
) -> None:
    """Cast every element of ``src`` to its place in ``dst``.

    ``src`` is an array of any layout and byte order; ``dst`` one of the same shape that is
    C-contiguous, aligned, in native byte order and apart in memory. The rows say what the bits
    mean, whatever the arrays' own dtypes. ``tuned=False`` takes the definition in cast.h for each
    element, which is slow: it is what the fast loops are compared with.

    An ``adjustment`` makes of codes what no mode says. Bytes are the results for all codes of a
    source of 16 bits or fewer; a tuple of ``(first, last, code)``, at most eight, replaces what the
    codes of a stretch of the source become, a later one after an earlier; an integer is a ``Way``.
    All are about the parts of complex numbers.
    """

def copy(src: _Buffer, dst: _Buffer) -> None:
    """Copy every element of ``src`` to its place in ``dst``.

    Elements have 1, 2, 4 or 8 bytes. ``src`` is an array of any layout, ``dst`` one of the same
    shape that is C-contiguous and apart in memory.
    """

def combine(
    name: str,
    operands: tuple[_Buffer, ...],
    result: _Buffer,
    rows: tuple[_Row, ...],
    modes: tuple[tuple[int, ...], ...],
) -> tuple[tuple[int, int, int], ...]:
    """Run an operation on arrays between casts, element by element.

    ``name`` and what is computed in have to be those of a loop (``loop_of``). ``rows`` are those of
    the operands, of what is computed in and of the result, and ``modes`` those of the casts of each
    operand and of the result. Arrays are in native byte order and of any layout, and operands
    broadcast to the result. That is aligned, and an operand lies apart from it, or is the same
    elements in the same places.

    Returns the floating-point exceptions of the operation itself, as NumPy numbers them (division
    by zero 1, overflow 2, underflow 4, invalid 8; ``NOT_TOLD`` where NumPy has to be asked for the
    result), each with where the elements among which it was first begin and end, in the order of
    the result's memory. It warns of none.
    """

def fold(
    name: str,
    source: _Buffer,
    result: _Buffer,
    shape: tuple[int, ...],
    rows: tuple[_Row, _Row, _Row],
    modes: tuple[tuple[int, ...], tuple[int, ...]],
    center: _Buffer | None = None,
    initial: bool = False,
    runs: int = 1,
) -> int:
    """Fold an array along an axis, each element cast to what is computed in.

    ``name`` is "sum", "prod", "max", "min", "squares" (the sum of squared distances from
    ``center``, real if they are complex), "any", "all", "count_nonzero", "cumulative_sum" or
    "cumulative_prod". ``shape`` is outer, n and inner: the source has
    ``outer * n * inner`` elements and is folded along n.
    ``runs`` is of how many runs n consists, where inner is 1: floats are summed pairwise in each,
    and the runs in order. ``rows`` are those of the source, of what is computed in and of the
    result, which only running sums and products cast to once more, and which counts of bools are
    in integers of 64 bits; ``modes`` those of both casts. With ``initial`` each line of running
    ones has one element more, its first, which is left as it is. All arrays are in native byte
    order, and all but the source C-contiguous and aligned; ``result`` lies apart.

    Returns the floating-point exceptions, as ``combine`` numbers them, and besides ``NOT_TOLD``
    where the result is not to be told: it has a NaN that NumPy may have with another sign, or an
    extreme that is a zero while there are zeros of both signs.
    """

NOT_TOLD: int

def loop_of(name: str, row: _Row) -> tuple[int, bool, bool] | None:
    """How many operands the loop of an operation takes that computes in a dtype, whether the first
    is bools all the same, and whether the results are; None where there is no such loop."""

def share(function: Callable[[int], object], parts: int) -> None:
    """Call ``function(part)`` for each number below ``parts``, on threads of the pool too.

    Each is called once, in no order, with the lock of the interpreter held and in the default
    floating-point state. Other threads than the caller's know nothing of its context variables. The
    first exception is raised again once all have stopped; what had not begun by then never does.
    """

def run_ufunc_loop(
    loop: object, operands: tuple[_Buffer, ...], result: _Buffer, length: int
) -> tuple[tuple[int, int, int], ...]:
    """Run the inner loop of a ufunc of NumPy's on parts of ``length`` elements, on threads of the
    pool too.

    ``loop`` is the capsule of ``ufunc._resolve_dtypes_and_context`` that
    ``ufunc._get_strided_loop`` has filled in, for the very dtypes of the arrays, which nothing
    checks here. Operands are C-contiguous and aligned, and have one element or as many as the
    result, from which they lie apart.

    Returns the floating-point exceptions as ``combine`` does, each with the part in which it was
    first, and ``NOT_TOLD`` where NumPy has to be asked for an error. ValueError if the loop needs
    the lock of the interpreter, or NumPy has another layout of the capsule.
    """

def thread_count() -> int:
    """How many threads compute at once; 0 until that was set."""

def set_thread_count(count: int) -> None:
    """Set how many threads compute at once, from the next operation on."""

def stop_threads() -> None:
    """Join the threads of the pool; from then on each caller does its own work."""

def sort_integers(source: _Buffer, result: _Buffer, with_sign: bool) -> None:
    """Write rows of integers to ``result``, in order: with a sign or without.

    Both have the same shape, and are C-contiguous, aligned, in native byte order and apart from
    each other.
    """

def order_integers(keys: _Buffer, result: _Buffer) -> None:
    """Write the indices that sort rows of integers without a sign; equal ones stay in order.

    Both are as in ``sort_integers``, but ``result`` has an int64 for each of ``keys``.
    """

def search(sorted: _Buffer, values: _Buffer, result: _Buffer, row: _Row, after: bool) -> None:
    """Write where values belong among sorted ones, which end with NaN if there is any.

    ``result`` has an int64 for each value: how many of ``sorted``, which are fewer than ``2**32``,
    are less, or with ``after`` no greater. ``row`` is that of both: of float32, float64, or
    integers of 8 bits and more. All are C-contiguous, aligned and in native byte order; ``result``
    lies apart.
    """

def multiply(left: _Buffer, right: _Buffer, result: _Buffer, row: _Row) -> None:
    """Multiply stacks of matrices of integers, which wrap around.

    All have three axes, the first of one length, and elements of the integer of 8 bits or more that
    ``row`` says, aligned and in native byte order. ``result`` is C-contiguous and lies apart.
    """

def look_up(source: _Buffer, result: _Buffer, table: _Buffer, raised: _Buffer, heeded: int) -> int:
    """Write the entry of a table for each element, whose 8 or 16 bits are its place there.

    ``table`` has an integer for every code, as wide as elements of ``result``, which are of 64 bits
    at most, and ``raised`` a byte of floating-point exceptions as NumPy numbers them. All are
    C-contiguous, aligned and in native byte order; ``result`` lies apart. Returns which exceptions
    of ``heeded`` the codes from the least that was met to the greatest have, those with the sign
    bit apart.
    """

def mark_codes(source: _Buffer, met: _Buffer) -> None:
    """Write 1 to the entry of each code that ``source`` has, of 8 or 16 bits.

    ``met`` has a byte for every code. Both are C-contiguous, aligned and apart.
    """

class StateGuard:
    """A function, run in the default floating-point state.

    Parameters
    ----------
    function : callable
    state : tuple, optional
        How a context variable is read, set and reset; where it has the value that is named next, it
        has the last one meanwhile.
    """

    def __init__(
        self, function: Callable[..., Any], /, state: tuple[Any, Any, Any, Any, Any] = ...
    ) -> None: ...
    def __call__(self, *args: Any, **options: Any) -> Any: ...

class CastingKernel:
    """An operation on one to three operands between its casts.

    Parameters
    ----------
    function : str, tuple of str, callable or None
        The name of a loop as ``combine`` has it, a ufunc, or None for a cast alone. Of several
        operands a loop for each way: no operand has fewer elements than the result, the first has,
        the second, both. Of all but the first way there need not be one: it answers None then.
    rows : tuple
        Of each operand, of what each becomes, of what is computed in, of what that makes, and of
        the result.
    modes : tuple
        Of the casts of each operand to what it becomes, from there to what is computed in, and to
        the result: each a mode, or one and an adjustment as ``cast`` takes it.
    computed_storage, result_storage : numpy.dtype
    empty : callable
        ``numpy.empty``.
    empty_like : callable, optional
        ``numpy.empty_like``.
    watched : callable, optional
        Which floating-point exceptions a loop leaves to the caller to tell of, by NumPy's numbers.
    loop : callable, optional
        Answers the rows and modes with which ``combine`` does the same, or None: asked when an
        operand is long, or not in rows, for the first time. Its ``tell(met, result, *operands)``,
        if it has one, is called with what ``combine`` returned where that is ``watched``, and says
        whether it is told by now; else the kernel answers None.
    first : tuple, optional
        What is done to an operand before, and rounded as the result is: which operand, by which
        loop, and the modes of the casts to the result and back.
    longest : int, optional
        Elements of an operand of which it makes anything; below 0 its own choice.
    program : tuple, optional
        What the function does to each element, for operands of one shape and single ones
        (``backends.numpy.programs``): the bytes of each slot, operands first and the result last;
        pairs of a slot and the bytes of a constant; steps of a loop and its places, each a slot and
        an offset; whether nothing is told of what they raise. A loop is a capsule, as
        ``run_ufunc_loop`` takes it, or "copy", "where" or "cast" with what they are of.
    ufunc : callable, optional
        What does the same as a loop of two operands that are not cast: it is called of those that
        lie otherwise than in rows, or are repeated, where that takes it less time.
    """

    def __new__(
        cls,
        function: str | tuple[str, ...] | Callable[..., Any] | None,
        rows: tuple[_Row, ...],
        modes: tuple[_Manner, ...],
        computed_storage: np.dtype[Any],
        result_storage: np.dtype[Any],
        empty: Callable[..., Any],
        empty_like: Callable[..., Any] | None = None,
        watched: Callable[[], int] | None = None,
        loop: Callable[[], tuple[tuple[_Row, ...], tuple[tuple[int, ...], ...]] | None]
        | None = None,
        first: tuple[int, str, _Manner, _Manner] | None = None,
        longest: int = -1,
        program: tuple[Any, ...] | None = None,
        ufunc: Callable[..., Any] | None = None,
    ) -> CastingKernel: ...
    def __call__(self, *operands: Any) -> Any:
        """The result; None where there is something to tell of, and without ``loop`` where an
        operand is long, not in rows, or of a shape to broadcast."""

class ScalarCaster:
    """Makes 0-d arrays of Python's floats, by a cast from float64, and of ints, where a dtype holds
    them.

    An array is read-only, and written anew for the next number if nobody has it any more.

    Parameters
    ----------
    float64, row : tuple
        Of float64 and of the dtype.
    mode : tuple
        Of the cast.
    low, high : int
        Ints between these are taken, and for an integer dtype floats; none if the first is larger.
    float_bits : int
        64 if floats are taken as they are, 32 if as float32 has them, 0 if none is.
    most : float
        The largest finite number that is taken for a float or complex dtype.
    storage : numpy.dtype
    empty : callable
        ``numpy.empty``.
    otherwise : callable
        What it hands other numbers to.
    """

    otherwise: Callable[[Any], Any]

    def __new__(
        cls,
        float64: _Row,
        row: _Row,
        mode: tuple[Any, ...],
        low: int,
        high: int,
        float_bits: int,
        most: float,
        storage: np.dtype[Any],
        empty: Callable[..., Any],
        otherwise: Callable[[Any], Any],
        /,
    ) -> ScalarCaster: ...
    def __call__(self, number: Any, /) -> Any:
        """The array, or what ``otherwise`` answers."""

class NumberReader:
    """Makes arrays of Python's numbers, alone or in nested lists and tuples.

    Parameters
    ----------
    row : tuple
        Of float64, complex128, bool or an integer dtype: it reads numbers of that class alone.
    dtype : numpy.dtype
    empty : callable
        ``numpy.empty``.
    otherwise : callable
        What makes arrays of all else: of other numbers or of several classes, of ints that the
        dtype does not hold, of lists that are not as long as each other.
    """

    def __new__(
        cls,
        row: _Row,
        dtype: np.dtype[Any],
        empty: Callable[..., Any],
        otherwise: Callable[[Any], Any],
        /,
    ) -> NumberReader: ...
    def __call__(self, numbers: Any, /) -> Any:
        """The array, or what ``otherwise`` makes."""

class FoldingKernel:
    """A reduction of axes of a short array, or a running sum or product, between its casts.

    Parameters
    ----------
    name : str
        That of a loop as ``fold`` has it, or ``"mean"``, ``"var"``, ``"std"``; of integers
        ``"exact_integer_mean"``, ``"var_around_integer"``, ``"integer_var"`` and those of ``std``.
    rows : tuple
        Of the array, of what is computed in, and of the result. What is computed in is complex
        where the array is, unless it is bools that are counted; variances are real, whatever the
        result.
    modes : tuple
        Of the casts of elements, and of the result.
    storage : numpy.dtype
        Of the result.
    empty : callable
        ``numpy.empty``.
    watched : callable
        Which floating-point exceptions NumPy tells of, by its numbers.
    otherwise : callable
        What takes arrays that are not in rows, axes that are not next to each other, running sums
        that begin with 0, and what NumPy may tell of.
    longest : int
        Elements of the longest array that it takes, if those are fewer than it can.
    """

    def __new__(
        cls,
        name: str,
        rows: tuple[_Row, _Row, _Row],
        modes: tuple[Any, Any],
        storage: np.dtype[Any],
        empty: Callable[..., Any],
        watched: Callable[[], int],
        otherwise: Callable[..., Any],
        longest: int = ...,
        /,
    ) -> FoldingKernel: ...
    def __call__(self, operand: Any, /, **options: Any) -> Any:
        """The result."""

class OrderingKernel:
    """A sort of few elements, or what is unique among them, in the bits that they have.

    Parameters
    ----------
    made : str
        ``"s"``: sorted along the last axis; ``"o"``: the indices that sort. Else ``"u"``, unique
        values, and of ``"i"``, ``"v"`` and ``"c"`` their first indices, the inverse indices, their
        counts.
    row, index : tuple
        Of the elements, and of indices.
    storage, index_storage : numpy.dtype
    empty : callable
        ``numpy.empty``.
    """

    def __new__(
        cls,
        made: str,
        row: _Row,
        index: _Row,
        storage: np.dtype[Any],
        index_storage: np.dtype[Any],
        empty: Callable[..., Any],
        /,
    ) -> OrderingKernel: ...
    def __call__(self, operand: Any, /, **options: Any) -> Any:
        """The result, or a tuple of them; None of more elements than few, and along other axes."""

def levels() -> tuple[int, ...]:
    """The x86-64 levels whose loops this machine can run, lowest first; ``(1,)`` elsewhere."""

def use_level(level: int) -> int:
    """Take the loops of one level from now on, in all threads; return the one before.

    All levels give the same bits. The machine's highest is taken at the start, or what the
    environment variable ``PROMOARRAY_CPU_LEVEL`` says.
    """
