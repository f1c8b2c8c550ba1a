"""Jobs of the experiments: a training run, and a match between two players."""

from __future__ import annotations

import difflib
import functools
import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from agents.search.alphabeta import RESULTS_VERSION
from checkers_env.openings import BALLOTS
from checkers_env.state import DrawRules
from training.league.entrants import file_digest
from training.regimes import Regime
from training.regimes.bootstrap import Bootstrap
from training.trainer.presets import ABLATIONS, PRESETS, TD_PRESETS, Preset, load_preset
from training.trainer.variants import make_variant

PLAYERS: dict[str, Preset] = {**PRESETS, **TD_PRESETS, **ABLATIONS}
OWN = ".py:"  # in the name of a preset of one's own file
digest_once = functools.cache(file_digest)  # as its code, which a process imports once
POINTS = 100  # points of a curve, at most
FEW_POINTS = {"c5-tuple-sum": 10, "c1-tuple-sum": 10}  # and of their variants: there are many
KEY_DIGITS = 16
VALIDATION_SEED = 100  # first seed of players outside all tables: the opponents of the validation
# Sizes that a trial scales down to.
SMALLEST = {"parents": 3, "pairs": 3, "games": 1, "steps": 1, "play": 1, "study": 1}
CHAMPIONS_KEPT = {"blondie24-rr": 5}  # champions of a run, if not one (thesis, Table 4.1)


@dataclass(frozen=True)
class Player:
    """Player of a table: a trained player, or an agent of :func:`agents.make`."""

    name: str  # a preset, or an agent's name
    depth: int | None = None  # None for the depth of the match
    seed: int | None = None  # None for that of the match: champions are then paired by seed
    generations: int | None = None  # None for those of the preset
    member: int = 0  # rank in the last generation
    simulations: int | None = None  # playouts a move, by Monte Carlo tree search
    tie: str | None = None  # "first", "last" or "chance"; None for the rule of the match
    unsaturated: bool = False  # evaluates by the sum at the output, without tanh
    exact_tanh: bool = False  # evaluates by a tanh that is exact in float32

    @property
    def trained(self) -> bool:
        """Whether the player comes from a training run."""
        return find_preset(self.name) is not None

    @property
    def settings(self) -> dict[str, Any]:
        """Fields that differ from their defaults, by name."""
        return without_defaults(vars(self), Player)

    def __str__(self) -> str:
        parts = [
            f"{self.generations} generations" if self.generations else "",
            f"seed {self.seed}" if self.seed is not None else "",
            f"place {self.member + 1}" if self.member else "",
            f"{self.depth} plies" if self.depth else "",
            f"{self.simulations} simulations" if self.simulations else "",
            f"tie {self.tie}" if self.tie else "",
            "unsaturated" if self.unsaturated else "",
            "exact tanh" if self.exact_tanh else "",
        ]
        text = ", ".join(part for part in parts if part)
        return f"{self.name} ({text})" if text else self.name


@dataclass(frozen=True)
class Conditions:
    """Conditions of a match."""

    depth: int = 6  # plies of players without a depth of their own
    games: int = 0  # from sampled cards; 0: from the start position and all cards, each two games
    repetition: int = 0  # occurrences of a position that draw a game; 0 for no such rule
    play_out: int = 0  # plies of the piece counter that plays drawn games on; 0 for none
    ballot: str = "two-move"
    openings: tuple[str, ...] | None = None  # of a ballot that is not in BALLOTS
    # Options of all searches by plies; None for those of each player's training.
    tie: str | None = None
    order: str | None = None
    ends_at_jump: bool | None = None

    @property
    def rules(self) -> DrawRules:
        """Draw rules of the games."""
        return DrawRules(repetition=self.repetition or None)

    @property
    def cards(self) -> tuple[str, ...]:
        """Openings of the ballot."""
        return self.openings or BALLOTS[self.ballot]

    @property
    def search_options(self) -> dict[str, Any]:
        """Options of the searches that the match prescribes."""
        options = {"tie": self.tie, "order": self.order, "ends_at_jump": self.ends_at_jump}
        return {name: it for name, it in options.items() if it is not None}

    @property
    def row(self) -> dict[str, Any]:
        """Fields of a line of the results; options of the search only where they are set."""
        return {name: it for name, it in vars(self).items() if it is not None}


