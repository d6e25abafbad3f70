"""How tests are dealt out to processes: a group goes to one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

RUN = """
<testsuites><testsuite>
<testcase classname="tests.io.test_a" name="test_one[torch@2.11-cuda]@one]"><skipped/></testcase>
<testcase classname="tests.io.test_a" name="test_two@two"><skipped/></testcase>
<testcase classname="tests.io.test_a" name="test_three[torch@2.11-cuda]"><skipped/></testcase>
<testcase classname="tests.io.test_a" name="test_four"/>
</testsuite></testsuites>
"""


@pytest.mark.xdist_group("one process")
def test_a_group_goes_to_one_process(request: pytest.FixtureRequest) -> None:
    if not hasattr(request.config, "workerinput"):
        pytest.skip("tests run in one process")
    assert request.node.nodeid.endswith("test_a_group_goes_to_one_process@one process")


def test_what_was_skipped_is_named_without_its_group(tmp_path: Path) -> None:
    (tmp_path / "tests.xml").write_text(RUN)
    command = [sys.executable, str(ROOT / ".ci/skipped"), str(tmp_path / "tests.xml")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [
        "tests/io/test_a.py::test_one[torch@2.11-cuda]",
        "tests/io/test_a.py::test_two",
        "tests/io/test_a.py::test_three[torch@2.11-cuda]",
    ]
