"""Namespaces bound to one policy, and the arrays that stay in them.

Arrays of a bound namespace are of a class of their own that names the policy, so the binding needs
no slot and nothing is looked up where it does not apply.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import update_wrapper
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from promoarray.backends.numpy.fp_warnings import telling
from promoarray.core._fast_path import FastOperator
from promoarray.core.asarray import unbound
from promoarray.core.operands import array_class
from promoarray.errors import ends_at_caller, quoted
from promoarray.functions import info
from promoarray.other_names import for_function
from promoarray.parray import PArray, array_type
from promoarray.promotion.in_force import policy as in_force
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy, registered_name

if TYPE_CHECKING:
    from promoarray.namespace_types import Functions
else:
    Functions = object


class Namespace(Functions):
    """The functions of promoarray under one policy, whatever the policy in force is.

    Made by ``promoarray.namespace``. There is one object a policy; it hashes, and its ``__name__``
    is ``promoarray.<policy>``, because array-api-compat tells namespaces apart by name.
    """

    def __init__(self, policy: Policy, chapter: str = "") -> None:
        self.policy = policy
        self._chapter = chapter
        self.__name__ = f"promoarray.{policy.name}{chapter}"

    def __getattr__(self, name: str) -> Any:
        value = self._found(name)
        if name == "random":
            value = value.Generator(np.random, self)
        if name in _UNBOUND or (name.startswith("_") and name not in info.__all__):
            return value
        if isinstance(value, type) and issubclass(value, PArray):
            value = array_type(self.policy)
        elif isinstance(value, ModuleType) and name in _CHAPTERS:
            value = Namespace(self.policy, f".{name}")
        elif callable(value) and not isinstance(value, type):
            value = BoundFunction(self, value)
        return self.__dict__.setdefault(name, value)  # so that the next look-up is direct

    def _found(self, name: str) -> Any:
        """What the module has under a name of the namespace."""
        module = self._module()
        if not hasattr(module, name):
            chapter = self._chapter.removeprefix(".extras")
            words = for_function(f"{chapter}.{name}".removeprefix("."), "xp")
            raise AttributeError(
                f"{self!r} has no attribute {quoted(name)}{words}", name=name, obj=self
            )
        return getattr(module, name)

    def _module(self) -> Any:
        return import_module(f"promoarray{self._chapter}")

    def __dir__(self) -> list[str]:
        return sorted(dir(self._module()))

    def __repr__(self) -> str:
        return f"<namespace {self.__name__}>"

    def __reduce__(self) -> tuple[Any, ...]:
        if self._chapter:
            return getattr, (namespace(self.policy), self._chapter[1:])
        return namespace, (
            registered_name(self.policy, f"the namespace {self.__name__} is bound to"),
        )

    def __deepcopy__(self, memo: dict[int, Any]) -> Namespace:
        return self


class BoundFunction(FastOperator):
    """A function of promoarray under the policy of a namespace.

    It answers with arrays of the namespace, pickles by the names of both, and has the name, the
    signature and the documentation of the function, and ``policy`` besides. What has a fast path
    takes it on arrays of the namespace, as these name the policy themselves.
    """

    policy: Policy
    _home: Namespace
    _function: Callable[..., Any]

    def __new__(cls, home: Namespace, function: Callable[..., Any]) -> BoundFunction:
        bound = array_type(home.policy)
        name, settings = getattr(function, "fast", ("", {"kind": "slow"}))
        own = settings | {"bound": bound, "makes": bound if "makes" in settings else None}
        self = super().__new__(cls, _in_namespace(bound, home.policy, function), name, **own)
        update_wrapper(self, function)
        self.policy = home.policy  # for explain(xp.add, ...)
        self._home, self._function = home, function
        return self

    def __repr__(self) -> str:
        return f"<function {self._home.__name__}.{self._function.__name__}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return getattr, (self._home, self._function.__name__)

    def __deepcopy__(self, memo: dict[int, Any]) -> BoundFunction:
        return self


def _in_namespace(
    cls: type[PArray], policy: Policy, function: Callable[..., Any]
) -> Callable[..., Any]:
    """A function that takes arrays of a namespace and of none, and answers with the namespace's."""
    rebinds = function.__name__ in _REBINDING
    run = _rebinding(function) if rebinds else function
    block = in_force(policy)

    def bound(*args: Any, **options: Any) -> Any:
        if not rebinds:
            _check_bindings(cls, args)
            _check_bindings(cls, options.values())
        with block:
            out = run(*args, **options)
        return _bound(out, cls)

    return telling(ends_at_caller(bound))


def _rebinding(function: Callable[..., Any]) -> Callable[..., Any]:
    def run(*args: Any, **options: Any) -> Any:
        return function(*map(unbound, args), **options)

    return run


def _check_bindings(cls: type[PArray], values: Iterable[Any]) -> None:
    """Refuse arrays of another namespace, also in a list of them."""
    for value in values:
        if type(value) is cls:
            continue
        if isinstance(value, PArray):
            if value._policy not in (None, cls._policy):
                array_class((value,), cls)
        elif type(value) in (list, tuple):
            _check_bindings(cls, value)


_CHAPTERS = frozenset({"linalg", "fft", "extras"})
"""Modules of functions that a namespace binds as it binds its own."""

_REBINDING = frozenset({"array", "asarray", "from_dlpack"})
"""Functions that take arrays of any other namespace: the way from one to another."""

# What speaks of policies or of the process rather than of arrays means the same in every namespace.
_UNBOUND = frozenset(
    (
        *("set_num_threads", "get_num_threads", "set_policy", "get_policy", "policy"),
        *("list_policies", "namespace", "no_escape", "shadow", "trace"),
    )
)


def _bound(value: Any, cls: type[PArray]) -> Any:
    if type(value) is PArray:
        return cls._wrap(value._buffer, value._type)
    if isinstance(value, (tuple, list)):
        made = (_bound(v, cls) for v in value)
        return type(value)(*made) if hasattr(value, "_fields") else type(value)(made)
    if type(value) is dict:
        return {name: _bound(v, cls) for name, v in value.items()}
    return value


def namespace(policy: str | Policy, *, kernels: bool = False) -> Namespace:
    """Return the array-API namespace bound to a policy.

    Parameters
    ----------
    policy : str or Policy
    kernels : bool
        Whether operations that the framework has no kernel for are refused
        (``Policy.with_kernels``); ``"torch+kernels"`` says the same.

    Returns
    -------
    Namespace
        With every function and constant of ``promoarray``; its arrays stay bound to the policy.
        Arrays of two bound namespaces do not mix, and its functions take arrays of no other one:
        ``xp.asarray`` is the way from one to another.

    Raises
    ------
    UnknownPolicyError
        If there is no policy of that name.

    Examples
    --------
    >>> xp = namespace("torch")
    >>> x = xp.asarray([1, 2], dtype=xp.int8)
    >>> x * 1.5
    PArray([1.5, 3. ], dtype=float32, policy='torch@2.13')
    >>> xp.mean(x)
    Traceback (most recent call last):
        ...
    promoarray.errors.PromotionError: ... has no mean of int8: ...
    """
    return as_policy(policy, kernels=kernels).once(Namespace)
