"""English draughts: rules, board and reinforcement-learning environments.

movegen          legal moves on bitboards
state            a game inside kernels, and its draw rules
perft            leaf counts of the move tree
moves            a move and its notation
fen              positions as text
board            a game that moves are played on and taken back from
pdn              games as text, in Portable Draughts Notation
pdn_tokens       the tokens of a PDN text that is read in parts
replay           moves of a game as text, made by a kernel
openings         the two-move, three-move and eleven-man ballots
actions          moves as actions 0-127
observation      planes and action masks
agent            the agent protocol, and agents that need no search
errors           errors of outside players
envs             PettingZoo and Gymnasium environments
pgx              the game in JAX
conformance      whether a game follows the rules
render           pictures: SVG, pixels, a window
jit              compiled kernels and their cache on disk
kernel_compiler  how kernels are compiled: each one as a whole
bits             bit operations for kernels
files            atomic writes
"""

from importlib.metadata import PackageNotFoundError, version

from checkers_env import openings, pdn
from checkers_env.board import Board, Outcome
from checkers_env.envs import aec as checkers_v0
from checkers_env.envs import registration
from checkers_env.envs.aec import env, make, raw_env
from checkers_env.envs.registration import make_vec
from checkers_env.envs.vector import sample
from checkers_env.movegen import BLACK, WHITE
from checkers_env.moves import Move
from checkers_env.observation import observe
from checkers_env.perft import perft
from checkers_env.render.svg import svg
from checkers_env.state import DrawRules

__all__ = [
    "BLACK",
    "WHITE",
    "Board",
    "DrawRules",
    "Move",
    "Outcome",
    "__version__",
    "checkers_v0",
    "env",
    "make",
    "make_vec",
    "observe",
    "openings",
    "pdn",
    "perft",
    "raw_env",
    "sample",
    "svg",
]

try:
    __version__ = version("checkers-laboratory")
except PackageNotFoundError:
    __version__ = "0.0.0"

registration.register()


def __dir__() -> list[str]:
    return __all__
