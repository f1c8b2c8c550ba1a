"""A game between a person and an agent: turns, clock, hints, takebacks, draw offers, result."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from agents.analysis import Analysis
from agents.limits import Limits, tighten
from checkers_env import fen, pdn
from checkers_env.board import Board
from checkers_env.movegen import BLACK
from checkers_env.moves import Move
from checkers_env.render.scene import SIDES
from training.app.game_setup import GameSetup, TimeControl, create_board
from training.app.messages import describe_move, describe_outcome, explain_illegal_move
from training.app.serialize import Json, analysis_to_json

WIN = ("1-0", "0-1")  # by Black, by White
DRAW = "1/2-1/2"
UNFINISHED = "*"
MOVES_TO_GO = 30  # over which an agent spreads the rest of its time
MOST_SHARES = 4.0  # that one move takes at most
INCREMENT_SHARE = 0.7


class GameClock:
    """Clock of a game. It starts after the first move; a flag falls at 0.

    Parameters
    ----------
    control
        Time of each side.
    now
        Function that returns seconds.

    Attributes
    ----------
    left
        Seconds of Black and of White, without those of the move that is being thought about.
    """

    def __init__(self, control: TimeControl, now: Callable[[], float] = time.monotonic) -> None:
        self.control, self._now = control, now
        self.left = [control.minutes * 60, control.minutes * 60]
        self.running: int | None = None
        self._since = 0.0

    def start(self, side: int) -> None:
        """Let the time of a side run."""
        self.running, self._since = side, self._now()

    def stop(self, seconds: float | None = None) -> None:
        """Charge the running side for its move, `seconds` or the time that has passed."""
        if self.running is not None:
            passed = self._now() - self._since if seconds is None else seconds
            self.left[self.running] -= passed
        self.running = None

    def add_increment(self, side: int) -> None:
        """Add the seconds of a move."""
        self.left[side] += self.control.increment

    def remaining(self, side: int) -> float:
        """Return a side's seconds at this moment, 0 or more."""
        passed = self._now() - self._since if side == self.running else 0.0
        return max(self.left[side] - passed, 0.0)

    def limits(self, side: int) -> Limits:
        """Return the limits of a move of an agent."""
        left = self.remaining(side)
        share = left / MOVES_TO_GO + INCREMENT_SHARE * self.control.increment
        seconds = max(min(MOST_SHARES * share, left / 2), 0.01)
        return Limits(seconds=seconds, share=min(share, seconds))


