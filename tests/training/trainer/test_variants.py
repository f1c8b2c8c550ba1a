"""Presets with other constants, by name."""

from dataclasses import fields
from typing import get_type_hints

import pytest

from training.regimes import regimes
from training.reproduction.jobs import PLAYERS
from training.runtime.validation import Excludes, Needs, OneOf
from training.trainer.presets import PRESETS
from training.trainer.variants import make_variant, variant_name


def test_variant_differs_in_its_constants_only():
    preset, variant = PRESETS["c0"], make_variant("c0@opponents=10,king=3", PRESETS)
    assert (variant.regime.opponents, variant.regime.king) == (10, 3.0)
    assert type(variant.regime.king) is float
    constants = vars(preset.regime) | {"opponents": 10, "king": 3.0}
    assert vars(variant.regime) == constants
    assert variant.generations == preset.generations


@pytest.mark.parametrize("name", ["material", "material@depth=6", "c0 @opponents=3", ""])
def test_names_of_no_preset_have_no_variant(name):
    assert make_variant(name, PRESETS) is None


def test_constants_with_the_value_of_the_preset_are_left_out():
    assert variant_name("c0", {"opponents": "5"}, PRESETS) == "c0"
    assert variant_name("c0", {"king": "2"}, PRESETS) == "c0"
    assert variant_name("c0@depth=1,king=3", {"king": "2"}, PRESETS) == "c0@depth=1"
    assert variant_name("c0@depth=1", {"king": "3"}, PRESETS) == "c0@depth=1,king=3.0"
    name = variant_name("c0", {"king": "3", "piece_difference": "false"}, PRESETS)
    assert name == "c0@king=3.0,piece_difference=false"
    regime = make_variant(name, PRESETS).regime
    assert (regime.king, regime.piece_difference) == (3.0, False)


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("oponents", "5", "Coevolution has no option 'oponents': it has opponents"),
        ("nonsense", "5", "no option 'nonsense': it has .*opponents"),
        ("opponents", "five", "opponents is 5, so 'five' cannot take its place"),
        ("opponents", "2.5", "opponents is 5, so '2.5' cannot"),
        ("opponents", "true", "opponents is 5, so 'true' cannot"),
        ("opponents", "0", "opponents must be 1 to"),
        ("king", "nan", "king is 2.0, so 'nan' cannot"),
        ("king", "NaN", "king must be"),
        ("piece_difference", "1", "piece_difference is true, so '1' cannot"),
        ("network", "blondie25", "network must be one of .*not 'blondie25': did you mean"),
        ("depth", "99", "depth must be 1 to 64, not 99"),
    ],
)
def test_bad_constants_are_refused(option, value, message):
    with pytest.raises(ValueError, match=message):
        variant_name("c0", {option: value}, PRESETS)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("blondie24-rr@opponents=3", "opponents has no effect with pairing round-robin"),
        ("c0@opponents=3,pairing=round-robin", "or let pairing be one of random, common"),
        ("hughes@piece_difference=false", "no effect with network weighted-pieces: leave it out"),
        ("c0@network=samuel,king=3", "king has no effect with network samuel"),
        ("c0@network=piece-squares,piece_difference=false", "piece_difference has no effect"),
        ("c10@social_every=1,publish_every=2", "or let social_every be at least 2"),
        ("nguyen-mcts@depth=2", "depth has no effect with simulations 200: leave it out, or let "),
        ("nguyen@cut=3", "cut has no effect without simulations: leave it out, or give sim"),
        ("nguyen@memory_size=3", "with perturbations 1: leave it out, or let perturbations be at"),
        ("learns@half_at=9", "half_at has no effect with strategy sep-cma-es"),
        ("samuel@by_colour=false", "by_colour has no effect with features samuel"),
        ("c5-n0.001-npd@king=2", "king has no effect without piece_difference"),
        ("strong@sides=0,side_plies=2", "side_plies has no effect without sides"),
    ],
)
def test_constants_without_effect_are_refused(name, message):
    with pytest.raises(ValueError, match="has no effect") as raised:
        make_variant(name, PLAYERS)
    assert message in str(raised.value)


@pytest.mark.parametrize(
    "name",
    [
        "blondie24-rr@pairing=common,opponents=3",
        "nguyen-mcts@cut=3",
        "nguyen-mcts@simulations=0,depth=2",
        "nguyen-safe@memory_size=3",
        "learns@strategy=openai-es,half_at=9.0",
        "c5-n0.001@king=2.0,by_colour=false",
        "c5-tuple@piece_difference=false",
    ],
)
def test_constants_with_an_effect_are_read(name):
    assert make_variant(name, PLAYERS)


@pytest.mark.parametrize("kind", regimes().values())
def test_conditions_of_options_can_be_met(kind):
    """They name fields of the same regime, and values that those accept."""
    hints = get_type_hints(kind, include_extras=True)
    for name in [field.name for field in fields(kind)]:
        for rule in getattr(hints[name], "__metadata__", ()):
            if isinstance(rule, Needs | Excludes):
                assert rule.field in {field.name for field in fields(kind)}
            if isinstance(rule, Needs) and isinstance(rule.accepted, OneOf):
                for text in rule.accepted.texts:
                    kind(**{rule.field: text})
