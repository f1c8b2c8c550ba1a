"""Pairings with few members. The oracles of the regimes have the rest of tournaments."""

from collections import Counter

import numpy as np
import pytest

from training.evolution.tournament import (
    common_opponents,
)


@pytest.mark.parametrize(("members", "games"), [(30, 5), (6, 2), (2, 1), (4, 3), (30, 29), (3, 1)])
@pytest.mark.parametrize("seed", range(3))
def test_common_opponents_are_the_same_for_all(members, games, seed):
    pairs = common_opponents(members, games, np.random.default_rng(seed))
    assert Counter(black for black, _ in pairs) == dict.fromkeys(range(members), games)
    assert len(set(pairs)) == len(pairs)
    assert all(black != white for black, white in pairs)
    met = {black: {white for one, white in pairs if one == black} for black in range(members)}
    drawn = set().union(*met.values())
    assert len(drawn) == games + 1
    outside = [met[black] for black in range(members) if black not in drawn]
    assert all(whites == outside[0] for whites in outside)
    for black in drawn:
        assert met[black] == drawn - {black} or (black not in met[black] == outside[0])
