"""One call of JAX's: its arrays and tracers as abstract arrays, and what it narrows."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from functools import cache
from typing import Any

import jax
import numpy as np
from jax import numpy as jnp
from jax._src.core import trace_state_clean
from jax.tree_util import tree_flatten, tree_leaves, tree_unflatten

from promoarray.diagnostics.calls.common import is_reflected, words
from promoarray.diagnostics.calls.jax import DEFAULTS, RENAMED, UPDATES
from promoarray.diagnostics.record import call
from promoarray.diagnostics.record.call import flat
from promoarray.diagnostics.record.handlers import Handler, cast, handler_in, make, other
from promoarray.diagnostics.record.recorder import Entering, Recorder, Result
from promoarray.diagnostics.record.report import OPERATION
from promoarray.dtypes import BY_NAME, INEXACT, DType, Kind
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy

_PYTHON: dict[Kind, Any] = {Kind.INT: int, Kind.FLOAT: float, Kind.COMPLEX: complex}


class _Open(threading.local):
    """The calls of this thread that are being carried out."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []  # what crosses each, the innermost last
        self.trying = False  # whether what is called is no part of the program
        self.gradients = 0  # so many were taken
        self.probes: Any = None  # what looks at the cotangents meanwhile
        # of a function that is only traced the dtypes of what makes wider floats of an array
        self.traced: list[str] | None = None


OPEN = _Open()


def settled(recorder: Recorder) -> bool:
    """Whether what is recorded is in the mode that JAX is in, which the first call decides.

    Programs choose x64 before they compute anything. What one that changes it later computes in
    the other mode is recorded, and is no evidence of drift.
    """
    return recorder.settle(_home(jax.config.jax_enable_x64))


@cache
def _home(x64: bool) -> Policy:
    return as_policy("jax@x64" if x64 else "jax@x32")


def dtype_of(x: Any, home: Policy) -> DType | None:
    """The dtype of an array or tracer, a weak one if it is weakly typed; None of keys and others.

    NumPy's arrays are what JAX makes of them.
    """
    dtype = _of_that_name(x.dtype)
    if dtype is None or isinstance(x, (np.ndarray, np.generic)):
        return home.canonical.get(dtype, dtype) if dtype else None
    return call.WEAK_OF.get(dtype.kind, dtype) if getattr(x, "weak_type", False) else dtype


@cache
def _of_that_name(dtype: Any) -> DType | None:
    return BY_NAME.get(dtype.name)  # of which NumPy makes a new text each time


def results_of(home: Policy, made: Any) -> Iterator[Result]:
    """The arrays among what a call made."""
    for x in call.flat((made,)):
        if isinstance(x, jax.Array) and (dtype := dtype_of(x, home)) is not None:
            yield Result(x, dtype, x.ndim)


