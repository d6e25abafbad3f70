"""Final values and dtypes of a program: its globals at the end, by which two runs are compared."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from types import FunctionType, ModuleType
from typing import Any, NamedTuple, TypeVar

import numpy as np

from promoarray.backends import backend_of
from promoarray.core import host
from promoarray.core.array_base import Array, storage_dtype
from promoarray.core.call_site import shortened
from promoarray.diagnostics.model.slots import RefusedOperation, as_seen_by, pending_of
from promoarray.diagnostics.model.values import Values
from promoarray.dtypes import BY_NAME, DType, Kind
from promoarray.promotion.policy import Policy

DEPTH, MOST, LARGE, LOOKED = 4, 5000, 1 << 24, 50_000
"""How deep containers are looked into, how many values are kept, elements of each, and how many
parts of a global are looked at."""

NUMPY, PYTHON = "NumPy", "Python"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Final:
    """A global of a program, or a value that one holds, at the program's end."""

    dtype: str  # of an array or number; else the name of its class
    shape: tuple[int, ...] = ()
    # its values, exactly; None of what holds no numbers, and of an array that is too large
    values: Values | None = None
    digest: bytes = b""  # of such an array, and of an int beyond 64 bits
    # ``NUMPY`` or ``PYTHON`` of values of theirs; "" of promoarray's and of other frameworks'
    library: str = ""
    text: str = ""  # what it is, in short
    shown: bool = True  # whether it is shown where it is the same, too

    @property
    def type(self) -> str:
        """The dtype or type as code has it: ``numpy float64``, ``float``, ``float32``."""
        return f"numpy {self.dtype}" if self.library == NUMPY else self.dtype

    @property
    def spelled(self) -> str:
        """The same in prose: ``NumPy float64``, ``Python float``, ``float32``."""
        return f"{self.library} {self.dtype}".lstrip()

    @property
    def in_short(self) -> str:
        """What it is: of a number its value, of all else the type and shape."""
        if self.text or self.shape or self.values is None:
            return self.text or str(self)
        return f"{number(self.values.item())} ({self.spelled})"

    def __str__(self) -> str:
        return f"{self.type}{list(self.shape) if self.shape else ''}"


# -- those of a program ---------------------------------------------------------------------------


def final_values(names: dict[str, Any]) -> dict[str, Final]:
    """Return what a program's globals are, those in containers and objects of its own, too."""
    found: dict[str, Final] = {}
    for name, value in list(names.items()):
        if not name.startswith("_"):
            for path, each in leaves(name, value, final_of):
                if len(found) >= MOST:
                    return found
                found[path] = each
    return found


def finals(ended: dict[str, Any], names: Sequence[str] | None) -> dict[str, Final]:
    """Return a program's globals that are asked for, else its arrays and numbers, with texts."""
    found = {}
    for name in list(ended) if names is None else names:
        if name not in ended:
            if names is not None:
                found[name] = Final("", text="not set")
            continue
        value = ended[name]
        final = None if names is None and name.startswith("_") else _tried(value)
        if names is not None or final is not None:
            shown = names is not None or issubclass(type(value), (Array, float))
            final = final or Final(type(value).__name__)
            found[name] = replace(final, text=said(brief, value), shown=shown)
    return found


def final_of(value: Any) -> Final | None:
    """Return a number or an array as it is kept; None of anything else."""
    kind = type(value)  # not isinstance, which asks the value for its class: anything may answer
    if issubclass(kind, Array):
        dtype = storage_dtype(value)
        return _kept(dtype.name, _on_host(value._buffer, dtype))
    if kind in (bool, int, float, complex):
        if kind is int and not -(1 << 63) <= value < 1 << 64:
            return Final("int", digest=str(hash(value)).encode(), library=PYTHON)
        return Final(kind.__name__, values=np.asarray(value), library=PYTHON)
    if issubclass(kind, (np.ndarray, np.generic)):
        if value.dtype.kind not in "biufcV" or value.dtype.names is not None:
            return None
        return _kept(str(value.dtype), np.asarray(value), NUMPY)
    made = _of_framework(value, kind)
    return None if made is None else _kept(*made)


def _tried(value: Any) -> Final | None:
    try:
        return final_of(value)
    except Exception:  # of the program's own classes
        return None


def leaves(
    path: str,
    value: Any,
    told: Callable[[Any], T | None],
    depth: int = DEPTH,
    above: frozenset[int] = frozenset(),
    looked: Iterator[int] | None = None,
) -> Iterator[tuple[str, T]]:
    """Yield what is told of a value; where it is nothing, what is told of the parts it holds, so
    many of which are looked at as are counted."""
    looked = iter(range(LOOKED)) if looked is None else looked
    found = told(value)
    if found is not None:
        yield path, found
    elif depth and id(value) not in above:
        for (key, inner), _ in zip(_parts(value, type(value)), looked, strict=False):
            yield from leaves(f"{path}{key}", inner, told, depth - 1, above | {id(value)}, looked)


