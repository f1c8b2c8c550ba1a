# %% [markdown]
# # A tour of the laboratory
# Cell by cell in an editor or as a notebook (`jupytext --to notebook tour.py`), or as a script.

# %% A board: FEN, moves, a picture
import numpy as np

import agents
import checkers_env

board = checkers_env.Board("B:W6,15,23,32:B1,12,K3")
drawing = checkers_env.svg(board, arrows=board.legal_moves)  # shown by a notebook
print("legal:", ", ".join(map(str, board.legal_moves)))
board.push(board.legal_moves[0])
print(board.fen())

# %% The rules, counted: the leaves of the game tree
print("perft 6:", checkers_env.perft(checkers_env.Board(), 6))

# %% Players, and a game between two of them
print("players:", ", ".join(agents.available()))
board = checkers_env.Board()
players = [agents.make("blondie24", depth=4), agents.make("mcts-ept", simulations=200, seed=1)]
while not board.outcome():
    board.push(players[board.turn].act(board))
print("end:", board.outcome())

# %% The same game as an environment of reinforcement learning
env = checkers_env.make(opening="three-move")
env.reset(seed=3)
observation, *_ = env.last()
print("planes:", observation["observation"].shape, "legal:", observation["action_mask"].sum())

# %% Many games at once
many = checkers_env.make_vec(64)
observation, info = many.reset(seed=0)
print("first side to move:", np.unique(info["to_move"]))

# %% A perfect ending
from agents.endgame.probe import probe_board  # noqa: E402
from agents.endgame.tables import load_tablebase  # noqa: E402

print("first position:", probe_board(load_tablebase(4), checkers_env.Board("W:WK15,20:B12,K28")))

# %% A player that learns by itself, for a few seconds
from training.evolution.game_runner import open_game_runner  # noqa: E402
from training.trainer.presets import TD_PRESETS  # noqa: E402

regime = TD_PRESETS["c5-n0.001"].regime
state = regime.init(seed=0)
with open_game_runner(workers=1) as runner:
    for _ in range(3):
        state, measured = regime.step(state, runner)
print("games learnt from:", state.generation * regime.games)
