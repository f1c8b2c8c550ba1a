"""A game between a person and an agent: whose turn it is, what may be asked for, how it ends."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from agents.analysis import Analysis, Limits
from checkers_env import fen, pdn
from checkers_env.movegen import BLACK
from checkers_env.render.scene import SIDES
from training.app.game_setup import Opening, board_of
from training.app.messages import ending, refusal, spoken
from training.app.serialize import Json, thought_json

WON = ("1-0", "0-1")  # by Black, by White
DRAWN = "1/2-1/2"
UNFINISHED = "*"


@dataclass(frozen=True)
class Setup:
    """What is settled before a game.

    Attributes
    ----------
    agent
        As agents.make takes it.
    label
        What the agent is called in the record, its depth or simulations included.
    limits
        What its moves may cost.
    side
        The person's, BLACK or WHITE.
    name, rating
        The person's; None if not given.
    opening
        What the game begins with.
    seed
        Of what the agent leaves to chance.
    began
        When the game began, in UTC, ISO 8601.
    """

    agent: str
    label: str
    limits: Limits
    side: int
    name: str = "Anonymous"
    rating: int | None = None
    opening: Opening = Opening()  # noqa: RUF009 - immutable
    seed: int = field(default_factory=lambda: secrets.randbits(32))
    began: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))


class Session:
    """A game as it stands.

    Attributes
    ----------
    board
        The position, with all moves from the start on.
    thoughts
        What the agent said of its moves, by the number of moves that were made with it.
    hints, taken_back, hurried
        How often the person asked for a hint, took a move back, and had the agent move at once.
    replaced
        Whether the agent's weight file has changed, so that another agent goes on with the game.
    result, reason
        As PDN writes it, "*" while the game goes on; and how it ended, in words.
    message
        What there is to be said about the last thing that happened.
    version
        Grows with every change.
    """

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.board = board_of(setup.opening.start, setup.opening.moves)
        self.thoughts: dict[int, Json] = {}
        self.hints = self.taken_back = self.hurried = self.version = 0
        self.replaced = False
        self.result, self.reason, self.message = UNFINISHED, "", ""

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return self.result != UNFINISHED

    @property
    def agent_is_to_move(self) -> bool:
        """Whether the game waits for the agent."""
        return not self.over and self.board.turn != self.setup.side

    @property
    def own_plies(self) -> int:
        """How many moves have been made since the opening."""
        return self.board.ply - len(self.setup.opening.moves)

    def uncounted(self) -> str:
        """Why the agent is not rated by this game, in words; nothing if it is."""
        if self.setup.rating is None:
            return "you gave no rating of your own"
        if not self.setup.opening.standard:
            return "it did not begin from the start or a card of the ballots"
        if self.hints:
            return "a hint was given"
        if self.taken_back:
            return "a move was taken back"
        if self.hurried:
            return "the agent was told to move at once"
        return "the agent's weight file has changed since it began" if self.replaced else ""

    def play(self, squares: Sequence[int]) -> None:
        """The person's move, by all its squares. Raises ValueError, in plain words."""
        self.check_persons_turn()
        found = [move for move in self.board.legal_moves if move.squares == tuple(squares)]
        if not found:
            raise ValueError(refusal(self.board, squares))
        self.message = spoken(self.board, found[0])
        self.board.push(found[0])
        self._look_for_the_end()

    def answer(self, thought: Analysis) -> None:
        """The agent's move."""
        said = spoken(self.board, thought.move)
        self.board.push(thought.move)
        self.thoughts[self.board.ply] = thought_json(thought)
        self.message = said
        self._look_for_the_end()

    def take_back(self) -> None:
        """Undo the person's last move, and the agent's after it if there is one."""
        self._check_goes_on()
        plies = 1 if self.agent_is_to_move else 2
        if self.own_plies < plies:
            raise ValueError("There is no move of yours to take back.")
        for _ in range(plies):
            self.thoughts.pop(self.board.ply, None)
            self.board.pop()
        self.taken_back += 1
        self._changed("Taken back: it is your move again.")

    def hint(self, thought: Analysis) -> None:
        """Count a hint: what the agent would play in the person's place."""
        self.check_persons_turn()
        self.hints += 1
        expected = "".join(f" {move}" for move in thought.pv[1:])
        line = f", expecting{expected}" if expected else ""
        self._changed(f"{self.setup.label} would play {thought.move} in your place{line}.")

    def hurry(self) -> None:
        """Count that the agent, while it thinks, is told to move at once."""
        if not self.agent_is_to_move:
            raise ValueError("The agent is not thinking.")
        self.hurried += 1

    def offer_draw(self) -> None:
        """Offer the agent a draw: it takes it, or the game goes on.

        It agrees if the evaluation with its last move was 0 or less for it. One that has no
        evaluation agrees unless it has more pieces.
        """
        self.check_persons_turn()
        accepted, why = self._judged_offer()
        self.message = ""
        if accepted:
            self._end(DRAWN, f"Drawn by agreement: {why}")
        else:
            self._changed(f"The offer of a draw is declined: {why}")

    def resign(self) -> None:
        """Give the game up."""
        self._check_goes_on()
        person, agent = SIDES[self.setup.side], SIDES[1 - self.setup.side]
        self.message = ""
        self._end(WON[1 - self.setup.side], f"{agent} wins: {person} resigned.")

    def record(self) -> pdn.Game:
        """The game for a PDN file."""
        setup = self.setup
        person, agent = SIDES[setup.side], SIDES[1 - setup.side]
        tags = {
            "Event": "A game against an agent",
            "Site": "checkers-play",
            "Date": setup.began[:10].replace("-", "."),
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
        if self.over:
            tags["Termination"] = self.reason
        tags["Rated"] = "no" if self.uncounted() else "yes"
        return pdn.Game(tags, tuple(self.board.moves), self.result)

    def _judged_offer(self) -> tuple[bool, str]:
        """Whether the agent agrees to a draw, and why."""
        if self.own_plies < 2:
            return False, "the game has hardly begun."
        last = self.thoughts.get(self.board.ply, {}).get("value")
        if last is not None:
            than = "not better for it" if last <= 0 else "better for it"
            return last <= 0, f"its evaluation of {last:+z.2f} is {than}."
        difference = self.board.piece_difference()
        ahead = (-difference if self.setup.side == BLACK else difference) > 0
        return not ahead, f"it has {'more pieces' if ahead else 'no more pieces than you'}."

    def _check_goes_on(self) -> None:
        if self.over:
            raise ValueError("The game is over.")

    def check_persons_turn(self) -> None:
        """Raise ValueError where it is not for the person to do anything."""
        self._check_goes_on()
        if self.agent_is_to_move:
            raise ValueError(f"It is {self.setup.label}'s turn.")

    def _look_for_the_end(self) -> None:
        outcome = self.board.outcome()
        if outcome is None:
            return self._changed(self.message)
        result = DRAWN if outcome.winner is None else WON[outcome.winner]
        return self._end(result, ending(outcome, self.board.turn))

    def _end(self, result: str, reason: str) -> None:
        self.result, self.reason = result, reason
        self._changed(f"{self.message} {reason}".strip())

    def _changed(self, message: str) -> None:
        self.message = message
        self.version += 1
