"""Architectures: one table, name -> how a vector of weights becomes an evaluator.

Training, weight files and explanations all read :data:`ARCHITECTURES`. To train an evaluator of
your own, add one entry by :func:`register`; ``examples/own_evaluator.py`` shows it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.baselines.piece_squares import SIZE as PIECE_SQUARES_SIZE
from agents.baselines.piece_squares import PieceSquares, piece_squares
from agents.baselines.samuel import FEATURES, Samuel, samuel
from agents.baselines.weighted_pieces import WeightedPieces, weighted_pieces
from agents.blondie.architecture import NETWORK_LAYOUTS, decode
from agents.blondie.network import Network
from agents.endgame.tables import load_tablebase
from agents.evaluator import (
    advance_state,
    apply_gradient,
    evaluate,
    evaluate_in_state,
    is_antisymmetric,
    logit,
    start_state,
    state_size,
)
from agents.mcts.player import MonteCarlo, monte_carlo
from agents.mcts.policy_value import PolicyValue, weight_count
from agents.nnue.network import Nnue, nnue, unpack_genome
from agents.ntuple.network import NTuple, ntuple, table_size
from agents.ntuple.tuples import TUPLE_LAYOUTS, layout_from_matrix, layout_to_matrix
from agents.search.player import AlphaBeta
from agents.search.selective import FULL_WIDTH, STRONG
from agents.treestrap.tapered import TAPERED_ENTRIES, TaperedNetwork, unpack_network
from agents.weights import WeightsMetadata, check_usable, load_weights
from checkers_env.board import Board
from checkers_env.jit import has_implementation
from checkers_env.movegen import Position


class SampledOption(NamedTuple):
    """An option that training samples once a run; checkpoints hold it as an array."""

    sample: Callable[[np.random.Generator], Any]
    to_array: Callable[[Any], NDArray[Any]] = np.asarray
    from_array: Callable[[NDArray[Any]], Any] = np.ndarray.tolist


@dataclass(frozen=True)
class Architecture:
    """A kind of evaluator."""

    evaluator: type  # class of the evaluator, a NamedTuple (see agents.evaluator)
    # `build(weights, king, **options)` returns an evaluator; `weights` is float64, `king` the worth
    # of a king in men. Temporal-difference learning writes to `weights`: do not copy it.
    build: Callable[..., Any]
    # Number of weights, or a function of the options. None: `build` checks the weights.
    size: int | Callable[..., int] | None
    # Options sampled once a run, by name. None: the options are known after training only, so that
    # no training can begin with this architecture.
    options: Mapping[str, SampledOption] | None = field(default_factory=dict)
    # Place of the weight of the piece difference: the last weight, the option `difference`, or
    # none.
    difference: Literal["weight", "option", "none"] = "none"
    fixed_difference: float | None = None  # value of that weight in evolution; None: it is evolved
    # First weights, shape (size,); zeros if None. Evolution adds its random weights to them.
    initial: Sequence[float] | None = None
    stored_as: str = ""  # name in weight files, if it is another one
    selective: bool = False  # players search selectively
    reads_king: bool = True  # the evaluator reads the worth of a king that `build` gets
    # The weights must not change once the evaluator is built: it cannot learn as it plays.
    fixed: bool = False
    # `explain(evaluator, position)` returns named amounts, good for the side to move, that add up
    # to the value or its logit. None: the page explains classes it knows, or only shows the value.
    explain: Callable[[Any, Position], Mapping[str, float]] | None = None

    @property
    def takes_difference(self) -> bool:
        """Whether evolution can leave the piece difference out."""
        return self.difference != "none" and self.fixed_difference != 0.0

    @property
    def learns(self) -> bool:
        """Whether temporal differences can train it: its class implements the logit."""
        return not self.fixed and has_implementation(logit, self.evaluator)


ARCHITECTURES: dict[str, Architecture] = {}
GUARD, GUARD_VALUE = 64, -1_234_567  # numbers around the weights and the state at registration
# Generic functions that an evaluator implements all or none of; the first one always.
NEEDED_TOGETHER = (
    (evaluate,),
    (state_size, start_state, advance_state),
    (logit, apply_gradient, is_antisymmetric),
)


def register(name: str, architecture: Architecture) -> None:
    """Add an architecture of your own to the table.

    Parameters
    ----------
    name
        Its name in weight files and as ``--regime.network``.
    architecture
        How weights become an evaluator. One position is evaluated, if training needs no options.

    Raises
    ------
    ValueError
        For a name that is taken, and for a size that `build` or the first weights do not fit.
    TypeError
        For a class that lacks an implementation which another one of its needs.
    IndexError
        For an evaluator that writes outside its state, or reads outside its weights.
    """
    if name in ARCHITECTURES:
        raise ValueError(f"there is an architecture {name!r} already: choose another name")
    cls = architecture.evaluator
    for parts in NEEDED_TOGETHER:
        there = [part.__name__ for part in parts if has_implementation(part, cls)]
        missing = [part.__name__ for part in parts if part.__name__ not in there]
        if missing and (there or parts == (evaluate,)):
            needed, known = " and ".join(missing), " and ".join(there) or "nothing"
            raise TypeError(f"{cls.__name__} needs {needed}: it registers {known}")
    if isinstance(architecture.size, int) and architecture.options == {}:
        _evaluate_guarded(architecture, architecture.size)
    ARCHITECTURES[name] = architecture


def _evaluate_guarded(architecture: Architecture, size: int) -> None:
    """Evaluate one position, with guards around the weights and the state."""
    cls, initial = architecture.evaluator.__name__, architecture.initial
    if initial is not None and np.shape(initial) != (size,):
        raise ValueError(f"{cls} has size={size}, but {len(initial)} first weights")
    weights = np.full(size + 2 * GUARD, np.nan)
    weights[GUARD:-GUARD] = 0 if initial is None else initial
    try:
        evaluator = architecture.build(weights[GUARD:-GUARD], 2.0)
    except Exception as error:
        raise ValueError(f"{cls} cannot be built of size={size} weights: {error}") from error
    position = Board().position
    guarded = np.full(2 * GUARD + state_size(evaluator), GUARD_VALUE, np.int32)
    state = guarded[GUARD:-GUARD]
    value = evaluate_in_state(evaluator, position, position.turn, state)
    if np.any(np.delete(guarded, np.s_[GUARD:-GUARD]) != GUARD_VALUE):
        raise IndexError(f"{cls} writes outside its state: state_size is {len(state)}")
    if not np.isfinite(value):
        raise IndexError(f"{cls} gives {value}: does it read beyond its {size} weights?")


def find_architecture(name: str) -> Architecture:
    """Return an architecture. Raise ValueError for an unknown name."""
    if name not in ARCHITECTURES:
        raise ValueError(
            f"it is for {name!r}; known are {', '.join(ARCHITECTURES)}, and those of your own once "
            "their file is imported"
        )
    return ARCHITECTURES[name]


@dataclass(frozen=True)
class ArchitectureNames(Collection[str]):
    """Names in the table, also of later entries, whose architectures a condition accepts."""

    accepts: Callable[[Architecture], bool]

    def __iter__(self) -> Iterator[str]:
        return (name for name, entry in ARCHITECTURES.items() if self.accepts(entry))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, name: object) -> bool:
        return name in list(self)

    def where(self, accepts: Callable[[Architecture], bool]) -> ArchitectureNames:
        """Return the names whose architectures another condition accepts too."""
        return ArchitectureNames(lambda entry: self.accepts(entry) and accepts(entry))


EVOLVABLE = ArchitectureNames(lambda entry: entry.options is not None)
"""Architectures that evolution can begin with."""
WITHOUT_OPTIONS = ArchitectureNames(lambda entry: entry.options == {})
"""Those of them that sample no options."""
LEARNABLE = ArchitectureNames(lambda entry: entry.options is not None and entry.learns)
"""Architectures that temporal-difference learning can begin with."""


def sample_options(name: str, rng: np.random.Generator) -> dict[str, NDArray[Any]]:
    """Sample the options of a run, as arrays for its checkpoints."""
    options = find_architecture(name).options or {}
    return {key: option.to_array(option.sample(rng)) for key, option in options.items()}


@dataclass(frozen=True)
class Encoding:
    """Genomes of a run: an architecture and its options.

    A genome is the weights and, if the architecture has one, the weight of the piece difference.
    """

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def architecture(self) -> Architecture:
        """The entry of the table."""
        return find_architecture(self.name)

    @property
    def stored_as(self) -> str:
        """Name in weight files."""
        return self.architecture.stored_as or self.name

    @property
    def size(self) -> int:
        """Number of weights in a weight file."""
        size = self.architecture.size
        if size is None:
            raise ValueError(f"{self.name!r} has no genomes")
        return size if isinstance(size, int) else size(**self.options)

    @property
    def weight_count(self) -> int:
        """Number of weights without that of the piece difference (N_w of the papers)."""
        return self.size - (self.architecture.difference == "weight")

    @property
    def genome_size(self) -> int:
        """Length of a genome."""
        return self.weight_count + (self.architecture.difference != "none")

    def initial_weights(self) -> NDArray[np.float64]:
        """Return the first weights, shape (size,)."""
        initial = self.architecture.initial
        return np.zeros(self.size) if initial is None else np.array(initial, np.float64)

    def decode(self, genome: NDArray[np.float64]) -> tuple[NDArray[np.float64], dict[str, Any]]:
        """Split a genome into the weights and the options of a weight file."""
        options = dict(self.options)
        if self.architecture.difference == "option":
            return genome[:-1].copy(), options | {"difference": float(genome[-1])}
        return genome, options

    def build(self, genome: NDArray[np.float64], king: float) -> Any:
        """Build the evaluator of a genome."""
        weights, options = self.decode(genome)
        return self.architecture.build(weights, king, **options)


def find_encoding(name: str, arrays: Mapping[str, NDArray[Any]]) -> Encoding:
    """Return the encoding of a run, among whose arrays are those of :func:`sample_options`."""
    options = find_architecture(name).options or {}
    return Encoding(name, {key: it.from_array(arrays[key]) for key, it in options.items()})


def build_evaluator(weights: NDArray[Any], metadata: WeightsMetadata) -> Any:
    """Build the evaluator of a weight file.

    Raise ValueError for weights that do not fit the header, or that cannot be used.
    """
    name, architecture = metadata.architecture, find_architecture(metadata.architecture)
    if architecture.size is not None:
        size = Encoding(name, metadata.options).size
        if weights.shape != (size,):
            raise ValueError(f"it holds {weights.shape} weights; {name} has {size}")
        check_usable(weights)
    try:
        return architecture.build(weights, metadata.king, **metadata.options)
    except TypeError as error:
        raise ValueError(f"its options do not fit {name}: {error}") from None


def build_player(
    weights: NDArray[Any], metadata: WeightsMetadata, depth: int | None = None
) -> AlphaBeta | MonteCarlo:
    """Build the player of a weight file, with the search of its training.

    A `depth` replaces that of the training. Raise ValueError as :func:`build_evaluator` does.
    """
    options, perspective = dict(metadata.options), metadata.root_perspective
    endgame = options.pop("endgame", 0)
    evaluator = build_evaluator(weights, replace(metadata, options=options))
    if metadata.mcts_options and depth is None:
        return monte_carlo(evaluator, root_perspective=perspective, **metadata.mcts_options)
    style = STRONG if ARCHITECTURES[metadata.architecture].selective else FULL_WIDTH
    depth = depth or metadata.depth
    player = AlphaBeta(evaluator, depth, root_perspective=perspective, style=style)
    player = player.with_search(**metadata.search_options)
    return player._replace(tablebase=load_tablebase(endgame)) if endgame else player


def load_player(path: Path | str, depth: int | None = None) -> AlphaBeta | MonteCarlo:
    """Return the player of a weight file, as :func:`build_player` does.

    Raise ValueError for a file that cannot be read, or whose weights do not fit its header.
    """
    weights, metadata = load_weights(path)
    try:
        return build_player(weights, metadata, depth)
    except (ValueError, TypeError, OverflowError) as error:
        raise ValueError(f"{str(path)!r} cannot be played: {error}") from None


def _build_ntuple(
    weights: NDArray[Any],
    king: float,
    *,
    tuples: Sequence[Sequence[int]],
    by_colour: bool = False,  # the name in weight files
    **options: Any,
) -> NTuple:
    layout = tuple(tuple(map(int, squares)) for squares in tuples)
    return ntuple(layout, weights, king=king, black_perspective=by_colour, **options)


def _sampled_tuples(name: str, stored: Architecture, stored_as: str) -> Architecture:
    """Return the architecture that samples a layout's tuples, from that of its weight files."""
    return replace(
        stored,
        size=lambda tuples, **_: table_size(tuples),
        options={
            "tuples": SampledOption(TUPLE_LAYOUTS[name], layout_to_matrix, layout_from_matrix)
        },
        difference="option",
        fixed_difference=1.0,
        stored_as=stored_as,
    )


