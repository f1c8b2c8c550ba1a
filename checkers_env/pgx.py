"""The game in JAX, as a pgx environment: `pip install 'checkers-laboratory[jax]'`.

Boards are three uint32, a bit for each square, in the view of the side to move: its square 1 is the
lowest bit. The directions of a move are those of :mod:`checkers_env.actions`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from checkers_env.actions import ACTIONS
from checkers_env.board import Board
from checkers_env.movegen import BLACK, SQUARES, own_and_opponent
from checkers_env.observation import PLANES
from checkers_env.render.svg import svg
from checkers_env.state import DrawRules, change_rules

try:
    import jax
    import jax.numpy as jnp
    from pgx import core
    from pgx._src.struct import dataclass
except ImportError as error:
    raise ImportError(
        f"{error}: pip install 'checkers-laboratory[jax]'", name=error.name
    ) from error

START_OWN, START_OPPONENT, KING_ROW = map(np.uint32, (0x00000FFF, 0xFFF00000, 0xF0000000))
EVEN_ROWS, ODD_ROWS = map(np.uint32, (0x0F0F0F0F, 0xF0F0F0F0))  # square 1 is in row 0
EVEN_INNER, ODD_INNER = map(np.uint32, (0x07070707, 0xE0E0E0E0))  # without squares at the edge

LARGEST = 10_000  # number in a draw rule, of which shares are tabled


def _cell_bits() -> tuple[np.ndarray, np.ndarray]:
    """Return the bit of each of 8 x 8 cells in the mover's view, and whether it is a square."""
    bits, playable = np.zeros((8, 8), np.uint32), np.zeros((8, 8), np.uint32)
    for bit in range(32):
        row, place = divmod(bit, 4)
        cell = 7 - row, 6 - 2 * place + row % 2
        bits[cell], playable[cell] = bit, 1
    return bits, playable


CELL_BITS, PLAYABLE = _cell_bits()


class JaxGame(NamedTuple):
    """A game: scalars, and the boards of the last turns for the repetition rule."""

    own: Any  # uint32, as are the other boards
    opponent: Any
    kings: Any
    jumper: Any  # the piece in the middle of a multi-jump
    turn: Any  # int32, as are the counts
    ply: Any
    reversible_plies: Any
    repetitions: Any
    history: Any  # uint32[plies, 2]: own and opponent, at the place of the ply modulo its length


@dataclass
class CheckersState(core.State):  # type: ignore[misc]
    """The state of :class:`Checkers`, with the fields of every pgx state.

    Attributes
    ----------
    current_player
        int32, who may play either side.
    observation
        float32, shape (8, 8, 8): plane, row, column, as :mod:`checkers_env.envs.aec` has them.
    rewards
        float32, shape (2,): 1, -1 or 0 for each player.
    terminated, truncated
        bool; a game is never truncated.
    legal_action_mask
        bool, shape (128,).
    """

    current_player: Any
    observation: Any
    rewards: Any
    terminated: Any
    truncated: Any
    legal_action_mask: Any
    _step_count: Any
    _x: JaxGame

    @property
    def env_id(self) -> str:
        """Return the name of the game."""
        return "checkers"

    def to_board(self) -> Board:
        """Return the position as a Board; of a batch, that of the first game."""
        games = self._x.turn.ndim
        first = jax.tree.map(lambda leaf: leaf[(0,) * games], self._x)
        boards = [int(board) for board in (first.own, first.opponent, first.kings)]
        own, opponent, kings = (_to_samuel(board, int(first.turn)) for board in boards)
        black, white = (own, opponent) if first.turn == BLACK else (opponent, own)
        return Board.from_position(black, white, kings, int(first.turn))

    def to_svg(self, **_: Any) -> str:
        """Return a picture; of a batch, that of the first game."""
        return svg(self.to_board())

    def save_svg(self, filename: str, **_: Any) -> None:
        """Write the picture into a file."""
        Path(filename).write_text(self.to_svg(), "utf-8")


def _to_samuel(board: int, turn: int) -> int:
    """Return the 35-bit board of a 32-bit one that `turn` sees."""
    seen = (bit if turn == BLACK else 31 - bit for bit in range(32) if board >> bit & 1)
    return sum(1 << int(SQUARES[bit]) for bit in seen)