class Call(call.Call):
    """One call of JAX's."""

    tensor = (jax.Array, np.ndarray, np.generic)
    words = words("jax")
    names_of_dtypes = type, np.dtype
    renamed = RENAMED

    def __init__(
        self, recorder: Recorder, name: str, func: Any, args: Any, kwargs: Any, *more: Any
    ) -> None:
        super().__init__(recorder, name, func, tuple(map(_array_in, args)), kwargs, *more)
        self._settled = settled(recorder)

    def dtype_of(self, x: Any) -> DType | None:
        """The dtype of an array or tracer; None if promoarray has no such dtype."""
        return dtype_of(x, self.recorder.home)

    @staticmethod
    def number_of(x: Any) -> Any:
        """The Python scalar that JAX takes an argument for: functions with derivatives of their own
        are given ``TypedFloat``, a float that knows its dtype."""
        plain = next((each for each in (int, float, complex) if isinstance(x, each)), None)
        return plain(x) if plain and hasattr(x, "aval") else call.Call.number_of(x)

    @staticmethod
    def is_traced_alone(given: Sequence[Any], made: Sequence[Any]) -> bool:
        """Whether a call is only traced; it is noted whether it makes wider floats of an array."""
        if OPEN.traced is None:
            return False
        mixed = len({x.dtype for x in given}) > 1 and made[0].ndim
        if mixed and jnp.issubdtype(made[0].dtype, jnp.inexact):
            floats = (x.dtype for x in given if x.ndim and jnp.issubdtype(x.dtype, jnp.inexact))
            narrow = (each.name for each in floats if each.itemsize < made[0].dtype.itemsize)
            OPEN.traced += narrow
        return True

    @property
    def is_traced(self) -> bool:
        """Whether a function is being traced, in which it stands."""
        return not trace_state_clean()

    @staticmethod
    def kind_of(x: Any) -> Hashable:
        """What arrays that are alike have in common: tracers are told from arrays."""
        return type(x), x.dtype, getattr(x, "weak_type", False)

    @staticmethod
    def buffer_of(x: Any) -> Any:
        """The values of an array; of one that is differentiated those that it has meanwhile."""
        while isinstance(x, jax.core.Tracer):
            x = x.primal  # of a tracer that has none the error says so
        return np.asarray(x)

    @classmethod
    def with_values(cls, x: Any, values: Any) -> Any:
        """An array of other values; of a tracer one that is differentiated as it is."""
        given = jax.numpy.asarray(np.asarray(values), x.dtype)
        if not isinstance(x, jax.core.Tracer):
            return given
        return given + (x - jax.lax.stop_gradient(x))

    @staticmethod
    def once_more(name: str, function: Any) -> tuple[Any, bool]:
        """What carries out a function of integers again: NumPy's, or that itself with 64 bits."""
        found = getattr(np, name, None) or getattr(np.linalg, name, None)
        if found is not None:
            return found, True

        def in_64_bits(*args: Any, **kwargs: Any) -> Any:
            with jax.enable_x64(True):
                given = [jnp.asarray(x) if isinstance(x, np.ndarray) else x for x in args]
                return np.asarray(function(*given, **kwargs))

        return in_64_bits, False

    @staticmethod
    def eager() -> AbstractContextManager[Any]:
        """Has functions compute at once that are compiled else, so that values can be read."""
        manager: AbstractContextManager[Any] = jax.disable_jit()
        return manager

    @staticmethod
    def copy(x: Any, dtype: DType | None) -> Any:
        """An array in a dtype: itself, which JAX never changes, if it has that or stays weak, and
        if it is a key of random numbers."""
        if dtype is None or dtype.weak or x.dtype == dtype.storage:
            return x
        return x.astype(jax.dtypes.canonicalize_dtype(dtype.storage))  # float64 may be off

    @staticmethod
    def giving(function: Any, dtypes: Mapping[int, str]) -> Any:
        """A function that gives back some of its arrays in other dtypes."""

        def given(*args: Any, **kwargs: Any) -> Any:
            leaves, tree = tree_flatten(function(*args, **kwargs))
            for n, name in dtypes.items():
                dtype = BY_NAME[name]
                if dtype.weak:
                    leaves[n] = _PYTHON[dtype.kind](leaves[n])
                    continue
                leaves[n] = jnp.asarray(leaves[n]).astype(dtype.storage)
                if leaves[n].dtype.name != name:
                    raise TypeError(name)  # which JAX does not hold
            return tree_unflatten(tree, leaves)

        return given

    @property
    def joined(self) -> Sequence[Any]:
        """The operands of ``concat`` and ``stack``: those of ``append`` come one by one."""
        return self.args[:2] if self.name == "append" else super().joined

    def is_evidence(self, operation: str) -> bool:
        """Whether it was made in the mode of this run, and not by a value that is yet to come."""
        later = operation == "pow" and any(
            isinstance(x, jax.core.Tracer) and x.ndim == 0 for x in self.args
        )
        return self._settled and not later

    def is_lone(self, result: Result) -> bool:
        """Whether an array that it made stands for one Python number."""
        return result.dtype.weak

    def as_written(
        self, operation: str, given: tuple[Any, ...]
    ) -> tuple[str, tuple[Any, ...], bool]:
        """An operation and its operands: ``lax.div`` of integers is a floor division."""
        if self.name != "lax.div":
            return operation, given, True
        made = self.results()  # nothing, where JAX refuses
        whole = made and self.recorder.home.strong(made[0].dtype).kind not in INEXACT
        return "floor_divide" if whole else operation, given, True


