"""Presets with other constants, by name."""

import pytest

from training.experiments.jobs import PLAYERS
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
        ("c0@opponents=3,pairing=round-robin", "opponents has no effect with pairing round-robin"),
        ("hughes@piece_difference=false", "no effect with network weighted-pieces: leave it out"),
        ("c0@network=samuel,king=3", "king has no effect with network samuel"),
        ("c0@network=piece-squares,piece_difference=false", "piece_difference has no effect"),
        (
            "c10@social_every=1,publish_every=2",
            "publish_every has no effect with social_every 1: leave",
        ),
        ("nguyen-mcts@depth=2", "depth has no effect with simulations 200: leave it out"),
        ("nguyen@cut=3", "cut has no effect without simulations: leave it out"),
        ("nguyen@memory_size=3", "memory_size has no effect with perturbations 1"),
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


RANGES = {  # constants out of their ranges
    "c0": "parents=0 opponents=0 depth=0 depth=65 max_moves=0 max_moves=1000000000000 weight=-0.1 "
    "weight=NaN weight=Infinity step_size=-1.0 step_size=Infinity king=NaN king=Infinity king=0.9 "
    "king=3.1 win=NaN draw=Infinity loss=NaN network=blondie25 king_rule=hundredths pairing=swiss",
    "c10": "publish_every=0 social_every=0 social_every=-1 pool_limit=-1 satisfied=-0.1 "
    "satisfied=1.01 satisfied=NaN parents=0",
    "nguyen-safe": "opponents=0 depth=0 depth=65 max_moves=0 repetition=-1 repetition=1 king=0.9 "
    "king=NaN dominant=-0.1 dominant=1.1 dominant=NaN perturbations=0 memory_size=0 champions=0 "
    "win=NaN draw=Infinity loss=NaN activation=relu simulations=-1 simulations=1000001",
    "nguyen-mcts": "cut=0 skew=-0.1 skew=1.1 skew=NaN tie=last",
    "learns-league": "step_limit=-0.1 step_limit=NaN mates=0 hall=-1 league_every=-1 "
    "openings=three-move",
    "learns-openai-es": "pairs=1 sigma=0.0 rate=NaN half_at=-1.0 depth=0 king=3.5 weight=-1.0 "
    "max_moves=1 network=walks-5 strategy=cma-es openings=three-move",
    "c5-n0.001": "alpha=0.0 lam=1.5 epsilon=-0.1 search=65 leaf=true games=0 max_moves=1 king=0.5 "
    "features=piece-squares",
    "strong": "endgame=0 endgame=6 nodes=0 sides=-1 lam=1.5 play=0 study=0 batch=6 steps=-1 "
    "rate=1.1 window=0 parts=0",
}


@pytest.mark.parametrize(
    ("name", "option"), [(name, option) for name in RANGES for option in RANGES[name].split()]
)
def test_constant_out_of_its_range_is_refused(name, option):
    with pytest.raises(ValueError, match=f"^{option.partition('=')[0]}") as raised:
        make_variant(f"{name}@{option}", PLAYERS)
    for other in ("has no effect", "take its place", "\n"):
        assert other not in str(raised.value)
