"""English draughts: the rules as fast kernels, a board to play on, and a PettingZoo environment."""

from importlib.metadata import PackageNotFoundError, version

from checkers_env import openings, pdn
from checkers_env.board import Board, Outcome
from checkers_env.envs import registration
from checkers_env.envs.aec import env, make, raw_env
from checkers_env.envs.vector import make_vec
from checkers_env.movegen import BLACK, WHITE
from checkers_env.moves import Move
from checkers_env.perft import perft

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
