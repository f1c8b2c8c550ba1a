"""Errors of outside players, as :mod:`checkers_env.errors` has them."""

from checkers_env.errors import CLAIMS, EngineError, GameEndedError, UnavailableError

__all__ = ["CLAIMS", "EngineError", "GameEndedError", "UnavailableError"]
