"""A file with one JSON object a line, sorted, and replaced as a whole."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from checkers_env.files import read_regular, write_atomically

Row = dict[str, Any]


class JsonLines:
    """The rows of a file in memory; the file need not exist, a damaged line raises ValueError.

    `order` gives a row's sort key, which no two rows share. `check` raises ValueError for an
    inconsistent row.
    """

    def __init__(
        self,
        path: Path,
        order: Callable[[Row], tuple[Any, ...]],
        check: Callable[[Row], None],
    ) -> None:
        self._path, self._order, self._check = path, order, check
        self._stamp: tuple[int, ...] | None = None
        self._texts: dict[tuple[Any, ...], str] = {}
        self._rows: dict[tuple[Any, ...], Row] = {}
        self.refresh()

    def get(self, row: Row) -> Row | None:
        """Return the row with the sort key of `row`, which may lack the results."""
        return self._rows.get(self._order(row))

    def refresh(self) -> None:
        """Read the file again if it has changed."""
        stamp = self._stamp_now()
        if stamp == self._stamp:
            return
        texts, rows = {}, {}
        for number, line in enumerate(read_regular(self._path).splitlines() if stamp else (), 1):
            try:
                row = json.loads(line)
                self._check(row)
                place = self._order(row)
                if place in rows:
                    raise ValueError("another line is about the same job")
                texts[place], rows[place] = line.decode(), row
            except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
                raise ValueError(
                    f"line {number} of {str(self._path)!r} is damaged ({error}): restore it, or "
                    "delete it to do its job again"
                ) from None
        self._stamp, self._texts, self._rows = stamp, texts, rows

    def put(self, rows: Iterable[Row], drop: Callable[[Row], bool] | None = None) -> None:
        """Write rows, which replace those with the same sort key, after dropping others."""
        if drop is not None:
            self._rows = {place: row for place, row in self._rows.items() if not drop(row)}
        for row in rows:
            place = self._order(row)
            self._texts[place] = json.dumps(row, separators=(",", ":"), allow_nan=False)
            self._rows[place] = json.loads(self._texts[place])
        text = "".join(f"{self._texts[place]}\n" for place in sorted(self._rows))
        write_atomically(self._path, text.encode())
        self._stamp = self._stamp_now()

    def _stamp_now(self) -> tuple[int, ...] | None:
        try:
            stat = self._path.stat()
        except FileNotFoundError:
            return None
        return stat.st_ino, stat.st_mtime_ns, stat.st_size


def check_fields(row: Row, fields: Mapping[str, type]) -> None:
    """Raise ValueError unless a row has exactly these fields, of these types."""
    if row.keys() != fields.keys():
        raise ValueError(f"its fields are {', '.join(row)}, not {', '.join(fields)}")
    for name, kind in fields.items():
        if type(row[name]) is not kind:
            raise ValueError(f"its {name} is {row[name]!r:.40}, not of type {kind.__name__}")


def keyed_lines(path: Path, names: int, fields: Mapping[str, type]) -> JsonLines:
    """Return the lines of a file, whose key is so many of the first fields."""
    key = [*fields][:names]
    return JsonLines(
        path, lambda row: tuple(row[it] for it in key), lambda row: check_fields(row, fields)
    )
