"""Claims of the papers, each with the matches or runs that measure it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from itertools import chain

from training.experiments.claims import (
    PERCENT,
    TIMES,
    Claim,
    beats,
    equals,
    exactly,
    in_family,
    published_effect,
    ranks,
    steps,
    thesis,
    weighted_sum,
)
from training.experiments.effects import (
    growth,
    late,
    levels,
    pieces_ahead,
    rating_difference,
    recent_reuse,
    red_advantage,
    speed,
)
from training.experiments.inference import match_interval, student
from training.experiments.jobs import Player
from training.experiments.papers.other_papers import NETWORKS, NGUYEN, early
from training.experiments.papers.thesis_ch4 import DIFFERENCES_PRINTED, STAND_INS
from training.experiments.papers.thesis_ch5 import POOL_OF_C10
from training.experiments.papers.thesis_ch7 import C0 as C0_BY_PLY
from training.experiments.papers.thesis_ch7 import FOURTEEN, THOUSAND
from training.experiments.papers.thesis_ch7 import RR as RR_BY_PLY
from training.experiments.tables import row

_RANKING = ("c0", "blondie24-rr", "c5-n0.001", "c10", "c10-rr")
_FOUR = ("c0", "blondie24-rr", "c10", "c10-rr")
_POOL = (
    "the thesis does not define the score by which strategies are chosen, and an older strategy "
    "had more rounds in which to be copied: equal chances alone would give -3.36 here"
)
# C2Ply against C1Ply and C4Ply against C3Ply. Of the latter's two figures, 35 and 33 wins, 33 makes
# 86 games.
_GROWTH_OF_C0 = weighted_sum(
    (match_interval(33, 25, 28), match_interval(33, 26, 27)), (-1.0, 1.0), 0.0
)
_HUGHES = "the thesis does not tell how Hughes's player was evolved"


def _evolution() -> Iterable[Claim]:
    yield beats(
        "blondie24-rr", "c0", "A round robin beats five opponents drawn at random.", thesis("4.3")
    )
    yield beats("c10", "blondie24-rr", "Social learning beats the round robin.", thesis("5.6, 8.1"))
    yield beats("c10", "c0", "Social learning beats five random opponents.", thesis("5.6, 8.1"))
    yield ranks(
        "C200 < ... < C10",
        "The more often strategies are published, the better the player: C200 < C100 < C50 < C20 < "
        "C10.",
        thesis("5.6, 8.1"),
        ("c200", "c100", "c50", "c20", "c10"),
    )
    yield beats("c0", "c1", "A social pool of one player hurts: C0 beats C1.", thesis("5.4"))
    yield beats(
        "blondie24-rr", "c1", "A social pool of one hurts: Blondie24-RR beats C1.", thesis("5.4")
    )
    yield beats(
        "blondie24-rr",
        "c200",
        "Blondie24-RR beats social learning that publishes seldom: C200.",
        thesis("5.4"),
    )
    for other in ("c0", "blondie24-rr", "c10"):
        yield beats(
            "c10-rr",
            other,
            f"Social learning with a round robin is best: C10-RR beats {other}.",
            thesis("5.5, 8.1"),
        )
    yield ranks(
        "Table 8.1",
        "The ranking: C10-RR, C10, C5-N0.001, Blondie24-RR, C0.",
        thesis("Table 8.1"),
        _RANKING,
    )


def _equalities() -> Iterable[Claim]:
    yield equals(
        "c0-common",
        "blondie24-rr",
        "The same few opponents for all may do well (by our reading: as well as a round robin).",
        thesis("4.4, after Miconi 2009"),
    )
    for other, players in (
        ("c0", ("c200", "c100", "c50", "c20")),
        ("blondie24-rr", ("c100", "c50", "c20")),
    ):
        for player in players:
            yield equals(
                player, other, f"{player.upper()} and {other} are the same.", thesis("5.4")
            )
    for other in ("c0", "blondie24-rr"):
        yield equals(
            "c1-n0.001",
            other,
            f"1-tuples taught by temporal differences are as good as {other}: C1-N0.001.",
            thesis("6.10"),
        )
    yield equals("c1-n0.01", "c1-n0.0001", "C1-N0.01 and C1-N0.0001 are the same.", thesis("6.10"))
    yield equals("c5-n0.001", "c10", "C5-N0.001 is as good as C10.", thesis("6.8"))
    yield equals(
        "c5-n0.001",
        "c1-n0.001",
        "Under temporal differences tuples of five squares and of one are the same.",
        thesis("6.11"),
    )


def _evolved_tuples() -> Iterable[Claim]:
    for player in ("c5-tuple", "c1-tuple"):
        for other in _FOUR:
            yield beats(
                other,
                player,
                f"Evolved n-tuples are worse: {other} beats {player}.",
                thesis("6.4" if player == "c5-tuple" else "6.6"),
            )


def _temporal_differences() -> Iterable[Claim]:
    for other in ("c0", "blondie24-rr"):
        yield beats(
            "c5-n0.001",
            other,
            f"5-tuples taught by temporal differences beat {other}: C5-N0.001.",
            thesis("6.8, 8.1"),
        )
    for best, taught in (("c10-rr", "c5"), ("c10", "c1"), ("c10-rr", "c1")):
        yield beats(
            best,
            f"{taught}-n0.001",
            f"{best} beats {taught.upper()}-N0.001.",
            thesis("6.8" if taught == "c5" else "6.10"),
        )
    for size in ("c5", "c1"):
        for alpha in ("0.01", "0.0001"):
            yield beats(
                f"{size}-n0.001",
                f"{size}-n{alpha}",
                f"A learning rate of 0.001 is best: {size.upper()}-N0.001 beats that of {alpha}.",
                thesis("6.8" if size == "c5" else "6.10"),
            )
    yield beats("c5-n0.01", "c5-n0.0001", "C5-N0.01 is better than C5-N0.0001.", thesis("6.8"))
    yield beats(
        "c5-n0.001",
        "c1-n0.001",
        "Under temporal differences tuples of five squares beat those of one.",
        thesis("8.1"),
    )


def _equal_depth() -> Iterable[Claim]:
    """Yield the claims on C5-N0.001 for a player that trains at 4 plies, as the networks do."""
    taught, deep = "c5-n0.001", "c5-n0.001-4ply"
    where = "Trained at 4 plies, as the networks are, C5-N0.001-4ply"
    for other in ("c0", "blondie24-rr"):
        yield replace(
            beats(deep, other, f"{where} beats {other}.", thesis("6.8, 8.1")),
            theirs=published_effect(beats(taught, other, "", "")),
        )
    yield replace(
        equals(deep, "c10", f"{where} is as good as C10.", thesis("6.8")),
        theirs=published_effect(equals(taught, "c10", "", "")),
    )
    yield replace(
        beats("c10-rr", deep, f"{where} loses to C10-RR.", thesis("6.8")),
        theirs=published_effect(beats("c10-rr", taught, "", "")),
    )


def _speed() -> Iterable[Claim]:
    faster = exactly(math.log10(19 / 2))
    for name, taught, says in (
        (
            "c5-n0.001 faster",
            "c5-n0.001",
            "They learn far faster than a network evolves (theirs: 2 days and 19): C5-N0.001, "
            "which trains without search, against C0, which trains at 4 plies.",
        ),
        (
            "c5-n0.001-4ply faster",
            "c5-n0.001-4ply",
            "They learn far faster at equal depth too: C5-N0.001-4ply against C0, both trained at "
            "4 plies.",
        ),
    ):
        yield Claim(
            name,
            says,
            thesis("6.12, 8.1"),
            (row(taught, ()), row("c0", ())),
            speed,
            TIMES,
            theirs=faster,
            tables=("training",),
        )


def _piece_difference() -> Iterable[Claim]:
    for player in ("c0", "blondie24-rr", "c10", "c5-n0.001"):
        yield beats(
            player,
            f"{player}-npd",
            f"The piece difference matters: {player} beats the same without it.",
            thesis("7.4"),
        )


def _depth() -> Iterable[Claim]:
    for players in (C0_BY_PLY, RR_BY_PLY):
        yield ranks(
            f"{players[-1]}, 1 < ... < 4 plies",
            f"Trained at more plies, {players[-1]} is better at 6.",
            thesis("7.7"),
            players,
        )
    for deep, flat in (("c10", "c10-1ply"), ("c5-n0.001-4ply", "c5-n0.001-1ply")):
        yield beats(deep, flat, f"Trained at 4 plies, {deep} is better than at 1.", thesis("7.7"))
    for players in (C0_BY_PLY, RR_BY_PLY):
        yield Claim(
            f"{players[-1]}, growing steps",
            f"Each further ply of training gains more: {players[-1]}, third step less first only.",
            thesis("7.8"),
            steps(players),
            growth,
            PERCENT,
            theirs=_GROWTH_OF_C0 if players is C0_BY_PLY else None,
        )
    for players in (C0_BY_PLY, RR_BY_PLY):
        for depth in (1, 2, 3):
            yield Claim(
                f"{players[-1]} at {depth}",
                f"There is no point in playing below the trained depth (by our reading: at {depth} "
                f"ply, a player trained at {depth} ply beats {players[-1]}).",
                thesis("7.8"),
                (row(Player(players[depth - 1], depth=depth), Player(players[-1], depth=depth)),),
            )


def _other_claims_of_the_thesis() -> Iterable[Claim]:
    yield Claim(
        "red",
        "Players are stronger as red, who moves first.",
        thesis("4.3.1"),
        tuple(
            row(here, there)
            for n, here in enumerate(_RANKING[::-1])
            for there in _RANKING[::-1][n + 1 :]
        ),
        red_advantage,
    )
    for number, (program, stand_in) in enumerate(STAND_INS.items(), 2):
        c0, rr = DIFFERENCES_PRINTED[program]
        yield Claim(
            f"ahead of {program}",
            f"Blondie24-RR ends with more pieces than C0 against {program} (here {stand_in}).",
            thesis(f"4.3.{number}"),
            (row("c0", stand_in), row("blondie24-rr", stand_in)),
            pieces_ahead,
            "pieces",
            theirs=student([mine - other for mine, other in zip(rr, c0, strict=True)]),
        )
    older, newer = POOL_OF_C10[:5], POOL_OF_C10[5:]
    yield Claim(
        "recent strategies are reused",
        "Recent strategies of the pool are copied more often: newer half less older half.",
        thesis("5.3, Table 5.1"),
        (row(Player("c10", generations=160), ()),),
        recent_reuse,
        "copies a strategy",
        theirs=student([mine - other for mine, other in zip(newer, older, strict=True)]),
        tables=("table-5.1",),
        untested=_POOL,
    )


def _other_papers() -> Iterable[Claim]:
    yield Claim(
        "2001 levels off above 1999",
        "Against a heuristic player the networks of 2001 level off above those of 1999.",
        "Skycak 2022",
        tuple(row(player, ()) for player in NETWORKS[::-1]),
        levels("curve/heuristic"),
        "payoff",
        tables=("skycak-2001", "skycak-1999"),
    )
    yield beats(NETWORKS[1], NETWORKS[0], "The network of 2001 beats that of 1999.", "Skycak 2022")
    yield Claim(
        "blondie24 by 311 points",
        "Blondie24 is better than a piece counter (14 games, drawn ones given to the side with "
        "more pieces).",
        "Al-Khateeb 2011, 7.2, after Chellapilla & Fogel 1999",
        (row("blondie24-2001", "material"),),
        rating_difference,
        "rating points",
        conditions=FOURTEEN,
    )
    yield Claim(
        "hughes > material",
        "Hughes's evolved piece counter beats a plain one (1,000 games).",
        "Al-Khateeb 2011, 7.2, after Hughes 2003",
        (row("hughes", "material"),),
        conditions=THOUSAND,
        untested=_HUGHES,
    )
    for name, player, where in (
        ("nguyen improves", NGUYEN[0], "4 plies"),
        ("nguyen-3ply improves", "nguyen-3ply", "3 plies, as in his Figure 5"),
    ):
        yield Claim(
            name,
            "Champions of the genetic algorithm beat those before them (second half of the run, "
            f"trained at {where}).",
            "Nguyen, III.D" if player == NGUYEN[0] else "Nguyen, IV.A",
            (row(player, ()),),
            late("champion/progress"),
            "mean of means",
            tables=("nguyen-progress",),
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
    yield beats(NGUYEN[1], NGUYEN[0], "Safe mutation helps.", "Nguyen, III.C.3 (expected there)")
    yield Claim(
        "safe mutation is expensive",
        "Safe mutation takes very much computing time.",
        "Nguyen, IV.C",
        tuple(row(player, ()) for player in NGUYEN),
        speed,
        TIMES,
        tables=("nguyen-observations",),
    )


CLAIMS: tuple[Claim, ...] = tuple(
    chain(
        in_family("kinds of evolution", _evolution()),
        in_family("equalities", _equalities()),
        in_family("evolved n-tuples", _evolved_tuples()),
        in_family("temporal differences", _temporal_differences()),
        in_family("temporal differences at equal depth", _equal_depth()),
        in_family("time of training", _speed()),
        in_family("piece difference", _piece_difference()),
        in_family("depth of training", _depth()),
        in_family("other claims of the thesis", _other_claims_of_the_thesis()),
        in_family("other papers", _other_papers()),
    )
)
