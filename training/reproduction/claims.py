"""Claims of the papers, each with the matches or runs that measure it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Literal

from training.reproduction.effects import (
    Effect,
    advantage,
    fall,
    fewer_drawn,
    growth,
    late,
    levels,
    order,
    rating_difference,
    red_advantage,
    rise,
    speed,
)
from training.reproduction.jobs import AS_THE_THESIS, Conditions, Player
from training.reproduction.papers.coevolution_ablations import QUARTERED
from training.reproduction.papers.other_papers import (
    EVOLVED,
    NETWORKS,
    NGUYEN,
    PAIRS,
    UNSATURATED,
    by_lot,
    by_sum,
    early,
)
from training.reproduction.papers.thesis_ch7 import C0 as C0_BY_PLY
from training.reproduction.papers.thesis_ch7 import FOURTEEN, THOUSAND
from training.reproduction.papers.thesis_ch7 import RR as RR_BY_PLY
from training.reproduction.tables import Row, row
from training.trainer.ablations import ABLATIONS

MARGIN = 10.0  # % of the points: 70 rating points, a third of a class of players

Kind = Literal["more", "equal"]


@dataclass(frozen=True)
class Claim:
    """A conclusion of a paper.

    Attributes
    ----------
    name
        Short name, for a picture.
    says
        The claim in a sentence.
    source
        Paper and section.
    rows
        Matches, or training runs.
    effect
        Function from the rows' games or results to the figure of one seed.
    unit
        Unit of the effect.
    kind
        ``"more"``: the effect is above `bar`. ``"equal"``: it is within MARGIN of 0.
    bar
        Threshold of the effect.
    conditions
        Conditions of the matches; by default 6 plies and the 86 games of the two-move ballot.
    """

    name: str
    says: str
    source: str
    rows: tuple[Row, ...]
    effect: Effect = advantage
    unit: str = "score - 50 %"
    kind: Kind = "more"
    bar: float = 0.0
    conditions: Conditions = AS_THE_THESIS


def _thesis(section: str) -> str:
    return f"Al-Khateeb 2011, {section}"


def _better(first: str, others: str | tuple[str, ...], says: str, source: str) -> Claim:
    """Return the claim that the first player scores above 50 % against the others."""
    against = others if isinstance(others, str) else ", ".join(others)
    return Claim(f"{first} > {against}", says, source, (row(first, others),))


def _as_good(first: str, other: str, says: str, source: str) -> Claim:
    return Claim(f"{first} = {other}", says, source, (row(first, other),), kind="equal")


def _in_order(name: str, says: str, source: str, players: Sequence[str]) -> Claim:
    """Return the claim that players, the weakest first, have this order in their league."""
    return Claim(name, says, source, _all_play_all(players), order, "Kendall's tau")


def _all_play_all(players: Sequence[str]) -> tuple[Row, ...]:
    return tuple(
        row(player, tuple(other for other in players if other != player)) for player in players
    )


def _steps(players: Sequence[str]) -> tuple[Row, ...]:
    """Return a row for each player against the one trained a ply less deep."""
    return tuple(row(deep, flat) for flat, deep in pairwise(players))


_RANKING = ("c0", "blondie24-rr", "c5-n0.001", "c10", "c10-rr")
_FOUR = ("c0", "blondie24-rr", "c10", "c10-rr")
_LATE = "champion/progress"


def _round_robin() -> Iterable[Claim]:
    yield _better(
        "blondie24-rr",
        "c0",
        "A round robin beats five opponents drawn at random.",
        _thesis("4.3"),
    )
    yield _as_good(
        "c0-common",
        "blondie24-rr",
        "The same few opponents for all are as good as a round robin.",
        _thesis("4.4, after Miconi 2009"),
    )
    yield Claim(
        "red",
        "Players are stronger as red, who moves first.",
        _thesis("4.3.1"),
        tuple(
            row(here, there)
            for n, here in enumerate(_RANKING[::-1])
            for there in _RANKING[::-1][n + 1 :]
        ),
        red_advantage,
    )


def _learning() -> Iterable[Claim]:
    yield _better(
        "c10", "blondie24-rr", "Social learning beats the round robin.", _thesis("5.6, 8.1")
    )
    yield _better("c10", "c0", "Social learning beats five random opponents.", _thesis("5.6, 8.1"))
    yield _in_order(
        "C200 < ... < C10",
        "The more often strategies are published, the better the player: C200 < C100 < C50 < C20 < "
        "C10.",
        _thesis("5.6, 8.1"),
        ("c200", "c100", "c50", "c20", "c10"),
    )
    yield _better("c0", "c1", "A social pool of one player hurts: C0 beats C1.", _thesis("5.4"))
    yield _better(
        "blondie24-rr", "c1", "A social pool of one hurts: Blondie24-RR beats C1.", _thesis("5.4")
    )
    for other in ("c0", "blondie24-rr", "c10"):
        yield _better(
            "c10-rr",
            other,
            f"Social learning with a round robin is best: C10-RR beats {other}.",
            _thesis("5.5, 8.1"),
        )


def _tuples() -> Iterable[Claim]:
    for player in ("c5-tuple", "c1-tuple"):
        for other in _FOUR:
            yield _better(
                other,
                player,
                f"Evolved n-tuples are worse: {other} beats {player}.",
                _thesis("6.4" if player == "c5-tuple" else "6.6"),
            )
    for other in ("c0", "blondie24-rr"):
        yield _better(
            "c5-n0.001",
            other,
            f"5-tuples taught by temporal differences beat {other}: C5-N0.001.",
            _thesis("6.8, 8.1"),
        )
        yield _as_good(
            "c1-n0.001",
            other,
            f"1-tuples taught by temporal differences are as good as {other}: C1-N0.001.",
            _thesis("6.10"),
        )
    yield _as_good("c5-n0.001", "c10", "C5-N0.001 is as good as C10.", _thesis("6.8"))
    for best, taught in (("c10-rr", "c5"), ("c10", "c1"), ("c10-rr", "c1")):
        yield _better(
            best,
            f"{taught}-n0.001",
            f"{best} beats {taught.upper()}-N0.001.",
            _thesis("6.8" if taught == "c5" else "6.10"),
        )
    yield Claim(
        "c5-n0.001 faster",
        "They learn far faster than a network evolves (theirs: 2 days and 19).",
        _thesis("6.12, 8.1"),
        (row("c5-n0.001", ()), row("c0", ())),
        speed,
        "powers of ten",
    )
    for size in ("c5", "c1"):
        for alpha in ("0.01", "0.0001"):
            yield _better(
                f"{size}-n0.001",
                f"{size}-n{alpha}",
                f"A learning rate of 0.001 is best: {size.upper()}-N0.001 beats that of {alpha}.",
                _thesis("6.8" if size == "c5" else "6.10"),
            )
    yield _as_good(
        "c5-n0.001",
        "c1-n0.001",
        "Under temporal differences tuples of five squares and of one are the same.",
        _thesis("6.11"),
    )
    yield _better(
        "c5-n0.001",
        "c1-n0.001",
        "Under temporal differences tuples of five squares beat those of one.",
        _thesis("8.1"),
    )


def _ablations() -> Iterable[Claim]:
    for player in ("c0", "blondie24-rr", "c10", "c5-n0.001"):
        yield _better(
            player,
            f"{player}-npd",
            f"The piece difference matters: {player} beats the same without it.",
            _thesis("7.4"),
        )
    for players in (C0_BY_PLY, RR_BY_PLY):
        yield _in_order(
            f"{players[-1]}, 1 < ... < 4 plies",
            f"Trained at more plies, {players[-1]} is better at 6.",
            _thesis("7.7"),
            players,
        )
    for deep, flat in (("c10", "c10-1ply"), ("c5-n0.001-4ply", "c5-n0.001-1ply")):
        yield _better(
            deep, flat, f"Trained at 4 plies, {deep} is better than at 1.", _thesis("7.7")
        )
    for players in (C0_BY_PLY, RR_BY_PLY):
        yield Claim(
            f"{players[-1]}, growing steps",
            f"Each further ply of training gains more: {players[-1]}, third step less first.",
            _thesis("7.8"),
            _steps(players),
            growth,
            "% of the points",
        )
    for players in (C0_BY_PLY, RR_BY_PLY):
        for depth in (1, 2, 3):
            yield Claim(
                f"{players[-1]} at {depth}",
                f"There is no point in playing below the trained depth: at {depth}, who was "
                f"trained there beats {players[-1]}.",
                _thesis("7.8"),
                (row(Player(players[depth - 1], depth=depth), Player(players[-1], depth=depth)),),
            )


def _others() -> Iterable[Claim]:
    yield _in_order(
        "Table 8.1",
        "The ranking: C10-RR, C10, C5-N0.001, Blondie24-RR, C0.",
        _thesis("Table 8.1"),
        _RANKING,
    )
    yield Claim(
        "2001 levels off above 1999",
        "Against a heuristic player the networks of 2001 level off above those of 1999.",
        "Skycak 2022",
        tuple(row(player, ()) for player in NETWORKS[::-1]),
        levels("curve/heuristic"),
        "payoff",
    )
    yield _better(
        NETWORKS[1], NETWORKS[0], "The network of 2001 beats that of 1999.", "Skycak 2022"
    )
    yield Claim(
        "blondie24 by 311 points",
        "Blondie24 is 311 rating points better than a piece counter (14 games, drawn ones given "
        "to who has more pieces).",
        "Al-Khateeb 2011, 7.2, after Chellapilla & Fogel 1999",
        (row("blondie24-2001", "material"),),
        rating_difference,
        "rating points",
        bar=311.0,
        conditions=FOURTEEN,
    )
    yield Claim(
        "hughes > material",
        "Hughes's evolved piece counter beats a plain one (1,000 games).",
        "Al-Khateeb 2011, 7.2, after Hughes 2003",
        (row("hughes", "material"),),
        conditions=THOUSAND,
    )
    yield Claim(
        "nguyen improves",
        "Champions of the genetic algorithm beat those before them (second half of the run).",
        "Nguyen, III.D",
        (row(NGUYEN[0], ()),),
        late(_LATE),
        "mean of means",
    )
    yield Claim(
        "nguyen > half",
        "The last champion beats that of half the generations.",
        "Nguyen, III.D",
        (row(NGUYEN[0], early(NGUYEN[0], 2)),),
    )
    yield Claim(
        "MCTS-EPT > alpha-beta",
        "Monte Carlo tree search with playouts cut at 6 plies (1000 a move) does better than "
        "alpha-beta to 6 plies.",
        "Nguyen, III.B (expected there)",
        tuple(row(Player(player, simulations=1000), player) for player in NGUYEN),
    )
    yield _better(NGUYEN[1], NGUYEN[0], "Safe mutation helps.", "Nguyen, III.C.3 (expected there)")


def _gains(name: str, says: str, first: str | Player, second: str | Player) -> Claim:
    """Return the claim that the second player beats the piece counter more clearly."""
    return Claim(
        name,
        f"Against the piece counter {says}.",
        "ours",
        (row(first, "material"), row(second, "material")),
        growth,
        "% of the points",
    )


def _reasons() -> Iterable[Claim]:
    for player in (*NETWORKS, "c0", "blondie24-rr", "c10"):
        yield Claim(
            f"{player}: step sizes grow",
            f"The mean step size of {player} grows over the generations.",
            "ours",
            (row(player, ()),),
            rise("step/mean"),
            "step size",
        )
        yield Claim(
            f"{player}: saturation",
            f"The outputs of {player} saturate: beyond 0.99 in more positions at the end.",
            "ours",
            (row(player, ()),),
            rise("champion/saturated"),
            "share of positions",
        )
    for player in (*NETWORKS, "c0", "blondie24-rr", "c10", UNSATURATED):
        yield Claim(
            f"{player} unlearns",
            f"{player} unlearns: against the piece counter at 1 ply its parents end below where "
            "they had risen to.",
            "ours",
            (row(player, ()),),
            fall("curve/material"),
            "payoff",
        )
    yield Claim(
        f"{UNSATURATED} ends higher",
        f"{UNSATURATED}, whose output does not saturate, ends higher there than {EVOLVED[0]}.",
        "ours",
        (row(UNSATURATED, ()), row(EVOLVED[0], ())),
        levels("curve/material"),
        "payoff",
    )
    yield _better(UNSATURATED, EVOLVED[0], f"{UNSATURATED} beats {EVOLVED[0]}.", "ours")
    for player in QUARTERED:
        yield _gains(
            f"{player}: whole > quarter",
            f"the champion of {player} does better after the whole run than after a quarter of it",
            early(player, 4),
            player,
        )
    for player in EVOLVED:
        yield _gains(
            f"{player}: sum > tanh",
            f"{player} does better judging by the sum at its output than by its tanh",
            player,
            by_sum(player),
        )
    yield from _played_otherwise("random ties", "chance decides between equally good moves", by_lot)
    yield from _played_otherwise(
        "unsaturated", "champions judge by the sums at their outputs", by_sum
    )


def _played_otherwise(name: str, where: str, changed: Callable[[str], Player]) -> Iterable[Claim]:
    """Yield claims on a change in how champions play: fewer draws, and the same winners."""
    yield Claim(
        f"{name}: fewer draws",
        f"Fewer games are drawn where {where}.",
        "ours",
        (
            *(row(*pair) for pair in PAIRS),
            *(row(changed(player), changed(other)) for player, other in PAIRS),
        ),
        fewer_drawn,
        "% of the games",
    )
    for player, other in PAIRS:
        yield Claim(
            f"{name}: {player} > {other}",
            f"Where {where}, {player} beats {other}.",
            "ours",
            (row(changed(player), changed(other)),),
        )


def _changes() -> Iterable[Claim]:
    """Yield a claim for each change to the evolution of 2001: its champion plays better."""
    base = EVOLVED[0]
    for name, preset in ABLATIONS.items():
        yield _gains(f"{name} helps", f"{name} does better than {base}: {preset.what}", base, name)


CLAIMS: tuple[Claim, ...] = tuple(
    chain(_round_robin(), _learning(), _tuples(), _ablations(), _others())
)
REASONS: tuple[Claim, ...] = tuple(_reasons())
CHANGES: tuple[Claim, ...] = tuple(_changes())
