"""PArray: a buffer and its type.

The buffer holds the bits; the type says what they mean. It is not a subclass of ndarray, and no
operator reaches NumPy's promotion: each goes to the dispatcher, which asks the policy in force.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import GenericAlias
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self, SupportsIndex

import numpy as np

from promoarray.backends import backend_of, is_lazy, on_device
from promoarray.core import cast
from promoarray.core.array_base import Array, type_of
from promoarray.core.asarray import asarray, unbound
from promoarray.core.conversions import Conversions, refuse_masked
from promoarray.core.dispatch import apply, call
from promoarray.core.fast_path import fast_method
from promoarray.core.move import Move, fast_move, move, picked
from promoarray.core.operators import binary, both, comparison, equality, of_ufunc, unary
from promoarray.dtypes import BY_CODE, NATIVE, WEAK, DType, as_dtype
from promoarray.errors import ends_at_caller, quoted
from promoarray.promotion.in_force import policy as in_force
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy, registered_name

if TYPE_CHECKING:
    from promoarray.core.operators import Binary
    from promoarray.numpy_types import _Methods
else:
    _Methods = object  # made by array_methods


class Above(NamedTuple):
    """What arrays ask of the rooms above them, which they do not name.

    Attributes
    ----------
    namespace : callable
        From the policy that arrays are bound to, or None, to their namespace.
    array_function, array_ufunc : callable
        What answers NumPy's functions and ufuncs.
    lazy_attributes : callable
        From nothing to what only arrays have that are computed later, by name.
    """

    namespace: Callable[[Policy | None], Any]
    array_function: Callable[..., Any]
    array_ufunc: Callable[..., Any]
    lazy_attributes: Callable[[], Mapping[str, Callable[[Any], Any]]]


_above: list[Above] = []


def set_above(above: Above) -> None:
    """Say what arrays ask of the rooms above."""
    _above[:] = [above]


def _known(length: int | None) -> int:
    if length is None:
        raise TypeError(
            "the length is not known before the array is computed; write x.compute_chunk_sizes()"
        )
    return length


def _made(obj: Any, dtype: object, policy: Policy | None) -> PArray:
    """An array of anything, bound to a policy if there is one."""
    if policy is None:
        free: Any = asarray(obj, dtype=dtype)
        return free
    with in_force(policy):
        made = asarray(unbound(obj), dtype=dtype)
    return array_type(policy)._wrap(made._buffer, made._type)


class PArray(Conversions, _Methods):
    """An array whose every operation obeys the policy in force.

    Parameters
    ----------
    obj : array_like, any shape
        As for ``promoarray.asarray``.
    dtype : dtype_like, optional
    weak_type : bool, optional
        Whether the array is weakly typed, as JAX's results of Python scalars are.
    policy : str or Policy, optional
        Bind the array to one policy, as ``promoarray.namespace(policy).asarray`` does.

    Raises
    ------
    TypeError
        If there is something else than numbers, strings and arrays in ``obj``.
    ValueError
        If sequences are ragged, or no weak type is stored in the dtype.
    UnknownPolicyError
        If there is no policy of that name.

    Notes
    -----
    ``x.dtype`` is always concrete; ``x.weak_type`` tells whether the type is weak.

    Examples
    --------
    >>> PArray([1.5, 2.5], dtype="bfloat16") + PArray([1, 2], dtype="int8")
    PArray([2.5, 4.5], dtype=bfloat16)
    >>> PArray([1, 2], dtype="int8", policy="torch") / 2
    PArray([0.5, 1. ], dtype=float32, policy='torch@2.13')
    >>> PArray([1.0], dtype="float32", policy="jax", weak_type=True).weak_type
    True
    """

    __class_getitem__: Any = classmethod(GenericAlias)  # as annotations write ``np.ndarray[...]``

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]
    __array_priority__ = 100.0  # above ndarray, for those that ask before they ask for ufuncs
    __pandas_priority__ = 5000  # above DataFrame, so that its operators hand over to ours

    @ends_at_caller
    def __new__(
        cls,
        obj: Any,
        dtype: object = None,
        *,
        weak_type: bool = False,
        policy: str | Policy | None = None,
    ) -> PArray:
        made = _made(obj, dtype, cls._policy if policy is None else as_policy(policy))
        if not weak_type:
            return made
        if made.dtype not in NATIVE:
            raise ValueError(f"no weak type is stored in {made.dtype.name}; write weak_type=False")
        weak = next(w for w in WEAK.values() if w.kind.category == made.dtype.kind.category)
        return made._wrap(made._buffer, weak)

    # -- what becomes of it -----------------------------------------------------------------------

    @property
    def T(self) -> Self:
        """The array with its axes reversed; of a matrix the transpose.

        Returns
        -------
        PArray, shape (N, M)
            Of an array of shape (M, N), in the same memory. The standard leaves other arrays than
            matrices open; they are as NumPy's, JAX's and Paddle's.

        Examples
        --------
        >>> asarray([[1, 2, 3]], dtype=int8).T.shape
        (3, 1)
        """
        return self._wrap(self._buffer.transpose(), self._type)

    @property
    def mT(self) -> Self:
        """The array with its last two axes swapped.

        Returns
        -------
        PArray, shape (..., N, M)
            Of an array of shape (..., M, N), in the same memory.

        Raises
        ------
        ValueError
            If the array has fewer than two axes.

        Examples
        --------
        >>> zeros((2, 3, 4)).mT.shape
        (2, 4, 3)
        """
        if self.ndim < 2:
            raise ValueError(f"x.mT needs two axes or more, and x has {self.ndim}")
        return self._wrap(self._buffer.swapaxes(-1, -2), self._type)

    @fast_method("astype", typed=True)
    def astype(
        self,
        dtype: AnyDType,
        *,
        copy: bool = True,
        saturate: bool | int | None = None,
        round_mode: str | None = None,
    ) -> Self:
        """Cast to a dtype by the policy's cast rule; see ``promoarray.astype``.

        Parameters
        ----------
        dtype : dtype_like
        copy : bool
            Whether to copy where the array has the dtype already.
        saturate : bool, optional
            Whether what lies beyond the dtype becomes its largest value, where the policy's casts
            have the choice.
        round_mode : {"up", "down", "nearest"}, optional
            To float8_e8m0fnu, where the policy's casts have the choice.

        Returns
        -------
        PArray
            Of the same shape.

        Raises
        ------
        PromotionError
            If the policy does not cast this pair.
        TypeError
            If ``dtype`` is not a dtype, or the policy's casts have no such argument.
        ValueError
            If an argument has no such choice, or a string is not a number.
        OverflowError
            If a string's number does not fit the dtype.

        Examples
        --------
        >>> x = asarray([300.0, -1.5], dtype=float32)
        >>> with policy("jax"):
        ...     x.astype(uint8)
        PArray([255,   0], dtype=uint8)
        >>> x.astype(float8_e5m2)
        PArray([320. ,  -1.5], dtype=float8_e5m2)
        """
        out: Any = cast.astype(self, dtype, copy=copy, saturate=saturate, round_mode=round_mode)
        return out

    @fast_move
    def reshape(self, *shape: Any, copy: bool | None = None) -> Move[Self]:
        """Return the values in another shape.

        Parameters
        ----------
        *shape : int, or one tuple of int
            The lengths of the axes; one may be -1, which makes it what is left.
        copy : bool, optional
            Whether to copy: always, never, or (None) where it has to be.

        Returns
        -------
        PArray, shape ``shape``
            In the order of the elements, the last axis fastest.

        Raises
        ------
        ValueError
            If the shapes differ in their number of elements, or ``copy=False`` and it needs one.

        Examples
        --------
        >>> asarray([1, 2, 3, 4]).reshape(2, -1).shape
        (2, 2)
        """
        from promoarray.core.shapes import integers

        wanted = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
        return move("reshape", self, integers("reshape", "shape", wanted), copy=copy)

    @ends_at_caller
    def view(self, dtype: AnyDType | None = None) -> Self:
        """Return the same bits under another dtype, in the same memory.

        How small dtypes reach libraries that have no name for them, and come back:
        ``x.view(pa.uint8)`` are the codes of a float8, and of the 2-, 4- and 6-bit dtypes, which
        take a byte an element.

        Parameters
        ----------
        dtype : dtype_like, optional
            Stored in as many bytes as the dtype of the array, or the float that a complex number
            has two of, or the other way round. Default: that of the array.

        Returns
        -------
        PArray
            Of the same shape; of complex numbers as floats with a last axis twice as long. No
            policy has a say.

        Raises
        ------
        ValueError
            If the widths differ, or a code does not fit a narrow dtype.

        Examples
        --------
        >>> asarray([1.0, -2.0], dtype=float8_e4m3fn).view(uint8)
        PArray([ 56, 192], dtype=uint8)
        """
        if dtype is None:
            return self._wrap(self._buffer.view(), self._type)
        target = as_dtype(dtype)
        return self._wrap(cast.reinterpreted(self._buffer, self.dtype, target), target)

    def __len__(self) -> int:
        shape: tuple[int, ...] = self._buffer.shape
        if not shape:
            raise TypeError("a 0-d array has no length")
        return _known(shape[0])

    def __iter__(self) -> Iterator[Self]:
        if not self.ndim:
            raise TypeError("a 0-d array has no elements to iterate over; write x.item()")
        return (self[i] for i in range(_known(self.shape[0])))

    # -- indexing ---------------------------------------------------------------------------------

    @fast_method("getitem", kind="getitem")
    def __getitem__(self, key: Any, /) -> Self:
        from promoarray.core.index_keys import as_key

        return picked(self, as_key(key, self))

    @fast_method("setitem", kind="setitem")
    def __setitem__(self, key: Any, value: Any, /) -> None:
        from promoarray.core import setitem
        from promoarray.core.index_keys import as_key

        setitem.assign(self, as_key(key, self), value)

    # -- protocols --------------------------------------------------------------------------------

    if not TYPE_CHECKING:  # else a type checker would take any name for an attribute

        def _absent(self, name: str) -> Any:
            """What only arrays have that are computed later. Else refuse an unknown attribute; for
            one of another library, name what to write."""
            if name == "_data":
                refuse_masked(sys._getframe(1))
            if name == "_numba_type_":  # by which Numba asks what an argument of its functions is
                raise TypeError("Numba compiles for NumPy's arrays; write np.asarray(x) for it")
            if name != "_buffer" and is_lazy(backend_of(self._buffer)):
                more = _above[0].lazy_attributes()
                if name in more:
                    return more[name](self)
            message = f"'PArray' object has no attribute {quoted(name)}"
            if not name.startswith("_"):
                from promoarray.other_names import for_method

                package = _above[0].namespace(None)
                ours = name in package.__all__ and callable(getattr(package, name))
                message += for_method(name, is_function=ours)
            raise AttributeError(message, name=name, obj=self)

    else:  # of lazy arrays, io/dask_arrays.py

        def _method(self, *args: Any, **options: Any) -> Self:
            return self

        def to_dask(self) -> Any: ...
        def visualize(self, *args: Any, **options: Any) -> Any: ...

        compute = compute_chunk_sizes = persist = rechunk = _method
        chunks: tuple[tuple[int, ...], ...]
        chunksize: tuple[int, ...]
        numblocks: tuple[int, ...]
        npartitions: int
        real: Self
        imag: Self

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        """The namespace these arrays belong to: promoarray, or the one they are bound to.

        Parameters
        ----------
        api_version : str, optional
            A version of the array API, such as ``"2024.12"``.

        Returns
        -------
        module or Namespace

        Raises
        ------
        ValueError
            If another version of the array API is asked for.
        """
        own = _above[0].namespace(self._policy)
        ours = own.__array_api_version__
        if api_version not in (None, ours, "2024.12", "2023.12", "2022.12", "2021.12"):
            raise ValueError(
                f"promoarray implements the array API {ours}, not {quoted(api_version)}"
            )
        return own

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """Answer ``np_array + x`` and ``np.add(x, y)`` under the policy."""
        meant = of_ufunc(ufunc, inputs)
        if meant is not None and method == "__call__" and not kwargs:
            name, form = meant
            out = apply(name, *inputs, form=form)
            if out is not NotImplemented:
                return out
        return _above[0].array_ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """Answer ``np.mean(x)`` by ``pa.mean(x)``, in the namespace that ``x`` is bound to."""
        return _above[0].array_function(type(self), func, types, args, kwargs)

    def __reduce__(self) -> tuple[Any, ...]:
        backend = backend_of(self._buffer)
        lazy = is_lazy(backend)  # what is not computed yet stays so, and travels as a graph
        values = self._buffer if lazy else backend.to_numpy(self._buffer, self.dtype)
        kept = type_of(self._type).code, self.dtype.code, self.device
        name = self._policy and registered_name(self._policy, "the array is bound to")
        return rebuild, (name, values, *kept)

    def __copy__(self) -> Self:
        return self._wrap(backend_of(self._buffer).copy(self._buffer), self._type)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.__copy__()

    def __repr__(self) -> str:
        from promoarray.core.display import text

        return text(self)

    def __format__(self, spec: str) -> str:
        """Write the one element of a 0-d array as Python writes it; ``{x}`` is the repr."""
        if not spec:
            return repr(self)
        if self.ndim:
            raise TypeError(
                f"only a 0-d array is formatted with {quoted(spec)}, not one of {self.shape}"
            )
        return format(self.item(), spec)

    @fast_method("round()", operands=1)
    def __round__(self, ndigits: int | None = None) -> Self:
        """``round(x)``: to nearest, ties to even, as ``promoarray.round``.

        Raises
        ------
        TypeError
            If digits are asked for, which the array API does not round to.
        """
        if ndigits is not None:
            raise TypeError("round(x, digits) is not in the array API; write round(x)")
        out: Any = call("round", self)
        return out

    def _repr_html_(self) -> str:
        from promoarray.core.display import html

        return html(self)

    # -- operators: forward, reflected, in place ---------------------------------------------------

    __add__, __radd__, __iadd__ = binary("add")
    __sub__, __rsub__, __isub__ = binary("subtract")
    __mul__, __rmul__, __imul__ = binary("multiply")
    __truediv__, __rtruediv__, __itruediv__ = binary("divide")
    __floordiv__, __rfloordiv__, __ifloordiv__ = binary("floor_divide")
    __mod__, __rmod__, __imod__ = binary("remainder")
    __divmod__ = both(__floordiv__, __mod__, "divmod(self, other)")
    __rdivmod__ = both(__rfloordiv__, __rmod__, "divmod(other, self)")
    __pow__, __rpow__, __ipow__ = binary("pow")
    __matmul__, __rmatmul__, __imatmul__ = binary("matmul")
    __and__, __rand__, __iand__ = binary("bitwise_and")
    __or__, __ror__, __ior__ = binary("bitwise_or")
    __xor__, __rxor__, __ixor__ = binary("bitwise_xor")
    __lshift__, __rlshift__, __ilshift__ = binary("bitwise_left_shift")
    __rshift__, __rrshift__, __irshift__ = binary("bitwise_right_shift")
    # Not the bool of ``object``: an array of bools. Declared, or Pyright takes that bool.
    __eq__: Binary = equality("equal", none=False)  # type: ignore[assignment]
    __ne__: Binary = equality("not_equal", none=True)  # type: ignore[assignment]
    __lt__ = comparison("less")
    __le__ = comparison("less_equal")
    __gt__ = comparison("greater")
    __ge__ = comparison("greater_equal")
    __neg__ = unary("negative")
    __pos__ = unary("positive")
    __abs__ = unary("abs")
    __invert__ = unary("bitwise_invert")


class _HasArray(Protocol):
    def __array__(self, *args: Any, **options: Any) -> Any: ...


class _HasDLPack(Protocol):
    def __dlpack__(self, *args: Any, **options: Any) -> Any: ...


AnyArray = PArray | _HasArray | _HasDLPack | complex
"""What functions take for an array: one of any library, or a Python scalar."""
Data = AnyArray | list[Any] | tuple[Any, ...] | range
AnyDType = DType | str | type[Any] | np.dtype[Any]
Axes = SupportsIndex | Sequence[SupportsIndex] | None
Shape = SupportsIndex | Sequence[SupportsIndex]

Array.default = PArray


def array_type(policy: Policy) -> type[PArray]:
    """Return the class of the arrays bound to a policy; there is one a policy."""
    return policy.once(_bound_to)


def _bound_to(policy: Policy) -> type[PArray]:
    body = {"__slots__": (), "_policy": policy, "__module__": "promoarray", "__hash__": None}
    return type("PArray", (PArray,), body)


def rebuild(
    policy: str | None, buffer: Any, code: str, stored: str | None = None, device: str = "cpu"
) -> PArray:
    """Make an array of what ``PArray.__reduce__`` kept of it."""
    cls = PArray if policy is None else array_type(as_policy(policy))
    held = on_device(device).from_numpy(buffer, BY_CODE[stored or code], device)
    return cls._wrap(held, BY_CODE[code])
