"""The refusals of frameworks, as they were asked: nearly all are explained."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("conformance.refusals", reason="the conformance tools are not beside the tests")

from conformance.refusals import GOLDEN, read, share

FRAMEWORKS = sorted(path.stem for path in GOLDEN.glob("*.txt"))


def path_of(framework: str) -> Path:
    return GOLDEN / f"{framework}.txt"


def test_there_is_a_file_of_each_framework() -> None:
    assert FRAMEWORKS == ["jax", "paddle", "tensorflow", "torch"]


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_refusals_are_explained_with_a_change_of_dtypes_that_runs(framework: str) -> None:
    found = read(path_of(framework))
    for held_out in (False, True):
        explained, every = share(found, held_out=held_out)
        assert every > 300
        assert explained / every > 0.95


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_the_file_says_its_version_and_is_small(framework: str) -> None:
    text = path_of(framework).read_text()
    assert text.startswith(f"# {framework}: ")
    assert len(text) < 300_000
