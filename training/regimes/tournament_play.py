"""Base of the regimes whose players meet in tournaments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.architectures import Encoding
from agents.blondie.architecture import with_bounds
from agents.match import MatchGame
from agents.search.player import AlphaBeta
from checkers_env.state import DrawRules
from training.evolution.game_runner import GameRunner
from training.evolution.tournament import Pairs, Payoff, run_tournament
from training.regimes import Regime, SearchSettings
from training.runtime.validation import Range

PAYOFFS = Range(-1e6, 1e6)


class TournamentRegime(SearchSettings, Regime):
    """A regime that scores many players by the games that they play against each other."""

    max_moves: Any
    win: Any
    draw: Any
    loss: Any
    both_score: Any

    @property
    def rules(self) -> DrawRules:
        """Draw rules of the games."""
        return DrawRules(self.max_moves)

    @property
    def payoff(self) -> Payoff:
        """Values of a win, a draw and a loss."""
        return Payoff(self.win, self.draw, self.loss)

    def make_players(
        self, encoding: Encoding, genomes: NDArray[np.float64], kings: NDArray[np.float64]
    ) -> list[AlphaBeta]:
        """Return an alpha-beta player for each genome, shape (members, genome_size), and its K."""
        depth, root_perspective = self.depth, self.root_perspective
        players = [
            AlphaBeta(with_bounds(encoding.build(*it)), depth, root_perspective=root_perspective)
            for it in zip(genomes, kings, strict=True)
        ]
        return [player.with_search(**self.search_options) for player in players]

    def games_seed(self, rng: np.random.Generator) -> tuple[int, ...]:
        """Return a seed of the players' chance; sample one only for players that use chance."""
        return (int(rng.integers(2**32)),) if self.tie == "chance" else ()

    def play(
        self,
        players: Sequence[Any],
        pairs: Pairs,
        runner: GameRunner,
        rng: np.random.Generator,
        openings: Sequence[str | None] | None = None,
    ) -> tuple[list[MatchGame], NDArray[np.float64]]:
        """Play the games of all pairs; `rng` samples the seed of the players' chance."""
        seed = self.games_seed(rng)
        return run_tournament(
            players, pairs, self.rules, self.payoff, self.both_score, runner, seed, openings
        )