class HumanGame:
    """State of a game.

    Attributes
    ----------
    board
        The position, with all moves from the start on.
    analyses
        The agent's analyses of its moves as JSON, by the number of moves after each.
    hints, takebacks, interruptions
        Number of hints, of takebacks, and of requests that the agent move at once.
    agent_changed
        Whether the agent's weight file has changed since the game began.
    result, reason
        The result in PDN's notation, "*" during the game, and the end of the game in words.
    message
        The last event in words.
    version
        Number that grows with every change.
    clock
        Clock of the game, or None.
    """

    def __init__(self, setup: GameSetup) -> None:
        self.setup = setup
        self.board = create_board(setup.opening.start, setup.opening.moves)
        self.analyses: dict[int, Json] = {}
        self.hints = self.takebacks = self.interruptions = self.version = 0
        self.agent_changed = False
        self.clock = GameClock(setup.clock) if setup.clock else None
        self.result, self.reason, self.message = UNFINISHED, "", ""

    @property
    def is_over(self) -> bool:
        """Whether the game has ended."""
        return self.result != UNFINISHED

    @property
    def is_agents_turn(self) -> bool:
        """Whether the game waits for the agent."""
        return not self.is_over and self.board.turn != self.setup.side

    @property
    def plies_after_opening(self) -> int:
        """Number of moves since the opening."""
        return self.board.ply - len(self.setup.opening.moves)

    def unrated_reason(self) -> str:
        """Return why the game does not rate the agent; an empty text if it does."""
        if self.setup.rating is None:
            return "you gave no rating of your own"
        if not self.setup.opening.standard:
            return "it did not begin from the start or a card of the ballots"
        if self.hints:
            return "a hint was given"
        if self.takebacks:
            return "a move was taken back"
        if self.interruptions:
            return "the agent was told to move at once"
        return "the agent's weight file has changed since it began" if self.agent_changed else ""

    def play_move(self, squares: Sequence[int]) -> None:
        """Play the person's move, given by all its squares. Raise ValueError in plain words."""
        self.check_persons_turn()
        move = next((m for m in self.board.legal_moves if m.squares == tuple(squares)), None)
        if move is None:
            raise ValueError(explain_illegal_move(self.board, squares))
        if self.check_flag():
            return
        self.message = describe_move(self.board, move)
        self._push(move, None)
        self._update_result()

    def play_agent_move(self, analysis: Analysis) -> None:
        """Play the agent's move."""
        self.message = describe_move(self.board, analysis.move)
        if not self._push(analysis.move, analysis.seconds):
            return
        self.analyses[self.board.ply] = analysis_to_json(analysis)
        self._update_result()

    def check_flag(self) -> bool:
        """End the game if the person's time is up; return whether it is.

        The agent's flag falls when it moves: its time is that of its search.
        """
        if self.clock is None or self.is_over or self.is_agents_turn:
            return False
        if self.clock.remaining(self.board.turn) > 0:
            return False
        self._lose_on_time()
        return True

    def _push(self, move: Move, seconds: float | None) -> bool:
        """Make a move and press the clock; return False if the mover's flag fell before."""
        side = self.board.turn
        if self.clock:
            is_first = self.clock.running is None
            self.clock.stop(seconds)
            if self.clock.left[side] <= 0:
                self._lose_on_time()
                return False
            if not is_first:
                self.clock.add_increment(side)
        self.board.push(move)
        if self.clock:
            self.clock.start(self.board.turn)
        return True

    def _lose_on_time(self) -> None:
        side = self.board.turn
        self.message = ""
        self._finish(WIN[1 - side], f"{SIDES[1 - side]} wins: {SIDES[side]}'s time is up.")

    def limits(self) -> Limits:
        """Return the limits of the agent's move: its own, and those of its clock."""
        limits = self.setup.limits
        searches = limits != Limits()
        if self.clock is None or not searches:
            return limits
        return tighten(limits, self.clock.limits(1 - self.setup.side))

    def take_back(self) -> None:
        """Undo the person's last move, and the agent's reply if there is one."""
        self._check_not_over()
        if self.clock:
            raise ValueError("No move is taken back in a game with a clock.")
        plies = 1 if self.is_agents_turn else 2
        if self.plies_after_opening < plies:
            raise ValueError("There is no move of yours to take back.")
        for _ in range(plies):
            self.analyses.pop(self.board.ply, None)
            self.board.pop()
        self.takebacks += 1
        self._update("Taken back: it is your move again.")

    def give_hint(self, analysis: Analysis) -> None:
        """Count a hint, and announce the agent's move for the person's side."""
        self.check_persons_turn()
        self.hints += 1
        replies = "".join(f" {move}" for move in analysis.pv[1:])
        line = f", expecting{replies}" if replies else ""
        self._update(f"{self.setup.opponent_name} would play {analysis.move} in your place{line}.")

    def interrupt_agent(self) -> None:
        """Count a request that the agent move at once."""
        if not self.is_agents_turn:
            raise ValueError("The agent is not thinking.")
        self.interruptions += 1

    def offer_draw(self) -> None:
        """Offer the agent a draw.

        The agent accepts if its evaluation at its last move was 0 or less for it. An agent without
        an evaluation accepts unless it has more pieces.
        """
        self.check_persons_turn()
        accept, reason = self._answer_draw_offer()
        self.message = ""
        if accept:
            self._finish(DRAW, f"Drawn by agreement: {reason}")
        else:
            self._update(f"The offer of a draw is declined: {reason}")

    def resign(self) -> None:
        """Resign for the person."""
        self._check_not_over()
        person, agent = SIDES[self.setup.side], SIDES[1 - self.setup.side]
        self.message = ""
        self._finish(WIN[1 - self.setup.side], f"{agent} wins: {person} resigned.")

    def to_pdn(self) -> pdn.Game:
        """Return the game as a PDN record."""
        setup = self.setup
        person, agent = SIDES[setup.side], SIDES[1 - setup.side]
        tags = {
            "Event": "A game against an agent",
            "Site": "checkers-play",
            "Date": setup.start_time[:10].replace("-", "."),
            "Round": "-",
            person: setup.name,
            agent: setup.label,
            f"{person}Type": "human",
            f"{agent}Type": "program",
        }
        if setup.rating is not None:
            tags[f"{person}Rating"] = str(setup.rating)
        if setup.opening.start != fen.START:
            tags["FEN"] = setup.opening.start
        if setup.clock:
            tags["TimeControl"] = f"{setup.clock.minutes * 60:g}+{setup.clock.increment:g}"
        if self.is_over:
            tags["Termination"] = self.reason
        tags["Rated"] = "no" if self.unrated_reason() else "yes"
        return pdn.Game(tags, tuple(self.board.moves), self.result)

    def _answer_draw_offer(self) -> tuple[bool, str]:
        """Return whether the agent accepts a draw, and the reason."""
        if self.plies_after_opening < 2:
            return False, "the game has hardly begun."
        name = self.setup.opponent_name
        score = self.analyses.get(self.board.ply, {}).get("score")
        if score is not None:
            advantage = "no advantage" if score <= 0 else "an advantage"
            value = f"{score:+z.2f}".replace("-", "\N{MINUS SIGN}")
            return score <= 0, f"{name} sees {advantage} for itself, at {value}."
        difference = self.board.piece_difference()
        ahead = (-difference if self.setup.side == BLACK else difference) > 0
        return not ahead, f"{name} has {'more pieces' if ahead else 'no more pieces than you'}."

    def _check_not_over(self) -> None:
        if self.is_over:
            raise ValueError("The game is over.")

    def check_persons_turn(self) -> None:
        """Raise ValueError unless it is the person's turn."""
        self._check_not_over()
        if self.is_agents_turn:
            raise ValueError(f"It is {self.setup.opponent_name}'s turn.")

    def _update_result(self) -> None:
        result, reason = board_result(self.board)
        if result == UNFINISHED:
            return self._update(self.message)
        return self._finish(result, reason)

    def _finish(self, result: str, reason: str) -> None:
        self.result, self.reason = result, reason
        if self.clock:
            self.clock.stop()
        self._update(f"{self.message} {reason}".strip())

    def _update(self, message: str) -> None:
        self.message = message
        self.version += 1


def board_result(board: Board) -> tuple[str, str]:
    """Return a board's result in PDN's notation, and the end of the game in words."""
    outcome = board.outcome()
    if outcome is None:
        return UNFINISHED, ""
    result = DRAW if outcome.winner is None else WIN[outcome.winner]
    return result, describe_outcome(outcome, board.turn)
