"""Check the checkers games of other libraries, those that are installed, against the rules.

A line alone does one: python -m checkers_env.conformance examples/referee.py:OpenSpiel
"""

import re
from importlib import metadata, resources

from checkers_env import BLACK, WHITE, conformance

STARTS_ONLY = "only the start position"


class OpenSpiel:
    """open_spiel, whose actions are single jumps."""

    def start(self, fen):
        import pyspiel

        if fen is not None:
            raise NotImplementedError(STARTS_ONLY)
        self.state = pyspiel.load_game("checkers").new_initial_state()

    def turn(self):
        return self.state.current_player()

    def actions(self):
        return self.state.legal_actions()

    def squares(self, action):
        name = self.state.action_to_string(action)
        cells = [("abcdefgh".index(it[0]), int(it[1]) - 1) for it in re.findall("[a-h][1-8]", name)]
        return [4 * row + (7 - column) // 2 + 1 for column, row in cells]

    def play(self, action):
        self.state.apply_action(action)

    def result(self):
        return int(self.state.returns()[BLACK]) if self.state.is_terminal() else None


class Pydraughts:
    """pydraughts, whose actions are moves."""

    def start(self, fen):
        from draughts import Board

        self.board = Board(variant="english", fen=fen or "startpos")

    def turn(self):
        from draughts import WHITE as THEIR_WHITE

        return WHITE if self.board.turn == THEIR_WHITE else BLACK

    def actions(self):
        return self.board.legal_moves()

    def squares(self, action):
        return action.steps_move

    def play(self, action):
        self.board.push(action)

    def result(self):
        return {None: None, 0: 0, 1: 1, 2: -1}[self.board.winner()]


class PyDraughts:
    """py-draughts, whose first mover is White: its board is turned round."""

    def start(self, fen):
        from draughts import AmericanBoard

        if fen is not None:
            raise NotImplementedError(STARTS_ONLY)
        self.board = AmericanBoard()
        self.first = self.board.turn

    def turn(self):
        return BLACK if self.board.turn == self.first else WHITE

    def actions(self):
        return self.board.legal_moves

    def squares(self, action):
        return [32 - square for square in action.square_list]

    def play(self, action):
        self.board.push(action)

    def result(self):
        return {"-": None, "1-0": 1, "0-1": -1, "1/2-1/2": 0}[self.board.result]


class ImparaaiCheckers:
    """imparaai-checkers, whose actions are single jumps."""

    def start(self, fen):
        from checkers.game import Game

        if fen is not None:
            raise NotImplementedError(STARTS_ONLY)
        self.game = Game()

    def turn(self):
        return self.game.whose_turn() - 1

    def actions(self):
        return self.game.get_possible_moves()

    def squares(self, action):
        return action

    def play(self, action):
        self.game.move(action)

    def result(self):
        if not self.game.is_over():
            return None
        return 0 if self.game.move_limit_reached() else {1: 1, 2: -1}[self.game.get_winner()]


def ludax_draughts():
    """Return Ludax's game, whose first mover is at the bottom, for the runner of pgx games."""
    from ludax import LudaxEnvironment

    path = resources.files("ludax") / "games" / "english_draughts.ldx"
    return conformance.PgxGame(LudaxEnvironment(game_path=str(path)), ludax_squares)


def ludax_squares(action, turn):
    """Return the squares of a step, or the first step of a jump."""
    cell, direction = divmod(action, 8)
    down, right = {0: (-1, -1), 2: (-1, 1), 5: (1, -1), 7: (1, 1)}[direction]
    cells = divmod(63 - cell, 8), divmod(63 - (cell + 8 * down + right), 8)
    return [4 * row + column // 2 + 1 for row, column in cells]


GAMES = {
    "open_spiel": OpenSpiel,
    "pydraughts": Pydraughts,
    "py-draughts": PyDraughts,
    "imparaai-checkers": ImparaaiCheckers,
    "ludax": ludax_draughts,
}

if __name__ == "__main__":
    for name, make in GAMES.items():
        try:
            print(name, metadata.version(name))
        except metadata.PackageNotFoundError:
            continue
        for rule, passed, note in conformance.check(make(), games=1):
            print(f"    {conformance.MARKS[passed]:9} {rule}: {note}")