def _build_tapered(
    packed: NDArray[Any], king: float, *, step: float, entries: int = 0
) -> TaperedNetwork:
    if not (isinstance(step, float) and 0 < step <= 1):
        raise ValueError(f"the step of packed tables is above 0 and at most 1, not {step!r}")
    if entries != TAPERED_ENTRIES:
        raise ValueError(f"it is for other windows: {entries} entries, not {TAPERED_ENTRIES}")
    return unpack_network(_bytes_of(packed), step)


def _bytes_of(packed: NDArray[Any]) -> bytes:
    if packed.dtype != np.uint8:
        raise ValueError(f"packed weights are uint8, not {packed.dtype}")
    return packed.tobytes()


for _name, _layout in NETWORK_LAYOUTS.items():
    ARCHITECTURES[_name] = Architecture(
        Network,
        functools.partial(decode, _layout),
        _layout.genome_size,
        difference="weight",
        fixed_difference=0.0 if _layout.subsquare_inputs else None,
    )
ARCHITECTURES["weighted-pieces"] = Architecture(
    WeightedPieces,
    lambda weights, king: weighted_pieces(weights[:-1], king),
    33,
    difference="weight",
    fixed_difference=0.0,
)
_NTUPLE = Architecture(NTuple, _build_ntuple, None, None)
_NTUPLE_SUM = replace(_NTUPLE, build=functools.partial(_build_ntuple, output="sum"), fixed=True)
for _name in TUPLE_LAYOUTS:
    ARCHITECTURES[_name] = _sampled_tuples(_name, _NTUPLE, "ntuple")
