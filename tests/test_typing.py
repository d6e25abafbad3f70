"""What type checkers say of a user's program."""

from __future__ import annotations

from pathlib import Path

import pytest

CONSUMER = Path(__file__).with_name("typed_consumer.py")


@pytest.mark.slow
def test_mypy_knows_the_types_of_a_users_program(tmp_path: Path) -> None:
    api = pytest.importorskip("mypy.api")
    said, errors, status = api.run(["--strict", "--cache-dir", str(tmp_path), str(CONSUMER)])
    assert (status, errors) == (0, ""), said + errors