class Checkers(core.Env):  # type: ignore[misc]
    """English draughts with 128 actions; a multi-jump is several steps of the same player.

    The player that acts may move again, so that a search must not change signs at every step, but
    where `current_player` changes.

    Parameters
    ----------
    rules
        Draw rules. By default a game is drawn after 100 moves of each side.
    **changes
        Single draw rules, such as ``repetition=3`` (see :class:`checkers_env.DrawRules`).

    Raises
    ------
    ValueError
        For `repetition` without a limit of the plies in which a position can come back, and for a
        rule above 10,000.
    """

    def __init__(
        self,
        rules: DrawRules = DrawRules(),  # noqa: B008 - immutable
        **changes: Any,
    ) -> None:
        super().__init__()
        self.rules = change_rules(rules, changes, type(self))
        if large := {name: it for name, it in vars(self.rules).items() if (it or 0) > LARGEST}:
            raise ValueError(f"draw rules of {LARGEST} at most, not {large}")
        limits = [2 * it for it in (self.rules.max_moves, self.rules.no_progress) if it]
        if self.rules.repetition and not limits:
            raise ValueError("repetition needs max_moves or no_progress: JAX arrays have a length")
        self._plies = min(limits) + 1 if self.rules.repetition else 0

    def from_fen(self, fen: str) -> CheckersState:
        """Return the state at the start of a game from a position, whose mover is player 0.

        Raises
        ------
        ValueError
            For a bad FEN, and for a position in which the game is over.
        """
        board = Board(fen)
        if board.is_over:
            raise ValueError(f"the game is over in {fen!r}")
        own, opponent = own_and_opponent(board.black, board.white, board.turn)
        boards = (_from_samuel(it, board.turn) for it in (own, opponent, board.kings))
        own, opponent, kings = (jnp.uint32(board) for board in boards)
        state = self._begin(own, opponent, kings, board.turn, jnp.int32(0))
        return state.replace(observation=self.observe(state))

    def _begin(self, own: Any, opponent: Any, kings: Any, turn: int, player: Any) -> CheckersState:
        zero = jnp.int32(0)
        history = jnp.zeros((self._plies, 2), jnp.uint32)
        if self._plies:
            history = history.at[0].set(jnp.stack([own, opponent]))
        x = JaxGame(own, opponent, kings, jnp.uint32(0), jnp.int32(turn), zero, zero, zero, history)
        return CheckersState(
            current_player=player,
            observation=jnp.zeros((PLANES, 8, 8), jnp.float32),
            rewards=jnp.zeros(2, jnp.float32),
            terminated=jnp.bool_(False),
            truncated=jnp.bool_(False),
            legal_action_mask=legal_actions(x),
            _step_count=zero,
            _x=x,
        )

    def _init(self, key: Any) -> CheckersState:
        own, opponent, kings = map(jnp.uint32, (START_OWN, START_OPPONENT, 0))
        return self._begin(own, opponent, kings, BLACK, jnp.int32(jax.random.bernoulli(key)))

    def _step(self, state: CheckersState, action: Any, key: Any) -> CheckersState:
        del key
        x, goes_on = play(state._x, action)
        ended = self._end_turn(state._x, x)
        x = jax.tree.map(lambda same, next_: jnp.where(goes_on, same, next_), x, ended)
        mask = legal_actions(x)
        blocked = ~mask.any()
        lost = blocked & (x.own == 0) if self.rules.blocked_draws else blocked
        drawn = [count >= limit for count, limit in self._clocks(x) if limit > 0]
        player = jnp.where(goes_on, state.current_player, 1 - state.current_player)
        return state.replace(
            current_player=player,
            rewards=jnp.where(jnp.arange(2) == player, -1.0, 1.0) * lost.astype(jnp.float32),
            terminated=blocked | (~goes_on & jnp.array(drawn, jnp.bool_).any()),
            legal_action_mask=mask,
            _x=x,
        )

    def _end_turn(self, before: JaxGame, x: JaxGame) -> JaxGame:
        """Hand the turn over, and count for the draw rules."""
        men, men_before = x.own & ~x.kings, before.own & ~before.kings
        quiet = (x.opponent == before.opponent) & (men == men_before)
        own, opponent, kings = (reverse(it) for it in (x.opponent, x.own, x.kings))
        ply, reversible = x.ply + 1, jnp.where(quiet, x.reversible_plies + 1, 0)
        history, repetitions = x.history, x.repetitions
        if self._plies:
            place = ply % self._plies
            history = history.at[place].set(jnp.stack([own, opponent]))
            age = (place - jnp.arange(self._plies)) % self._plies
            counts = (age > 0) & (age % 2 == 0) & (age <= reversible)
            same = (history == history[place]).all(axis=1)
            repetitions = (same & counts).sum(dtype=jnp.int32)
        return JaxGame(
            own, opponent, kings, jnp.uint32(0), 1 - x.turn, ply, reversible, repetitions, history
        )

    def _clocks(self, x: JaxGame) -> list[tuple[Any, int]]:
        """Return what each draw rule counts, and when it draws; 0 where it is off."""
        return [
            (x.ply, 2 * (self.rules.max_moves or 0)),
            (x.reversible_plies, 2 * (self.rules.no_progress or 0)),
            (x.repetitions, (self.rules.repetition or 1) - 1),
        ]

    def _observe(self, state: CheckersState, player_id: Any) -> Any:
        x = state._x
        seen = (x.own, x.opponent, x.kings, x.jumper)
        turned = tuple(reverse(it) for it in (x.opponent, x.own, x.kings, x.jumper))
        own, opponent, kings, jumper = (
            jnp.where(player_id == state.current_player, mine, theirs)
            for mine, theirs in zip(seen, turned, strict=True)
        )
        boards = jnp.stack([own & ~kings, own & kings, opponent & ~kings, opponent & kings, jumper])
        pieces = (boards[:, None, None] >> CELL_BITS & PLAYABLE).astype(jnp.float32)
        shares = jnp.stack([_share(count, limit) for count, limit in self._clocks(x)])
        planes = jnp.broadcast_to(shares[:, None, None], (3, 8, 8))
        return jnp.concatenate([pieces, planes])

    @property
    def id(self) -> str:
        """Return the name of the game."""
        return "checkers"

    @property
    def version(self) -> str:
        """Return the version of the observations, actions and rewards."""
        return "v0"

    @property
    def num_players(self) -> int:
        """Return 2."""
        return 2