for _name in ("walks-5", "table-6.1", "singles"):  # the thesis's, without tanh
    ARCHITECTURES[f"{_name}-sum"] = _sampled_tuples(_name, _NTUPLE_SUM, "ntuple-sum")
ARCHITECTURES["piece-squares"] = Architecture(
    PieceSquares, piece_squares, PIECE_SQUARES_SIZE, fixed=True
)
ARCHITECTURES["samuel"] = Architecture(
    Samuel, lambda weights, king: samuel(weights), len(FEATURES), reads_king=False
)
ARCHITECTURES |= {"ntuple": _NTUPLE, "ntuple-sum": _NTUPLE_SUM}
ARCHITECTURES["policy-value"] = Architecture(
    PolicyValue,
    lambda weights, king, **size: PolicyValue(weights, **size),
    weight_count,
    None,
    reads_king=False,
    fixed=True,
)
_share = functools.lru_cache(1)(lambda packed: nnue(unpack_genome(packed)))  # 7 MB
_STRONG = Architecture(Nnue, lambda packed, king: _share(_bytes_of(packed)), None, None)
_STRONG = replace(_STRONG, selective=True, reads_king=False, fixed=True)
ARCHITECTURES["nnue"] = _STRONG
ARCHITECTURES["tapered"] = replace(_STRONG, evaluator=TaperedNetwork, build=_build_tapered)
