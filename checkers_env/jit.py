"""Kernels: compilation, the cache on disk, and dispatch on type.

numba's own cache watches one source file a function. Here a kernel is stored under a fingerprint of
its code *and of everything that code refers to*, so that an edited callee is never missed. Each
entry is a file of its own, so that processes cannot mix them up, and keys are plain strings.

An entry is machine code. Therefore it begins with a checksum, and neither a folder nor an entry
that other users may write to is read.
"""

from __future__ import annotations

import contextlib
import dis
import enum
import errno
import functools
import hashlib
import inspect
import io
import itertools
import logging
import os
import pickle
import secrets
import stat
import sys
import time
import types as python_types
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numba
import numpy as np
from llvmlite import ir
from numba.core import bytecode, caching, config, types
from numba.core.compiler_lock import global_compiler_lock
from numba.core.errors import NumbaError
from numba.core.runtime import rtsys
from numba.core.serialize import NumbaPickler
from numba.extending import overload
from platformdirs import user_cache_dir

from checkers_env.files import open_regular, write_atomically
from checkers_env.kernel_compiler import KernelCompiler, PartCompiler, as_parts, is_supported

try:
    import fcntl
except ImportError:  # Windows: processes that start at once each compile
    fcntl = None  # type: ignore[assignment]

LAYOUTS = (ir.Type, ir.Constant)  # what instructions of our own are written with
OPTIONS = {
    "nogil": True,
    "error_model": "numpy",
    "forceinline": True,
    "no_cfunc_wrapper": True,  # none is called from C: each would be compiled for that, too
}

CHECKSUM_BYTES = hashlib.sha256().digest_size
PATIENCE = 120.0  # seconds to wait for another process that compiles the same kernel

# The type of a kernel's argument where only numba knows it: a NamedTuple of any class, or an array.
KernelArg: TypeAlias = Any

logger = logging.getLogger(__name__)

# Two processes that number their functions alike would give different kernels one symbol name,
# and loading both from the cache would silently link the wrong one: start at a random number.
bytecode.FunctionIdentity._unique_ids = itertools.count(secrets.randbits(48))

_generics: list[Any] = []
# Generic functions that kernels have called, with the implementation and the types of the
# arguments. What an implementation calls comes after it.
_calls: dict[tuple[Any, Any, tuple[Any, ...]], None] = {}


def cache_directory() -> Path:
    """Return the folder of compiled kernels: ``$NUMBA_CACHE_DIR``, or the user's cache."""
    return Path(config.CACHE_DIR or user_cache_dir("checkers-laboratory", False), "kernels")


def kernel(function: Callable[..., Any]) -> Any:
    """Compile `function` at its first call, without the GIL, and store the code on disk."""
    if config.DISABLE_JIT:
        return function
    compiled, part = _compiled(function), _compiled(function, no_cpython_wrapper=True)
    # As a part of other kernels it is compiled apart, without what lets Python call it: all of its
    # code would be in there once more.
    compiled.get_call_template, compiled.get_overload = _plain_numbers(part), part.get_overload
    compiled._compiling_counter = part._compiling_counter  # so that one may call itself
    return compiled


def _plain_numbers(part: Any) -> Callable[..., Any]:
    """Return a part's `get_call_template` for which all numbers of one type are alike.

    numba would compile a part once more for each constant that it is called with.
    """

    def get_call_template(arguments: Any, keywords: Any) -> Any:
        plain = {name: _without_value(kind) for name, kind in keywords.items()}
        return part.get_call_template(tuple(map(_without_value, arguments)), plain)

    return get_call_template


def _without_value(kind: Any) -> Any:
    is_number = isinstance(kind, types.IntegerLiteral | types.BooleanLiteral)
    return types.unliteral(kind) if is_number else kind


def _compiled(function: Callable[..., Any], **options: bool) -> Any:
    own = {"pipeline_class": PartCompiler if options else KernelCompiler} if is_supported() else {}
    dispatcher = numba.njit(**own, **OPTIONS, **options)(function)
    cache, compile_signature = _KernelCache(function, options), dispatcher.compile
    dispatcher._cache = cache

    def compile_alone(signature: Any) -> Any:
        if signature in dispatcher.overloads:
            return compile_signature(signature)
        # numba's lock first: threads that take the two in turns could wait for each other.
        with global_compiler_lock, cache.lock(signature, dispatcher.targetctx.codegen()):
            try:
                return compile_signature(signature)
            except NumbaError as error:
                if fault := "" if options else _find_fault(signature, str(error)):
                    raise TypeError(fault) from None
                raise

    dispatcher.compile = compile_alone
    return dispatcher


