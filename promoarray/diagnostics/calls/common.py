"""Functions and methods of frameworks in promoarray's words.

``functions.txt`` has them; here is what is made of it, and what only the recorder looks at.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from promoarray.diagnostics.calls.tables import (
    Expansion,
    computed,
    expansions_in,
    names,
    names_of,
    synonyms,
    text_of,
)
from promoarray.operations import OPERATIONS, STANDS_FOR
from promoarray.promotion.answers import MADE_OF_DTYPE as MADE_OF_DTYPE


class Words(NamedTuple):
    """What a framework's names mean."""

    operations: dict[str, str]  # from names to operations
    expansions: dict[str, Expansion]
    # the dtype stays as it is; the program names it; it follows from no promotion
    moves: frozenset[str]
    casts: frozenset[str]
    makes: frozenset[str]
    computed: frozenset[str]  # those among them that may make other numbers
    argument: dict[str, int]  # which argument's values are moved, if not the first's
    # what has a default dtype if none is named: a number like those it holds; None if it is given
    defaults: dict[str, float | None]


@cache
def words(framework: str) -> Words:
    """Return what the names of a framework mean: ``torch``, ``paddle``, ``jax``, ``tensorflow``."""
    argument = {name: n for n in (1, 2) for name in names_of(framework, f"moves_{n}")}
    return Words(
        operations(framework),
        expansions(framework),
        names_of(framework, "moves") | names_of(framework, "fills") | argument.keys(),
        names_of(framework, "casts"),
        names_of(framework, "makes"),
        computed(framework),
        argument | _ARGUMENT.get(framework, {"embedding": 1, "embedding_bag": 1}),
        defaults(framework),
    )


_ARGUMENT = {
    "jax": dict.fromkeys(names("random.permutation random.choice extract compress select"), 1)
}


FILLS = names_of("torch", "fills")
"""Functions that fill an array of the dtype that it has, most of them with random numbers.

Whatever a framework answered that is no result is a refusal: they take nothing but the array.
"""

OF_A_DTYPE = names("""
    empty_like full_like new_empty new_full new_ones new_zeros ones_like rand_like randint_like
    randn_like tril_indices triu_indices zeros_like
""")
"""Functions that make an array of a dtype that the call may name, beside those with a default."""

OF_ANY = names("zeros ones empty eye normal rand randn randint randperm zero_")
"""Of these what is made is as good in any dtype: zeros and ones, and what is drawn."""

STRUCTURE = names("""
    H T __getitem__ __setitem__ adjoint alias as_strided at.get at.set chunk clone contiguous copy
    cpu cuda data detach detach_ device_put ensure_shape expand expand_as expand_dims flatten
    from_dlpack from_numpy grad identity identity_n index index_put index_select indices
    lax.broadcast lax.broadcast_in_dim lax.expand_dims
    lax.reshape lax.slice lax.slice_in_dim lax.squeeze lax.stop_gradient lax.transpose mH mT
    matrix_transpose movedim moveaxis narrow permute permute_dims pin_memory ravel requires_grad_
    reshape reshape_ reshape_as resize_ select share_data share_data_ slice split split_with_sizes
    squeeze squeeze_ strided_slice swapaxes swapdims t t_ tensor_split transpose transpose_ unbind
    unflatten unsqueeze unsqueeze_ unstack values view view_as view_shape view_slice
""")
"""Functions that look at no number: what they do to a dtype is nothing in any framework."""


@cache
def operations(framework: str) -> dict[str, str]:
    """Return from a framework's names to operations: those that are the same, and its own."""
    found = {name: name for name in OPERATIONS}
    if framework != "numpy":
        found |= {name: name for name in STANDS_FOR}
    found |= {
        f"arc{name[1:]}": name
        for name in OPERATIONS
        if name.startswith("a") and name[1:] in OPERATIONS
    }
    found |= synonyms(text_of(framework, "operations"))
    # Names that mean another thing.
    others = {"torch": {"equal", "ldexp"}, "paddle": set()}.get(framework)
    if others is None:
        others = {*names_of(framework, "moves"), *names_of(framework, "makes")}
    if framework in ("jax", "tensorflow"):
        others |= expansions(framework).keys()
    return {name: operation for name, operation in found.items() if name not in others}


@cache
def expansions(framework: str) -> dict[str, Expansion]:
    """Return from a framework's names to the operations that they stand for."""
    found = expansions_in(text_of(framework, "expansions"))
    if (density := found.pop("stats.*.*", None)) is not None:  # of each distribution
        modules, functions = (names_of(framework, kind) for kind in ("distributions", "densities"))
        found |= {f"stats.{module}.{name}": density for module in modules for name in functions}
    return found


@cache
def defaults(framework: str) -> dict[str, float | None]:
    """Return what has a default dtype if none is named: a number like those it holds, or None."""
    numbers = {"floats": 0.0, "ints": 0, "given": None}
    return {name: n for kind, n in numbers.items() for name in names_of(framework, kind)}


def plain(name: str, known: dict[str, str]) -> str:
    """The name of an operation without what says that it is in place."""
    if name.startswith("__i") and f"__{name[3:]}" in known:
        return f"__{name[3:]}"
    return name[:-1] if name.endswith("_") and not name.endswith("__") else name


def is_reflected(name: str) -> bool:
    """Whether a method is that of the right operand: ``__radd__``."""
    return name == "rsub" or (name.startswith("__r") and name[3:-2] in _REFLECTED)


_REFLECTED = names("add sub mul div truediv floordiv mod pow matmul and or xor lshift rshift")
