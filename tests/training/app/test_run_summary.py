"""The sentence about a run's curves, in Node, on small made-up curves and on the committed run."""

import csv
import math

import pytest

from tests import ROOT

pytestmark = pytest.mark.browser

SCRIPT = """
import { describeRun } from "./run_summary.js";
answer = describeRun(asked);
"""
WAVE = [0.05, -0.05, 0.0, 0.04, -0.04]  # noise of a point


@pytest.fixture
def describe(run_js):
    """Return a function from the columns of a curve to the sentence."""

    def describe(history, running=False):
        text = run_js(SCRIPT, history=history, running=running)
        return text.replace("\N{MINUS SIGN}", "-")

    return describe


def noisy(values):
    return [value + WAVE[place % len(WAVE)] for place, value in enumerate(values)]


def ramp(start, end, count):
    return [start + (end - start) * place / (count - 1) for place in range(count)]


def test_noise_alone_is_no_change(describe):
    wild = [(-1) ** place * 0.9 * math.cos(place) for place in range(80)]
    assert describe({"curve/material": wild}).startswith("No clear change: ")


def test_rise_is_learning_with_its_generation(describe):
    risen = noisy([*ramp(-1.0, 0.6, 20), *[0.6] * 60])
    text = describe({"curve/material": risen}, running=True)
    assert text.startswith("The parents learn: from -0.95 to 0.60 a game against the piece counter")
    assert ", so far, most of it by generation " in text
    assert 20 <= int(text.rstrip(".").split()[-1]) <= 40


def test_fall_is_unlearning_from_where_it_begins(describe):
    fallen = noisy([*[0.6] * 100, *ramp(0.6, -0.6, 100)])
    text = describe({"curve/material": fallen})
    assert text.startswith("The parents unlearn from about generation ")
    assert 100 <= int(text.split("generation ")[1].split()[0]) <= 135
    assert "Meanwhile" not in text


def test_steps_and_saturation_are_named_if_they_have_changed(describe):
    history = {
        "curve/material": noisy([0.5] * 40),
        "step/mean": ramp(0.05, 0.2, 40),
        "champion/saturated": ramp(0.0, 0.8, 40),
    }
    assert describe(history).endswith(
        " Meanwhile the step sizes grow from 0.05 to 0.18, and the champion's output saturates: "
        "71 % of the test positions are beyond ±0.99."
    )
    history["step/mean"] = ramp(0.05, 0.01, 40)
    history["champion/saturated"] = [0.5] * 40  # from the start on
    assert describe(history).endswith(" Meanwhile the step sizes shrink from 0.05 to 0.015.")
    history["step/mean"] = ramp(0.05, 0.06, 40)
    assert "Meanwhile" not in describe(history)


@pytest.mark.parametrize(
    ("history", "words"),
    [
        ({}, ""),
        ({"curve/material": [None, None]}, ""),
        (
            {"curve/material": [0.1, 0.9]},
            "There are too few points of the curve yet to say what it shows: 2 of 5.",
        ),
    ],
)
def test_few_points_say_nothing(describe, history, words):
    assert describe(history) == words


def test_committed_run_unlearns_while_its_output_saturates(describe):
    with (ROOT / "docs" / "runs" / "blondie24-2001-seed-0.csv").open() as file:
        rows = list(csv.DictReader(file))
    columns = {name: [float(row[name]) for row in rows] for name in rows[0]}
    history = {
        name: [None if math.isnan(number) else number for number in column]
        for name, column in columns.items()
    }
    assert describe(history) == (
        "The parents unlearn from about generation 417 on: from 0.85 to 0.33 a game against the "
        "piece counter. Meanwhile the step sizes grow from 0.05 to 0.18, and the champion's output "
        "saturates: 70 % of the test positions are beyond ±0.99."
    )
    early = {name: column[:100] for name, column in history.items()}
    assert describe(early).startswith("The parents learn: from -0.47 to 0.79 a game")
