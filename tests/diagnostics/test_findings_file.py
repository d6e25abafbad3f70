"""What a process found is in its file as it was written last, whatever became of the process."""

import os
import pickle
from pathlib import Path

import pytest

import promoarray as pa
from promoarray.diagnostics.run.task import Findings, found, new_file, write
from promoarray.diagnostics.shadow.divergence import LazyAnswers
from promoarray.promotion.policy import Policy


def read(folder: Path) -> list[str]:
    return [each.run for each in found(str(folder), os.getpid())]


def test_what_is_written_last_counts(tmp_path: Path) -> None:
    path = new_file(str(tmp_path))
    assert read(tmp_path) == []
    for run in ("numpy@2", "torch@2.13"):
        write(path, Findings(run))
    assert read(tmp_path) == ["torch@2.13"]


def test_what_a_killed_process_had_begun_to_write_does_not_count(tmp_path: Path) -> None:
    path = Path(new_file(str(tmp_path)))
    write(str(path), Findings("numpy@2"))
    first = path.stat().st_size
    write(str(path), Findings("torch@2.13"))
    written = path.read_bytes()
    for size in range(len(written)):
        path.write_bytes(written[:size])
        assert read(tmp_path) == (["numpy@2"] if size >= first else []), size


def test_a_file_that_has_become_long_begins_anew(tmp_path: Path) -> None:
    path = new_file(str(tmp_path))
    for n in range(5):
        write(path, Findings(str(n), message="x" * 400_000))
        assert read(tmp_path) == [str(n)]
        assert os.path.getsize(path) < 1_300_000
    assert os.listdir(tmp_path) == [os.path.basename(path)]


def test_a_place_is_written_once_and_its_count_each_time(tmp_path: Path) -> None:
    path, known, sizes = new_file(str(tmp_path)), 0, []
    x, y = pa.asarray([1], dtype=pa.int8), pa.asarray([2], dtype=pa.uint8)
    with pa.shadow("torch") as report:
        for operation in (pa.add, pa.multiply, pa.subtract):
            for other in (1.5, 2.5, y):  # the second passes the place of the first
                operation(x, other)
                before = os.path.getsize(path)
                write(path, Findings("numpy@2", report), known)
                known = report.differing
                sizes.append(os.path.getsize(path) - before)
                (read,) = found(str(tmp_path), os.getpid())
                assert read.report is not None
                assert read.report.to_dict() == report.to_dict()
    assert known == 3
    assert max(sizes[1:3]) < min(sizes[0], sizes[3], sizes[6])


def test_places_that_two_threads_have_written_are_there_once(tmp_path: Path) -> None:
    path = new_file(str(tmp_path))
    with pa.shadow("torch") as report:
        for operation in (pa.add, pa.multiply, pa.subtract):
            operation(pa.asarray([1], dtype=pa.int8), 1.5)
            write(path, Findings("numpy@2", report), min(1, report.differing - 1))
    (read,) = found(str(tmp_path), os.getpid())
    assert read.report is not None
    assert read.report.to_dict() == report.to_dict()


def test_a_long_file_that_begins_anew_has_the_places_known_before(tmp_path: Path) -> None:
    path = new_file(str(tmp_path))
    with pa.shadow("torch") as report:
        pa.asarray([1], dtype=pa.int8) / 2
    for known in (0, 1, 1, 1):
        write(path, Findings("numpy@2", report, message="x" * 400_000), known)
        (read,) = found(str(tmp_path), os.getpid())
        assert read.report is not None
        assert read.report.to_dict() == report.to_dict()


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
    assert isinstance(answers, LazyAnswers) == registered
    assert dict(answers) == dict(divergence.answers)
    assert [*answers] == [*divergence.answers]