AS_THE_THESIS = Conditions()


@dataclass(frozen=True)
class Run:
    """A training run."""

    preset: str
    seed: int
    generations: int
    scale: float = 1.0

    @property
    def regime(self) -> Regime:
        """Regime of the preset, scaled."""
        regime: Any = get_preset(self.preset).regime
        if self.scale < 1:
            for name in {field.name for field in fields(regime)} & SMALLEST.keys():
                size = getattr(regime, name)
                smaller = max(SMALLEST[name], round(size * self.scale))
                regime = replace(regime, **{name: min(size, smaller)})
        return regime

    @property
    def is_variant(self) -> bool:
        """Whether its constants are not those of a preset; git does not keep its champions."""
        return self.preset not in PLAYERS

    @property
    def length(self) -> int:
        """Number of generations, scaled."""
        return max(1, round(self.generations * self.scale))

    @property
    def point_every(self) -> int:
        """Generations a point of the curve: the same for all runs of a preset."""
        points = FEW_POINTS.get(self.preset.partition("@")[0], POINTS)
        points = max(1, round(points * self.scale))
        whole = replace(self, generations=get_preset(self.preset).generations)
        return math.ceil(whole.length / points)

    @property
    def kept(self) -> int:
        """Number of champions in the results, the best first."""
        if isinstance(self.regime, Bootstrap):  # its player searches selectively: no match has that
            return 0
        return min(CHAMPIONS_KEPT.get(self.preset, 1), self.regime.parents)

    @property
    def results_version(self) -> dict[str, int | str]:
        """Versions that are raised by hand when results change; of one's own file its content."""
        versions = {"regime": self.regime.results_version, "search": RESULTS_VERSION}
        file, is_own, _ = self.preset.partition(OWN)
        return versions | ({"file": digest_once(Path(f"{file}.py"))} if is_own else {})

    @property
    def configuration(self) -> dict[str, Any]:
        """Everything that decides the result."""
        regime: Any = self.regime
        return {
            "preset": self.preset,
            "generations": self.length,
            "seed": self.seed,
            "regime": asdict(regime),
            "point_every": self.point_every,
            "results_version": self.results_version,
        }

    @functools.cached_property
    def lineage(self) -> str:
        """Name of its training lineage: a hash of its configuration without the length."""
        rest = {name: it for name, it in self.configuration.items() if name != "generations"}
        return f"{self.preset}-seed-{self.seed}-{key_of(rest)}"

    @property
    def title(self) -> str:
        """Name in messages."""
        return f"{self.preset}-{self.length}-seed-{self.seed}"


@dataclass(frozen=True)
class Match:
    """A match between two players with seeds; `first` sorts before `second`."""

    first: Player
    second: Player
    seed: int  # of the games, and of the cards where these are sampled
    conditions: Conditions = AS_THE_THESIS
    scale: float = 1.0

    @property
    def runs(self) -> tuple[Run, ...]:
        """Training runs of its players."""
        players = [player for player in (self.first, self.second) if player.trained]
        return tuple(dict.fromkeys(run_of(player, self.scale) for player in players))

    @property
    def results_version(self) -> dict[str, int]:
        """Version that is raised by hand when results change."""
        return {"search": RESULTS_VERSION}

    @property
    def cards(self) -> tuple[int, ...]:
        """Numbers of the openings in the ballot, from 1; 0 for the start position."""
        return tuple(map(("", *self.conditions.cards).index, self.openings))

    @property
    def openings(self) -> tuple[str, ...]:
        """Opening of each pair of games; "" for the start position."""
        return _draw_openings(self.conditions, self.scale, self.seed)

    @property
    def games(self) -> int:
        """Number of games."""
        return 2 * len(self.openings)

    @property
    def title(self) -> str:
        """Name in messages."""
        conditions, options = self.conditions, self.conditions.search_options
        other = "" if conditions == AS_THE_THESIS else f", {conditions.games} games"
        if options:
            other = f", {', '.join(f'{name} {it}' for name, it in options.items())}"
        return f"{self.first} against {self.second}{other}, seed {self.seed}"


