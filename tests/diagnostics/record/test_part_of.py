"""A step of a function that stands for several operations names the function."""

from __future__ import annotations

import pytest

import promoarray as pa
from promoarray.diagnostics.shadow.place import as_data, spelled


def test_a_step_names_the_function_that_it_is_in() -> None:
    paddle = pytest.importorskip("paddle")
    with pa.record("paddle", "torch") as report:
        x = paddle.to_tensor([1, 2])
        paddle.median(x)
        paddle.mean(x)
    places = {spelled(each): as_data(each)["part_of"] for each in report.divergences}
    assert places == {"mean(int64), in median": "median", "mean(int64)": None}


def test_angles_of_integers_are_floats_everywhere() -> None:
    paddle = pytest.importorskip("paddle")
    with pa.record("paddle", "torch") as report:
        made = paddle.deg2rad(paddle.to_tensor([1, 2])).dtype
    assert made == paddle.float32
    assert not report.divergences
