"""One session at a time in a folder."""

import pytest

from checkers_env.files import write_atomically
from training.runtime.run_folder import LOCK, lock_run_folder


def test_folder_allows_one_session_at_a_time(tmp_path):
    folder = tmp_path / "a" / "folder"
    with lock_run_folder(folder, "go away"):
        message = "another session is at work in .*folder': wait for it, or go away"
        with pytest.raises(ValueError, match=message), lock_run_folder(folder, "go away"):
            pass
        (folder / "result").write_text("kept")
    with lock_run_folder(folder, "go away"):
        assert (folder / "result").read_text() == "kept"


def test_empty_folder_is_removed(tmp_path):
    with lock_run_folder(tmp_path / "new" / "empty", ""):
        assert (tmp_path / "new" / "empty" / LOCK).exists()
    assert not list(tmp_path.iterdir())
    with pytest.raises(KeyError), lock_run_folder(tmp_path / "empty", ""):
        raise KeyError
    assert not list(tmp_path.iterdir())


def test_only_half_written_files_are_removed(tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr("pathlib.Path.unlink", lambda *_, **__: None)
        patch.setattr("pathlib.Path.replace", lambda *_: None)  # as if killed before
        write_atomically(tmp_path / "curve.csv", b"half")
    (left,) = tmp_path.iterdir()
    others = {tmp_path / name for name in (".mine.tmp", "curve.csv", "a.0123456789abcdef.tmp")}
    for path in others:
        path.write_text("kept")
    with lock_run_folder(tmp_path, ""):
        assert not left.exists()
        assert {*tmp_path.iterdir()} == others | {tmp_path / LOCK}
