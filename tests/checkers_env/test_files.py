"""Reads that never block, and permissions of written files."""

import errno
import os
import re
from pathlib import Path

import pytest

from checkers_env.files import (
    check_folder,
    check_output,
    open_regular,
    read_regular,
    write_atomically,
)


def make_pipe(folder):
    os.mkfifo(folder / "pipe")
    return folder / "pipe"


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such files")
@pytest.mark.parametrize(
    ("make", "number"),
    [
        (lambda folder: folder, errno.EISDIR),
        (lambda folder: folder / ("a" * 5000), errno.ENAMETOOLONG),
        (lambda folder: folder / "missing", errno.ENOENT),
    ],
)
def test_other_paths_are_refused_by_name(tmp_path, make, number):
    path = make(tmp_path)
    with pytest.raises(OSError, match=re.escape(repr(str(path)))) as caught:
        open_regular(path)
    assert caught.value.errno == number


def test_regular_file_is_read_whole_and_through_a_link(tmp_path):
    content = bytes(range(256)) * 1000
    (tmp_path / "file").write_bytes(content)
    (tmp_path / "link").symlink_to("file")
    assert read_regular(tmp_path / "link") == content


@pytest.mark.skipif(os.name == "nt", reason="Windows has other permissions")
def test_file_has_the_requested_permissions(tmp_path):
    before = os.umask(0o022)
    try:
        write_atomically(tmp_path / "usual", b"")
        write_atomically(tmp_path / "own", b"", 0o600)
    finally:
        os.umask(before)
    assert (tmp_path / "usual").stat().st_mode & 0o777 == 0o644
    assert (tmp_path / "own").stat().st_mode & 0o777 == 0o600


def test_output_that_cannot_be_written_is_refused_before_the_work(tmp_path):
    (tmp_path / "file").touch()
    for path in (tmp_path / "file", tmp_path / "new"):
        check_output("--json", path)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    no_file = "--json is a file in a folder that exists, not"
    for path in (tmp_path, tmp_path / "no" / "x", tmp_path / "file" / "x", make_pipe(tmp_path)):
        with pytest.raises(ValueError, match=no_file):
            check_output("--json", path)
    with pytest.raises(ValueError, match="--json '/proc/x' cannot be written: "):
        check_output("--json", Path("/proc/x"))


def test_file_above_a_folder_is_named(tmp_path):
    (tmp_path / "file").touch()
    for path in (tmp_path, tmp_path / "new" / "folder"):
        check_folder("--out", path)
    with pytest.raises(ValueError, match=r"--out must be a folder, not the file '.*/file'"):
        check_folder("--out", tmp_path / "file")
    with pytest.raises(ValueError, match=r"--out must be a folder, not below the file '.*/file'"):
        check_folder("--out", tmp_path / "file" / "a" / "b")
