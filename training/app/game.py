"""A game between a person and an agent: turns, hints, takebacks, draw offers and the result."""

from __future__ import annotations

from collections.abc import Sequence

from agents.analysis import Analysis
from checkers_env import fen, pdn
from checkers_env.movegen import BLACK
from checkers_env.render.scene import SIDES
from training.app.game_setup import GameSetup, create_board
from training.app.messages import describe_move, describe_outcome, explain_illegal_move
from training.app.serialize import Json, analysis_to_json

WIN = ("1-0", "0-1")  # by Black, by White
DRAW = "1/2-1/2"
UNFINISHED = "*"


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
    """

    def __init__(self, setup: GameSetup) -> None:
        self.setup = setup
        self.board = create_board(setup.opening.start, setup.opening.moves)
        self.analyses: dict[int, Json] = {}
        self.hints = self.takebacks = self.interruptions = self.version = 0
        self.agent_changed = False
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
        self.message = describe_move(self.board, move)
        self.board.push(move)
        self._update_result()

    def play_agent_move(self, analysis: Analysis) -> None:
        """Play the agent's move."""
        self.message = describe_move(self.board, analysis.move)
        self.board.push(analysis.move)
        self.analyses[self.board.ply] = analysis_to_json(analysis)
        self._update_result()

    def take_back(self) -> None:
        """Undo the person's last move, and the agent's reply if there is one."""
        self._check_not_over()
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
        self._update(f"{self.setup.label} would play {analysis.move} in your place{line}.")

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
        if self.is_over:
            tags["Termination"] = self.reason
        tags["Rated"] = "no" if self.unrated_reason() else "yes"
        return pdn.Game(tags, tuple(self.board.moves), self.result)

    def _answer_draw_offer(self) -> tuple[bool, str]:
        """Return whether the agent accepts a draw, and the reason."""
        if self.plies_after_opening < 2:
            return False, "the game has hardly begun."
        score = self.analyses.get(self.board.ply, {}).get("score")
        if score is not None:
            comparison = "not better for it" if score <= 0 else "better for it"
            return score <= 0, f"its evaluation of {score:+z.2f} is {comparison}."
        difference = self.board.piece_difference()
        ahead = (-difference if self.setup.side == BLACK else difference) > 0
        return not ahead, f"it has {'more pieces' if ahead else 'no more pieces than you'}."

    def _check_not_over(self) -> None:
        if self.is_over:
            raise ValueError("The game is over.")

    def check_persons_turn(self) -> None:
        """Raise ValueError unless it is the person's turn."""
        self._check_not_over()
        if self.is_agents_turn:
            raise ValueError(f"It is {self.setup.label}'s turn.")

    def _update_result(self) -> None:
        outcome = self.board.outcome()
        if outcome is None:
            return self._update(self.message)
        result = DRAW if outcome.winner is None else WIN[outcome.winner]
        return self._finish(result, describe_outcome(outcome, self.board.turn))

    def _finish(self, result: str, reason: str) -> None:
        self.result, self.reason = result, reason
        self._update(f"{self.message} {reason}".strip())

    def _update(self, message: str) -> None:
        self.message = message
        self.version += 1
