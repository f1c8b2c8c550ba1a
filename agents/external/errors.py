"""What goes wrong with players that are not ours."""

from __future__ import annotations


class EngineError(RuntimeError):
    """An outside player answered nonsense, played an illegal move, died, stalled or hung up."""


class GameEndedError(EngineError):
    """An outside player ended the game, by its protocol or its own rules, where it was to move.

    Parameters
    ----------
    message
        What happened.
    claim
        What it says of its result: ``"loss"``, ``"draw"``, ``"win"`` or ``"nothing"``.
    """

    def __init__(self, message: str, claim: str) -> None:
        super().__init__(message, claim)
        self.claim = claim

    @property
    def score(self) -> float:
        """Of the game, for the player that ended it: who claims no draw has lost it."""
        return 0.5 if self.claim == "draw" else 0.0

    def __str__(self) -> str:
        return str(self.args[0])
