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
import functools
import hashlib
import inspect
import itertools
import logging
import os
import pickle
import secrets
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from importlib.resources import files
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, NoReturn, TypeAlias

import numba
import numpy as np
from llvmlite import ir
from numba.core import bytecode, caching, config, types
from numba.core.compiler import CompileResult
from numba.core.compiler_lock import global_compiler_lock
from numba.core.errors import NumbaError
from numba.core.runtime import rtsys
from numba.extending import overload
from platformdirs import user_cache_dir

from checkers_env.files import open_regular, write_atomically
from checkers_env.kernel_compiler import KernelCompiler, PartCompiler, as_parts

try:
    import fcntl
except ImportError:  # Windows: processes that start at once each compile
    fcntl = None  # type: ignore[assignment]

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

# Constants that are their text.
PLAIN = (bool, int, float, complex, str, bytes, np.generic, np.dtype, ir.Type, ir.Constant)

_FAILED = "Failed in nopython mode pipeline (step: nopython frontend)"  # numba's first words
_NUMBERS = ("float", "int", "bool")  # annotations of generic functions that return a number

logger = logging.getLogger(__name__)

# Two processes that number their functions alike would give different kernels one symbol name,
# and loading both from the cache would silently link the wrong one: start at a random number.
bytecode.FunctionIdentity._unique_ids = itertools.count(secrets.randbits(48))

_generics: list[Any] = []


def cache_directory() -> Path:
    """Return the folder of compiled kernels: ``$NUMBA_CACHE_DIR``, or the user's cache."""
    return Path(config.CACHE_DIR or user_cache_dir("checkers-laboratory", False), "kernels")


def free_compiler_lock() -> None:
    """Free numba's lock on this thread: a signal leaves it locked as it is taken or given back."""
    while global_compiler_lock.is_locked():
        global_compiler_lock.release()


def kernel(function: Callable[..., Any]) -> Any:
    """Compile `function` at its first call, without the GIL, and store the code on disk."""
    if config.DISABLE_JIT:
        return function
    compiled, part = _compiled(function), _compiled(function, is_part=True)

    def get_call_template(arguments: Any, keywords: Any) -> Any:
        """Take all values of one type as alike: numba would compile a part for each constant."""
        plain = {name: types.unliteral(kind) for name, kind in keywords.items()}
        return part.get_call_template(tuple(map(types.unliteral, arguments)), plain)

    # As a part of other kernels it is compiled apart, without what lets Python call it: all of its
    # code would be in there once more.
    compiled.get_call_template, compiled.get_overload = get_call_template, part.get_overload
    compiled._compiling_counter = part._compiling_counter  # so that one may call itself
    return compiled


def _compiled(function: Callable[..., Any], is_part: bool = False) -> Any:
    options = {**OPTIONS, "pipeline_class": PartCompiler if is_part else KernelCompiler}
    dispatcher = numba.njit(**options, no_cpython_wrapper=is_part)(function)
    cache = dispatcher._cache = _KernelCache(function, is_part)
    compile_signature = dispatcher.compile

    def compile_alone(signature: Any) -> Any:
        if signature in dispatcher.overloads:
            return compile_signature(signature)
        # numba's lock first: threads that take the two in turns could wait for each other.
        with global_compiler_lock, cache.lock(signature, dispatcher.targetctx.codegen()):
            return compile_signature(signature)

    dispatcher.compile = compile_alone
    return dispatcher


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
    expected = inspect.signature(default)

    def register(cls: type) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        if not (isinstance(cls, type) and issubclass(cls, tuple) and hasattr(cls, "_fields")):
            raise TypeError(f"{default.__name__}.register takes a NamedTuple class, not {cls!r}")
        known = names.setdefault(cls.__name__, cls)
        if known is not cls:
            raise TypeError(
                f"{default.__name__} already has a class named {cls.__name__!r}, from "
                f"{known.__module__}: rename the one from {cls.__module__}, or start Python again "
                "if it is the same one, changed"
            )

        def add(implementation: Callable[..., Any]) -> Callable[..., Any]:
            count = len(inspect.signature(implementation).parameters)
            if count != len(expected.parameters):
                raise TypeError(
                    f"{default.__name__} of {cls.__name__} must take {len(expected.parameters)} "
                    f"arguments ({', '.join(expected.parameters)}), not {count}"
                )
            return register_type(cls, implementation)

        return add

    class ImplementationCompiler(PartCompiler):
        """Compiler whose errors numba does not repeat for each of the callers, with all types."""

        def compile_extra(self, implementation: Any) -> Any:
            code = implementation.__code__
            name = f"{default.__name__} of {self.state.args[0].instance_class.__name__}"
            place = f"{name} ({code.co_filename}, line {code.co_firstlineno})"
            try:
                compiled = super().compile_extra(implementation)
            except NumbaError as error:
                text = str(error).removeprefix(_FAILED).partition("\nDuring: ")[0].strip()
                raise TypeError(f"{place} cannot be compiled: {text}") from None
            found, number = compiled.signature.return_type, expected.return_annotation
            number = getattr(number, "__name__", number)
            is_number = isinstance(found, types.Number | types.Boolean)
            if number in _NUMBERS and not is_number and implementation is not default:
                raise TypeError(f"{place} must return a number ({number}), not {found}")
            return compiled

    options = {**OPTIONS, "pipeline_class": ImplementationCompiler, "forceinline": inline}

    @overload(function, strict=False, jit_options=options)
    def compile_call(*arguments: Any) -> Any:
        cls = getattr(arguments[0], "instance_class", None)
        return cls and function.dispatch(cls)

    function.register = register
    _generics.append(function)
    return function


