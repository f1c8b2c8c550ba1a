"""Presets with other constants, by name."""

import pytest

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
