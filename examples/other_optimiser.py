"""Evolve a player by another library's optimiser: CMA-ES of the library cmaes, by ask and tell.

An optimiser needs a score for each vector of weights. An `Encoding` makes a player of a vector,
and the game runner plays all games of a generation on threads. The weight file at the end is read
by `agents.make`, the league and the web page.
"""

from pathlib import Path
from tempfile import mkdtemp

import numpy as np
from cmaes import CMA

import agents
from agents.architectures import Encoding
from agents.baselines.material import Material
from agents.match_kernel import DRAW
from agents.search.player import AlphaBeta
from agents.weights import WeightsMetadata, save_weights
from checkers_env.openings import TWO_MOVE
from checkers_env.state import DrawRules
from training.evolution.game_runner import Matchup, open_game_runner

GENERATIONS, DEPTH, KING = 20, 2, 1.5
ENCODING = Encoding("piece-squares")  # what a man and a king are worth on each square
COUNTER = AlphaBeta(Material(), DEPTH)


def play(runner, vectors, cards):
    """Return the mean score of each vector's player against the piece counter."""
    games = []
    for number, vector in enumerate(vectors):
        player = AlphaBeta(ENCODING.build(vector, KING), DEPTH)
        for card in cards:
            games += [
                Matchup(player, COUNTER, card, (number, 0)),
                Matchup(COUNTER, player, card, (number, 1)),
            ]
    winners = [game.result.winner for game in runner.play(games, DrawRules(max_moves=100))]
    points = [0.5 if winner == DRAW else winner == n % 2 for n, winner in enumerate(winners)]
    return np.mean(np.reshape(points, (len(vectors), -1)), axis=1)


rng = np.random.default_rng(0)
optimiser = CMA(ENCODING.initial_weights(), sigma=0.05, population_size=20, seed=0)
with open_game_runner(workers=2) as runner:
    for generation in range(1, GENERATIONS + 1):
        vectors = [optimiser.ask() for _ in range(optimiser.population_size)]
        scores = play(runner, vectors, rng.choice(TWO_MOVE, 3, replace=False).tolist())
        optimiser.tell([(it, -score) for it, score in zip(vectors, scores, strict=True)])
        print(f"generation {generation}: {scores.mean():.0%} against the piece counter")
    print(f"The mean scores {play(runner, [optimiser.mean], TWO_MOVE)[0]:.0%} over all cards")

path = Path(mkdtemp()) / "mine.safetensors"
weights, options = ENCODING.decode(optimiser.mean)
header = WeightsMetadata(
    ENCODING.stored_as, KING, "my optimiser", 0, GENERATIONS, depth=DEPTH, options=options
)
save_weights(path, weights, header)
print(f"agents.make reads {agents.make(path).name} from {path}")
