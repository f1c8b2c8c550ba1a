"""Weight files: safetensors with a JSON header, which load without executing code.

The array ``genome`` holds the weights; where most of them are 0 those are left out, and ``present``
has a bit for each.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, get_origin, get_type_hints

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from agents.search.workspace import MAX_DEPTH
from checkers_env.files import write_atomically

WORTH_IT = 0.75  # with a smaller share of entries that are not 0


def without_zeros(array: Any) -> tuple[Any, Any] | None:
    """The entries that are not 0, and a bit for each entry; None for an array that is rather full.

    -0.0 is no zero: what :func:`with_zeros` makes of both is the same to the last bit.
    """
    present = array.view(f"u{array.itemsize}") != 0
    if not present.size or present.mean() >= WORTH_IT:
        return None
    return array[present], np.packbits(present)


def with_zeros(entries: Any, bits: Any, shape: Sequence[int]) -> Any:
    """The array of this shape again. Raises ValueError for parts that do not belong together."""
    size = int(np.prod(shape))
    if bits.dtype != np.uint8 or bits.shape != (-(-size // 8),):
        raise ValueError(f"{len(bits)} bytes are not a bit for each of {size} entries")
    present = np.unpackbits(bits, count=size).astype(bool)
    if entries.shape != (np.count_nonzero(present),):
        raise ValueError(f"there are {len(entries)} entries for {np.count_nonzero(present)} places")
    array = np.zeros(size, entries.dtype)
    array[present] = entries
    return array.reshape(shape)


HEADER = "checkers-laboratory"
SIZE = "weights"  # in the header how many there are, where those that are 0 were left out
FORMAT = 1
KEPT = (np.float64, np.float32, np.uint8)  # other dtypes become float64
LARGEST_WEIGHT = 1e6  # far beyond what is ever found, and within what float32 can add up


@dataclass(frozen=True)
class Provenance:
    """What a weight file says of itself.

    Attributes
    ----------
    architecture
        Name of the network, such as ``blondie24-2001``.
    king
        K, the worth of a king in men.
    regime, seed, generation
        How it was trained.
    depth
        Plies of the searches it was trained with: the default for playing it.
    own_leaves
        How leaves are judged, as :class:`agents.search.player.AlphaBeta` has it.
    playouts
        Options of the Monte Carlo tree search it was trained with; empty for alpha-beta.
    options
        What the evaluator needs beside its weights, by name.
    versions
        Of Python and the libraries that matter, by name.
    made
        Anything else worth keeping: command, processor, CPU seconds.
    """

    architecture: str
    king: float
    regime: str
    seed: int
    generation: int
    depth: int = 4
    own_leaves: bool = True
    playouts: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    made: dict[str, Any] = field(default_factory=dict)
    format: int = FORMAT


def save_weights(path: Path | str, genome: Any, provenance: Provenance) -> None:
    """Write a genome (a vector of float64, float32 or uint8) and its header, all or nothing."""
    genome = np.asarray(genome)
    genome = np.ascontiguousarray(genome, None if genome.dtype in KEPT else np.float64)
    fields, arrays = asdict(provenance), {"genome": genome}
    if (parts := without_zeros(genome)) is not None:
        fields |= {SIZE: genome.size}
        arrays = {"genome": parts[0], "present": parts[1]}
    # One entry of metadata only: safetensors writes several in any order.
    header = {HEADER: json.dumps(fields, sort_keys=True)}
    write_atomically(Path(path), save(arrays, metadata=header))


def load_weights(path: Path | str) -> tuple[Any, Provenance]:
    """Read a genome and its header.

    Raises ValueError that names the file for one that is missing, damaged or not ours.
    """
    try:
        with safe_open(str(path), framework="numpy") as file:
            header = (file.metadata() or {}).get(HEADER)
            if header is None:
                raise ValueError(f"it has no {HEADER!r} header")
            provenance, size = _read_header(header)
            genome = file.get_tensor("genome")
            if genome.dtype not in KEPT:
                raise ValueError(f"its weights are {genome.dtype}, not float64, float32 or uint8")
            if size is not None:
                genome = with_zeros(genome, file.get_tensor("present"), [size])
            return genome, provenance
    except FileNotFoundError:
        raise ValueError(f"there is no weight file {str(path)!r}") from None
    except (SafetensorError, ValueError, TypeError, AttributeError, OSError) as error:
        raise ValueError(f"{str(path)!r} is not a weight file of ours: {error}") from None


def _read_header(text: str) -> tuple[Provenance, int | None]:
    """What the header says, and of how many weights, if not all stand there."""
    try:
        fields = json.loads(text)
        if fields.get("format") != FORMAT:
            raise ValueError(f"its format is {fields.get('format')!r}, not {FORMAT}")
        size = fields.pop(SIZE, None)
        if size is not None and type(size) is not int:
            raise ValueError(f"the number of its weights is {size!r}")
        provenance = Provenance(**fields)
        _check_types(provenance)
        if not 1 <= provenance.king <= 5:
            raise ValueError(f"its king is worth {provenance.king!r}, not 1 to 5 men")
        if not 1 <= provenance.depth <= MAX_DEPTH:
            raise ValueError(f"its depth is {provenance.depth}, not 1 to {MAX_DEPTH} plies")
        return provenance, size
    except (TypeError, AttributeError, RecursionError, json.JSONDecodeError) as error:
        raise ValueError(f"its header cannot be read ({error})") from None


def _check_types(provenance: Provenance) -> None:
    for name, hint in get_type_hints(Provenance).items():
        kind, value = get_origin(hint) or hint, getattr(provenance, name)
        is_number = kind is float and type(value) is int
        if type(value) is not kind and not is_number:
            raise ValueError(f"its {name} is {value!r}, which is no {kind.__name__}")
