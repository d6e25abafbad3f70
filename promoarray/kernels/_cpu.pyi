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

def loop_of(name: str, row: _Row) -> tuple[int, bool] | None:
    """The operands that a loop of ours takes in a dtype, and whether it answers bools; None where
    there is none."""

def thread_count() -> int:
    """How many threads compute at once; 0 until that was set."""

def set_thread_count(count: int) -> None:
    """Set how many threads compute at once, from the next operation on."""

def stop_unlocked() -> None:
    """Wait for work without the lock of the interpreter; from then on there is none."""

class StateGuard:
    """A function, run in the default floating-point state.

    Parameters
    ----------
    function : callable
    state : tuple, optional
        How a context variable is read, set and reset; where it has the value that is named next, it
        has the one behind meanwhile; else the last one calls the function with its arguments.
    """

    def __init__(
        self, function: Callable[..., Any], /, state: tuple[Any, Any, Any, Any, Any, Any] = ...
    ) -> None: ...
    def __call__(self, *args: Any, **options: Any) -> Any: ...

class CastingKernel:
    """An operation on one to three operands between its casts.

    Parameters
    ----------
    function : callable or None
        Computes on whole arrays; None where ``programs`` do, or nothing but a cast.
    rows : tuple
        Of each operand, of what each becomes, of what each is computed in, of what that makes, and
        of the result.
    modes : tuple
        Of the casts of each operand to what it becomes, from there to what is computed in, and to
        the result: each a mode, or one and an adjustment as ``cast`` takes it.
    storages : tuple of numpy.dtype
        What each operand is computed in.
    storage : numpy.dtype
        Of the result.
    report : callable
        Is called with the name of a step and the floating-point exceptions that it raised, by
        NumPy's numbers.
    programs : tuple, optional
        What is done to each element (``backends.numpy.traced_kernels``): one, or one for each way
        in which operands are repeated: none, the first, the second, both. Each is the bytes of the
        slots, operands first and the result last; pairs of a slot and the bytes of a constant;
        steps of a loop, its places and its name; whether one needs the lock of the interpreter. A
        place is a slot and an offset. A loop is a capsule of ``ufunc._get_strided_loop``, the name
        and row of one of ours (``loop_of``), or "copy", "where" or "cast" with what they are of.

    Attributes
    ----------
    programs : tuple or None
    """

    programs: tuple[Any, ...] | None

    def __new__(
        cls,
        function: Callable[..., Any] | None,
        rows: tuple[_Row, ...],
        modes: tuple[_Manner, ...],
        storages: tuple[np.dtype[Any], ...],
        storage: np.dtype[Any],
        report: Callable[[str, int], object] | None,
        programs: tuple[Any, ...] | None = None,
    ) -> CastingKernel: ...
    def __call__(self, *operands: Any, **options: Any) -> Any:
        """The result, written over one operand more if there is one; None where it is not made for
        the operands: without a program for those that are long, or not in rows."""

class ScalarCaster:
    """Makes 0-d arrays of Python's floats, by a cast from float64, and of ints, where a dtype holds
    them.

    An array is read-only, and given again for the same number.

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
        otherwise: Callable[[Any], Any],
        /,
    ) -> ScalarCaster: ...
    def __call__(self, number: Any, /) -> Any:
        """The array, or what ``otherwise`` answers."""

def levels() -> tuple[int, ...]:
    """The x86-64 levels whose loops this machine can run, lowest first; ``(1,)`` elsewhere."""

def use_level(level: int) -> int:
    """Take the loops of one level from now on, in all threads; return the one before.

    All levels give the same bits. The machine's highest is taken at the start, or what the
    environment variable ``PROMOARRAY_CPU_LEVEL`` says.
    """
