"""The jobs that experiments are made of: a training run, and a match between two players."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np

from checkers_env.openings import BALLOTS
from checkers_env.state import DrawRules
from training.evolution.game_runner import play_matchup
from training.evolution.metrics import sample_positions
from training.regimes import Regime, TreeStrap
from training.reproduction.digest import digest
from training.trainer import loop
from training.trainer.ablations import ABLATIONS
from training.trainer.presets import PRESETS, TD_PRESETS, Preset
from training.trainer.strong_ablations import STRONG_ABLATIONS

PLAYERS: dict[str, Preset] = {**PRESETS, **TD_PRESETS, **STRONG_ABLATIONS, **ABLATIONS}
POINTS = 100  # of a curve, at most
TRIAL = 20  # generations, at least, by which one code's run is told from another's
SHORT_TRIAL = 2  # of a regime that measures itself: its generations are long, and all alike
KEY_DIGITS = 16
SPARE = 100  # seeds from here on are of players that no table is about
SMALLEST = {"parents": 3, "pairs": 3, "games": 1, "cards": 1}  # sizes that are scaled
KEPT = {"blondie24-rr": 5}  # members in a record, where the champion is not enough (Table 4.1)


@dataclass(frozen=True)
class Player:
    """Who plays, as a table names it: a trained player, or an agent of :func:`agents.make`.

    Attributes
    ----------
    name
        A preset, or an agent's name.
    depth
        Plies it searches; None for those of the match.
    seed
        Of its training; None for the seed of the match, so that champions are paired by seed.
    generations
        Of its training; None for those of the preset.
    member
        Its place in the last generation; 0 for the champion.
    simulations
        Playouts a move, to play by Monte Carlo tree search with its evaluator instead.
    random_ties
        Whether chance decides between moves that it finds equally good, and not their order.
    unsaturated
        Whether it judges positions by the sum at its output, which its tanh may saturate.
    """

    name: str
    depth: int | None = None
    seed: int | None = None
    generations: int | None = None
    member: int = 0
    simulations: int | None = None
    random_ties: bool = False
    unsaturated: bool = False

    @property
    def trained(self) -> bool:
        """Whether it takes a training run."""
        return self.name in PLAYERS

    def __str__(self) -> str:
        parts = [
            f"{self.generations} generations" if self.generations else "",
            f"seed {self.seed}" if self.seed is not None else "",
            f"place {self.member + 1}" if self.member else "",
            f"{self.depth} plies" if self.depth else "",
            f"{self.simulations} simulations" if self.simulations else "",
            "random ties" if self.random_ties else "",
            "unsaturated" if self.unsaturated else "",
        ]
        told = ", ".join(part for part in parts if part)
        return f"{self.name} ({told})" if told else self.name


@dataclass(frozen=True)
class Conditions:
    """How a match is played.

    Attributes
    ----------
    depth
        Plies, for players without a depth of their own.
    games
        0: every card of the ballot with both colours, and before them the start position with
        both. Else so many, both colours of cards drawn by the seed of the match.
    repetition
        Occurrences of a position that draw a game; 0 for no such rule.
    play_out
        Plies of the piece counter that plays drawn games out; 0 to let them be drawn.
    ballot
        Where the cards come from: ``"two-move"`` or ``"three-move"``.
    """

    depth: int = 6
    games: int = 0
    repetition: int = 0
    play_out: int = 0
    ballot: str = "two-move"

    @property
    def rules(self) -> DrawRules:
        """When games are drawn."""
        return DrawRules(repetition=self.repetition or None)


AS_THE_THESIS = Conditions()


@dataclass(frozen=True)
class Run:
    """A training run.

    Attributes
    ----------
    preset
        What is trained.
    seed
        Of all that is drawn.
    generations
        How many, before they are scaled.
    scale
        Below 1 for a trial: so much of the generations, and of the parents where there are any.
    """

    preset: str
    seed: int
    generations: int
    scale: float = 1.0

    @property
    def regime(self) -> Regime:
        """What passes from a generation to the next."""
        regime: Any = PLAYERS[self.preset].regime
        if self.scale < 1:
            for name in {field.name for field in fields(regime)} & SMALLEST.keys():
                size = getattr(regime, name)
                smaller = max(SMALLEST[name], round(size * self.scale))
                regime = replace(regime, **{name: min(size, smaller)})
        return regime

    @property
    def measures_itself(self) -> bool:
        """Whether the run's own scores are all that is wanted of it: nobody plays against it."""
        return isinstance(self.regime, TreeStrap)

    @property
    def length(self) -> int:
        """Generations."""
        return max(1, round(self.generations * self.scale))

    @property
    def point_every(self) -> int:
        """Generations for a point of the curve: the same for all runs of a preset."""
        if self.measures_itself:
            return 1
        points = max(1, round(POINTS * self.scale))
        whole = replace(self, generations=PLAYERS[self.preset].generations)
        return math.ceil(whole.length / points)

    @property
    def trial(self) -> int:
        """Generations after which all that the regime does has been seen once."""
        if self.measures_itself:
            return min(self.length, SHORT_TRIAL)
        if getattr(self.regime, "league_every", 0):
            return self.length  # no curve shows who reigns
        return min(self.length, max(TRIAL, getattr(self.regime, "social_every", 0) + 1))

    @property
    def kept(self) -> int:
        """Members that the record keeps, the champion first."""
        if self.measures_itself:
            return 0
        return min(KEPT.get(self.preset, 1), self.regime.parents)

    @property
    def identity(self) -> dict[str, Any]:
        """What the result depends on: the configuration, the seed, and the digest of the code."""
        regime: Any = self.regime
        kind: Any = type(regime)
        measures = (loop.own_scores,) if self.measures_itself else ()
        return {
            "preset": self.preset,
            "regime": asdict(regime),
            "generations": self.length,
            "seed": self.seed,
            "point_every": self.point_every,
            "kept": self.kept,
            "code": digest(kind, loop.measure, sample_positions, play_matchup, *measures),
        }

    @property
    def key(self) -> str:
        """Tells the result from those of other configurations, seeds and code."""
        return key_of(self.identity)

    @property
    def title(self) -> str:
        """What to call it."""
        return f"{self.preset}-{self.length}-seed-{self.seed}"


