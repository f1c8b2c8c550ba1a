"""Watch a search: what blondie24 would play as it looks deeper, and how much it costs."""

import time

import agents
import checkers_env
from agents.search.workspace import VISITED

board = checkers_env.Board()
for text in ("11-15", "23-19", "8-11", "22-17", "4-8", "25-22"):
    board.push(text)
print(board)
agents.make("blondie24").act(board)  # from here on it is compiled
print("plies  move    positions  seconds")
for depth in range(1, 11):
    player = agents.make("blondie24", depth=depth)
    began = time.perf_counter()
    move = player.act(board)
    seconds = time.perf_counter() - began
    print(f"{depth:5}  {move!s:6}  {player.ws.counts[VISITED]:9,}  {seconds:.4f}")
