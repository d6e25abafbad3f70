"""tinygrad: what conformance/golden/tinygrad.txt does not say. Recorded with tinygrad 0.14.0."""

from __future__ import annotations

import numpy as np
import pytest

import promoarray as pa


def test_in_place_keeps_the_dtype_or_refuses():
    with pa.policy("tinygrad"):
        x = pa.asarray([1, 2], dtype=pa.int8)
        with pytest.raises(pa.PromotionError, match="may not be written into int8"):
            x += 1.5
        x += 300
        assert x.dtype is pa.int8
        assert np.asarray(x).tolist() == [45, 46]


def test_comparison_takes_an_int_as_it_is():
    with pa.policy("tinygrad"):
        x = pa.asarray([100, -100], dtype=pa.int8)
        assert np.asarray(x < 300).tolist() == [True, True]
        assert np.asarray(x == 356).tolist() == [False, False]


def test_there_are_no_complex_numbers():
    with pa.policy("tinygrad"), pytest.raises(pa.PromotionError, match="no complex numbers"):
        pa.ones(1) * 1j