@dataclass(frozen=True)
class Match:
    """A match between two players whose seeds are settled; `first` sorts before `second`."""

    first: Player
    second: Player
    seed: int
    conditions: Conditions = AS_THE_THESIS
    scale: float = 1.0

    @property
    def runs(self) -> tuple[Run, ...]:
        """The training runs that it needs."""
        players = [player for player in (self.first, self.second) if player.trained]
        return tuple(dict.fromkeys(run_of(player, self.scale) for player in players))

    @property
    def openings(self) -> tuple[str, ...]:
        """The opening of each pair of games, "" for the start position."""
        ballot = BALLOTS[self.conditions.ballot]
        cards = np.random.default_rng(self.seed).permutation(ballot)
        drawn = self.conditions.games // 2 or len(cards)
        drawn = max(1, round(drawn * self.scale))
        start = () if self.conditions.games else ("",)
        return (*start, *np.resize(cards, drawn).tolist())

    @property
    def games(self) -> int:
        """How many."""
        return 2 * len(self.openings)

    @property
    def title(self) -> str:
        """What to call it."""
        other = "" if self.conditions == AS_THE_THESIS else f", {self.conditions.games} games"
        return f"{self.first} against {self.second}{other}, seed {self.seed}"


def run_of(player: Player, scale: float) -> Run:
    """The run that trains a player whose seed is settled."""
    assert player.seed is not None
    generations = player.generations or PLAYERS[player.name].generations
    return Run(player.name, player.seed, generations, scale)


def settled(player: Player, seed: int) -> Player:
    """The player with that seed, if it is trained and has none of its own."""
    if not player.trained or player.seed is not None:
        return player
    return replace(player, seed=seed)


def match_of(
    first: Player, second: Player, seed: int, conditions: Conditions, scale: float
) -> tuple[Match, bool]:
    """The match of two players, and whether it has them the other way round.

    Whoever is named first, it is one match.
    """
    players = settled(first, seed), settled(second, seed)
    seeds = [player.seed for player in players if player.seed is not None]
    one, other = sorted(players, key=lambda player: json.dumps(asdict(player)))
    turned = (one, other) != players
    return Match(one, other, max(seeds, default=seed), conditions, scale), turned


def key_of(identity: dict[str, Any]) -> str:
    """A digest of anything that JSON can say, in hexadecimal digits."""
    text = json.dumps(identity, sort_keys=True, default=list)
    return hashlib.sha256(text.encode()).hexdigest()[:KEY_DIGITS]
