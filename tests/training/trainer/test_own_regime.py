"""A new regime: one file, one preset."""

import importlib.util

from tests import ROOT
from training.regimes import REGIMES, regime_from_config
from training.trainer.checkpoint import load_checkpoint
from training.trainer.loop import RunConfig, begin, resume, train

EXAMPLE = ROOT / "examples" / "own_regime.py"


def load_example():
    spec = importlib.util.spec_from_file_location("own_regime", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_regime_is_named_in_one_file():
    """No file but the example contains its class or its kind."""
    names = ("CommaSelection", "comma-selection")
    folders = ("checkers_env", "agents", "training", "examples")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    texts = {path: path.read_text("utf-8") for path in files}
    assert [path for path in files if any(name in texts[path] for name in names)] == [EXAMPLE]
    example = texts[EXAMPLE]
    assert (example.count("\n@register\n"), example.count("= Preset(CommaSelection(")) == (1, 1)


def test_trainer_runs_saves_and_resumes_it(tmp_path):
    example = load_example()
    regime = type(example.COMMA.regime)(parents=3, depth=1, max_moves=20)
    try:
        whole = RunConfig("comma", regime, 3, 0, tmp_path / "whole")
        expected = train(whole, begin(whole), lambda state, metrics: None)
        part = RunConfig("comma", regime, 1, 0, tmp_path / "parts")
        train(part, begin(part), lambda state, metrics: None)
        rest = RunConfig("comma", regime, 3, 0, tmp_path / "parts")
        actual = train(rest, resume(rest), lambda state, metrics: None)
        assert actual.state.rng == expected.state.rng
        assert regime_from_config(load_checkpoint(tmp_path / "parts").config_key) == regime
    finally:
        REGIMES.pop(regime.kind)
