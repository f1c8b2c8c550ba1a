"""Find puzzles in games between players of the zoo: positions in which only one move wins.

    python -m training.app.puzzle_finder --games 800 --seed 1

``strong-2`` with endgame tables judges. It searches the position behind each legal move: first with
few positions, and in the end with `VERIFY_NODES`. The solution's value must be a clear win, and
that of every other move not. The line goes on while the solver's next move is the only one, too.
Weak players are among the zoo's on purpose: their mistakes are what puzzles are made of.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import tyro
from rich.console import Console
from rich.progress import track

import agents
from agents.agent import Agent, reseed
from agents.baselines.material import piece_difference
from agents.match import MatchGame, play_through_environment
from checkers_env.board import Board
from checkers_env.files import write_atomically
from checkers_env.moves import Move, unpack_move
from checkers_env.openings import THREE_MOVE
from checkers_env.state import DrawRules
from training.league.entrants import display_name
from training.report.move_judge import TABLE_PIECES, TABLES, MoveJudge
from training.runtime.cli import run_command

JUDGE = "strong-2"  # its search stays as it is, so equal seeds find equal puzzles
PLAYERS: tuple[tuple[str, dict[str, int]], ...] = (
    ("random", {}),
    ("heuristic", {}),
    *(("material", {"depth": depth}) for depth in (1, 2, 4)),
    ("nguyen", {"depth": 4}),
    ("c0-npd", {"depth": 4}),
    ("hughes", {"depth": 4}),
    *(("blondie24", {"depth": depth}) for depth in (2, 4)),
    ("blondie24-1999", {"depth": 4}),
    *(("c10", {"depth": depth}) for depth in (2, 4)),
    ("learns", {"depth": 4}),
    ("samuel", {"depth": 4}),
    *((JUDGE, {"nodes": nodes}) for nodes in (10, 100, 1000)),
)
ROOT_NODES, FILTER_NODES = 10_000, 20_000  # a position, and a move of it, in the first look
VERIFY_NODES = 200_000  # a move
WIN, NO_WIN = 0.8, 0.25  # values from -1 to 1: of the solution at least, of other moves at most
LAST_PLY = 120  # of a game: later positions are long endings
MAX_PLIES = 9  # of a solution
REST_PLIES = 8  # shown behind a solution, at most
LEVELS = (10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000)  # positions of a search


@dataclass(frozen=True)
class Puzzle:
    """A position in which only one move wins."""

    fen: str
    line: tuple[str, ...]  # the solver's moves, each the only one that wins, and the replies
    rest: tuple[str, ...]  # further moves, up to a quiet position
    players: tuple[str, str]  # Black and White of the game, with their limits
    move: int  # number of the move in the game
    nodes: int  # positions from which on the judge finds the first move
    verified: int | str  # least depth of the searches behind the first moves, or "tables"


class PuzzleJudge(MoveJudge):
    """Finds moves that are the only ones to win, by ``strong-2`` and the endgame tables."""

    def __init__(self) -> None:
        super().__init__(JUDGE)

    def only_win(self, board: Board, nodes: int) -> tuple[Move, list[int | str]] | None:
        """Return the only move that wins and the depths of the searches; None without one."""
        winning, depths = [], []
        for move in board.legal_moves:
            score, depth = self.score_move(board, move, nodes)
            if NO_WIN < score < WIN:
                return None
            winning += [move] * (score >= WIN)
            depths.append(depth)
            if len(winning) > 1:
                return None
        return (winning[0], depths) if winning else None

    def find_level(self, board: Board, solution: Move) -> int | None:
        """Return the first of `LEVELS` from which on all searches select the move, if any."""
        found = None
        for nodes in reversed(LEVELS):
            if self.best_move(board, nodes) != solution:
                break
            found = nodes
        return found


def count_lead(board: Board, side: int) -> float:
    """Return a side's lead in pieces; a king counts as 1.5 men."""
    return float(piece_difference(board.position, side, 1.5))


def is_plain(board: Board, solution: Move) -> bool:
    """Return whether counting pieces after each reply selects the move, and no other."""
    leads = {}
    for move in board.legal_moves:
        after = Board(board.fen())
        after.push(move)
        leads[move] = min((_lead_after(after, reply) for reply in after.legal_moves), default=99.0)
    return all(leads[solution] > lead for move, lead in leads.items() if move != solution)


def _lead_after(board: Board, reply: Move) -> float:
    after = Board(board.fen())
    after.push(reply)
    return count_lead(after, after.turn)


def make_puzzle(
    judge: PuzzleJudge, board: Board, players: tuple[str, str], number: int
) -> Puzzle | None:
    """Return the puzzle of a position in move `number` of a game, None if it is none."""
    is_ending = (board.black | board.white).bit_count() <= TABLE_PIECES  # its win may be long
    if is_ending or len(board.legal_moves) < 2:
        return None
    if judge.evaluate(board, ROOT_NODES)[0] < WIN:
        return None
    seen = judge.only_win(board, FILTER_NODES)
    if seen is None or is_plain(board, seen[0]):
        return None
    found = judge.only_win(board, VERIFY_NODES)
    nodes = found and judge.find_level(board, found[0])
    if found is None or nodes is None:
        return None
    line = find_line(judge, board, found[0])
    rest = find_rest(judge, board, line)
    depths = [depth for depth in found[1] if depth != TABLES]
    return Puzzle(
        board.fen(),
        tuple(map(str, line)),
        tuple(map(str, rest)),
        players,
        number,
        nodes,
        min(depths, key=int) if depths else TABLES,
    )


