"""Agents of strangers: most of them fail."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from checkers_env import Move


class First:
    """Agent that plays the first legal move; the others do so until they fail."""

    def act(self, board):
        return board.legal_moves[0]


class Draws:
    """Agent that plays by the generator of each game."""

    def new_game(self, rng):
        self.rng = rng
        return self  # which is nobody's business, and cannot be pickled without the module

    def act(self, board):
        return board.legal_moves[self.rng.integers(len(board.legal_moves))]


class Dawdles(Draws):
    """Agent that is slow, and writes its process id to the file that STORY names."""

    def __init__(self):
        with Path(os.environ["STORY"]).open("a") as story:
            print(os.getpid(), file=story)

    def act(self, board):
        time.sleep(float(os.environ.get("DAWDLE", "0.01")))
        return super().act(board)


class Noisy(First):
    def act(self, board):
        print("I think, therefore I print")
        return super().act(board)


class Tells:
    """Agent that writes its calls to the file that STORY names."""

    def __init__(self, seed=None):
        pass

    def new_game(self, rng):
        self.tell(f"new game {rng.integers(1000)}")

    def act(self, board):
        self.tell("move")
        return board.legal_moves[0]

    def game_over(self, board, side):
        self.tell(f"game over {side} {board.ply} {board.outcome().reason}")

    def tell(self, what):
        with Path(os.environ["STORY"]).open("a") as story:
            print(what, file=story)


class Moody(First):
    """Agent that fails in another way at each move of a game."""

    def act(self, board):
        match board.ply:
            case 1:
                raise ZeroDivisionError("a message\nof two \ud800 lines " + "and more " * 100)
            case 2:
                return self.missing
            case 3:
                return "1-32"
            case 4:
                return None
            case 5:
                return Move(5)
            case 6:
                sys.exit("that is all")
            case 7:
                os._exit(5)
            case 8:
                time.sleep(1000)
            case 9:
                while True:
                    pass
        return super().act(board)


class NeverMade:
    def __init__(self):
        raise KeyError("weights")


class DiesWhenMade:
    def __init__(self):
        os._exit(9)
