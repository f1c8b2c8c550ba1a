"""Many games at once on a CUDA device: `pip install 'checkers-laboratory[cuda]'`.

The kernels are those of :mod:`checkers_env.envs.vector_kernels`, compiled for the device as they
are. A thread plays a game, and a warp writes its observation. All of it is tested in numba's
simulator; no speed on a device is measured.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from types import FunctionType
from typing import Any

import numpy as np
from gymnasium.spaces import Box, Dict
from gymnasium.vector import AutoresetMode
from numba import config, cuda
from numpy.typing import NDArray

from checkers_env import bits, observation
from checkers_env.actions import ACTIONS, legal_origins, movable_pieces, write_mask
from checkers_env.board import Board
from checkers_env.envs.vector import STATE, Integers, Observation, SelfPlayVectorEnv, observation_of
from checkers_env.envs.vector_kernels import (
    Batch,
    Openings,
    StepOutput,
    begin_game,
    begin_next_game,
    empty_output,
    is_over,
    new_batch,
    observe_game,
    play_game,
    write_result,
)
from checkers_env.movegen import BLACK, ROW_WIDTH
from checkers_env.state import ONGOING, SIDE

SIMULATED = bool(config.ENABLE_CUDASIM)  # by numba, without a device
DLPACK_DEVICES = (1,) if SIMULATED else (2, 13)  # the CPU; CUDA, and memory that it manages
# Threads that play in a block; threads that write an observation, and such games in a block.
BLOCK, LANES, GAMES = (1, 1, 1) if SIMULATED else (128, 32, 4)
ALIASED = 2**31  # rows of a history that are all the same one, as no rule reads it

DIGITS = 8  # of 16 bits each: the state of numpy's PCG64, its increment and its multiplier
MULTIPLIER = (0xF645, 0x9FCC, 0xDF64, 0x4385, 0x5DA4, 0x1FC6, 0xED05, 0x2360)
HALF = 2 * DIGITS  # place of whether the upper half of a word is left


def find_lowest(board: int) -> int:
    """Return the index of the lowest set bit."""
    return cuda.popc((board & -board) - 1)


def draw_half(generator: Any) -> int:
    """Draw 32 bits as numpy's PCG64 does (O'Neill, 2014: PCG XSL RR 128/64)."""
    if not generator[HALF]:
        for k in range(DIGITS - 1, -1, -1):
            total = generator[DIGITS + k]
            for j in range(k + 1):
                total += generator[j] * MULTIPLIER[k - j]
            generator[k] = total
        carry = 0
        for k in range(DIGITS):
            carry += generator[k]
            generator[k] = carry & 0xFFFF
            carry >>= 16
    turn, word = generator[DIGITS - 1] >> 10, 0
    for k in range(3):
        digit = ((turn >> 4) + 2 * generator[HALF] + k) & 3
        word |= (generator[digit] ^ generator[digit + 4]) << 16 * k
    generator[HALF] ^= 1
    return word >> (turn & 15) & 0xFFFFFFFF


def draw(generator: Any, bound: int) -> int:
    """Draw a number below `bound` as numpy's ``Generator.integers`` does."""
    if bound == 1:
        return 0
    product = draw_half(generator) * bound
    while product & 0xFFFFFFFF < 2**32 % bound:
        product = draw_half(generator) * bound
    return product >> 32


def begin_drawn_game(batch: Any, i: int) -> None:
    """Begin game `i` by a number of its generator, which is in the place of its numbers."""
    begin_game(batch, batch.openings, i, draw(batch.numbers[i], len(batch.openings.games)))


