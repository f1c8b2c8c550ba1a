"""Named columns as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any


def as_csv(columns: Mapping[str, Sequence[float] | Any]) -> bytes:
    """The columns, all of one length, under their names."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(columns)
    printed = [[f"{number:.6g}" for number in column] for column in columns.values()]
    rows.writerows(zip(*printed, strict=True))
    return text.getvalue().encode()