def find_line(judge: PuzzleJudge, board: Board, first: Move) -> list[Move]:
    """Return the solution: it ends where the solver has more than one winning move."""
    line, after = [first], Board(board.fen())
    after.push(first)
    while len(line) + 2 <= MAX_PLIES and after.legal_moves:
        reply = judge.best_move(after, VERIFY_NODES)
        after.push(reply)
        found = judge.only_win(after, VERIFY_NODES)
        if found is None:
            break
        line += [reply, found[0]]
        after.push(found[0])
    return line


def find_rest(judge: PuzzleJudge, board: Board, line: Sequence[Move]) -> list[Move]:
    """Return the best play behind a solution, until the solver has gained and nothing hangs."""
    after, side = Board(board.fen()), board.turn
    for move in line:
        after.push(move)
    rest: list[Move] = []
    while after.legal_moves and len(rest) < REST_PLIES:
        is_quiet = after.turn != side and not after.legal_moves[0].captured
        if is_quiet and count_lead(after, side) > count_lead(board, side):
            break
        rest.append(judge.best_move(after, VERIFY_NODES))
        after.push(rest[-1])
    return rest


def play_games(count: int, seed: int) -> Iterator[tuple[tuple[str, str], MatchGame]]:
    """Play games between two players each, and yield their names and the games."""
    rng = np.random.default_rng(seed)
    made: dict[int, Agent] = {}
    for _ in range(count):
        pair = [int(number) for number in rng.choice(len(PLAYERS), 2, replace=False)]
        opening = THREE_MOVE[int(rng.integers(len(THREE_MOVE)))]
        for number in pair:
            name, options = PLAYERS[number]
            made.setdefault(number, agents.make(name, **options))  # type: ignore[arg-type]
            reseed(made[number], int(rng.integers(2**32)))
        black, white = (display_name(*PLAYERS[number]) for number in pair)
        agents_ = made[pair[0]], made[pair[1]]
        game = play_through_environment(*agents_, opening=opening, rules=DrawRules())
        yield (black, white), game


def positions_of(game: MatchGame) -> Iterator[Board]:
    """Yield the positions of a game, each as a board of its own."""
    board = Board.from_position(*game.start, max_moves=None)
    for path in game.paths:
        yield Board(board.fen())
        board.push(unpack_move(path))


def find_puzzles(games: int, seed: int, console: Console) -> list[Puzzle]:
    """Search games for puzzles, one of each game at most."""
    judge, found = PuzzleJudge(), {}
    played = play_games(games, seed)
    for players, game in track(played, "searching games", games, console=console, transient=True):
        for ply, board in enumerate(positions_of(game)):
            if ply > LAST_PLY:
                break
            puzzle = make_puzzle(judge, board, players, ply // 2 + 1)
            if puzzle and puzzle.fen not in found:
                found[puzzle.fen] = puzzle
                break
    return list(found.values())


def select_puzzles(puzzles: Sequence[Puzzle], count: int) -> list[Puzzle]:
    """Return at most `count` puzzles, evenly of all levels as far as there are; easy ones first."""
    by_level: dict[int, list[Puzzle]] = {}
    for puzzle in puzzles:
        by_level.setdefault(puzzle.nodes, []).append(puzzle)
    ranks = {puzzle.fen: rank for group in by_level.values() for rank, puzzle in enumerate(group)}
    chosen = sorted(puzzles, key=lambda it: ranks[it.fen])[:count]
    return sorted(chosen, key=lambda it: (it.nodes, len(it.line) + len(it.rest), it.fen))


def puzzle_file() -> Path:
    """Return the file of the puzzles that the pages show."""
    return Path(str(files("training.app") / "static" / "puzzles.json"))


def to_json(puzzles: Sequence[Puzzle]) -> str:
    """Return puzzles as JSON, one a line."""
    rows: list[Any] = [asdict(puzzle) for puzzle in puzzles]
    return "[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n"


@dataclass(frozen=True)
class PuzzleConfig:
    """Options of the command line."""

    games: int = 800
    """Games to play and to search."""
    puzzles: int = 120
    """Puzzles to write, at most."""
    seed: int = 1
    """Seed of the games."""
    out: Path = field(default_factory=puzzle_file)
    """File to write; by default that of the pages."""


def run(arguments: Sequence[str], console: Console) -> None:
    """Read the command line, and find and write puzzles."""
    config = tyro.cli(PuzzleConfig, args=arguments, description=__doc__)
    for name in ("games", "puzzles"):
        if getattr(config, name) < 1:
            raise ValueError(f"{name} must be at least 1, not {getattr(config, name)}")
    found = find_puzzles(config.games, config.seed, console)
    chosen = select_puzzles(found, config.puzzles)
    write_atomically(config.out, to_json(chosen).encode())
    console.print(f"{len(found)} found, {len(chosen)} written to {config.out}", markup=False)


if __name__ == "__main__":
    raise SystemExit(run_command(run))
