"""A new regime: one file, one preset."""

import importlib.util
from dataclasses import dataclass, replace

import pytest
from rich.console import Console

from tests import ROOT
from training.regimes import REGIMES, SearchSettings, regime_from_config, register
from training.regimes.coevolution import Coevolution
from training.trainer.checkpoint import load_checkpoint
from training.trainer.cli import EVOLVE, TrainingCommand, run_training
from training.trainer.loop import RunConfig
from training.trainer.presets import DEFAULT, PRESETS

EXAMPLE = ROOT / "examples" / "own_regime.py"


def load_example():
    spec = importlib.util.spec_from_file_location("own_regime", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_command_trains_and_resumes_a_preset_in_a_file(tmp_path):
    words = f"{EXAMPLE}:COMMA --regime.parents 2 --regime.depth 1 --regime.max-moves 20".split()
    words += ["--out", str(tmp_path / "run")]
    command = TrainingCommand(EVOLVE, "", DEFAULT)
    try:
        run_training(command, [*words, "--generations", "1"], Console(quiet=True))
        run_training(command, [*words, "--generations", "2", "--resume"], Console(quiet=True))
        checkpoint = load_checkpoint(tmp_path / "run")
        assert checkpoint.state.generation == 2
        assert regime_from_config(checkpoint.config_key).parents == 2
    finally:
        REGIMES.pop("comma-selection")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{EXAMPLE}:COMA", "'COMA' must be a Preset in '.*own_regime.py', not nothing"),
        (f"{EXAMPLE}:CommaSelection", "'CommaSelection' must be a Preset in .*, not <class"),
        ("no_file.py:COMMA", "cannot import 'no_file.py'"),
        (":COMMA", "write package.module:name or file.py:name, not ':COMMA'"),
    ],
)
def test_preset_that_a_file_lacks_is_refused(text, message):
    try:
        with pytest.raises(ValueError, match=message):
            run_training(TrainingCommand(EVOLVE, "", DEFAULT), [text], Console(quiet=True))
    finally:
        REGIMES.pop("comma-selection", None)


def test_class_that_lacks_members_is_refused():
    class Bare(SearchSettings):
        kind = "bare"

    with pytest.raises(TypeError, match=r"the regime Bare lacks champion, contenders, .*, step$"):
        register(Bare)
    assert "bare" not in REGIMES


def test_class_defined_again_takes_the_place_of_the_old_one():
    first, second = load_example().CommaSelection, load_example().CommaSelection
    try:
        assert first is not second
        assert REGIMES[first.kind] is second
    finally:
        REGIMES.pop(first.kind)


@dataclass(frozen=True)
class Unregistered(Coevolution):
    """Regime that nobody has registered."""

    kind = "unregistered"


TYPES = {"depth": "4", "max_moves": 2.5, "parents": None, "king": "2"}


@pytest.mark.parametrize("name", TYPES)
def test_constant_of_another_type_is_refused(name):
    kind = "a number" if name == "king" else "a whole number"
    with pytest.raises(ValueError, match=rf"{name} must be {kind}, .* to .*, not {TYPES[name]!r}"):
        replace(PRESETS["c0"].regime, **{name: TYPES[name]})


@pytest.mark.parametrize(
    ("regime", "message"),
    [
        (Unregistered(), "Unregistered is not registered: decorate it"),
        (Coevolution, "regime must be an object of a regime's class, .*, not <class"),
        (PRESETS["c0"], r"such as .* PRESETS\['c0'\]\.regime, not Preset"),
        ("c0", "regime must be an object of a regime's class, .*, not 'c0'"),
        (Coevolution(max_moves=1), "max_moves must be at least 2"),
    ],
)
def test_configuration_needs_a_registered_regime(tmp_path, regime, message):
    with pytest.raises(ValueError, match=message):
        RunConfig("mine", regime, 1, 0, tmp_path)
