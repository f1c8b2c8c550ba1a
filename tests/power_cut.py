"""A disk that loses what was not flushed: what a folder holds after a power cut."""

import os
import stat
from pathlib import Path


class Disk:
    """The worst image of a folder that a power cut may leave, after each flush (``os.fsync``).

    A file has the bytes of its last flush, or none. A name is there if its folder was flushed since
    it was given; a flushed folder also forgets the names that are gone. An image has a file's bytes
    by its path, and None for a folder.
    """

    def __init__(self, folder, monkeypatch):
        self.folder, self.images = Path(folder), [{}]
        self._names = {os.stat(folder).st_ino: {}}
        self._contents = {}
        self._fsync = os.fsync
        monkeypatch.setattr(os, "fsync", self._flush)

    def _flush(self, descriptor):
        self._fsync(descriptor)
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            self._names[status.st_ino] = {
                entry.name: (entry.inode(), entry.is_dir()) for entry in os.scandir(descriptor)
            }
        else:
            with open(f"/proc/self/fd/{descriptor}", "rb") as file:
                self._contents[status.st_ino] = file.read()
        image = dict(self._files(os.stat(self.folder).st_ino, Path()))
        if image != self.images[-1]:
            self.images.append(image)

    def _files(self, folder, path):
        for name, (inode, is_folder) in self._names.get(folder, {}).items():
            if is_folder:
                yield path / name, None
                yield from self._files(inode, path / name)
            else:
                yield path / name, self._contents.get(inode, b"")


def restore(image, folder):
    """Write an image into an empty folder."""
    for path, content in image.items():
        if content is None:
            (folder / path).mkdir()
        else:
            (folder / path).write_bytes(content)
