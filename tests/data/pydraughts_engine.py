"""Hub engine with the rules of pydraughts: it plays any legal move."""

import random
import sys

import draughts
from draughts import Board, Move

from agents.external.hub.notation import read_line

assert draughts.__author__ == "Ioannis Pantidis", "py-draughts is another package of this name"
rng = random.Random(sys.argv[1])
board = Board("english")
for line in sys.stdin:
    command, given = read_line(line)
    match command:
        case "hub":
            print("id name=pydraughts\nwait", flush=True)
        case "init":
            print("ready", flush=True)
        case "pos":
            board = Board("english", given["pos"])
            for text in given.get("moves", "").split():
                board.push(Move(board, hub_move=text))
        case "go":
            print(f"done move={rng.choice(board.legal_moves()).hub_move}", flush=True)
        case "quit":
            break
