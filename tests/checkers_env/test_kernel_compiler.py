"""Compilation of kernels as a whole, beside code that numba compiles by itself."""

import gc
import hashlib
import inspect
import textwrap

import numba
import numpy as np
import pytest
from numba.core import codegen, event

from checkers_env import kernel_compiler
from checkers_env.jit import kernel
from checkers_env.kernel_compiler import PRIVATE, KernelLibrary, PartLibrary, is_supported

# SHA-256 of the source of what kernel_compiler uses of numba, in version 0.68.
DIGESTS: dict[str, str] = {
    "_Runtime.initialize": "c7cf11c976ac",
    "FunctionCache.load_overload": "ce996aaf5459",
    "CPUCodeLibrary.__init__": "f592ff51e7ab",
    "CPUCodeLibrary._finalize_dynamic_globals": "b1337ebd1b1d",
    "CPUCodeLibrary._finalize_final_module": "4b3b968a4354",
    "CPUCodeLibrary._get_module_for_linking": "83975b285fa4",
    "CPUCodeLibrary._optimize_final_module": "c0818ec73adf",
    "CPUCodeLibrary._optimize_functions": "23d8979f61bd",
    "CPUCodeLibrary._raise_if_finalized": "2942b731710f",
    "CPUCodeLibrary._unserialize": "1fb6120fd7e3",
    "CPUCodeLibrary.add_linking_library": "eebaedba03af",
    "CPUCodeLibrary.add_llvm_module": "66d04a561f9b",
    "CPUCodeLibrary.enable_object_caching": "97c4f03ec606",
    "CPUCodeLibrary.finalize": "751235266d09",
    "CPUCodeLibrary.serialize_using_object_code": "5666126c99c3",
    "JITCodeLibrary._finalize_specific": "712bd226fd11",
    "JITCodeLibrary.get_pointer_to_function": "ac86a1a4f839",
    "JITCPUCodegen._module_pass_manager": "0dc74b9907da",
    "JITCPUCodegen._pass_builder": "194d60e0b76b",
    "JITCPUCodegen.create_library": "31526751c990",
    "JITCPUCodegen.set_env": "449bd644bf99",
    "JITCPUCodegen.unserialize_library": "93b93bd8f8f7",
    "RuntimeLinker.resolve": "186be63b58f9",
    "RuntimeLinker.scan_unresolved_symbols": "52c1497cacdd",
    "JitEngine.add_module": "5232b4f29d8a",
    "JitEngine.is_symbol_defined": "2a8aaf239fb3",
    "Compiler.define_pipelines": "91b7b70bf866",
    "CompilerBase.__init__": "fb25af34a56a",
    "CompilerBase.compile_extra": "fe701a80a4d1",
    "CompileResult._find_referenced_environments": "c1ebaede9fc5",
    "CompileResult._rebuild": "560e64a93a74",
    "CompileResult._reduce": "b07580b672b8",
    "CPUContext.get_executable": "60a478a733c3",
    "CPUContext.post_lowering": "4104a4bdbf57",
    "Lower.lower_getitem": "6484fff6d2e3",
    "Lower.lower_setitem": "f1a762ecaccc",
    "PassManager.__init__": "a9798d8e9c19",
    "PassManager.add_pass": "5090469c3c4a",
    "PassManager.finalize": "db9d0e090d34",
    "BaseNativeLowering.run_pass": "bb587189337a",
    "NativeLowering.lowering_class": "1596666b3687",
}


def digest(thing) -> str:
    thing = getattr(thing, "fget", None) or inspect.unwrap(thing)
    source = textwrap.dedent(inspect.getsource(thing))
    return hashlib.sha256(source.encode()).hexdigest()[:12]


def test_private_parts_of_numba_are_as_before():
    now = {
        f"{cls.__name__}.{name}": digest(getattr(cls, name))
        for cls, names in PRIVATE.items()
        for name in names
    }
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


@numba.njit
def root_of_zeros(count):
    return root_of(np.zeros(count)[0])


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


def test_functions_of_numba_that_are_parts_can_be_called_too(cold):
    assert root_sum(np.array([1.0, 4.0])) == 3
    assert root_of(9.0) == 3
    assert root_of_zeros(3) == 0
    for function in (root_sum, root_of):
        with pytest.raises(ValueError, match="of less than 0"):
            function(np.array([-1.0]) if function is root_sum else -1.0)


def test_constants_make_no_further_specialisations(cold):
    @kernel
    def shifted(x, by, down):
        return x >> by if down else x << by

    @kernel
    def outer(x):
        return shifted(x, 1, False) + shifted(x, 2, True) + shifted(x, x, x > 3)

    assert outer(5) == 10 + 1 + 0
    assert len(shifted.get_overload.__self__.signatures) == 1


def test_index_below_0_is_an_error_where_bounds_are_checked(cold, monkeypatch):
    def read(values, index):
        return values[index], values[-1]

    def write(values, row, column):
        values[row, column] = values[-2, -3] = 1.0

    numbers, table = np.array([1.0, 2.0, 4.0]), np.zeros((2, 3))
    assert kernel(read)(numbers, 1) == (2.0, 4.0)
    kernel(write)(table, 1, 2)
    assert table.tolist() == [[1, 0, 0], [0, 0, 1]]
    monkeypatch.setattr(numba.config, "BOUNDSCHECK", 1)
    checked_read, checked_write = kernel(read), kernel(write)  # not those in the cache
    assert checked_read(numbers, 1) == (2.0, 4.0)
    for index in (-1, 3, -(2**63)):
        with pytest.raises(IndexError):
            checked_read(numbers, index)
    for row, column in ((-1, 0), (0, -1), (2, 0), (0, 3)):
        with pytest.raises(IndexError):
            checked_write(table, row, column)
    assert table.sum() == 2


def test_garbage_is_collected_after_compilation_only(cold):
    class Watch(event.Listener):
        def on_start(self, event):
            enabled.append(gc.isenabled())

        def on_end(self, event):
            pass

    enabled: list[bool] = []
    with event.install_listener("numba:run_pass", Watch()):
        assert kernel(lambda x: x + 1)(1) == 2
    assert not any(enabled)
    assert gc.isenabled()
    with pytest.raises(numba.TypingError):
        kernel(lambda x: x.attribute)(1)
    assert gc.isenabled()


def test_other_numba_is_left_to_itself(cold, monkeypatch):
    monkeypatch.setitem(kernel_compiler.PRIVATE, KernelLibrary, ("what_it_has_not",))
    assert not is_supported()
    plain = kernel(lambda x: root_sum(x) + 1)
    assert plain(np.array([1.0, 4.0])) == 4
    assert type(library_of(plain)) is codegen.JITCodeLibrary