def _find_fault(signature: Any, error_text: str) -> str:
    """Return what is wrong with the innermost implementation that cannot be compiled, or "".

    numba's text repeats each of its callers, with all their types.

    Parameters
    ----------
    signature
        Types of the arguments of the kernel that cannot be compiled.
    error_text
        Text of its error.
    """
    classes = set(_classes(signature))
    for call in reversed(_calls):
        cls = call[2][0].instance_class
        cause, text = _examine(*call) if cls in classes else ("", "")
        if text and cause in error_text:  # else it is the fault of another kernel
            code = call[1].__code__
            place = f"{code.co_filename}, line {code.co_firstlineno}"
            return f"{call[0].__name__} of {cls.__name__} ({place}) {text}"
    return ""


def _examine(function: Any, implementation: Any, arguments: Any) -> tuple[str, str]:
    """Compile an implementation alone; return the cause in numba's words, and the error.

    Both are empty if there is none. A result of another type is an error of the caller, whose words
    depend on what it does with the result: there is no cause then.
    """
    alone = numba.njit(error_model="numpy")(implementation)
    try:
        alone.compile(arguments)
    except Exception as error:
        text = str(error).removeprefix(f"{_FAILED}\n").partition("\nDuring: ")[0].strip()
        return text.partition("\n")[0], f"cannot be compiled: {text}"
    annotation = inspect.signature(function).return_annotation
    expected = getattr(annotation, "__name__", annotation)
    found = alone.nopython_signatures[0].return_type
    if expected not in _NUMBERS or isinstance(found, types.Number | types.Boolean):
        return "", ""
    return "", f"must return a number ({expected}), not {found}"


_FAILED = "Failed in nopython mode pipeline (step: nopython frontend)"
_NUMBERS = ("float", "int", "bool")  # annotations of generic functions that return a number


def generic(default: Callable[..., Any], *, inline: bool = True) -> Any:
    """Dispatch a function on the type of its first argument, in kernels as in plain Python.

    ``@evaluate.register(Material)`` adds the implementation for the NamedTuple class ``Material``;
    inside a kernel the call becomes a direct one.

    Parameters
    ----------
    default
        The implementation for all other types.
    inline
        Whether to copy the code into each caller; better not, if it is large.

    Raises
    ------
    TypeError
        When an implementation is registered: for a class that is no NamedTuple, for a function
        with another number of arguments, and for a second class of one name, since compiled code
        tells classes apart by their names.
    """
    function: Any = functools.singledispatch(default)
    register_type = function.register
    names: dict[str, type] = {}

    parameters = inspect.signature(default).parameters

    def register(cls: type) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        if not (isinstance(cls, type) and issubclass(cls, tuple) and hasattr(cls, "_fields")):
            raise TypeError(f"{default.__name__}.register takes a NamedTuple class, not {cls!r}")
        known = names.setdefault(cls.__name__, cls)
        if known is not cls:
            again = known.__module__ == cls.__module__
            raise TypeError(
                f"{default.__name__} already has a class named {cls.__name__!r}, from "
                f"{known.__module__}: rename the one from {cls.__module__}"
                f"{', or start Python again if it is the same one, changed' if again else ''}"
            )

        def add(implementation: Callable[..., Any]) -> Callable[..., Any]:
            count = len(inspect.signature(implementation).parameters)
            if count != len(parameters):
                raise TypeError(
                    f"{default.__name__} of {cls.__name__} must take {len(parameters)} arguments "
                    f"({', '.join(parameters)}), not {count}"
                )
            return register_type(cls, implementation)

        return add

    function.register = register

    own = {"pipeline_class": PartCompiler} if is_supported() else {}

    @overload(function, strict=False, jit_options={**OPTIONS, **own, "forceinline": inline})
    def compile_call(*arguments: Any) -> Any:
        cls = getattr(arguments[0], "instance_class", None)
        implementation = cls and function.dispatch(cls)
        if cls and has_implementation(function, cls):
            _calls[function, implementation, arguments] = None
        return implementation

    _generics.append(function)
    return function


def has_implementation(function: Any, cls: type) -> bool:
    """Return whether a class has an implementation of a :func:`generic` function of its own."""
    return function.dispatch(cls) is not function.dispatch(object)


@functools.cache
def _trusted_folder(folder: Path) -> Path | None:
    """Return the folder for compiled kernels, or in its place the user's own cache, or None."""
    others = (folder, Path(user_cache_dir("checkers-laboratory", False), "kernels"))
    trusted = next((other for other in others if _is_trusted_folder(other)), None)
    if trusted != folder:
        logger.warning(
            "other users may write to %s: kernels are kept in %s instead; "
            "run chmod go-w on the folder, or set NUMBA_CACHE_DIR to a folder of your own",
            folder,
            trusted or "memory",
        )
    return trusted


