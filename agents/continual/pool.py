"""Pool files: the strategies of a social pool. They load without executing code.

A pool file is the weight file of its best strategy (:mod:`agents.weights`), with all strategies in
further arrays. Loaded as a weight file it gives the player of the best strategy.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from safetensors import SafetensorError
from safetensors.numpy import save

from agents.architectures import build_player
from agents.mcts.player import MonteCarlo
from agents.search.player import AlphaBeta
from agents.weights import (
    HEADER,
    WeightsMetadata,
    load_weights,
    metadata_to_fields,
    open_safetensors,
)
from checkers_env.files import read_regular

ARRAYS = {  # number of dimensions and type
    "genomes": (2, np.float64),
    "kings": (1, np.float64),
    "scores": (1, np.float64),
    "generations": (1, np.int64),
    "numbers": (1, np.int64),
}


@dataclass(frozen=True, eq=False)
class StrategyPool:
    """Strategies of a pool, the best first: one row of each array is one strategy.

    Raises
    ------
    ValueError
        If the arrays differ in length, have the wrong type, or are not in descending order.
    """

    metadata: WeightsMetadata  # of the best; the others differ in king value and generation only
    genomes: NDArray[np.float64]  # shape (size, genome_size)
    kings: NDArray[np.float64]  # king value K in men
    scores: NDArray[np.float64]
    generations: NDArray[np.int64]  # of publication
    numbers: NDArray[np.int64]  # in the pool's table
    source_digest: str = field(default="", kw_only=True)  # SHA-256 of the file, if loaded

    def __post_init__(self) -> None:
        for name, array in self.arrays.items():
            dimensions, dtype = ARRAYS[name]
            if array.ndim != dimensions or array.dtype != dtype or len(array) != self.size:
                shape = ", ".join(map(str, array.shape))
                raise ValueError(f"its {name} are {array.dtype}[{shape}] for {self.size} genomes")
        if not self.size:
            raise ValueError("it has no strategy")
        if not (np.all(np.isfinite(self.scores)) and np.all(np.diff(self.scores) <= 0)):
            raise ValueError("its scores are not finite and in descending order")
        if not np.all((self.kings >= 1) & (self.kings <= 5)):
            raise ValueError("its king values are not all from 1 to 5 men")
        best = (float(self.kings[0]), int(self.generations[0]))
        if (self.metadata.king, self.metadata.generation) != best:
            raise ValueError("its header does not match its best strategy")

    @property
    def size(self) -> int:
        """Number of strategies."""
        return len(self.genomes)

    @property
    def arrays(self) -> dict[str, NDArray[Any]]:
        """Arrays by name."""
        return {name: getattr(self, name) for name in ARRAYS}

    def player(self, row: int, depth: int | None = None) -> AlphaBeta | MonteCarlo:
        """Return the player of a row; `depth` is in plies, by default that of its training."""
        metadata = replace(self.metadata, king=float(self.kings[row]))
        return build_player(self.genomes[row], metadata, depth)

    def content(self) -> bytes:
        """Return the bytes of the pool file. Equal pools give equal bytes."""
        header = {HEADER: json.dumps(metadata_to_fields(self.metadata), sort_keys=True)}
        arrays = {"genome": self.genomes[0], **self.arrays}
        arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
        return bytes(save(arrays, metadata=header))

    def digest(self) -> str:
        """Return the SHA-256 of the pool file, by which records name the pool."""
        return self.source_digest or hashlib.sha256(self.content()).hexdigest()


def rank_strategies(metadata: WeightsMetadata, **columns: ArrayLike) -> StrategyPool:
    """Sort strategies in order of publication by score into a pool, the best first.

    Of strategies with equal scores the latest is the best. The king value and the generation of
    `metadata` are replaced; `columns` are the arrays of :class:`StrategyPool`.
    """
    scores = np.asarray(columns["scores"])
    if not len(scores):
        raise ValueError("the pool is empty: it has no best strategy")
    order = np.lexsort((-np.arange(len(scores)), -scores))
    arrays: dict[str, NDArray[Any]] = {
        name: np.asarray(columns[name], dtype)[order] for name, (_, dtype) in ARRAYS.items()
    }
    king, generation = float(arrays["kings"][0]), int(arrays["generations"][0])
    best = replace(metadata, king=king, generation=generation, extra={})
    return StrategyPool(best, *arrays.values())


def load_pool(path: Path | str) -> StrategyPool:
    """Read a pool file. Raise ValueError, with its name, for one that is missing or damaged."""
    genome, metadata = load_weights(path)
    try:
        with open_safetensors(path) as file:
            pool = StrategyPool(metadata, *map(file.get_tensor, ARRAYS))
        if not np.array_equal(genome, pool.genomes[0]):
            raise ValueError("its weights differ from those of its best strategy")
        for row in range(pool.size):
            pool.player(row)
        return replace(pool, source_digest=hashlib.sha256(read_regular(path)).hexdigest())
    except (SafetensorError, ValueError, TypeError, OverflowError, OSError) as error:
        raise ValueError(f"{str(path)!r} is not a valid pool file: {error}") from None
