"""Pool files: the strategies of a social pool, which load without executing code.

A pool file is the weight file of its best strategy (:mod:`agents.weights`) with all strategies
beside it as further arrays. Loaded as a weight file it is the player that evolution leaves.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import save

from agents.architectures import build_evaluator
from agents.search.player import AlphaBeta
from agents.weights import HEADER, WeightsMetadata, load_weights, open_safetensors
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
    """The strategies of a pool, the best first: a row of each array is one of them.

    Attributes
    ----------
    metadata
        Of the best one; the others differ in K and generation only.
    genomes
        float64[size, genome_size].
    kings
        float64[size]: K.
    scores
        float64[size]: pool scores, none higher than the one before.
    generations
        int64[size]: when each was published.
    numbers
        int64[size]: what each is called in the pool's table.

    Raises ValueError for arrays that make no pool.
    """

    metadata: WeightsMetadata
    genomes: Any
    kings: Any
    scores: Any
    generations: Any
    numbers: Any
    source_digest: str = field(
        default="", kw_only=True
    )  # SHA-256 of the file that it was loaded from

    def __post_init__(self) -> None:
        for name, array in self.arrays.items():
            if (array.ndim, array.dtype) != ARRAYS[name] or len(array) != self.size:
                shape = ", ".join(map(str, array.shape))
                raise ValueError(f"its {name} are {array.dtype}[{shape}] for {self.size} genomes")
        if not self.size:
            raise ValueError("it holds no strategy")
        if not (np.all(np.isfinite(self.scores)) and np.all(np.diff(self.scores) <= 0)):
            raise ValueError("its strategies do not stand in the order of their scores")
        if not np.all((self.kings >= 1) & (self.kings <= 5)):
            raise ValueError("it has a king that is not worth 1 to 5 men")
        best = (float(self.kings[0]), int(self.generations[0]))
        if (self.metadata.king, self.metadata.generation) != best:
            raise ValueError("its header is not that of its best strategy")

    @property
    def size(self) -> int:
        """How many there are."""
        return len(self.genomes)

    @property
    def arrays(self) -> dict[str, Any]:
        """The arrays by their names."""
        return {name: getattr(self, name) for name in ARRAYS}

    def player(self, row: int, depth: int | None = None) -> AlphaBeta:
        """One of them as a player, at its training depth unless another is given.

        Raises ValueError for one that cannot be played.
        """
        made = replace(self.metadata, king=float(self.kings[row]))
        evaluator = build_evaluator(self.genomes[row], made)
        return AlphaBeta(evaluator, depth or made.depth, root_perspective=made.root_perspective)

    def content(self) -> bytes:
        """The pool file. Equal pools make equal files."""
        header = {HEADER: json.dumps(asdict(self.metadata), sort_keys=True)}
        arrays = {"genome": self.genomes[0], **self.arrays}
        arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
        content: bytes = save(arrays, metadata=header)
        return content

    def digest(self) -> str:
        """The SHA-256 of the pool file: what other files know the pool by."""
        return self.source_digest or hashlib.sha256(self.content()).hexdigest()


def rank_strategies(metadata: WeightsMetadata, **columns: Any) -> StrategyPool:
    """The strategies of a pool whose rows stand in the order of publication.

    The one with the highest pool score is the best, and of equal ones the latest.
    """
    scores = np.asarray(columns["scores"])
    if not len(scores):
        raise ValueError("an empty pool has no best strategy")
    order = np.lexsort((-np.arange(len(scores)), -scores))
    arrays = {name: np.asarray(columns[name], ARRAYS[name][1])[order] for name in ARRAYS}
    king, generation = float(arrays["kings"][0]), int(arrays["generations"][0])
    best = replace(metadata, king=king, generation=generation, extra={})
    return StrategyPool(best, *(arrays[name] for name in ARRAYS))


def load_pool(path: Path | str) -> StrategyPool:
    """Read a pool file.

    Raises ValueError that names the file for one that is missing, damaged or no pool.
    """
    genome, metadata = load_weights(path)
    try:
        with open_safetensors(path) as file:
            arrays = {name: file.get_tensor(name) for name in ARRAYS}
        pool = StrategyPool(metadata, *(arrays[name] for name in ARRAYS))
        if not np.array_equal(genome, pool.genomes[0]):
            raise ValueError("its weights are not those of its best strategy")
        for row in range(pool.size):
            pool.player(row)
        return replace(pool, source_digest=hashlib.sha256(read_regular(path)).hexdigest())
    except (SafetensorError, ValueError, TypeError, OverflowError, OSError) as error:
        raise ValueError(f"{str(path)!r} is not a pool of ours: {error}") from None
