"""Blondie24 against the piece counter, from a random card of the two-move ballot."""

import numpy as np

import agents
import checkers_env

card = np.random.default_rng(7).choice(checkers_env.openings.TWO_MOVE)
board = checkers_env.Board()
for move in card.split():
    board.push(move)

players = [agents.make("blondie24", depth=4), agents.make("material", depth=4, seed=1)]
while not board.outcome():
    board.push(players[board.turn].act(board))

print(f"Opening {card}, then:", *board.moves[2:])
print(board)
print(board.outcome())
