"""Skycak 2022 and Nguyen: performance curves and comparisons; saturation and random ties."""

from __future__ import annotations

from training.experiments.jobs import PLAYERS, Player
from training.experiments.tables import INHERITANCE, RESULTS, TRAINING, Table, curve, row
from training.trainer.presets import PRESETS, STRONG_ABLATIONS

NETWORKS = ("blondie24-1999", "blondie24-2001")
NGUYEN = ("nguyen", "nguyen-safe")
PAIRS = (  # players of the thesis's main claims
    ("blondie24-rr", "c0"),
    ("c10", "c0"),
    ("c10", "blondie24-rr"),
    ("c10-rr", "c0"),
    ("c10-rr", "blondie24-rr"),
    ("c10-rr", "c10"),
)
EVOLVED = ("blondie24-2001", "c0", "blondie24-rr", "c10", "c10-rr")
UNSATURATED = "learns-unsaturated"  # blondie24-2001, trained with an output that cannot saturate
LONG = {"strong-1": 0, "strong": 0}  # seeds of the players with one run
NETS = ("c0", "blondie24-rr", "c10")  # networks of the thesis whose training is looked at
_STEPS = 11
_DAYS = {  # Al-Khateeb 2011, 3.2 and 6.12: for these all 19 days, for temporal differences two
    **dict.fromkeys(("c0", "blondie24-rr", "c10", "c10-rr"), "19 days"),
    **dict.fromkeys(("c5-n0.001", "c1-n0.001"), "2 days"),
}


def early(player: str, parts: int) -> Player:
    """Return the champion after the first of `parts` equal parts of the generations."""
    return Player(player, generations=PLAYERS[player].generations // parts)


def by_sum(player: str) -> Player:
    """Return the player with the sum at its output as its value, without tanh."""
    return Player(player, unsaturated=True)


def by_lot(player: str) -> Player:
    """Return the player with a random choice between equally good moves."""
    return Player(player, tie="chance")


TABLES = (
    *(
        Table(
            f"skycak-{player.removeprefix('blondie24-')}",
            f"Skycak 2022: {player}'s parents against the heuristic player, mean payoff by share "
            "of the generations",
            curve("curve/heuristic", _STEPS),
            (row(player, ()),),
            note='He expects a curve that rises and levels off, for 2001 "slightly higher".',
        )
        for player in NETWORKS
    ),
    Table(
        "skycak-material",
        "the same parents against the piece counter at 1 ply",
        curve("curve/material", _STEPS),
        tuple(row(player, ()) for player in (*NETWORKS, *NETS, UNSATURATED)),
        note="The networks of the thesis, and one whose output cannot saturate, are not in Skycak.",
    ),
    Table(
        "skycak-networks",
        "the network of 2001 against that of 1999, and both against a piece counter",
        RESULTS,
        (row(*NETWORKS[::-1]), *(row(player, "material") for player in NETWORKS)),
    ),
    Table(
        "nguyen-progress",
        "Nguyen III.D: champions against the five before them, mean of means by share of the "
        "generations",
        curve("champion/progress", _STEPS),
        tuple(row(player, ()) for player in (*NGUYEN, "nguyen-3ply")),
        note="Above 0 the champions improve. He prints no figures; his Figure 5 is of 3 plies.",
    ),
    Table(
        "nguyen-observations",
        "Nguyen IV.B and IV.C: computing time, length of games, and where elites come from",
        INHERITANCE,
        tuple(row(player, ()) for player in PRESETS if player.startswith("nguyen")),
        note="He names these observations and prints no figures. Means over the whole run.",
    ),
    Table(
        "nguyen-comparisons",
        "Nguyen III.D: against random moves, pure MCTS, and the champion of half the generations",
        RESULTS,
        tuple(
            row(player, other)
            for player in NGUYEN
            for other in ("random", "mcts", early(player, 2), "heuristic")
        ),
    ),
    Table(
        "nguyen-choices",
        "Nguyen III.B and III.C.3: alpha-beta against Monte Carlo tree search; safe mutation",
        RESULTS,
        (
            *(row(player, Player(player, simulations=1000)) for player in NGUYEN),
            row(*NGUYEN[::-1]),
        ),
    ),
    Table(
        "saturation",
        "share of positions that the champion gives more than 0.99 or less than -0.99",
        curve("champion/saturated", _STEPS),
        tuple(row(player, ()) for player in (*NETWORKS, *NETS)),
        note="Not in the papers: how far outputs saturate as step sizes grow.",
    ),
    Table(
        "step-sizes",
        "mean step size of the parents",
        curve("step/mean", _STEPS),
        tuple(row(player, ()) for player in (*NETWORKS, *NETS)),
    ),
    Table(
        "random-ties",
        "the same players with chance deciding between moves that they find equally good",
        RESULTS,
        tuple(row(by_lot(player), by_lot(other)) for player, other in PAIRS),
        note="Not in the papers, which do not say which of several best moves is made: elsewhere "
        "it is the first.",
    ),
    Table(
        "unsaturated",
        "the same players judging by the sums at their outputs, which tanh saturates; and one that "
        "was trained so",
        RESULTS,
        (
            *(row(by_sum(player), by_sum(other)) for player, other in PAIRS),
            *(row(seat, "material") for it in EVOLVED for seat in (it, by_sum(it))),
            row(UNSATURATED, EVOLVED[0]),
            row(UNSATURATED, "material"),
        ),
        note="Not in the papers. tanh changes the order of no two sums. But the kernels' tanh does "
        "not grow above 7.9 (rounded to single precision at 9.02, in double at 19), and what is "
        "equal a search cannot tell apart.",
    ),
    Table(
        "training",
        "budget and computing time of each player's training",
        TRAINING,
        tuple(
            row(Player(name, seed=LONG.get(name)), (), *((_DAYS[name],) if name in _DAYS else ()))
            for name in PLAYERS
            if name not in STRONG_ABLATIONS
        ),
        note="The thesis has a 1.86 GHz Core 2. The times of its two kinds of player may be of "
        "other depths than ours.",
    ),
)