def _is_trusted_folder(folder: Path) -> bool:
    with contextlib.suppress(OSError):
        return _is_own(folder.stat())
    return True  # it does not exist, or cannot be read: nothing is loaded from it


def _is_own(status: os.stat_result) -> bool:
    """Return whether only this user and the administrator may write to a file or folder."""
    if not hasattr(os, "geteuid"):  # Windows keeps a user's folders apart by other means
        return True
    return status.st_uid in (0, os.geteuid()) and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _read_entry(path: Path) -> bytes | None:
    """Return an entry without its checksum, or None if it must not be loaded."""
    with open_regular(path) as file:
        content = file.read()
        is_own = _is_own(os.fstat(file.fileno()))
    checksum, code = content[:CHECKSUM_BYTES], content[CHECKSUM_BYTES:]
    return code if is_own and checksum == _checksum(path, code) else None


def _checksum(path: Path, code: bytes) -> bytes:
    """Hash an entry with its name, so that another kernel's entry does not pass for it."""
    return hashlib.sha256(path.name.encode() + code).digest()


class _KernelCache(caching.FunctionCache):  # type: ignore[misc]
    """Cache with one file an entry, named by everything that decides the machine code."""

    def __init__(self, function: Callable[..., Any], options: Mapping[str, bool]) -> None:
        self._function, self._options = function, options
        self._impl = object.__new__(caching.CompileResultCacheImpl)
        self.enable()

    @property
    def cache_path(self) -> str:
        return str(cache_directory())

    def _path(self, signature: Any, codegen: Any) -> Path | None:
        folder = _trusted_folder(cache_directory())
        if folder is None:
            return None
        parts = [sys.version, numba.__version__, np.__version__, str(codegen.magic_tuple())]
        parts += [f"bounds checked: {config.BOUNDSCHECK}", *self._options]
        parts += [str(signature), fingerprint(self._function)]
        parts += _fingerprints_of_classes(signature)
        key = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]
        return folder / f"{self._function.__name__}-{key}.kernel"

    @contextlib.contextmanager
    def lock(self, signature: Any, codegen: Any) -> Iterator[None]:
        """Hold the lock of a missing entry, so that of several processes one compiles it."""
        path = self._path(signature, codegen)
        file = path and not path.exists() and _lock_file(path.parent)
        if not path or not file:
            yield
            return
        byte = int(path.stem[-15:], 16)  # each entry has a byte of the file as its lock
        if not _lock_byte(file, byte):
            _announce_compilation()
            until = time.monotonic() + PATIENCE
            while not _lock_byte(file, byte) and time.monotonic() < until:
                time.sleep(0.02)
        try:
            yield
        finally:
            fcntl.lockf(file, fcntl.LOCK_UN, 1, byte)

    def load_overload(self, signature: Any, target: Any) -> Any:
        """Load an entry, or return None.

        numba would first import all that it compiles with, which takes a third of a second.
        """
        rtsys.initialize(target)  # what compiled code itself needs
        path = self._path(signature, target.codegen())
        # An entry that cannot be read back is compiled again and written over.
        with contextlib.suppress(Exception):
            if path and (code := _read_entry(path)):
                content = _EntryUnpickler(code, signature).load()
                with as_parts(target.codegen()) if self._options else contextlib.nullcontext():
                    compiled = self._impl.rebuild(target, content)
                if compiled.signature.args == tuple(signature):
                    return compiled
        _announce_compilation()
        return None

    def _save_overload(self, signature: Any, compiled: Any) -> None:
        path = self._path(signature, compiled.codegen)
        if path is None or compiled.library.has_dynamic_globals:
            return
        with contextlib.suppress(OSError):  # no room for the cache: slower next time, that is all
            path.parent.mkdir(0o755, parents=True, exist_ok=True)
            code = _EntryPickler.dumps(self._impl.reduce(compiled), signature)
            write_atomically(path, _checksum(path, code) + code, 0o644)


class _EntryPickler(NumbaPickler):  # type: ignore[misc]
    """Writer of entries that names the NamedTuple classes of a signature by their places in it.

    A script's own classes would be written out, and be other classes when they are read.
    """

    @classmethod
    def dumps(cls, content: Any, signature: Any) -> bytes:
        with io.BytesIO() as file:
            pickler = cls(file, protocol=4)
            pickler.classes = [*_classes(signature)]
            pickler.dump(content)
            return file.getvalue()

    def persistent_id(self, thing: Any) -> int | None:
        is_class = isinstance(thing, type) and thing in self.classes
        return self.classes.index(thing) if is_class else None


class _EntryUnpickler(pickle.Unpickler):
    def __init__(self, code: bytes, signature: Any) -> None:
        super().__init__(io.BytesIO(code))
        self._classes = [*_classes(signature)]

    def persistent_load(self, place: int) -> type:
        return self._classes[place]


