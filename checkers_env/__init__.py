"""English draughts: the rules as fast kernels, a board to play on, and a PettingZoo environment."""

from importlib.metadata import PackageNotFoundError, version

from checkers_env import openings, pdn, registration
from checkers_env.aec import env, make, raw_env
from checkers_env.board import Board, Outcome
from checkers_env.leaves import perft
from checkers_env.moves import Move
from checkers_env.rules import BLACK, WHITE
from checkers_env.vector import make_vec

__all__ = [
    "BLACK",
    "WHITE",
    "Board",
    "Move",
    "Outcome",
    "__version__",
    "env",
    "make",
    "make_vec",
    "openings",
    "pdn",
    "perft",
    "raw_env",
]

try:
    __version__ = version("checkers-laboratory")
except PackageNotFoundError:
    __version__ = "0.0.0"

registration.register()
