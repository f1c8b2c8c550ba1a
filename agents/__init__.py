"""Agents that play checkers: baselines, evolved networks, and anything with ``act(board)``.

- ``registry``: :func:`make` an agent by its name, weight file or code
- ``agent_spec``: the text that names an agent, with its options
- ``factory``: agents from a user's code and from other programs
- ``agent``: agents of compiled players, and limits of a move's cost
- ``analysis``: score, principal variation, depth and nodes of a position
- ``player``: the player protocol of kernels
- ``evaluator``: the evaluator protocol of kernels
- ``architectures``: the table of evaluators that weights can build
- ``weights``: weight files
- ``packed``: deflated content of weight files
- ``match``: one game between two players
- ``match_kernel``: the same, compiled
- ``geometry``: the board by square numbers
- ``piece_sums``: evaluator states that are sums over squares, updated move by move
- ``simd``: network layers in vector instructions
- ``search``: alpha-beta
- ``mcts``: Monte Carlo tree search
- ``baselines``: simple players and evaluators
- ``blondie``: evolved networks
- ``ntuple``: n-tuple networks and temporal differences
- ``nnue``: the strong player, a small network
- ``treestrap``: former strong players
- ``endgame``: endgame tables
- ``explanation``: what an evaluator sees in a position
- ``continual``: players that change their strategy after a loss
- ``single_agent``: many environments with an opponent inside
- ``external``: players outside this program

The folder ``zoo`` has the weight files and model cards of trained players.
"""

from agents.agent import Agent, PlayerAgent
from agents.analysis import Analysis, analyse
from agents.explanation.explain import Explanation, explain
from agents.registry import available, make

__all__ = [
    "Agent",
    "Analysis",
    "Explanation",
    "PlayerAgent",
    "analyse",
    "available",
    "explain",
    "make",
]


def __dir__() -> list[str]:
    return __all__
