"""Compilation of kernels as a whole, beside code that numba compiles by itself."""

import hashlib
import inspect
import textwrap
from types import FunctionType

import numba
import numpy as np
import pytest
from numba.core import caching, codegen, compiler, cpu, lowering, typed_passes
from numba.core.bytecode import FunctionIdentity
from numba.core.compiler_machinery import PassManager
from numba.core.dispatcher import Dispatcher
from numba.core.runtime import rtsys

import agents
from agents.evaluator import evaluate_position
from checkers_env import Board
from checkers_env.jit import kernel
from checkers_env.kernel_compiler import KernelLibrary, PartLibrary

# What is used of numba beyond its documented names.
PRIVATE: dict[type, tuple[str, ...]] = {
    type(rtsys): ("initialize",),
    FunctionIdentity: ("from_function",),
    caching.FunctionCache: ("load_overload", "save_overload"),
    Dispatcher: ("__init__", "compile", "get_call_template", "get_overload"),
    codegen.CPUCodeLibrary: (
        "__init__",
        "_finalize_dynamic_globals",
        "_finalize_final_module",
        "_get_module_for_linking",
        "_optimize_final_module",
        "_optimize_functions",
        "_raise_if_finalized",
        "_unserialize",
        "add_linking_library",
        "add_llvm_module",
        "enable_object_caching",
        "finalize",
        "serialize_using_object_code",
    ),
    codegen.JITCodeLibrary: ("_finalize_specific", "get_pointer_to_function"),
    codegen.JITCPUCodegen: (
        "_module_pass_manager",
        "_pass_builder",
        "create_library",
        "set_env",
        "unserialize_library",
    ),
    codegen.RuntimeLinker: ("resolve", "scan_unresolved_symbols"),
    codegen.JitEngine: ("add_module", "is_symbol_defined"),
    compiler.Compiler: ("define_pipelines",),
    compiler.CompilerBase: ("__init__", "compile_extra"),
    compiler.CompileResult: ("_find_referenced_environments", "_rebuild", "_reduce"),
    cpu.CPUContext: ("get_executable", "post_lowering"),
    lowering.Lower: ("lower_getitem", "lower_setitem"),
    PassManager: ("__init__", "add_pass", "finalize"),
    typed_passes.BaseNativeLowering: ("run_pass",),
    typed_passes.NativeLowering: ("lowering_class",),
}

# SHA-256 of the source of what kernel_compiler uses of each class of numba, in version 0.68.
DIGESTS: dict[str, str] = {
    "_Runtime": "c7cf11c976ac",
    "FunctionIdentity": "4f6cfaa8f871",
    "FunctionCache": "020180a44428",
    "Dispatcher": "0dc5d847dd52",
    "CPUCodeLibrary": "8785ae83b086",
    "JITCodeLibrary": "eb65a960dd8c",
    "JITCPUCodegen": "a08e7df20d43",
    "RuntimeLinker": "05874f077f1b",
    "JitEngine": "b436b2647c63",
    "Compiler": "91b7b70bf866",
    "CompilerBase": "7a41e4b21c57",
    "CompileResult": "a835f4d8a225",
    "CPUContext": "ed42563d86a7",
    "Lower": "26a2bf3c3105",
    "PassManager": "8d7d9fb07b79",
    "BaseNativeLowering": "bb587189337a",
    "NativeLowering": "1596666b3687",
}


def digest(cls, names):
    """Hash the source of some methods."""
    things = [getattr(cls, name) for name in names]
    parts = [getattr(thing, "fget", None) or inspect.unwrap(thing) for thing in things]
    sources = "".join(textwrap.dedent(inspect.getsource(part)) for part in parts)
    return hashlib.sha256(sources.encode()).hexdigest()[:12]


def test_private_parts_of_numba_are_as_before():
    now = {cls.__name__: digest(cls, names) for cls, names in PRIVATE.items()}
    changed = sorted(name for name in now if now[name] != DIGESTS.get(name))
    assert not changed, (
        f"numba {numba.__version__} has another {', '.join(changed)}: compare it with "
        "checkers_env/kernel_compiler.py, then record the digests in this file"
    )
    assert now == DIGESTS


def library_of(dispatcher):
    [compiled] = dispatcher.overloads.values()
    return compiled.library


@kernel
def root_sum(values):
    total = np.zeros(1)
    for i in range(len(values)):
        total[0] += root_of(values[i])
    return total[0]


@numba.njit
def root_of(value):
    """Return a square root: a function of numba's own kind, and a part of the kernel above."""
    if value < 0:
        raise ValueError("a square root of less than 0")
    return np.sqrt(value)


@pytest.fixture
def cold(monkeypatch, tmp_path):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))


def test_kernel_has_one_function_and_its_parts_no_machine_code(cold):
    twice = kernel(lambda x: root_sum(x) + root_sum(x))
    assert twice(np.array([1.0, 4.0])) == 6
    library = library_of(twice)
    assert isinstance(library, KernelLibrary)
    defined = [it for it in library._final_module.functions if not it.is_declaration]
    assert [it.name for it in defined if it.linkage == codegen.ll.Linkage.external] == [
        library._entry
    ]
    parts = [it for it in library._linking_libraries if isinstance(it, PartLibrary)]
    assert parts
    assert not any(part._has_code for part in parts)


def read(values, index):
    return values[index], values[-1]


def write(values, row, column):
    values[row, column] = values[-2, -3] = 1.0


def own(function):
    """Return a copy of a function that counts as one of the rules' own."""
    copy = FunctionType(function.__code__, globals(), function.__name__)
    copy.__module__ = "checkers_env.movegen"
    return copy


def test_index_below_0_is_an_error_where_bounds_are_checked(cold, monkeypatch):
    numbers, table = np.array([1.0, 2.0, 4.0]), np.zeros((2, 3))
    assert kernel(own(read))(numbers, 1) == (2.0, 4.0)
    kernel(own(write))(table, 1, 2)
    assert table.tolist() == [[1, 0, 0], [0, 0, 1]]
    monkeypatch.setattr(numba.config, "BOUNDSCHECK", 1)
    checked_read, checked_write = kernel(own(read)), kernel(own(write))  # not those in the cache
    assert checked_read(numbers, 1) == (2.0, 4.0)
    for index in (-1, 3, -(2**63)):
        with pytest.raises(IndexError):
            checked_read(numbers, index)
    for row, column in ((-1, 0), (0, -1), (2, 0), (0, 3)):
        with pytest.raises(IndexError):
            checked_write(table, row, column)
    assert table.sum() == 2


EVALUATOR = """
    from typing import NamedTuple

    import numpy as np

    import agents
    from agents.evaluator import evaluate
    from agents.search.player import AlphaBeta


    class Last(NamedTuple):
        values: np.ndarray


    @evaluate.register(Last)
    def evaluate_last(last, position, view, state, scratch):
        return last.values[-1 - position.turn * 0]


    def player():
        return agents.PlayerAgent("last", AlphaBeta(Last(np.array([0.1, 0.25])), depth=1))
"""


def test_index_below_0_counts_from_the_end_in_a_users_evaluator(cold, tmp_path):
    path = tmp_path / "last.py"
    path.write_text(textwrap.dedent(EVALUATOR))
    last = agents.make(f"{path}:player").player.evaluator
    assert evaluate_position(last, Board().position, 0) == 0.25
    numbers, table = np.array([1.0, 2.0, 4.0]), np.zeros((2, 3))
    assert kernel(read)(numbers, -3) == (1.0, 4.0)
    kernel(write)(table, -1, -1)
    assert table.tolist() == [[1, 0, 0], [0, 0, 1]]