@functools.cache
def _lock_file(folder: Path) -> int | None:
    """Open the file of a cache's locks; it stays open, since closing it would end them."""
    if fcntl is None:
        return None
    with contextlib.suppress(OSError):
        folder.mkdir(0o755, parents=True, exist_ok=True)
        return os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    return None


def _lock_byte(file: int, byte: int) -> bool:
    """Return whether this process has the lock now, which ends with the process at the latest."""
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, byte)
    except OSError as error:
        return error.errno not in (errno.EACCES, errno.EAGAIN)  # no locks there: all compile
    return True


@functools.cache
def _announce_compilation() -> None:
    logger.warning("compiling kernels for this machine: up to a minute, at their first use only")


def _fingerprints_of_classes(signature: Any) -> Iterator[str]:
    """Yield what the generics do for each NamedTuple class in a signature."""
    yield from map(fingerprint, _classes(signature))


def _classes(signature: Any) -> Iterator[type]:
    for argument in signature:
        if isinstance(argument, types.BaseNamedTuple):
            yield argument.instance_class
        yield from _classes(getattr(argument, "types", ()))


@functools.cache
def fingerprint(function: Any) -> str:
    """Hash a function's code and, transitively, all that its global names refer to."""
    digest = hashlib.sha256()
    for source in ("jit.py", "kernel_compiler.py", "bits.py"):
        digest.update(Path(__file__).with_name(source).read_bytes())
    for part in _describe(function, set()):
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.hexdigest()


def _describe(thing: Any, seen: set[int]) -> Iterator[bytes]:
    thing = getattr(thing, "py_func", getattr(thing, "_defn", thing))
    if id(thing) in seen:
        return
    if any(thing is function for function in _generics):
        thing = thing.dispatch(object)  # the others come with the classes they are for
    if isinstance(thing, enum.EnumMeta):
        members: Mapping[str, Any] = thing.__members__
        yield repr([(name, member.value) for name, member in members.items()]).encode()
    elif isinstance(thing, enum.Enum):
        yield f"{thing.name} {thing.value!r}".encode()
    elif isinstance(thing, python_types.FunctionType):
        seen.add(id(thing))
        yield thing.__qualname__.encode() + repr(thing.__defaults__).encode()
        yield from _describe_code(thing.__code__, thing.__globals__, seen)
        for cell in thing.__closure__ or ():
            yield from _describe(cell.cell_contents, seen)
    elif isinstance(thing, np.ndarray):
        yield f"{thing.dtype}{thing.shape}".encode() + thing.tobytes()
    elif isinstance(thing, type) and hasattr(thing, "_fields"):
        seen.add(id(thing))
        yield f"{thing.__qualname__}{thing._fields}".encode()
        for function in sorted(_generics, key=lambda function: function.__qualname__):
            implementation = function.dispatch(thing)
            if implementation is not function.dispatch(object):
                yield from _describe(implementation, seen)
    elif isinstance(thing, tuple):
        for item in thing:
            yield from _describe(item, seen)
    elif isinstance(thing, bool | int | float | complex | str | bytes | np.generic | np.dtype):
        yield repr(thing).encode()
    elif isinstance(thing, LAYOUTS):
        yield str(thing).encode()


def _describe_code(code: python_types.CodeType, names: Any, seen: set[int]) -> Iterator[bytes]:
    yield from _describe_instructions(code)
    for constant in code.co_consts:
        if isinstance(constant, python_types.CodeType):
            yield from _describe_code(constant, names, seen)
    named = [names.get(name) for name in code.co_names]
    modules = [thing for thing in named if isinstance(thing, python_types.ModuleType)]
    for module in modules:  # which grows: package.module.function
        inside = [getattr(module, name, None) for name in code.co_names]
        modules += [
            thing
            for thing in inside
            if isinstance(thing, python_types.ModuleType) and thing not in modules
        ]
    for name, thing in zip(code.co_names, named, strict=True):
        yield name.encode()
        yield from _describe(thing, seen)
        for module in modules:
            yield from _describe(getattr(module, name, None), seen)


def _describe_instructions(code: python_types.CodeType) -> Iterator[bytes]:
    """Yield the instructions, and constants by value: numbers of constants shift by a docstring."""
    instructions, argument = bytearray(code.co_code), 0
    for place in range(0, len(instructions), 2):
        opcode = instructions[place]
        argument = argument << 8 | instructions[place + 1]
        if opcode in dis.hasconst:
            instructions[place + 1] = 0
            constant = code.co_consts[argument]
            if not isinstance(constant, python_types.CodeType):
                yield repr(constant).encode()
        if opcode != dis.EXTENDED_ARG:
            argument = 0
    yield bytes(instructions)