def has_implementation(function: Any, cls: type) -> bool:
    """Return whether a class has an implementation of a :func:`generic` function of its own."""
    return function.dispatch(cls) is not function.dispatch(object)


def refuse_nan(evaluator: Any) -> NoReturn:
    """Raise ValueError that names the class of an evaluator, in a kernel or outside."""
    raise ValueError(_nan_error(type(evaluator)))


@overload(refuse_nan)
def _refuse_nan(evaluator: Any) -> Any:
    message = _nan_error(evaluator.instance_class)

    def refuse(evaluator: Any) -> NoReturn:
        raise ValueError(message)

    return refuse


def _nan_error(cls: type) -> str:
    return f"{cls.__name__} evaluates a position as NaN, not -1 to 1"


@functools.cache
def _trusted_folder(folder: Path) -> Path:
    """Return the folder for compiled kernels; in its place the user's cache, or else no folder."""
    others = (folder, Path(user_cache_dir("checkers-laboratory", False), "kernels"))
    trusted = next(filter(_is_own, others), None)
    if trusted != folder:
        logger.warning(
            "other users may write to %s: kernels are kept in %s instead; "
            "run chmod go-w on the folder, or set NUMBA_CACHE_DIR to a folder of your own",
            folder,
            trusted or "memory",
        )
    return trusted or Path(os.devnull)


def _is_own(place: Path | int) -> bool:
    """Return whether only this user and the administrator may write to a file or folder."""
    # If there is none, or it cannot be read, nothing is loaded from it. Windows has no geteuid: it
    # keeps users' folders apart by other means.
    with contextlib.suppress(OSError, AttributeError):
        status, others = os.stat(place), stat.S_IWGRP | stat.S_IWOTH
        return status.st_uid in (0, os.geteuid()) and not status.st_mode & others
    return True


def _checksum(path: Path, code: bytes) -> bytes:
    """Hash an entry with its name, so that another kernel's entry does not pass for it."""
    return hashlib.sha256(path.name.encode() + code).digest()


class _KernelCache(caching.FunctionCache):  # type: ignore[misc]
    """Cache with one file an entry, named by everything that decides the machine code."""

    def __init__(self, function: Callable[..., Any], is_part: bool) -> None:
        self._function, self._is_part = function, is_part

    cache_path = property(lambda self: str(cache_directory()))

    def _path(self, signature: Any, codegen: Any) -> Path:
        versions = (sys.version, numba.__version__, np.__version__, codegen.magic_tuple())
        kind = (signature, self._is_part, f"bounds checked: {config.BOUNDSCHECK}")
        code = map(fingerprint, (self._function, *_classes(signature)))
        key = hashlib.sha256("\n".join(map(str, (*versions, *kind, *code))).encode()).hexdigest()
        name = f"{self._function.__name__}-{key[:32]}.kernel"
        return _trusted_folder(cache_directory()) / name

    @contextlib.contextmanager
    def lock(self, signature: Any, codegen: Any) -> Iterator[None]:
        """Hold the lock of a missing entry, so that of several processes one compiles it."""
        path = self._path(signature, codegen)
        with contextlib.ExitStack() as at_end:
            if not path.exists() and (file := _lock_file(path.parent)):
                byte = int(path.stem[-15:], 16)  # each entry has a byte of the file as its lock
                until = time.monotonic() + PATIENCE
                while not _lock_byte(file, byte) and time.monotonic() < until:
                    _announce_compilation()
                    time.sleep(0.02)
                at_end.callback(fcntl.lockf, file, fcntl.LOCK_UN, 1, byte)
            yield

    def load_overload(self, signature: Any, target: Any) -> Any:
        """Load an entry, or return None.

        numba would first import all that it compiles with, which takes a third of a second.
        """
        rtsys.initialize(target)  # what compiled code itself needs
        path = self._path(signature, target.codegen())
        # An entry that cannot be read back is compiled again and written over.
        with contextlib.suppress(Exception), open_regular(path) as file:
            checksum, code = file.read(CHECKSUM_BYTES), file.read()
            if _is_own(file.fileno()) and checksum == _checksum(path, code):
                with as_parts(target.codegen()) if self._is_part else contextlib.nullcontext():
                    compiled = CompileResult._rebuild(target, *pickle.loads(code))
                if compiled.signature.args == tuple(signature):
                    return compiled
        _announce_compilation()
        return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        path = self._path(signature, compiled.codegen)
        if compiled.library.has_dynamic_globals:
            return
        # Classes inside functions cannot be pickled; the disk may be full: slower next time.
        with contextlib.suppress(OSError, AttributeError, pickle.PicklingError):
            code = pickle.dumps(compiled._reduce(), protocol=4)
            path.parent.mkdir(0o755, parents=True, exist_ok=True)
            write_atomically(path, _checksum(path, code) + code, 0o644)


