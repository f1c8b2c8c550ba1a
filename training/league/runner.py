"""Run a league: play its games in threads, and write each down as it ends."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import ExitStack, contextmanager
from itertools import chain, islice

import numpy as np

from agents.agent import Agent
from checkers_env.board import Board
from checkers_env.errors import UnavailableError
from checkers_env.moves import Move
from training.league.entrants import close_agent
from training.league.game import LeagueRules, one_line, play_game
from training.league.journal import Journal
from training.league.records import GameRecord
from training.league.schedule import LeagueFixture
from training.runtime.executors import Threads

Makers = Sequence[Callable[[], Agent]]  # of the entrants, by their numbers


def run_league(
    makers: Makers,
    rounds: Iterable[Iterable[LeagueFixture]],
    league_rules: LeagueRules,
    journal: Journal,
    threads: int,
    unplayed: list[str] | None = None,
) -> Generator[GameRecord, None, None]:
    """Play rounds of fixtures on threads; yield each game as it ends, when the journal has it.

    Games start in the order of the fixtures, and only while the caller asks for more. The next
    round is asked for when the caller has all games of the last. Each thread has agents of its own.
    Closing the generator stops and drops the games in progress. A game that a failing server
    prevents is left out, and its reason is appended to `unplayed`, if given.
    """
    stop = threading.Event()
    with (
        _thread_agents(makers) as (agent_for_thread, interrupt),
        Threads(threads) as pool,
    ):

        def play(fixture: LeagueFixture) -> list[GameRecord]:
            both = agent_for_thread(fixture.black), agent_for_thread(fixture.white)
            try:
                return [play_game(both, fixture, league_rules, stop)]
            except UnavailableError as error:
                if unplayed is None:
                    raise
                unplayed.append(f"game {fixture.number + 1}: {one_line(str(error))}")
                return []

        running: set[Future[list[GameRecord]]] = set()
        try:
            for waiting in map(iter, rounds):
                while True:
                    free = 2 * threads - len(running)
                    running |= {pool.submit(play, fixture) for fixture in islice(waiting, free)}
                    if not running:
                        break
                    done, running = wait(running, return_when=FIRST_COMPLETED)
                    played = chain.from_iterable(future.result() for future in done)
                    ended = sorted(played, key=lambda game: game.number)
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
def _thread_agents(makers: Makers) -> Iterator[tuple[Callable[[int], Agent], Callable[[], None]]]:
    """Give each thread its own agent of an entrant; close all agents at the end.

    Yield a function that returns the agent of an entrant, and one that ends the moves of agents in
    other processes.
    """
    local, lock = threading.local(), threading.Lock()
    interrupts: list[Callable[[], None]] = []
    with ExitStack() as everyone:

        def agent_for_thread(entrant: int) -> Agent:
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

        yield agent_for_thread, interrupt