def _from_samuel(board: int, turn: int) -> int:
    """Return the 32-bit board that `turn` sees of a 35-bit one."""
    bits = (bit for bit in range(32) if board >> int(SQUARES[bit]) & 1)
    return sum(1 << (bit if turn == BLACK else 31 - bit) for bit in bits)


def _share(count: Any, limit: int) -> Any:
    """Look up a share of a limit: divisions by XLA differ in the last bit from the kernels'."""
    if limit < 1:
        return jnp.float32(0)
    return jnp.asarray(np.arange(limit + 1) / limit, jnp.float32)[count]


def reverse(board: Any) -> Any:
    """Turn a board by 180 degrees: bit b becomes bit 31 - b."""
    for width, mask in ((1, 0x55555555), (2, 0x33333333), (4, EVEN_ROWS), (8, 0x00FF00FF)):
        board = (board >> width & mask) | (board & mask) << width
    return board >> 16 | board << 16


def shift(board: Any, direction: int) -> Any:
    """Move every piece by a step in a direction 0-3; those at the edge fall off."""
    if direction == 0:
        return (board & EVEN_ROWS) << 4 | (board & ODD_INNER) << 3
    if direction == 1:
        return (board & EVEN_INNER) << 5 | (board & ODD_ROWS) << 4
    if direction == 2:
        return (board & ODD_ROWS) >> 4 | (board & EVEN_INNER) >> 3
    return (board & ODD_INNER) >> 5 | (board & EVEN_ROWS) >> 4


def origins(x: JaxGame, pieces: Any, jumps: bool) -> Any:
    """Return those of `pieces` that can step, or jump, in each direction: uint32[4]."""
    empty = ~(x.own | x.opponent)
    boards = []
    for direction in range(4):
        back = direction ^ 2
        targets = shift(empty, back)
        if jumps:
            targets = shift(targets & x.opponent, back)
        boards.append(targets & (pieces if direction < 2 else pieces & x.kings))
    return jnp.stack(boards)


def legal_actions(x: JaxGame) -> Any:
    """Return the mask of actions: bool[128]."""
    jumps = origins(x, jnp.where(x.jumper != 0, x.jumper, x.own), jumps=True)
    movable = jnp.where(jumps.any(), jumps, origins(x, x.own, jumps=False))
    squares = jnp.arange(32, dtype=jnp.uint32)
    return (movable[None, :] >> squares[:, None] & 1).astype(jnp.bool_).reshape(ACTIONS)


def play(x: JaxGame, action: Any) -> tuple[JaxGame, Any]:
    """Play an action; return the boards after it, and whether the same piece must go on."""
    piece = jnp.uint32(1) << (action >> 2).astype(jnp.uint32)
    next_to = jnp.stack([shift(piece, direction) for direction in range(4)])[action & 3]
    behind = jnp.stack([shift(next_to, direction) for direction in range(4)])[action & 3]
    captured = next_to & x.opponent
    landed = jnp.where(captured != 0, behind, next_to)
    was_king = (x.kings & piece) != 0
    kings = jnp.where(was_king, x.kings ^ piece | landed, x.kings | landed & KING_ROW) & ~captured
    after = x._replace(
        own=x.own ^ piece | landed, opponent=x.opponent ^ captured, kings=kings, jumper=landed
    )
    crowned = ~was_king & ((landed & KING_ROW) != 0)
    goes_on = (captured != 0) & ~crowned & origins(after, landed, jumps=True).any()
    return after, goes_on
