"""Errors of outside players."""

from __future__ import annotations

CLAIMS = ("loss", "draw", "win", "nothing")


class EngineError(RuntimeError):
    """Raised when an outside player sends nonsense, plays an illegal move, dies or stalls."""


class UnavailableError(EngineError):
    """Raised when an outside player's server cannot be used: its game is not played, not lost."""


class GameEndedError(EngineError):
    """Raised when an outside player ends the game at its turn, by its protocol or its own rules.

    It claims a result: ``"loss"``, ``"draw"``, ``"win"`` or ``"nothing"``.
    """

    def __init__(self, message: str, claim: str) -> None:
        super().__init__(message, claim)
        self.claim = claim

    def __str__(self) -> str:
        return str(self.args[0])
