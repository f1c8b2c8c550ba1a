"""Weight files: safetensors with a JSON header. Loading one executes no code.

The array ``genome`` holds the weights. If most of them are 0, only the others are stored, and the
array ``present`` holds one bit for each weight.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, get_origin, get_type_hints

import numpy as np
from numpy.typing import ArrayLike, NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from agents.search.workspace import MAX_DEPTH
from checkers_env.files import open_regular, write_atomically

HEADER = "checkers-laboratory"
SIZE = "weights"  # header field of a sparse file: the number of weights
FORMAT = 2
DTYPES = (np.float64, np.float32, np.uint8)  # other dtypes become float64
LARGEST_WEIGHT = 1e6  # float32 can still add up weights of this size
SEARCH_OPTIONS = ("tie", "order", "ends_at_jump")
MAX_DENSITY = 0.75  # a fuller array is stored as it is

# Format 1 has other names for some fields and options.
_FORMAT_1_FIELDS = {"made": "extra", "own_leaves": "root_perspective", "playouts": "mcts_options"}
_FORMAT_1_OPTIONS = {"drawing": "tuples"}


@dataclass(frozen=True)
class WeightsMetadata:
    """Header of a weight file."""

    architecture: str  # name in agents.architectures.ARCHITECTURES, such as `blondie24-2001`
    king: float  # K, the worth of a king in men
    regime: str
    seed: int
    generation: int
    depth: int = 4  # plies of the searches in training: the default for play
    root_perspective: bool = True  # see agents.search.player.AlphaBeta
    # Options of the Monte Carlo tree search in training; empty for alpha-beta.
    mcts_options: dict[str, Any] = field(default_factory=dict)
    # Options of the alpha-beta search in training that are not the defaults, as
    # agents.search.player.AlphaBeta.with_search takes them.
    search_options: dict[str, Any] = field(default_factory=dict)
    # Arguments of the evaluator beside its weights, by name.
    options: dict[str, Any] = field(default_factory=dict)
    # Versions of Python and of the libraries, by name.
    versions: dict[str, str] = field(default_factory=dict)
    # Anything else: command, processor, CPU seconds.
    extra: dict[str, Any] = field(default_factory=dict)
    format: int = FORMAT


def metadata_from_fields(fields: Mapping[str, Any]) -> WeightsMetadata:
    """Return the metadata with these JSON fields, of the current format or of format 1.

    Raise ValueError for an unknown format or a field out of range, TypeError for missing or unknown
    fields.
    """
    metadata = WeightsMetadata(**_current_fields(fields))
    for name, hint in get_type_hints(WeightsMetadata).items():
        kind, value = get_origin(hint) or hint, getattr(metadata, name)
        if type(value) is not kind and not (kind is float and type(value) is int):
            raise ValueError(f"its {name} is {value!r}, which is no {kind.__name__}")
    if unknown := [name for name in metadata.search_options if name not in SEARCH_OPTIONS]:
        raise ValueError(f"search options are {', '.join(SEARCH_OPTIONS)}, not {unknown[0]!r}")
    if not 1 <= metadata.king <= 5:
        raise ValueError(f"its king is worth {metadata.king!r}, not 1 to 5 men")
    if not 1 <= metadata.depth <= MAX_DEPTH:
        raise ValueError(f"its depth is {metadata.depth}, not 1 to {MAX_DEPTH} plies")
    return metadata


def metadata_to_fields(metadata: WeightsMetadata) -> dict[str, Any]:
    """Return the JSON fields of a header; options of the search only if there are any."""
    fields = asdict(metadata)
    if not metadata.search_options:
        del fields["search_options"]
    return fields


def _current_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields under their names of today."""
    if fields.get("format") == FORMAT:
        return dict(fields)
    if fields.get("format") != 1:
        raise ValueError(f"its format is {fields.get('format')!r}, not 1 or {FORMAT}")
    renamed = _rename(fields, _FORMAT_1_FIELDS) | {"format": FORMAT}
    if isinstance(renamed.get("options"), dict):
        renamed["options"] = _rename(renamed["options"], _FORMAT_1_OPTIONS)
    return renamed


