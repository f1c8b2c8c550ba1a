"""What the thesis leaves open in the search: the choice between equal moves, their order, tanh.

The thesis (2.6.1.2) examines "the checkers board from the top left corner", and does not say which
of equally good moves is played. "The search stops below any discovered jump move" may mean that a
line ends at a jump.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from training.experiments.jobs import Conditions, Player
from training.experiments.papers.other_papers import PAIRS
from training.experiments.tables import (
    POINTS,
    RESULTS,
    Measure,
    PlayerGame,
    Row,
    Table,
    interval,
    row,
    with_cards,
)

# Rules of play by name. All other tables have the first; chance is a rule of the players here,
# whose matches the table `random-ties` has already.
RULES = {
    "first-by-direction": Conditions(),
    "first-by-piece": Conditions(tie="first", order="piece"),
    "last-by-direction": Conditions(tie="last", order="direction"),
    "last-by-piece": Conditions(tie="last", order="piece"),
    "chance": Conditions(),
    "ends-at-jump": Conditions(ends_at_jump=True),
}
TRAINED = {  # the same rules in training and in play
    "last-by-piece": "tie=last,order=piece",
    "first-by-piece": "order=piece",
    "chance": "tie=chance",
}
EQUALS, EQUAL_SEEDS = ("c0", "blondie24-rr"), 5
DRAWS_AND_LEAD_4_6 = round(100 * 26 / 86, 1), round(100 * 60 / 86 - 50, 1)  # 60 points of 86
EXACT = "network=blondie24-2001-exact"


def draws_and_lead(games: Sequence[PlayerGame]) -> list[float]:
    """Return the share of drawn games and the score above one half, both in %."""
    games = with_cards(games)
    drawn = sum(game.result == "D" for game in games)
    points = sum(POINTS[game.result] for game in games)
    return [100 * drawn / len(games), 100 * points / len(games) - 50]


DRAWS_AND_LEAD = Measure(("drawn, %", "lead, points"), draws_and_lead, interval)


def trained(player: str, rule: str) -> str:
    """Return the name of a preset that is trained by a rule of TRAINED."""
    return f"{player}@{TRAINED[rule]}"


def exact(player: str) -> Player:
    """Return the player with a tanh that is exact in float32."""
    return Player(player, exact_tanh=True)


def _equals(player: str, tie: str | None = None) -> Iterator[Row]:
    """Yield a row for each pair of the first champions of a player."""
    for one, other in combinations(range(EQUAL_SEEDS), 2):
        yield row(Player(player, seed=one, tie=tie), Player(player, seed=other, tie=tie))


def _played(rule: str) -> Iterator[Row]:
    """Yield the rows of a rule of RULES: the pairs of the main claims, then equals."""
    tie = "chance" if rule == "chance" else None
    for pair in PAIRS:
        yield row(Player(pair[0], tie=tie), Player(pair[1], tie=tie))
    for player in EQUALS:
        yield from _equals(player, tie)


def _pairs(rule: str) -> Iterator[Row]:
    for player, other in PAIRS:
        yield row(trained(player, rule), trained(other, rule))


_NOTE = "Not in the papers, which leave this open."

PLAYED = tuple(
    Table(
        f"tie-{rule}",
        f"the champions there are, playing by another rule: {rule.replace('-', ' ')}",
        DRAWS_AND_LEAD,
        tuple(_played(rule)),
        conditions,
        note=f"{_NOTE} The last rows are matches of equals: champions of one player.",
    )
    for rule, conditions in RULES.items()
)
TRAINED_SO = Table(
    "tie-trained",
    "Blondie24-RR and C0 trained and playing by each rule",
    DRAWS_AND_LEAD,
    tuple(
        row(trained("blondie24-rr", rule), trained("c0", rule), *DRAWS_AND_LEAD_4_6)
        for rule in TRAINED
    ),
    note=f"{_NOTE} Theirs is Table 4.6.",
)
TRAINED_EQUALS = Table(
    "tie-trained-equals",
    "champions of one player against each other, trained and playing by each rule",
    DRAWS_AND_LEAD,
    tuple(line for rule in TRAINED for player in EQUALS for line in _equals(trained(player, rule))),
    note=f"{_NOTE} In Tables 3.2 and 4.1 half the games are drawn.",
)
TRAINED_SOCIAL = Table(
    "tie-trained-social",
    "the other pairs of C0, Blondie24-RR, C10 and C10-RR trained and playing by each rule",
    DRAWS_AND_LEAD,
    tuple(line for rule in TRAINED for line in list(_pairs(rule))[1:]),
    note=_NOTE,
)
_ABOUT_TANH = (
    "Not in the papers. The kernels' tanh has an error of 4e-7 and is nowhere quite 1; the exact "
    "one is float64's, rounded. Compare the table `unsaturated`."
)

TANH = Table(
    "exact-tanh",
    "the same players with a tanh that is exact in float32",
    RESULTS,
    (
        *(row(exact(player), "material") for player in ("blondie24-2001", "c0")),
        row(exact("blondie24-rr"), exact("c0")),
    ),
    note=_ABOUT_TANH,
)
TRAINED_TANH = Table(
    "exact-tanh-trained",
    "two players trained with a tanh that is exact in float32",
    RESULTS,
    tuple(
        row(Player(f"{player}@{EXACT}", seed=0), "material") for player in ("c0", "blondie24-2001")
    ),
    note=_ABOUT_TANH,
)

TABLES = (*PLAYED, TANH, TRAINED_SO, TRAINED_EQUALS, TRAINED_TANH, TRAINED_SOCIAL)
