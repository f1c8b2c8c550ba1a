"""Run a league: play its games in threads, and write each down as it ends."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from itertools import islice

import numpy as np

from agents.agent import Agent
from checkers_env.board import Board
from checkers_env.moves import Move
from training.league.entrants import close_agent
from training.league.game import LeagueRules, play_game
from training.league.journal import Journal
from training.league.records import GameRecord
from training.league.schedule import LeagueFixture

Makers = Sequence[Callable[[], Agent]]  # of the entrants, by their numbers


def run_league(
    makers: Makers,
    fixtures: Iterable[LeagueFixture],
    league_rules: LeagueRules,
    journal: Journal,
    threads: int,
) -> Generator[GameRecord, None, None]:
    """Play the fixtures on threads.

    Games start in the order of the fixtures, and only while the caller asks for more. Closing the
    generator stops and drops the games in progress.

    Parameters
    ----------
    makers
        Factory of each entrant, by number.
    fixtures
        Games in order.
    league_rules
        Rules of the league.
    journal
        Journal, which gets each game before it is yielded.
    threads
        Games at once. Each thread has agents of its own.

    Yields
    ------
    Each game as it ends.
    """
    stop = threading.Event()
    with _seats(makers) as (seat, interrupt), ThreadPoolExecutor(threads) as pool:

        def game(fixture: LeagueFixture) -> GameRecord:
            return play_game(
                (seat(fixture.black), seat(fixture.white)), fixture, league_rules, stop
            )

        waiting = iter(fixtures)
        running: set[Future[GameRecord]] = set()
        try:
            while True:
                running |= {
                    pool.submit(game, fixture)
                    for fixture in islice(waiting, 2 * threads - len(running))
                }
                if not running:
                    return
                done, running = wait(running, return_when=FIRST_COMPLETED)
                ended = sorted((future.result() for future in done), key=lambda game: game.number)
                journal.append(ended)
                yield from ended
        finally:
            stop.set()
            if running:
                interrupt()
            pool.shutdown(cancel_futures=True)


class FailedAgent:
    """Stand-in for an agent that cannot be made: it forfeits its games."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def new_game(self, rng: np.random.Generator) -> None:
        """Raise what kept the agent from being made."""
        raise self._error

    def act(self, board: Board) -> Move:
        """Raise it again."""
        raise self._error


@contextmanager
def _seats(makers: Makers) -> Iterator[tuple[Callable[[int], Agent], Callable[[], None]]]:
    """Give each thread its own agent of an entrant; close all agents at the end.

    Yields
    ------
    A function that returns the agent of an entrant, and one that ends the moves of hosted agents.
    """
    local, lock = threading.local(), threading.Lock()
    interrupts: list[Callable[[], None]] = []
    with ExitStack() as everyone:

        def seat(entrant: int) -> Agent:
            mine: dict[int, Agent] = vars(local).setdefault("agents", {})
            if entrant not in mine:
                try:
                    agent = makers[entrant]()
                except Exception as error:
                    return FailedAgent(error)  # another game is another chance
                with lock:
                    everyone.callback(close_agent, agent)
                    if interrupt_agent := getattr(agent, "interrupt", None):
                        interrupts.append(interrupt_agent)
                mine[entrant] = agent
            return mine[entrant]

        def interrupt() -> None:
            with lock:
                for interrupt_agent in interrupts:
                    interrupt_agent()

        yield seat, interrupt