def write_squares(plane: Any, pieces: int, viewer: int) -> None:
    """Write a lane's squares of some pieces."""
    for square in range(cuda.threadIdx.x, 64, LANES):
        row, column = square // 8, square % 8
        bits = pieces >> (4 * row + row // 2) & 15
        seen = 7 - row if viewer == BLACK else row
        plane[seen, column] = observation.VIEWED_ROWS[viewer, row & 1, bits, column]


def write_rows(plane: Any, pieces: int, viewer: int) -> None:
    """Write a lane's rows of some pieces, each a byte."""
    for row in range(cuda.threadIdx.x, 8, LANES):
        squares = pieces >> (4 * row + row // 2) & 15
        plane[7 - row if viewer == BLACK else row] = ROW_BYTES[viewer, row & 1, squares]


def share_writer(full: int) -> Callable[..., None]:
    """Return what writes a lane's part of a share, in whole numbers unless 1 is `full`."""

    def write(plane: Any, count: int, limit: int) -> None:
        share = 0.0
        if limit > 0:
            share = count / limit if full == 1 else full * count // limit
        for square in range(cuda.threadIdx.x, plane.size, LANES):
            plane.flat[square] = share

    return write


def write_actions(mask: Any, game: Any) -> None:
    """Write a lane's part of the mask of legal actions."""
    pieces, capturing = movable_pieces(game)
    for index in range(4):
        origins = legal_origins(pieces, game, index, capturing)
        for square in range(cuda.threadIdx.x, 32, LANES):
            bit = square + square // 8
            mask[4 * square + index] = origins >> (bit if game[SIDE] == BLACK else 34 - bit) & 1


ROW_BYTES = np.packbits(observation.VIEWED_ROWS.astype(np.uint8), axis=-1)[..., 0]
# What a plane is, its highest value, and what writes pieces to it.
PLANES: dict[str, tuple[NDArray[Any], int, Callable[..., None]]] = {
    "float32": (np.zeros((8, 8), np.float32), 1, write_squares),
    "int8": (np.zeros((8, 8), np.int8), 127, write_squares),
    "bits": (np.zeros(8, np.uint8), 255, write_rows),
}


def play(batch: Any, actions: Any, waits: bool, output: Any) -> None:
    """Play a thread's game and write its result; with `waits`, a game that is over stays so."""
    i = cuda.grid(1)
    if i < len(actions):
        output.reward[i] = output.rewards[i, 0] = output.rewards[i, 1] = 0.0
        output.over[i] = output.terminated[i] = output.truncated[i] = False
        output.events[i] = ONGOING
        if not (waits and is_over(batch.events[i])):
            play_game(batch, i, np.int64(actions[i]))
            write_result(batch, i, output)


def observe(batch: Any, autoreset: bool, output: Any, last: Any) -> None:
    """Write a warp's observation; with `autoreset`, begin a game that is over after its last."""
    i = cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y
    inside = i < len(output.over)
    ends = inside and autoreset and is_over(batch.events[i])
    if ends:
        observe_game(batch, i, last[i], output.mask[i])
    cuda.syncthreads()
    if ends and cuda.threadIdx.x == 0:
        begin_next_game(batch, i)
    cuda.syncthreads()
    if inside:
        output.to_move[i] = batch.games[i, SIDE]
        observe_game(batch, i, output.planes[i], output.mask[i])


def begin(batch: Any, openings: Any, games: Any) -> None:
    """Begin a thread's game of some `games`."""
    at = cuda.grid(1)
    if at < len(games):
        number = draw(batch.numbers[games[at]], len(openings.games))
        begin_game(batch, openings, games[at], number)


@functools.cache
def compile_kernels(planes: str) -> tuple[Any, ...]:
    """Compile the kernels for a type of planes, with all that they call."""
    _, full, write_pieces = PLANES[planes]
    replaced: dict[Any, Any] = {
        bits.lsb: find_lowest,
        begin_next_game: begin_drawn_game,
        write_mask: write_actions,
        observation.write_pieces: write_pieces,
        observation.write_share: share_writer(full),
    }

    @functools.cache
    def on_device(function: Any) -> Any:
        return cuda.jit(device=True)(translate(replaced.get(function, function)))

    def translate(function: Any) -> FunctionType:
        plain = getattr(function, "py_func", function)
        names = {
            it: plain.__globals__[it] for it in plain.__code__.co_names if it in plain.__globals__
        }
        for name, value in names.items():
            if isinstance(value, FunctionType) or hasattr(value, "py_func"):
                names[name] = on_device(value)
        return FunctionType(plain.__code__, names, plain.__name__, None, plain.__closure__)

    return tuple(cuda.jit(translate(function)) for function in (play, observe, begin))


class CudaVectorEnv(SelfPlayVectorEnv):
    """Many games at once on a CUDA device: see :func:`checkers_env.make_vec`."""

    def __init__(
        self,
        num_envs: int,
        *,
        planes: str = "float32",
        as_array: Callable[[Any], Any] = lambda array: array,
        **options: Any,
    ) -> None:
        if planes not in PLANES:
            raise ValueError(f"planes must be one of {', '.join(PLANES)}, not {planes!r}")
        if not SIMULATED and find_spec("numba_cuda") is None:
            raise ImportError(
                "device='cuda' needs numba-cuda: pip install 'checkers-laboratory[cuda]'"
            )
        if not cuda.is_available():
            raise RuntimeError(f"device='cuda' finds no device or driver: {cuda.cuda_error()}")
        self._plane, full, _ = PLANES[planes]
        self._as_array = as_array
        self._play, self._watch, self._start = compile_kernels(planes)
        super().__init__(num_envs, **options)
        # The seeds of generators that are not on the device yet.
        self._seeds: dict[int, int | None] = dict.fromkeys(range(self.num_envs))
        box = Box(0, full, (observation.PLANES, *self._plane.shape), self._plane.dtype.type)
        mask = Box(0, 1, (ACTIONS,), np.int8)
        self.single_observation_space = Dict({"observation": box, "action_mask": mask})

    def _new_batch(self, openings: Openings) -> Batch:
        """Allocate the games, and two outputs that are filled in turns."""
        if self._rules.repetition and self._rules.max_moves is None:
            raise ValueError("repetition on a device needs max_moves: its histories do not grow")
        rows = self._rules.max_plies + 1 if self._rules.repetition else 1
        count, free = self.num_envs, cuda.current_context().get_memory_info()[0]
        batch = new_batch(count, openings, rows, HALF + 1)
        planes = np.zeros((count, observation.PLANES, *self._plane.shape), self._plane.dtype)
        output = (*empty_output(count)._replace(planes=planes), planes)  # the last ones
        size = sum(array.nbytes for array in (*batch[:-1], *output, *output))
        if size > free:
            raise MemoryError(
                f"{count} games take {size // count} bytes each: {size / 1e9:.1f} GB, and the "
                f"device has {free / 1e9:.1f} GB free"
            )
        if rows == 1:
            aliased = np.broadcast_to(batch.history, (count, ALIASED, ROW_WIDTH))
            batch = batch._replace(history=aliased)
        self._outputs = [[*map(cuda.to_device, output)] for _ in range(2)]
        return Batch._make([*map(cuda.to_device, batch[:-1]), _send(openings)])

    def step(self, actions: Any) -> tuple[Observation, Any, Any, Any, dict[str, Any]]:
        """Play an action, of int[n], in each game; nothing is copied to the host."""
        chosen, waits = self._checked(actions), self._mode == AutoresetMode.DISABLED
        *output, last = self._outputs[0]
        blocks = -(-self.num_envs // BLOCK)
        self._play[blocks, BLOCK](self._batch, chosen, waits, StepOutput(*output))
        seen = self._observe(self._mode == AutoresetMode.SAME_STEP)
        info: dict[str, Any] = {
            "rewards": seen.rewards,
            "reason": seen.events,
            "_reason": seen.over,
        }
        if self._mode == AutoresetMode.SAME_STEP:
            ends = {"final_info": {**info}, "final_obs": {"observation": self._as_array(last)}}
            info |= {**ends, "_final_info": seen.over, "_final_obs": seen.over}
        info |= self._info(seen.over, seen)
        return observation_of(seen), seen.reward, seen.terminated, seen.truncated, info

    def board(self, index: int) -> Board:
        """Raise an error: a device does not keep moves."""
        raise NotImplementedError("a device does not keep the moves of a game for board()")

    def _checked(self, actions: Any) -> Any:
        """Return the actions as an array on the device. Raise ValueError if they are invalid."""
        if isinstance(actions, list | tuple | np.ndarray):
            actions = cuda.to_device(np.asarray(actions))
        if not hasattr(actions, "__cuda_array_interface__"):
            place = getattr(actions, "__dlpack_device__", lambda: (0, 0))()
            if place[0] not in DLPACK_DEVICES:
                raise ValueError(f"actions must be an array on the device, not {actions!r}")
        self._check_actions(actions)
        return actions

    def _observe(self, autoreset: bool = False) -> StepOutput:
        *output, last = self._outputs[0]
        self._outputs.reverse()
        blocks = -(-self.num_envs // GAMES)
        self._watch[blocks, (LANES, GAMES)](self._batch, autoreset, StepOutput(*output), last)
        return StepOutput(*map(self._as_array, output))

    def _begin(self, openings: Openings, games: Integers, seeds: Sequence[int | None]) -> None:
        self._seeds |= {i: seeds[i] for i in games.tolist() if seeds[i] is not None}
        self._make_generators(openings, games)
        openings = openings if openings is self._batch.openings else _send(openings)
        blocks = -(-len(games) // BLOCK)
        self._start[blocks, BLOCK](self._batch, openings, cuda.to_device(games))

    def _make_generators(self, openings: Openings, games: Integers) -> None:
        """Make the generators of games that need one now and have none."""
        if max(len(openings.games), len(self._batch.openings.games)) == 1:
            return
        numbers = self._read("numbers")
        for i in self._seeds.keys() & set(games.tolist()):
            state = np.random.PCG64(self._seeds.pop(i)).state["state"]
            bits = state["state"] | state["inc"] << 128
            numbers[i] = [*(bits >> 16 * k & 0xFFFF for k in range(HALF)), 0]
        self._array("numbers").copy_to_device(numbers)

    def _array(self, name: str) -> Any:
        """Return an array of the games on the device; without moves, a history is one row."""
        array = getattr(self._batch, name)
        return array[:, 0] if name == "history" and not self._rules.repetition else array

    def _read(self, name: str) -> NDArray[Any]:
        return self._array(name).copy_to_host()

    def _write(self, state: NDArray[np.void], rows: int) -> None:
        if state["history"].shape != self._array("history").shape:
            raise ValueError("state is not of a device with the same rules")
        self._make_generators(self._batch.openings, np.arange(self.num_envs))
        for name in STATE:
            self._array(name).copy_to_device(np.ascontiguousarray(state[name]))


def _send(openings: Openings) -> Openings:
    return Openings(*map(cuda.to_device, openings))
