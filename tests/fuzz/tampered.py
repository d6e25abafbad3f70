"""Arrays that are changed behind our back, and assignments to what is read from.

An ndarray's dtype, shape and strides can be set at any time: in the one that was wrapped, in what
``np.asarray`` handed out, in the buffer itself. The first two change nothing of ours; of the last
any error will do, but nothing is read or written beyond its memory. Targets that overlap with what
is assigned get what they would get from a copy.
"""

from __future__ import annotations

import operator
import tempfile
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator

import promoarray as pa
from fuzz.layouts import OPERATIONS, STORED, answer, bits, numbers, one_of
from promoarray import dtypes


class _Lying(np.ndarray):
    """A subclass that says what is not so."""

    dtype = np.dtype(np.float64)  # type: ignore[assignment]
    shape = (1 << 20,)  # type: ignore[assignment]
    nbytes = 1 << 23
    strides = (8,)  # type: ignore[assignment]
    size = 1 << 20
    ndim = 3


class _Interface:
    """An object that is read by ``__array_interface__``."""

    def __init__(self, array: Any) -> None:
        self.kept, self.__array_interface__ = array, array.__array_interface__


def _given(random: Generator, plain: Any) -> Any:
    """The same numbers in another object."""
    way = int(random.integers(5))
    if way == 0:
        return plain.view(_Lying)
    if way == 1 and plain.dtype.isbuiltin == 1:
        return _Interface(plain)
    if way == 2 and plain.nbytes:
        with tempfile.TemporaryDirectory() as folder:  # what is mapped stays readable
            path = Path(folder) / "numbers"
            path.write_bytes(plain.tobytes())
            return np.memmap(path, plain.dtype, "r+", shape=plain.shape)
    if way == 3 and plain.nbytes:
        return np.ndarray(plain.shape, plain.dtype, plain, strides=(0,))
    return plain


def _tamper(random: Generator, array: Any) -> None:
    """Give an ndarray another dtype, shape or strides."""
    way = int(random.integers(4))
    with suppress(ValueError, TypeError, AttributeError), warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        if way == 0:
            array.dtype = one_of(random, STORED).storage
        elif way == 1:
            array.shape = (array.size, 1)
        elif way == 2:
            array.strides = tuple(-s for s in array.strides)
        else:
            array.dtype = array.dtype.newbyteorder()


def once(random: Generator) -> None:
    """One operation between two changes, or one assignment."""
    shape = (int(random.integers(0, 40_000 if random.random() < 0.1 else 600)),)
    first, second = one_of(random, STORED), one_of(random, STORED)
    plain = [numbers(random, shape, dtype) for dtype in (first, second)]
    with pa.policy(one_of(random, pa.list_policies())), np.errstate(all="ignore"):
        if random.random() < 0.4:
            _overlap(random, plain[0], first)
            return
        given = [_given(random, array) for array in plain]
        try:
            x, y = map(pa.asarray, given)
        except TypeError:
            return
        function = one_of(random, OPERATIONS)
        wanted = answer(function, x, y)
        for array in (*given, *map(np.asarray, (x, y))):
            if type(array) in (np.ndarray, np.memmap):
                _tamper(random, array)
        exact = dtypes.Kind.COMPLEX not in (first.kind, second.kind)
        found = answer(function, x, y)
        assert not exact or found == wanted, (pa.get_policy().name, first, second, shape)
        _tamper(random, x._buffer)
        if x._buffer.ndim < 2 or x._buffer.size < 1000:  # a column and a row make gigabytes
            answer(function, x, y)


def _overlap(random: Generator, plain: Any, dtype: dtypes.DType) -> None:
    """Assign a part of an array to another part of it, with an operation or without."""
    half = plain.size // 2
    wholes = [slice(None), slice(None, None, -1)]
    halves = [slice(half), slice(half, 2 * half), slice(0, 2 * half, 2), slice(1, 2 * half, 2)]
    parts = one_of(random, [wholes, halves])
    at, source = one_of(random, parts), one_of(random, parts)
    functions = [None, operator.iadd, operator.isub]
    if dtype.kind is not dtypes.Kind.COMPLEX:
        # NumPy's own loops multiply complex numbers with other bits where strides are negative.
        functions.append(operator.imul)
    function = one_of(random, functions)
    outcomes = []
    for apart in (True, False):
        x = pa.asarray(plain.copy())
        value = x[source]
        if apart:
            value = pa.asarray(value, copy=True)
        try:
            if function is None:
                x[at] = value
            else:
                function(x[at], value)
        except Exception as error:
            outcomes.append((type(error).__name__, bits(x._buffer)))
        else:
            outcomes.append(("", bits(x._buffer)))
    assert outcomes[0] == outcomes[1], (dtype, at, source, function)
