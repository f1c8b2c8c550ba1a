"""The jobs that experiments are made of: a training run, and a match between two players."""

from __future__ import annotations

import difflib
import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np

from agents.search.alphabeta import RESULTS_VERSION
from checkers_env.openings import BALLOTS
from checkers_env.state import DrawRules
from training.regimes import Regime
from training.regimes.treestrap import TreeStrap
from training.trainer.ablations import ABLATIONS
from training.trainer.presets import PRESETS, TD_PRESETS, Preset
from training.trainer.strong_ablations import STRONG_ABLATIONS
from training.trainer.variants import make_variant

PLAYERS: dict[str, Preset] = {**PRESETS, **TD_PRESETS, **STRONG_ABLATIONS, **ABLATIONS}
POINTS = 100  # of a curve, at most
KEY_DIGITS = 16
SPARE = 100  # seeds from here on are of players that no table is about
SMALLEST = {"parents": 3, "pairs": 3, "games": 1, "cards": 1}  # sizes that are scaled
KEPT = {"blondie24-rr": 5}  # members in a record, where the champion is not enough (Table 4.1)


@dataclass(frozen=True)
class Player:
    """Who plays, as a table names it: a trained player, or an agent of :func:`agents.registry`.

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
        return find_preset(self.name) is not None

    @property
    def settings(self) -> dict[str, Any]:
        """The fields that differ from their defaults, by name."""
        return without_defaults(asdict(self), Player)

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
        regime: Any = get_preset(self.preset).regime
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
        whole = replace(self, generations=get_preset(self.preset).generations)
        return math.ceil(whole.length / points)

    @property
    def kept(self) -> int:
        """Members that the record keeps, the champion first."""
        if self.measures_itself:
            return 0
        return min(KEPT.get(self.preset, 1), self.regime.parents)

    @property
    def results_version(self) -> dict[str, int]:
        """The versions that are raised by hand when results change."""
        return {"regime": self.regime.results_version, "search": RESULTS_VERSION}

    @property
    def configuration(self) -> dict[str, Any]:
        """All that the result depends on."""
        regime: Any = self.regime
        return {
            "preset": self.preset,
            "generations": self.length,
            "seed": self.seed,
            "regime": asdict(regime),
            "point_every": self.point_every,
            "results_version": self.results_version,
        }

    @property
    def title(self) -> str:
        """What to call it."""
        return f"{self.preset}-{self.length}-seed-{self.seed}"


@dataclass(frozen=True)
class Match:
    """A match between two players whose seeds are given; `first` sorts before `second`."""

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
    def results_version(self) -> dict[str, int]:
        """The version that is raised by hand when results change."""
        return {"search": RESULTS_VERSION}

    @property
    def cards(self) -> tuple[int, ...]:
        """The numbers of the openings in the ballot, from 1; 0 for the start position."""
        ballot = BALLOTS[self.conditions.ballot]
        return tuple(ballot.index(it) + 1 if it else 0 for it in self.openings)

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


Job = Run | Match


def find_preset(name: str) -> Preset | None:
    """Return a preset or a variant of one, such as ``c0@opponents=10``; None for other names."""
    return make_variant(name, PLAYERS)


def get_preset(name: str) -> Preset:
    """Return a preset or a variant of one. Raises ValueError for other names."""
    preset = find_preset(name)
    if preset is None:
        near = difflib.get_close_matches(name, PLAYERS) or PLAYERS
        raise ValueError(f"no preset {name!r}: did you mean {' or '.join(near)}?")
    return preset


def run_of(player: Player, scale: float) -> Run:
    """The run that trains a player whose seed is given."""
    assert player.seed is not None
    generations = player.generations or get_preset(player.name).generations
    return Run(player.name, player.seed, generations, scale)


def with_seed(player: Player, seed: int) -> Player:
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
    players = with_seed(first, seed), with_seed(second, seed)
    seeds = [player.seed for player in players if player.seed is not None]
    one, other = sorted(players, key=lambda player: json.dumps(asdict(player)))
    turned = (one, other) != players
    return Match(one, other, max(seeds, default=seed), conditions, scale), turned


def key_of(identity: Mapping[str, Any]) -> str:
    """Return a hash of anything that JSON can hold, in hexadecimal digits."""
    text = json.dumps(identity, sort_keys=True, default=list)
    return hashlib.sha256(text.encode()).hexdigest()[:KEY_DIGITS]


def run_key(row: Mapping[str, Any]) -> str:
    """Return what the line of a run is found by, from the line or from a configuration.

    Constants of the regime that have their default are left out: a new one whose default changes
    nothing leaves all keys as they are.
    """
    regime = dict(row["regime"])
    if (preset := find_preset(row["preset"])) is not None:
        regime = without_defaults(regime, type(preset.regime))
    names = ("preset", "generations", "seed", "point_every", "results_version")
    return key_of({name: row[name] for name in names} | {"regime": regime})


def match_key(row: Mapping[str, Any]) -> str:
    """Return what the line of a match is found by."""
    names = ("first", "second", "seed", "cards", "results_version", "champions")
    conditions = without_defaults(row["conditions"], Conditions)
    return key_of({name: row[name] for name in names} | {"conditions": conditions})


def without_defaults(values: Mapping[str, Any], kind: type[Any]) -> dict[str, Any]:
    """Return the values that are not the defaults of a dataclass's fields."""
    defaults = {field.name: field.default for field in fields(kind)}
    return {
        name: value
        for name, value in values.items()
        if name not in defaults or value != defaults[name]
    }