def _rename(fields: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    return {names.get(name, name): value for name, value in fields.items()}


def save_weights(path: Path | str, genome: ArrayLike, metadata: WeightsMetadata) -> None:
    """Write a weight file atomically; an existing one is replaced.

    The genome is stored as float64, unless it is float32 or uint8.
    """
    write_atomically(Path(path), pack_weights(genome, metadata_to_fields(metadata)))


def pack_weights(genome: ArrayLike, fields: Mapping[str, Any]) -> bytes:
    """Return the bytes of a weight file; equal weights and fields of the header give equal ones."""
    genome = np.asarray(genome)
    genome = np.ascontiguousarray(genome, None if genome.dtype in DTYPES else np.float64)
    fields, arrays = dict(fields), {"genome": genome}
    if (parts := to_sparse(genome)) is not None:
        fields[SIZE] = genome.size
        arrays = {"genome": parts[0], "present": parts[1]}
    # One entry of metadata only: safetensors writes several in any order.
    return bytes(save(arrays, metadata={HEADER: json.dumps(fields, sort_keys=True)}))


def load_weights(path: Path | str) -> tuple[NDArray[Any], WeightsMetadata]:
    """Return the genome (float64, float32 or uint8, shape (weights,)) and header of a weight file.

    Raise ValueError, with the file's name, for a file that is missing, damaged or of another kind.
    """
    try:
        with open_safetensors(path) as file:
            header = (file.metadata() or {}).get(HEADER)
            if header is None:
                raise ValueError(f"it has no {HEADER!r} header")
            metadata, size = _read_header(header)
            genome = file.get_tensor("genome")
            if genome.dtype not in DTYPES:
                raise ValueError(f"its weights are {genome.dtype}, not float64, float32 or uint8")
            if size is not None:
                genome = from_sparse(genome, file.get_tensor("present"), [size])
            return genome, metadata
    except FileNotFoundError:
        raise ValueError(f"there is no weight file {str(path)!r}") from None
    except (SafetensorError, ValueError, TypeError, AttributeError, OSError) as error:
        raise ValueError(f"{str(path)!r} is not a valid weight file: {error}") from None


def check_usable(weights: NDArray[Any]) -> None:
    """Raise ValueError for weights that are no finite numbers of a usable size."""
    if not np.all(np.abs(weights) <= LARGEST_WEIGHT):
        raise ValueError("it has weights that are no numbers, or too large to use")


def open_safetensors(path: Path | str) -> Any:
    """Open a safetensors file. Raise OSError for a pipe, whose opening would wait for ever."""
    open_regular(path).close()
    return safe_open(str(path), framework="numpy")


def _read_header(text: str) -> tuple[WeightsMetadata, int | None]:
    """Return the metadata and, for a sparse file, the number of weights."""
    try:
        fields = json.loads(text)
        size = fields.pop(SIZE, None)
        if size is not None and type(size) is not int:
            raise ValueError(f"the number of its weights is {size!r}")
        return metadata_from_fields(fields), size
    except (TypeError, AttributeError, RecursionError, json.JSONDecodeError) as error:
        raise ValueError(f"its header cannot be read ({error})") from None


def to_sparse(array: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.uint8]] | None:
    """Return the entries of an array that are not 0, and bits as of :func:`numpy.packbits`.

    -0.0 counts as an entry, so that :func:`from_sparse` restores every bit. None: the array is not
    sparse.
    """
    present = array.view(f"u{array.itemsize}") != 0
    if not present.size or present.mean() >= MAX_DENSITY:
        return None
    return array[present], np.packbits(present)


def from_sparse(
    entries: NDArray[Any], bits: NDArray[np.uint8], shape: Sequence[int]
) -> NDArray[Any]:
    """Restore an array from :func:`to_sparse`; raise ValueError for parts that do not fit."""
    size = int(np.prod(shape))
    if bits.dtype != np.uint8 or bits.shape != (-(-size // 8),):
        raise ValueError(f"{len(bits)} bytes are not a bit for each of {size} entries")
    present = np.unpackbits(bits, count=size).astype(bool)
    if entries.shape != (np.count_nonzero(present),):
        raise ValueError(f"there are {len(entries)} entries for {np.count_nonzero(present)} places")
    array = np.zeros(size, entries.dtype)
    array[present] = entries
    return array.reshape(shape)


def inflate(packed: bytes, most: int) -> bytes:
    """Return the content, at most so many bytes; raise ValueError for what is no such content."""
    reader = zlib.decompressobj()
    try:
        content = reader.decompress(packed, most)
    except zlib.error as error:
        raise ValueError(f"the weights cannot be unpacked: {error}") from None
    if not reader.eof:
        raise ValueError("the weights cannot be unpacked: they are cut off, or too many")
    return content
