"""The ten digits as strokes, for numbers in an image."""

from __future__ import annotations

from checkers_env.picture import Label, Line

# The points of each digit on a grid of 5 by 7: column and row, from the upper left.
DIGITS = (
    "10 30 41 45 36 16 05 01 10",
    "02 20 26",
    "01 10 30 41 42 06 46",
    "00 40 22 32 43 45 36 16 05",
    "36 30 04 44",
    "40 00 02 32 43 45 36 16 05",
    "30 10 01 05 16 36 45 43 32 02",
    "00 40 16",
    "13 33 42 41 30 10 01 02 13 04 05 16 36 45 44 33",
    "16 36 45 41 30 10 01 03 14 44",
)
ADVANCE = 5.7  # columns from digit to digit
SLENDER = 0.85  # the width of a column to the height of a row
WEIGHT = 1.1  # of a stroke, in rows


def strokes(label: Label) -> list[Line]:
    """The lines that write a label, a digit each."""
    row = label.height / (6 + WEIGHT)
    column = row * SLENDER
    left, top = label.at[0] + row * WEIGHT / 2, label.at[1] - row * (6 + WEIGHT / 2)
    return [
        Line(
            tuple(
                (left + column * (place * ADVANCE + int(point[0])), top + row * int(point[1]))
                for point in DIGITS[int(digit)].split()
            ),
            row * WEIGHT,
            label.colour,
        )
        for place, digit in enumerate(label.text)
    ]