@functools.cache
def _lock_file(folder: Path) -> int | None:
    """Open the file of a cache's locks; it stays open, since closing it would end them."""
    with contextlib.suppress(OSError, AttributeError):  # Windows has no fcntl
        folder.mkdir(0o755, parents=True, exist_ok=True)
        file = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        fcntl.lockf(file, fcntl.LOCK_SH, 1)  # an error where the file system has no locks
        return file
    return None


def _lock_byte(file: int, byte: int) -> bool:
    """Return whether this process has the lock now, which ends with the process at the latest."""
    with contextlib.suppress(OSError):
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, byte)
        return True
    return False


@functools.cache
def _announce_compilation() -> None:
    logger.warning("compiling kernels for this machine: up to a minute, at their first use only")


def _classes(signature: Any) -> Iterator[type]:
    """Yield the NamedTuple classes in a signature."""
    for argument in signature:
        if isinstance(argument, types.BaseNamedTuple):
            yield argument.instance_class
        yield from _classes(getattr(argument, "types", ()))


@functools.cache
def fingerprint(thing: Any) -> str:
    """Hash a function or class and, transitively, the values of all names in its code."""
    digest, queue, seen = hashlib.sha256(), [thing], set()
    for source in ("jit.py", "kernel_compiler.py", "bits.py"):
        digest.update(files("checkers_env").joinpath(source).read_bytes())
    for thing in queue:  # which grows
        thing = getattr(thing, "py_func", getattr(thing, "_defn", thing))
        if any(thing is function for function in _generics):
            thing = thing.dispatch(object)  # the others come with the classes they are for
        if id(thing) not in seen:
            text, others = _describe(thing)
            digest.update(f"{len(text)} {text}".encode())
            queue += others
            if isinstance(thing, FunctionType | type):
                seen.add(id(thing))
    return digest.hexdigest()


def _describe(thing: Any) -> tuple[str, Iterable[Any]]:
    """Return a thing as text, and what it refers to."""
    match thing:
        case FunctionType():
            return _describe_function(thing)
        case enum.EnumMeta():
            return "", thing.__members__.values()
        case enum.Enum():
            return f"{thing.name} {thing.value!r}", ()
        case np.ndarray():
            return f"{thing.dtype}{thing.shape}{thing.tobytes().hex()}", ()
        case tuple() | list():
            return f"{type(thing).__name__} {len(thing)}", thing
        case type() if hasattr(thing, "_fields"):
            generics = sorted(_generics, key=lambda function: function.__qualname__)
            own = [it.dispatch(thing) for it in generics if has_implementation(it, thing)]
            return f"{thing} {thing._fields}", own
    return f"{type(thing).__name__} {format(thing) if isinstance(thing, PLAIN) else ''}", ()


def _describe_function(function: FunctionType) -> tuple[str, list[Any]]:
    """Return the instructions of a function, and the values of its defaults and names."""
    text, used = _read(function.__code__)
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    names = function.__globals__ | dict(zip(function.__code__.co_freevars, cells, strict=True))
    found = [names.get(name) for name in used]
    modules = [thing for thing in found if isinstance(thing, ModuleType)]
    for module in modules:  # which grows: package.module.function
        inside = [getattr(module, name, None) for name in used]
        modules += [it for it in inside if isinstance(it, ModuleType) and it not in modules]
        found += inside
    place = f"{function.__module__} {function.__qualname__}"
    return f"{place} {text}", [*(function.__defaults__ or ()), *found]


@functools.cache
def _read(code: CodeType) -> tuple[str, tuple[str, ...]]:
    """Return the instructions of a function, without its docstring, and the names in them."""
    steps, names = [], (*code.co_names, *code.co_freevars)
    for step in dis.get_instructions(code):
        value = step.argval
        if isinstance(value, CodeType):  # a function inside
            value, inner = _read(value)
            names += inner
        steps.append(f"{step.opname} {value!r}")
    return "\n".join(steps), names