Job = Run | Match


@functools.cache
def _draw_openings(conditions: Conditions, scale: float, seed: int) -> tuple[str, ...]:
    """Draw the openings of a match's games; without a number of them, the start and all cards."""
    cards = np.random.default_rng(seed).permutation(conditions.cards)
    drawn = max(1, round((conditions.games // 2 or len(cards)) * scale))
    return (*(() if conditions.games else ("",)), *np.resize(cards, drawn).tolist())


def presets_of(name: str) -> dict[str, Preset]:
    """Return the presets that a name can begin with: all, or that of ``file.py:NAME``."""
    base = name.partition("@")[0]
    return {base: load_preset(base)} if OWN in base else PLAYERS


@functools.cache
def find_preset(name: str) -> Preset | None:
    """Return a preset or a variant of one, such as ``c0@opponents=10``; None for other names."""
    return make_variant(name, presets_of(name))


def get_preset(name: str) -> Preset:
    """Return a preset or a variant of one. Raise ValueError for other names."""
    preset = find_preset(name)
    if preset is None:
        near = difflib.get_close_matches(name, PLAYERS)
        hint = f"did you mean {' or '.join(near)}?" if near else "see --list of evolve.py and td.py"
        raise ValueError(f"no preset {name!r}: {hint}")
    return preset


def run_of(player: Player, scale: float) -> Run:
    """Return the training run of a player that has a seed."""
    assert player.seed is not None
    generations = player.generations or get_preset(player.name).generations
    return Run(player.name, player.seed, generations, scale)


def with_seed(player: Player, seed: int) -> Player:
    """Return the player with `seed`, if it is trained and has no seed of its own."""
    if not player.trained or player.seed is not None:
        return player
    return replace(player, seed=seed)


def match_of(
    first: Player, second: Player, seed: int, conditions: Conditions, scale: float
) -> tuple[Match, bool]:
    """Return the match of two players, and whether its `first` is the player `second`.

    Both orders give the same match, so that it is played once. The seed is for trained players
    without one.
    """
    players = with_seed(first, seed), with_seed(second, seed)
    seeds = [player.seed for player in players if player.seed is not None]
    one, other = sorted(players, key=_sort_key)
    turned = (one, other) != players
    return Match(one, other, max(seeds, default=seed), conditions, scale), turned


@functools.cache
def _sort_key(player: Player) -> str:
    return json.dumps(asdict(player))


def key_of(identity: Mapping[str, Any]) -> str:
    """Return a hash of JSON fields, 16 hexadecimal digits."""
    text = json.dumps(identity, sort_keys=True, default=list)
    return hashlib.sha256(text.encode()).hexdigest()[:KEY_DIGITS]


def run_key(row: Mapping[str, Any]) -> str:
    """Return the key of a run, from its line or its configuration.

    Constants of the regime with their default value do not count. A new constant whose default
    changes nothing thus leaves all keys as they are. Those of one's own file all count: the file
    may be gone.
    """
    regime, name = dict(row["regime"]), row["preset"]
    if OWN not in name and (preset := find_preset(name)) is not None:
        regime = without_defaults(regime, type(preset.regime))
    names = ("preset", "generations", "seed", "point_every", "results_version")
    return key_of({name: row[name] for name in names} | {"regime": regime})


def match_key(row: Mapping[str, Any]) -> str:
    """Return the key of a match's line."""
    names = ("first", "second", "seed", "cards", "results_version", "champions")
    conditions = without_defaults(row["conditions"], Conditions)
    return key_of({name: row[name] for name in names} | {"conditions": conditions})


def without_defaults(values: Mapping[str, Any], kind: type[Any]) -> dict[str, Any]:
    """Return the values that differ from the defaults of a dataclass's fields."""
    defaults = {field.name: field.default for field in fields(kind)}
    return {
        name: value
        for name, value in values.items()
        if name not in defaults or value != defaults[name]
    }
