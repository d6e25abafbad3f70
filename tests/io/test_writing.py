"""Where `save` writes: whole or not at all, and what was there stays what it was."""

from __future__ import annotations

import errno
import io
import os
import stat
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
import pytest

import promoarray as pa
from promoarray.io import writing

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="asks Linux for its files")
SUPERUSER = hasattr(os, "getuid") and os.getuid() == 0


@pytest.fixture(autouse=True)
def _tidy(tmp_path: Path) -> Iterator[None]:
    """No temporary file stays, whatever happens."""
    yield
    assert not list(tmp_path.glob("**/*.tmp"))


def test_a_pipe_and_a_device_are_written_to_and_stay(tmp_path: Path) -> None:
    pipe, read = tmp_path / "pipe", {}
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.update(pa.load(pipe)))
    reader.start()
    pa.save(pipe, a=[1.5], b=["x"])
    reader.join(10)
    assert (read["a"].tolist(), read["b"].tolist()) == ([1.5], ["x"])
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    pa.save("/dev/null", a=[1.5])
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    with pytest.raises(OSError, match="No space left"):
        pa.save("/dev/full", a=[1.5])


def test_an_open_file_is_written_to_by_the_path_of_its_descriptor(tmp_path: Path) -> None:
    with open(tmp_path / "x.npz", "w+b") as file:
        os.unlink(tmp_path / "x.npz")
        pa.save(f"/proc/self/fd/{file.fileno()}", a=[1, 2])
        file.seek(0)
        assert pa.load(file)["a"].tolist() == [1, 2]
    assert os.listdir(tmp_path) == []


