"""How kernels are compiled: parts stay bitcode, and each kernel is optimised once, as a whole.

numba optimises every function by itself, translates it to machine code, and links its optimised
code into each caller, where it is optimised again. A kernel that is called from Python has some
fifty such functions inside. Here they are *parts*: they are typed and lowered, and nothing else.
The kernel links all of them, makes them private and is then optimised, so that the parts have no
symbols of their own that another copy could take the place of.

In functions of these packages, a computed index of an array is taken to be 0 or more, which makes a
search some tenth faster.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import llvmlite.binding as llvm
from numba.core import codegen, compiler, lowering, typed_passes, types
from numba.core.compiler_lock import require_global_compiler_lock
from numba.core.compiler_machinery import register_pass
from numba.core.environment import lookup_environment

PACKAGES = ("checkers_env", "agents", "training")

# How the names of some global variables begin: of an environment, of an address, and of the address
# of a function in a circle of calls, which is filled in last.
_ENVIRONMENT, _ADDRESS = "_ZN08NumbaEnv", "numba.dynamic.globals"
_CIRCULAR = codegen.RuntimeLinker.PREFIX


class _Library(codegen.JITCodeLibrary):  # type: ignore[misc]
    """Code with our choice of what is optimised, and when."""

    _final_module: Any

    def _optimize_functions(self, module: Any) -> None:
        """Simplify each function a little, so that copies of it cost less later."""
        module.data_layout = self._codegen._data_layout
        builder, passes = self._codegen._pass_builder(), llvm.create_new_function_pass_manager()
        passes.add_sroa_pass()
        passes.add_instruction_combine_pass()
        passes.add_simplify_cfg_pass()
        for function in _definitions(module):
            passes.run(function, builder)

    def _optimize_final_module(self) -> None:
        """Optimise the code as a whole, without reference counts that cancel each other.

        They would keep loops from becoming vector instructions. numba simplifies all code once
        more before, which takes up to a quarter of the time to compile and gains nothing here.
        """
        passes = llvm.create_new_module_pass_manager()
        passes.add_always_inliner_pass()
        passes.add_sroa_pass()
        passes.add_refprune_pass()
        passes.run(self._final_module, self._codegen._pass_builder())
        passes, builder = self._codegen._module_pass_manager()
        passes.run(self._final_module, builder)


class PartLibrary(_Library):
    """Code of a part: bitcode for the kernels that it is linked into.

    It gets machine code of its own only where something asks for a function's address.
    """

    _shared_module: Any
    _has_code = False

    def finalize(self) -> None:
        """Make the functions discardable; neither link nor optimise anything."""
        self._raise_if_finalized()
        for function in _definitions(self._final_module):
            if function.linkage == llvm.Linkage.external:
                function.linkage = "linkonce_odr"
        for library in self._linking_libraries:
            self._reload_init.update(library._reload_init)
        self._finalized = True

    def _get_module_for_linking(self) -> Any:
        """Return the code with that of all parts in it."""
        self._ensure_finalized()
        if self._shared_module is None:
            self._shared_module = self._final_module.clone()
            _link(self._shared_module, self)
        return self._shared_module

    @property
    def has_dynamic_globals(self) -> bool:
        """Whether the code refers to addresses of this process, and so cannot be stored."""
        return _has_addresses(self._get_module_for_linking())

    def get_pointer_to_function(self, name: str) -> int:
        """Return the address of a function; 0 for one of another library."""
        self._ensure_finalized()
        own = [] if self._has_code else [it.name for it in _definitions(self._final_module)]
        if name in own:
            self._final_module = self._get_module_for_linking().clone()
            for each in own:
                self._final_module.get_function(each).linkage = "external"
            self._optimize_final_module()
            self._final_module.verify()
            self._finalize_final_module()
            self._has_code = True
        address: int = super().get_pointer_to_function(name)
        return address

    def serialize_using_object_code(self) -> tuple[str, str, bytes]:
        """Return the library for the cache: its name, the kind and the bitcode."""
        bitcode = self._get_module_for_linking().as_bitcode()
        self._shared_module = None  # all that the part calls is in it, and large
        return self.name, "part", bitcode

    @classmethod
    def _unserialize(cls, code: Any, state: Any) -> Any:
        name, kind, data = state
        if kind != "part":
            return super()._unserialize(code, state)
        self = cls(code, name)
        self._final_module = self._shared_module = llvm.parse_bitcode(data)
        self._finalized = True
        return self


class KernelLibrary(_Library):
    """Code of a kernel with all its parts, of which Python calls one function."""

    _entry = ""

    @property
    def has_dynamic_globals(self) -> bool:
        """Whether the code refers to addresses of this process, and so cannot be stored."""
        return _has_addresses(self._final_module)

    def get_pointer_to_function(self, name: str) -> int:
        """Return the address of the function that Python calls."""
        self._entry = name
        address: int = super().get_pointer_to_function(name)
        return address

    def finalize(self) -> None:
        """Link the parts, make all functions but one private, optimise, and load the code."""
        require_global_compiler_lock()
        self._raise_if_finalized()
        _link(self._final_module, self)
        for library in self._linking_libraries:
            self._reload_init.update(library._reload_init)
        variables = {it.name for it in self._final_module.global_variables}
        for function in _definitions(self._final_module):
            if _CIRCULAR + function.name in variables:
                function.linkage = "weak_odr"
            elif function.name != self._entry:
                function.linkage = "internal"
        self._optimize_final_module()
        self._final_module.verify()
        self._finalize_final_module()
        for variable in self._final_module.global_variables:
            if variable.name.startswith(_ENVIRONMENT):
                environment = lookup_environment(variable.name)
                if environment is not None:
                    self._codegen.set_env(variable.name, environment)


def _definitions(module: Any) -> Iterator[Any]:
    return (function for function in module.functions if not function.is_declaration)


def _has_addresses(module: Any) -> bool:
    return any(it.name.startswith((_ADDRESS, _CIRCULAR)) for it in module.global_variables)


def _link(module: Any, library: Any) -> None:
    """Link what a library uses into a module, users first: unused functions are left out."""
    order: list[Any] = []
    _visit(library, order, {library})
    for other in reversed(order):
        own = isinstance(other, PartLibrary) and not other._has_code
        code = other._final_module if own else other._get_module_for_linking()
        module.link_in(code, preserve=True)


def _visit(library: Any, order: list[Any], seen: set[Any]) -> None:
    """Append the libraries below a library, each one after all that it uses."""
    for other in library._linking_libraries:
        if other not in seen:
            seen.add(other)
            if isinstance(other, PartLibrary):
                _visit(other, order, seen)
            order.append(other)


@contextmanager
def as_parts(code: Any) -> Iterator[None]:
    """Make parts of all that is compiled, or loaded, in a with block."""

    def set_env(name: str, environment: Any) -> None:
        if code._engine.is_symbol_defined(name):  # a part has none yet: its kernel will
            type(code).set_env(code, name, environment)

    before = code._library_class, code.set_env
    code._library_class, code.set_env = PartLibrary, set_env
    try:
        yield
    finally:
        code._library_class, code.set_env = before


class _Lowering(lowering.Lower):  # type: ignore[misc]
    """Lowering of our own functions, whose computed indices are never negative.

    numba compares each index with 0, and adds the length to one below it.
    """

    def lower_getitem(self, resty: Any, expr: Any, value: Any, index: Any, signature: Any) -> Any:
        """Lower ``value[index]``."""
        signature = self._with_unsigned_index(signature, index)
        return super().lower_getitem(resty, expr, value, index, signature)

    def lower_setitem(self, target: Any, index: Any, value: Any, signature: Any) -> Any:
        """Lower ``target[index] = value``."""
        signature = self._with_unsigned_index(signature, index)
        return super().lower_setitem(target, index, value, signature)

    def _with_unsigned_index(self, signature: Any, index: Any) -> Any:
        array, _, *value = signature.args
        is_own = self.func_ir.func_id.modname.partition(".")[0] in PACKAGES
        if not is_own or not isinstance(array, types.Array):
            return signature
        return signature.replace(args=(array, _unsigned(self.typeof(index.name)), *value))


def _unsigned(index: Any) -> Any:
    """Return the unsigned type for the type of an index, but for a -1 in the source."""
    if isinstance(index, types.BaseTuple):
        return types.BaseTuple.from_types([_unsigned(it) for it in index.types])
    if isinstance(index, types.IntegerLiteral) and index.literal_value < 0:
        return types.intp
    return types.uintp if isinstance(index, types.Integer) else index


@register_pass(mutates_CFG=True, analysis_only=False)
class _NativeLowering(typed_passes.NativeLowering):  # type: ignore[misc]
    _name = "native_lowering_unsigned_indices"

    @property
    def lowering_class(self) -> type:
        return _Lowering


class PartCompiler(compiler.Compiler):  # type: ignore[misc]
    """Compiler of a part, and of the parts in it."""

    def define_pipelines(self) -> list[Any]:
        """Return numba's passes, with a lowering of our own."""
        [passes] = super().define_pipelines()
        ours = {typed_passes.NativeLowering: _NativeLowering}
        passes.passes = [(ours.get(step, step), text) for step, text in passes.passes]
        passes.finalize()
        return [passes]

    def compile_extra(self, function: Callable[..., Any]) -> Any:
        """Compile a function."""
        with as_parts(self.state.targetctx.codegen()):
            return super().compile_extra(function)


class KernelCompiler(PartCompiler):
    """Compiler of a kernel, whose callees are parts."""

    def compile_extra(self, function: Callable[..., Any]) -> Any:
        """Compile a function."""
        self.state.library = KernelLibrary(self.state.targetctx.codegen(), function.__qualname__)
        self.state.library.enable_object_caching()
        was_enabled = gc.isenabled()
        gc.disable()  # it would take a sixth of the time, and find little
        try:
            return super().compile_extra(function)
        finally:
            if was_enabled:
                gc.enable()
