"""The continual player: it plays from a social pool and changes its strategy after a lost game.

B. Al-Khateeb's thesis (Nottingham, 2011), section 8.2, item 2: Blondie24 is an end product that no
game teaches anything; a player that keeps the pool it comes from can, each time it loses, go over
to the second best strategy of the pool, or to a random one, and try that on the same opponent.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from filelock import FileLock

from agents.agent import Agent, PlayerAgent
from agents.continual.pool import Strategies, load_pool
from agents.search.workspace import MAX_DEPTH
from checkers_env.board import Board
from checkers_env.files import write_atomically
from checkers_env.movegen import BLACK, WHITE
from checkers_env.moves import Move

FORMAT = 1
SCORES = (0.0, 0.5, 1.0)  # of a lost, drawn and won game
PRIOR = 1.0  # wins, and losses, that every strategy is credited with beforehand


class LearningAgent(Agent, Protocol):
    """An agent that learns from its games. The method is optional: most agents have none.

    Whoever runs a match looks for it by ``getattr(agent, "game_over", None)``.
    """

    def game_over(self, board: Board, side: int) -> None:
        """Hear how a game ended, once, after its last move.

        `board` has the final position and the game's draw rules, `side` is the side that the agent
        had (BLACK or WHITE). A game that nobody has won on the board counts as drawn.
        """


class Played(NamedTuple):
    """A game in the record."""

    opponent: str | None  # its name, where the agent was told one
    strategy: int  # a row of the pool
    side: int
    score: float
    then: int  # the strategy chosen after the game


def tallies(games: Sequence[Played], size: int) -> Any:
    """How often each strategy lost, drew and won: int64[size, 3]."""
    counts = np.zeros((size, 3), np.int64)
    for game in games:
        counts[game.strategy, SCORES.index(game.score)] += 1
    return counts


def next_best(current: int, counts: Any, rng: np.random.Generator) -> int:
    """The next strategy in the order of pool scores; after the last one, the first."""
    return (current + 1) % len(counts)


def another(current: int, counts: Any, rng: np.random.Generator) -> int:
    """Any other strategy, with equal chances."""
    others = len(counts) - 1
    return (current + 1 + int(rng.integers(others))) % len(counts) if others else current


def best_so_far(current: int, counts: Any, rng: np.random.Generator) -> int:
    """The strategy with the highest posterior mean score; of equal ones the pool's best.

    A strategy's score has the mean (wins + draws / 2 + 1) / (games + 2): a beta prior that credits
    each with a win and a loss. What was never tried stands at 1/2, so it is tried before anything
    that does worse than that. It may be the strategy that has just lost.
    """
    worth = (counts @ np.array(SCORES) + PRIOR) / (counts.sum(axis=1) + 2 * PRIOR)
    return int(np.argmax(worth))


RULES: dict[str, Callable[[int, Any, np.random.Generator], int]] = {
    "next": next_best,
    "random": another,
    "best": best_so_far,
}


@dataclass(eq=False)
class ContinualAgent:
    """Plays one strategy of a pool until it loses a game, and then chooses by a rule.

    It begins with the best of the pool, or goes on where its record ends.

    Parameters
    ----------
    pool
        The strategies.
    record
        JSON file of all games so far, which several processes may share; None: kept in memory.
    rule
        ``"next"``, ``"random"`` or ``"best"``: see :func:`next_best`, :func:`another` and
        :func:`best_so_far`.
    opponent
        Name of the player that it meets: it then goes by the games against that one only.
    depth
        Plies of the search; by default those of the pool's training.
    seed
        Of the rule ``"random"``: the choice after a game depends on it and the number of the game.
    frozen
        Never to change, nor write to the record: the twin to measure against.

    Raises ValueError for what is impossible, and for a record that is damaged or of another pool.
    """

    pool: Strategies
    record: Path | None = None
    rule: str = "next"
    opponent: str | None = None
    depth: int | None = None
    seed: int | None = None
    frozen: bool = False
    games: tuple[Played, ...] = field(default=(), init=False)
    strategy: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        if self.rule not in RULES:
            raise ValueError(f"rule must be one of {', '.join(RULES)}, not {self.rule!r}")
        if not (self.depth is None or self.depth in range(1, MAX_DEPTH + 1)):
            raise ValueError(f"depth must be from 1 to {MAX_DEPTH}, not {self.depth!r}")
        if not (self.seed is None or (isinstance(self.seed, int) and self.seed >= 0)):
            raise ValueError(f"seed must be a whole number from 0 on, not {self.seed!r}")
        if not isinstance(self.opponent, str | None):
            raise ValueError(f"opponent must be a name or None, not {self.opponent!r}")
        if self.record and not self.record.parent.is_dir():
            raise ValueError(f"there is no folder {str(self.record.parent)!r} for a record")
        self._digest = self.pool.digest()
        self.games = self._recorded()
        self._play(self.met[-1].then if self.met else 0)

    @property
    def met(self) -> list[Played]:
        """The games that it goes by: those against its opponent, or all."""
        return [game for game in self.games if self.opponent in (None, game.opponent)]

    def act(self, board: Board) -> Move:
        """Choose a move with the strategy of the moment. Raises ValueError when there is none."""
        return self._player.act(board)

    def game_over(self, board: Board, side: int) -> None:
        """Put the game on record, and after a loss choose a strategy (see LearningAgent)."""
        if side not in (BLACK, WHITE):
            raise ValueError(f"side must be BLACK (0) or WHITE (1), not {side!r}")
        if self.frozen:
            return
        outcome = board.outcome()
        winner = None if outcome is None else outcome.winner
        score = 0.5 if winner is None else float(winner == side)
        # Another process may have played, or be about to write, since the record was read.
        with FileLock(f"{self.record}.lock") if self.record else nullcontext():
            self.games = self._recorded()
            game = Played(self.opponent, self.strategy, int(side), score, self.strategy)
            game = game._replace(then=self._choice(game)) if score == 0 else game
            games = (*self.games, game)
            if self.record:
                save_record(self.record, self._digest, games)
        self.games = games
        if game.then != self.strategy:
            self._play(game.then)

    def _choice(self, lost: Played) -> int:
        """The strategy after a lost game, which is not yet among the games."""
        met = [*self.met, lost]
        rng = np.random.default_rng(None if self.seed is None else (self.seed, len(met)))
        return RULES[self.rule](self.strategy, tallies(met, self.pool.size), rng)

    def _recorded(self) -> tuple[Played, ...]:
        if self.record is None:
            return self.games
        return load_record(self.record, self._digest, self.pool.size)

    def _play(self, strategy: int) -> None:
        self.strategy = strategy
        player = self.pool.player(strategy, self.depth)
        self._player = PlayerAgent(f"strategy {strategy} of the pool", player)


def continual(
    pool: Path | str,
    record: Path | str | None = None,
    *,
    rule: str = "next",
    opponent: str | None = None,
    depth: int | None = None,
    seed: int | None = None,
    frozen: bool = False,
) -> ContinualAgent:
    """The continual player over a pool file: see :class:`ContinualAgent`."""
    path = None if record is None else Path(record)
    return ContinualAgent(load_pool(pool), path, rule, opponent, depth, seed, frozen)


def save_record(path: Path, digest: str, games: Sequence[Played]) -> None:
    """Write the games of a pool as JSON, all or nothing."""
    fields = {"format": FORMAT, "pool": digest, "games": [game._asdict() for game in games]}
    write_atomically(path, json.dumps(fields, indent=1).encode())


def load_record(path: Path, digest: str, size: int) -> tuple[Played, ...]:
    """The games on record of a pool with that many strategies; none where there is no file.

    Raises ValueError that names the file for one that is damaged or of another pool.
    """
    try:
        fields = json.loads(path.read_bytes())
        if fields["format"] != FORMAT:
            raise ValueError(f"its format is {fields['format']!r}, not {FORMAT}")
        if fields["pool"] != digest:
            raise ValueError("it belongs to another pool")
        return tuple(_game(game, size) for game in fields["games"])
    except FileNotFoundError:
        return ()
    except KeyError as error:
        raise ValueError(f"{str(path)!r} is no record of a pool: it lacks {error}") from None
    except (OSError, TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"{str(path)!r} is no record of this pool: {error}") from None


def _game(fields: dict[str, Any], size: int) -> Played:
    game = Played(**fields)
    if not (
        isinstance(game.opponent, str | None)
        and all(type(row) is int and 0 <= row < size for row in (game.strategy, game.then))
        and type(game.side) is int
        and game.side in (0, 1)
        and type(game.score) is float
        and game.score in SCORES
    ):
        raise ValueError(f"{fields} is no game with one of {size} strategies")
    return game