def test_every_name_of_a_file_keeps_leading_to_it(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    pa.save(first, a=np.arange(1000))
    os.link(first, second)
    for values in ([1], list(range(5000)), [2]):
        pa.save(first, a=values)
        assert os.path.samefile(first, second)
        assert pa.load(second)["a"].tolist() == values
    (tmp_path / "to").symlink_to("second")
    pa.save(tmp_path / "to", a=3)
    assert pa.load(first)["a"].item() == 3
    assert (tmp_path / "to").is_symlink()


def test_a_link_to_no_file_yet_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("target")
    pa.save(tmp_path / "link", a=1)
    assert (tmp_path / "link").is_symlink()
    assert pa.load(tmp_path / "target")["a"].item() == 1


def test_mode_and_attributes_stay_and_the_time_does_not(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    pa.save(path, a=1)
    path.chmod(0o4640)
    os.utime(path, (0, 0))
    try:
        os.setxattr(path, "user.note", b"kept")
    except OSError:
        kept = []  # a file system without them
    else:
        kept = ["user.note"]
    pa.save(path, a=2)
    assert stat.S_IMODE(path.stat().st_mode) == 0o4640
    assert [name for name in os.listxattr(path) if name == "user.note"] == kept
    assert path.stat().st_mtime > 1e9


@pytest.mark.skipif(not SUPERUSER, reason="only root gives files away")
def test_the_owner_stays(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    pa.save(path, a=1)
    os.chown(path, 1234, 1235)
    pa.save(path, a=2)
    assert (path.stat().st_uid, path.stat().st_gid) == (1234, 1235)


def refuse(*arguments: Any, **options: Any) -> None:
    raise PermissionError(errno.EPERM, "not yours")


def test_a_file_that_cannot_be_given_to_its_owner_is_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.npz"
    pa.save(path, a=1)
    before = path.stat().st_ino
    monkeypatch.setattr(os, "chown", refuse)
    pa.save(path, a=2)
    assert pa.load(path)["a"].item() == 2
    assert path.stat().st_ino == before


def test_in_a_folder_that_takes_no_new_files_an_old_one_is_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.npz"
    pa.save(path, a=1)
    monkeypatch.setattr(writing, "_new", refuse)
    pa.save(path, a=2)
    assert pa.load(path)["a"].item() == 2
    with pytest.raises(PermissionError) as raised:
        pa.save(tmp_path / "new.npz", a=2)
    assert raised.value.filename == str(tmp_path / "new.npz")


def test_a_file_that_is_read_only_is_refused() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.npz"
        pa.save(path, a=1)
        path.chmod(0o444)
        Path(folder).chmod(0o777)
        user = os.geteuid()
        os.seteuid(user or 1234)  # root may write anywhere
        try:
            with pytest.raises(PermissionError) as raised:
                pa.save(path, a=2)
        finally:
            os.seteuid(user)
        assert raised.value.filename == str(path)
        assert pa.load(path)["a"].item() == 1
        assert os.listdir(folder) == ["x.npz"]


@pytest.mark.parametrize("linked", [False, True])
@pytest.mark.parametrize(
    "error", [KeyboardInterrupt(), OSError(errno.ENOSPC, "full"), ValueError()]
)
def test_whatever_is_raised_the_old_content_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Any, linked: bool
) -> None:
    path = tmp_path / "x.npz"
    pa.save(path, a=1)
    if linked:
        os.link(path, tmp_path / "also")

    def fails(file: IO[bytes], *arguments: Any, **options: Any) -> None:
        file.write(b"half")
        raise error

    monkeypatch.setattr(np.lib.format, "write_array", fails)
    with pytest.raises(type(error)):
        pa.save(path, a=2)
    assert pa.load(path)["a"].item() == 1


def test_a_file_of_two_names_is_not_begun_without_room_for_all_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.npz"
    pa.save(path, a=1)
    before = path.read_bytes()
    os.link(path, tmp_path / "also")

    def full(*arguments: Any) -> None:
        raise OSError(errno.ENOSPC, "no space left")

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(OSError, match="no space left"):
        pa.save(path, a=np.arange(10_000))
    assert path.read_bytes() == before


def test_an_interrupt_while_a_file_of_two_names_is_copied_finds_it_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.npz"
    pa.save(path, a=1)
    os.link(path, tmp_path / "also")
    copy, calls = writing.shutil.copyfileobj, []

    def interrupted(source: IO[bytes], target: IO[bytes]) -> None:
        calls.append(target.write(source.read(20)))
        if len(calls) == 1:
            raise KeyboardInterrupt
        source.seek(0)
        target.seek(0)
        copy(source, target)

    monkeypatch.setattr(writing.shutil, "copyfileobj", interrupted)
    with pytest.raises(KeyboardInterrupt):
        pa.save(path, a=[2, 3])
    assert pa.load(path)["a"].tolist() == [2, 3]


class Named(os.PathLike[bytes]):
    def __init__(self, path: Path) -> None:
        self.path = path

    def __fspath__(self) -> bytes:
        return os.fsencode(self.path)


def test_paths_of_any_kind_and_of_the_longest_name(tmp_path: Path) -> None:
    for path in (tmp_path / "é", Named(tmp_path / "of bytes"), str(tmp_path / ("n" * 255))):
        pa.save(path, a=1)
        pa.save(path, a=2)
        assert pa.load(path)["a"].item() == 2


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("", IsADirectoryError),
        ("new/", IsADirectoryError),
        ("none/x.npz", FileNotFoundError),
        ("none/..", IsADirectoryError),
        ("file/x.npz", NotADirectoryError),
        ("loop", OSError),
        ("n" * 256, OSError),
        ("a\0b", ValueError),
    ],
)
def test_what_is_no_place_for_a_file_is_refused(
    tmp_path: Path, name: str, error: type[Exception]
) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(error) as raised:
        pa.save(f"{tmp_path}/{name}", a=1)
    if isinstance(raised.value, OSError):
        assert raised.value.filename == f"{tmp_path}/{name}"
    assert sorted(os.listdir(tmp_path)) == ["file", "loop"]


def test_no_path_at_all_is_not_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError):
        pa.save("", a=1)
    assert os.listdir(tmp_path) == []


class OneWay(io.RawIOBase):
    """What can be neither asked where it is nor moved, such as a socket's file."""

    def __init__(self, data: bytes = b"") -> None:
        self.data = io.BytesIO(data)

    def writable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self.data.readinto(buffer)

    def write(self, data: Any) -> int:
        return self.data.write(data)


def test_file_objects_that_go_one_way_only() -> None:
    file = OneWay()
    pa.save(file, a=[1.5], b=["x"])  # type: ignore[arg-type]
    back = pa.load(OneWay(file.data.getvalue()))  # type: ignore[arg-type]
    assert (back["a"].tolist(), back["b"].tolist()) == ([1.5], ["x"])


@pytest.mark.parametrize("source", [OneWay(b"x" * 99), "/dev/zero"], ids=["object", "device"])
def test_what_is_no_zip_is_not_read_to_its_end(source: Any) -> None:
    with pytest.raises(ValueError, match="not a zip file"):
        pa.load(source)
