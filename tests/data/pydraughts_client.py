"""A game of pydraughts' Hub client with an engine, which is Black, against random moves.

Arguments: the seed, a parameter as name=value, the engine's command.
Prints the moves as Hub writes them, and who has won as pydraughts sees it.
"""

import random
import sys

from draughts import Board, Move
from draughts.engine import HubEngine, Limit

MOST = 100  # turns
seed, parameter, *command = sys.argv[1:]
rng = random.Random(seed)
board = Board("english")
engine = HubEngine(command)
engine.configure(dict([parameter.split("=")]))
engine.init()
engine.ping()
assert engine.variants == {"english"}
limits = [Limit(depth=3), Limit(movetime=0.02), Limit(time=1, inc=0.1)]
while not board.is_over() and len(board.move_stack) < MOST:
    if board.turn == 1:
        played = engine.play(board, rng.choice(limits), ponder=False).move
    else:
        played = Move(board, hub_move=rng.choice(board.legal_moves()).hub_move)
    print(played.hub_move)
    board.push(played)
print({None: "unfinished", 0: "draw", 1: "black", 2: "white"}[board.winner()])
engine.quit()
assert engine.p.wait(10) == 0
