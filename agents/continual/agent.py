"""Continual player: it plays from a social pool and changes its strategy after a loss.

Source: B. Al-Khateeb's thesis (Nottingham, 2011), section 8.2, item 2. Blondie24 stops learning
when its evolution ends. A player that keeps its social pool goes on: after each loss it plays
another strategy of the pool against the same opponent.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from filelock import FileLock
from numpy.typing import NDArray

from agents.agent import Limits, PlayerAgent
from agents.continual.pool import StrategyPool, load_pool
from checkers_env.board import Board
from checkers_env.files import read_regular, write_atomically
from checkers_env.movegen import BLACK, WHITE
from checkers_env.moves import Move

FORMAT = 1
SCORES = (0.0, 0.5, 1.0)  # scores of a lost, drawn and won game
PRIOR = 1.0  # wins and losses of the beta prior


Rule = Callable[[int, NDArray[np.int64], np.random.Generator], int]
"""From the strategy that lost, the lost, drawn and won games of each, shape (size, 3), and a
generator of random choices, to the next strategy; all strategies are rows of the pool."""


class GameEntry(NamedTuple):
    """A game in the record; its fields are those of the JSON file."""

    opponent: str | None  # None: unknown
    strategy: int  # a row of the pool
    side: int
    score: float
    then: int  # the strategy after the game


def next_best(current: int, counts: NDArray[np.int64], rng: np.random.Generator) -> int:
    """Return the next strategy in the order of pool scores; after the last one, the first."""
    return (current + 1) % len(counts)


def random_other(current: int, counts: NDArray[np.int64], rng: np.random.Generator) -> int:
    """Return another strategy, each with equal probability."""
    others = len(counts) - 1
    return (current + 1 + int(rng.integers(others))) % len(counts) if others else current


def best_posterior(current: int, counts: NDArray[np.int64], rng: np.random.Generator) -> int:
    """Return the strategy with the highest posterior mean score; of equal ones the pool's best.

    The mean is (wins + draws / 2 + 1) / (games + 2): a beta prior counts one win and one loss for
    each strategy. An untried strategy is worth 1/2. The result may be the current strategy.
    """
    means = (counts @ np.array(SCORES) + PRIOR) / (counts.sum(axis=1) + 2 * PRIOR)
    return int(np.argmax(means))


RULES: dict[str, Rule] = {"next": next_best, "random": random_other, "best": best_posterior}


@dataclass(eq=False)
class ContinualAgent:
    """An agent that plays one strategy of a pool until it loses, then selects one by a rule.

    It starts with the best strategy of the pool, or with the last one of its record. A `frozen`
    one neither changes its strategy nor writes the record: a twin for comparison.

    Raises
    ------
    ValueError
        If an argument is out of range, or the record is damaged or of another pool.
    """

    pool: StrategyPool
    record: Path | None = None  # JSON file of all games, which several processes may share
    rule: str = "next"  # one of RULES
    opponent: str | None = None  # the games against it alone count; None: all
    depth: int | None = None  # plies; None: as in the pool's training
    seed: int | None = None  # of the rule "random", with the number of the game
    frozen: bool = False
    games: tuple[GameEntry, ...] = field(default=(), init=False)
    strategy: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        if self.rule not in RULES:
            raise ValueError(f"rule must be one of {', '.join(RULES)}, not {self.rule!r}")
        Limits(self.depth).check()
        if not (self.seed is None or (isinstance(self.seed, int) and self.seed >= 0)):
            raise ValueError(f"seed must be a whole number from 0 on, not {self.seed!r}")
        if not isinstance(self.opponent, str | None):
            raise ValueError(f"opponent must be a name or None, not {self.opponent!r}")
        if self.record and not self.record.parent.is_dir():
            raise ValueError(f"the record's folder {str(self.record.parent)!r} does not exist")
        self._digest = self.pool.digest()
        self.games = self._load_games()
        self._switch_to(self.relevant_games[-1].then if self.relevant_games else 0)

    @property
    def relevant_games(self) -> list[GameEntry]:
        """Games against the opponent, or all games if no opponent is set."""
        return [game for game in self.games if self.opponent in (None, game.opponent)]

    def act(self, board: Board) -> Move:
        """Return the move of the current strategy. Raise ValueError if the game is over."""
        return self._agent.act(board)

    def game_over(self, board: Board, side: int) -> None:
        """Record a game that was played as `side`, and after a loss select a strategy.

        A game without a winner on the board counts as drawn.
        """
        if side not in (BLACK, WHITE):
            raise ValueError(f"side must be BLACK (0) or WHITE (1), not {side!r}")
        if self.frozen:
            return
        outcome = board.outcome()
        winner = None if outcome is None else outcome.winner
        score = 0.5 if winner is None else float(winner == side)
        # Another process may have added games, or be about to.
        with FileLock(f"{self.record}.lock") if self.record else nullcontext():
            self.games = self._load_games()
            game = GameEntry(self.opponent, self.strategy, int(side), score, self.strategy)
            game = game._replace(then=self._next_strategy(game)) if score == 0 else game
            games = (*self.games, game)
            if self.record:
                save_record(self.record, self._digest, games)
        self.games = games
        if game.then != self.strategy:
            self._switch_to(game.then)

    def _next_strategy(self, lost: GameEntry) -> int:
        """Return the strategy after a lost game that is not yet among the games."""
        games, counts = [*self.relevant_games, lost], np.zeros((self.pool.size, 3), np.int64)
        for game in games:
            counts[game.strategy, SCORES.index(game.score)] += 1
        rng = np.random.default_rng(None if self.seed is None else (self.seed, len(games)))
        return RULES[self.rule](self.strategy, counts, rng)

    def _load_games(self) -> tuple[GameEntry, ...]:
        if self.record is None:
            return self.games
        return load_record(self.record, self._digest, self.pool.size)

    def _switch_to(self, strategy: int) -> None:
        self.strategy, self.player = strategy, self.pool.player(strategy, self.depth)
        self._agent = PlayerAgent(f"strategy {strategy} of the pool", self.player)


def make_continual(
    pool: Path | str, record: Path | str | None = None, **options: Any
) -> ContinualAgent:
    """Make the continual player of a pool file.

    Without a `record` file the games stay in memory. Options are as for :class:`ContinualAgent`.
    """
    return ContinualAgent(load_pool(pool), Path(record) if record else None, **options)


def save_record(path: Path, digest: str, games: Sequence[GameEntry]) -> None:
    """Write the games of the pool with this digest as JSON, atomically."""
    fields = {"format": FORMAT, "pool": digest, "games": [game._asdict() for game in games]}
    write_atomically(path, json.dumps(fields, indent=1).encode())


def load_record(path: Path, digest: str, size: int) -> tuple[GameEntry, ...]:
    """Read the games of the pool with this digest and `size` strategies; none without a file.

    Raises
    ------
    ValueError
        For a file that is damaged or of another pool; the message names the file.
    """
    try:
        fields = json.loads(read_regular(path))
        if fields["format"] != FORMAT:
            raise ValueError(f"its format is {fields['format']!r}, not {FORMAT}")
        if fields["pool"] != digest:
            raise ValueError("it belongs to another pool")
        return tuple(_parse_game(game, size) for game in fields["games"])
    except FileNotFoundError:
        return ()
    except KeyError as error:
        raise ValueError(f"{str(path)!r} is not a record of a pool: it lacks {error}") from None
    except (OSError, TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"{str(path)!r} is not a record of this pool: {error}") from None


def _parse_game(fields: dict[str, Any], size: int) -> GameEntry:
    game = GameEntry(**fields)
    if not (
        isinstance(game.opponent, str | None)
        and all(type(row) is int and 0 <= row < size for row in (game.strategy, game.then))
        and type(game.side) is int
        and game.side in (0, 1)
        and type(game.score) is float
        and game.score in SCORES
    ):
        raise ValueError(f"{fields} is not a game of one of {size} strategies")
    return game
