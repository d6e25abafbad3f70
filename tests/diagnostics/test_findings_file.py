"""What a process found is in its file as it was written last, whatever became of the process."""

import os
import pickle
from pathlib import Path

import pytest

import promoarray as pa
from promoarray.diagnostics.run.task import Findings, found, new_file, write
from promoarray.promotion.policy import Policy


def read(folder: Path) -> list[str]:
    return [each.run for each in found(str(folder), os.getpid())]


def test_what_is_written_last_counts(tmp_path: Path) -> None:
    path = new_file(str(tmp_path))
    assert read(tmp_path) == []
    for run in ("numpy@2", "torch@2.13"):
        write(path, Findings(run))
    assert read(tmp_path) == ["torch@2.13"]
    assert os.listdir(tmp_path) == [os.path.basename(path)]


def test_what_a_killed_process_had_begun_to_write_does_not_count(tmp_path: Path) -> None:
    path = new_file(str(tmp_path))
    write(path, Findings("numpy@2"))
    Path(f"{path}.part").write_bytes(pickle.dumps(Findings("torch@2.13"))[:20])
    assert read(tmp_path) == ["numpy@2"]


def test_what_cannot_be_written_leaves_what_was_there(tmp_path: Path) -> None:
    path = new_file(str(tmp_path))
    write(path, Findings("numpy@2"))
    Path(f"{path}.part").mkdir()
    with pytest.raises(OSError):  # noqa: PT011 (of each system another)
        write(path, Findings("torch@2.13"))
    assert read(tmp_path) == ["numpy@2"]


def test_a_report_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = new_file(str(tmp_path))
    with pa.shadow("torch") as report:
        for operation in (pa.add, pa.multiply, pa.subtract):
            operation(pa.asarray([1], dtype=pa.int8), 1.5)
            write(path, Findings("numpy@2", report))
            (kept,) = found(str(tmp_path), os.getpid())
            assert kept.report is not None
            assert kept.report.to_dict() == report.to_dict()


@pytest.mark.parametrize("registered", [True, False])
def test_answers_are_read_where_the_policy_of_the_run_is_not_known(registered: bool) -> None:
    run = (
        pa.get_policy()
        if registered
        else Policy.from_table("nowhere", "i8 f32\ni8 i8 f32\nf32 f32 f32")
    )
    with pa.policy(run), pa.shadow("aclnn@8.5", "numpy@1") as report:
        pa.asarray([1], dtype=pa.int8) / pa.asarray([2], dtype=pa.int8)
    (divergence,) = report.divergences
    answers = pickle.loads(pickle.dumps(divergence)).answers
    assert [*answers] == [*divergence.answers]
    for policy, answer in divergence.answers.items():
        mine = answers[policy]
        assert (mine.dtype, mine.origin) == (answer.dtype, answer.origin)