def _parts(value: Any, kind: type) -> Iterable[tuple[str, Any]]:
    """What a container or an object of the program holds, with how to get there."""
    if kind is dict:
        items = list(value.items())
        return [(f"[{key!r}]", each) for key, each in items if type(key) in (str, int)]
    if kind in (list, tuple):
        return ((f"[{n}]", each) for n, each in enumerate(value))
    fields = getattr(kind, "_fields", None) if issubclass(kind, tuple) else None
    if type(fields) is tuple:
        return [(f".{name}", each) for name, each in zip(fields, value, strict=False)]
    if any(f"{c.__module__}.{c.__name__}" in _LAYERS for c in kind.__mro__):
        try:
            return [(f".{key}", each) for key, each in value.state_dict(keep_vars=True).items()]
        except Exception:  # of the program's own
            return []
    if kind.__module__ != "__main__" or issubclass(kind, (type, ModuleType, FunctionType)):
        return []
    try:
        held = object.__getattribute__(value, "__dict__")
    except AttributeError:  # it has slots
        return []
    return [(f".{key}", each) for key, each in list(held.items())]


_LAYERS = frozenset({"torch.nn.modules.module.Module", "paddle.nn.layer.layers.Layer"})


def _on_host(buffer: Any, dtype: DType) -> Values:
    array = backend_of(buffer).to_numpy(buffer, dtype)
    if dtype.kind is Kind.STRING:
        return np.asarray(array, dtype="U")
    return host.decoded(array, dtype)


def _kept(dtype: str, array: Values, library: str = "") -> Final:
    if array.size > LARGE:
        digest = hashlib.sha256(np.ascontiguousarray(array).data).digest()
        return Final(dtype, array.shape, digest=digest, library=library)
    return Final(dtype, array.shape, np.array(array), library=library)


# -- those of other frameworks --------------------------------------------------------------------


def _of_framework(value: Any, kind: type) -> tuple[str, Values] | None:
    """Return the dtype's name and the values of an array of another framework, bit by bit.

    None if it is no such array, or cannot be read: as of keys, sparse and abstract ones.
    """
    owners = (c.__module__.partition(".")[0] for c in kind.__mro__)
    reader = next((_READERS[name] for name in owners if name in _READERS), None)
    if reader is None or not hasattr(kind, "dtype"):
        return None
    try:
        raw = reader(value)
    except Exception:  # whatever a framework says of what it has no numbers of
        return None
    name = str(value.dtype).rpartition(".")[2]
    known = BY_NAME.get(name)
    if known is None:
        return name, raw
    if raw.dtype != known.storage:
        raw = raw.view(known.storage)
    return name, host.decoded(raw.reshape(tuple(int(n) for n in value.shape)), known)


def _of_torch(x: Any) -> Values:
    import torch

    whole = x.detach().cpu().resolve_conj().resolve_neg()
    return whole.contiguous().reshape(-1).view(torch.uint8).numpy()


_READERS: dict[str, Callable[[Any], Values]] = {
    "torch": _of_torch,
    "paddle": lambda x: np.ascontiguousarray(x.detach().numpy()).reshape(-1),
    "jax": lambda x: np.ascontiguousarray(x).reshape(-1),
    "jaxlib": lambda x: np.ascontiguousarray(x).reshape(-1),
    "tensorflow": lambda x: np.ascontiguousarray(x.numpy()).reshape(-1),
}


# -- in words -------------------------------------------------------------------------------------


def said(words: Callable[[Any], str], value: Any) -> str:
    """Return words for something of the program's, whose own methods may fail."""
    try:
        return shortened(words(value))
    except Exception as error:
        return f"<{type(value).__name__}: {type(error).__name__} when it was shown>"


def brief(value: Any) -> str:
    """Return an array or number in short."""
    if issubclass(type(value), Array):
        shape = "x".join(map(str, value.shape))
        return f"{value.dtype} [{shape}]" if shape else f"{number(value.item())} ({value.dtype})"
    return number(value)


def number(value: Any) -> str:
    """Return a number in short."""
    return f"{value:.6g}" if issubclass(type(value), (float, complex)) else str(value)


# -- dtypes under every policy --------------------------------------------------------------------


class FinalDType(NamedTuple):
    """A global whose dtype some policies would have otherwise."""

    name: str
    run: str  # its dtype in the run
    others: dict[str, str]  # from policy name to the dtype there, where that is another
    # from policy name to the refusals that the dtype there hangs on
    pending: dict[str, frozenset[RefusedOperation]] = {}  # noqa: RUF012 (never written to)

    def becomes(self, policy: str) -> str:
        """What it is under a policy, in words."""
        return f"{self.others[policy]} instead of {self.run}"

    def to_dict(self, policy: str) -> dict[str, Any]:
        """Return it as data."""
        return {"name": self.name, "dtype": self.others[policy], "run": self.run}


def final_dtypes(ended: dict[str, Any], policies: tuple[Policy, ...]) -> tuple[FinalDType, ...]:
    """Return the globals of a program whose dtype differs, in the order they were first set."""
    found = []
    for name, value in list(ended.items()):
        # Not isinstance, which asks the value for its class: anything may answer.
        if name.startswith("_") or not issubclass(type(value), Array):
            continue
        run = value.dtype
        seen = {policy.name: policy.strong(as_seen_by(policy, value).type) for policy in policies}
        others = {policy: dtype.name for policy, dtype in seen.items() if dtype is not run}
        pending = pending_of((value,))
        if others or pending:
            found.append(FinalDType(name, run.name, others, pending))
    return tuple(found)
