"""Arguments that a function accepts, found by its parameters' names and by trying.

Arrays of float32 among them stand for operands: they are what a function is asked with in every
dtype. Whole numbers and truth values stay as they are, such as places and masks.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from itertools import islice, product
from typing import Any, NamedTuple

import numpy as np

from promoarray.diagnostics.calls.tables import names


class Given(NamedTuple):
    """The arguments of one call, its arrays as NumPy's."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    @property
    def operands(self) -> int:
        """How many arrays stand for operands."""
        return sum(is_operand(x) for x in leaves((self.args, self.kwargs)))


def is_operand(x: Any) -> bool:
    """Whether an argument is asked in every dtype."""
    return isinstance(x, np.ndarray) and x.dtype == np.float32


def leaves(x: Any) -> Iterator[Any]:
    """What is in tuples, lists and dicts."""
    if isinstance(x, (tuple, list)):
        for each in x:
            yield from leaves(each)
    elif isinstance(x, dict):
        yield from leaves(tuple(x.values()))
    else:
        yield x


def mapped(function: Callable[[Any], Any], x: Any) -> Any:
    """The same tuples, lists and dicts with other leaves."""
    if isinstance(x, (tuple, list)):
        made = [mapped(function, each) for each in x]
        return made if isinstance(x, list) else tuple(made)
    return {k: mapped(function, v) for k, v in x.items()} if isinstance(x, dict) else function(x)


_SQUARE = np.asarray([[2, 1], [1, 2]], np.float32)
_LINE = np.asarray([1, 2, 3, 4], np.float32)
_IMAGE = np.arange(1, 17, dtype=np.float32).reshape(1, 1, 4, 4).repeat(4, 1)
KINDS: dict[str, np.ndarray[Any, Any]] = {
    "matrix": _SQUARE,
    "line": _LINE,
    "image": _IMAGE,
    "sequence": _IMAGE[0],
    "volume": _IMAGE[:, :, None].repeat(4, 2),
    "points": np.asarray([[1, 2, 3], [3, 1, 2]], np.float32),
    "number": np.asarray(2, np.float32),
}
"""Arrays of the shapes that functions ask for: a positive definite matrix first."""

_PLACES = [np.asarray([0, 1]), np.asarray([[0, 1], [1, 0]]), np.asarray([0, 1, 1, 0]), 0]
_MASKS = [np.asarray([[True, False], [True, True]]), np.asarray([True, False, True, True])]
_SHAPES = [(2, 2), 2, [2, 2], (4,)]
_SIZES = [2, 1, (2, 2), 0.5, [2], (1,)]
_BY_NAME = {
    """axis dim dims axes axis1 dim0 source start_axis""": [0, (0, 1), [0]],
    """axis2 dim1 destination end_axis""": [1],
    """shape size newshape sample_shape output_shape lengths sizes repeat_times repeats reps
    tile_dims new_shape dimensions broadcast_sizes tiling out_shape expand_shape""": _SHAPES,
    """n N k K num M m order deg ord bins lag times chunks groups upscale_factor r offset decimals
    downscale_factor output_size kernel_size num_classes num_samples nbins diagonal sections
    num_or_sections indices_or_sections split_size split_size_or_sections factor bit_width length
    window_length block_size stride strides limit_index slice_size num_segments q total high ngood
    nbad nsample row col num_rows num_columns filter_size kernel_sizes""": _SIZES,
    """index indices idx ids labels label target targets ind i j positions permutation perm pivots
    segment_ids x_indices gather_indices start_indices index_array""": _PLACES,
    "condition mask cond where condlist paddings": _MASKS,
    "pad pad_width padding padding_config": [(1, 1), [1, 1], 1, ((1, 1), (1, 1)), "SAME"],
    """value fill_value min max eps epsilon lower upper low scale loc prob threshold lambd rtol
    atol negative_slope alpha beta lam min_val max_val a_min a_max df dfnum dfden""": [0.5, 1, 2],
    "shift shifts start stop step end num_steps": [1, 2, (1,)],
    "equation subscripts": ["ij,jk", "ij"],
    "key": ["key"],
    "training train inplace is_causal": [True],
    "p dropout_p": [0.5, 2],
    "norm_type": [2.0],
    "mean": [_LINE[:2]],
    "cov": [_SQUARE],
    "func f fun function func1d pyfunc computation": [np.negative],
    "pvals": [[0.5, 0.5]],
    "normalized_shape": [(2,), 2],
}
CANDIDATES = {name: values for text, values in _BY_NAME.items() for name in text.split()}
_LISTED = names("arrays tensors xs seq tup arrs operands sequences x_list input_list")
_LIKELY = names("axes dims perm permutation")
"""Which may also be every axis in some order."""

MOST = 160
"""So many arguments are tried of a function."""


def tried(parameters: list[str]) -> Iterator[Given]:
    """Arguments that a function of these parameters may accept, the likeliest first."""
    return islice(_unique(parameters), MOST)


def _unique(parameters: list[str]) -> Iterator[Given]:
    for array in KINDS.values():
        rows = [_values(name, array) for name in parameters]
        yield from (Given(args, {}) for args in islice(product(*rows), MOST // len(KINDS) + 14))
    others = [
        [*KINDS.values()] if name not in CANDIDATES else _values(name, _SQUARE)
        for name in parameters
    ]
    yield from (Given(args, {}) for args in product(*others))


def _values(name: str, array: np.ndarray[Any, Any]) -> list[Any]:
    if name in _LISTED:
        return [[array, array]]
    if name == "self":  # what stands for it, or an array
        return ["self", array]
    values = CANDIDATES.get(name, [])
    values = [(1, 0), *values] if name in _LIKELY else values
    numbers = [1, 0.5] if not values else []
    return [*values, array, *numbers]


def parameters_of(function: Callable[..., Any], most: int = 3) -> list[list[str]]:
    """The parameters that a function requires; where it does not say, some of any name."""
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        count = getattr(function, "nin", None)
        counts = [count] if count else range(1, most + 1)
        return [["x", *"yzuv"][:n] for n in counts]
    found = [p for p in found if p.name not in ("out", "name")]
    named = [p.name for p in found if p.kind in _POSITIONAL and p.default is p.empty]
    any_ = [p for p in found if p.kind is inspect.Parameter.VAR_POSITIONAL]
    if any_ and not named:
        return [["x", "y", "z"][:n] for n in range(1, most + 1)]
    if any_ and named:
        return [[*named, *"yz"[:n]] for n in range(3)]
    more = [p.name for p in found if p.kind in _POSITIONAL and p.default is not p.empty]
    return [named, [*named, *more[:1]], [*named, *more[:2]]]


_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