def _array_in(x: Any) -> Any:
    """An argument as JAX takes it in: of an object that stands for an array, such as a parameter of
    Flax's, that array."""
    stands = None if isinstance(x, jax.Array) else getattr(x, "__jax_array__", None)
    return x if stands is None else stands()  # of a reference in a kernel of Pallas it is None


@cache
def handler_of(name: str) -> Handler:
    """What to do with calls of a name."""
    return _update if name in UPDATES else handler_in(Call.words, name) or other


def _update(call: call.Call) -> None:
    """``x.at[key].set(value)``: a copy with other values, which carries what the array does."""
    source, *given = call.args
    target = call.operand(source)
    value = call.operand(given[0] if given else call.kwargs.get("values"))
    results = call.results()
    if target is None or value is None or not results:
        return other(call)
    call.count(OPERATION)
    call.recorder.assigned(target, value, call.frame)
    return call.recorder.moved(source, results[0])


# -- data that JAX narrows ------------------------------------------------------------------------
#
# It does so before it promotes anything, and has nothing to tell of it. Without x64 it makes
# float32 of NumPy's float64 as they come in, and int32 of int64; and it makes float32 where a
# program asks for float64. Where a program names another dtype it knows what it does, and where
# the dtype of the result follows from none, as of indices, nothing comes of it.

Arguments = tuple[tuple[Any, ...], Mapping[str, Any]]


def may_narrow(home: Policy, given: Arguments) -> bool:
    """Whether a call may be given what is narrowed, or name it: most are given JAX's arrays."""
    args, kwargs = given
    return bool(home.canonical) and any(isinstance(x, _OTHERS) for x in (*args, *kwargs.values()))


_OTHERS = np.ndarray, np.generic, list, tuple, dict, type, np.dtype, str


def into_call(home: Policy, name: str, handler: Handler, given: Arguments) -> Sequence[Entering]:
    """Return the arrays among the arguments of a function of JAX's that it narrows."""
    args, kwargs = given
    if name == "__getitem__" or handler in (cast, make):
        return ()
    if DEFAULTS.get(name) is not None or _dtype_named(args, kwargs) is not None:
        return ()
    if name in words("jax").moves:  # what else it takes are places
        first = words("jax").argument.get(name, 0)
        args, kwargs = args[: first + 1], {}
    parts = args[0] if args and isinstance(args[0], (list, tuple)) else args
    found = [each for i, x in enumerate(parts) for each in _wide(home, flat((x,)), _index(name, i))]
    return [*found, *_wide(home, flat(kwargs.values()), None)]


def into_function(home: Policy, given: Any) -> Sequence[Entering]:
    """Return the arrays that a function is given which JAX traces."""
    return list(_wide(home, tree_leaves(given), None)) if home.canonical else ()


def asked_for(home: Policy, given: Arguments) -> DType | None:
    """Return the dtype that a call names and that JAX narrows; None if it names no such."""
    named = _dtype_named(*given)
    return named if named in home.canonical else None


def _wide(home: Policy, values: Any, operand: int | None) -> Iterator[Entering]:
    for x in values:
        if isinstance(x, (np.ndarray, np.generic)):
            dtype = BY_NAME.get(x.dtype.name)
            if dtype is not None and dtype in home.canonical:
                yield Entering(x, dtype, operand)


def _index(name: str, argument: int) -> int | None:
    """Which operand an argument is, as it stands in the source; None if it is none of them."""
    if is_reflected(name):
        return 1 - argument
    return argument - 1 if name == "where" else argument


def _dtype_named(args: Sequence[Any], kwargs: Mapping[str, Any]) -> DType | None:
    for x in (kwargs.get("dtype"), *args):
        if isinstance(x, (type, np.dtype)) or (type(x) is str and x in BY_NAME):
            with suppress(TypeError):  # a class of dtypes: np.generic, that of keys
                return BY_NAME.get(np.dtype(x).name)
    return None
