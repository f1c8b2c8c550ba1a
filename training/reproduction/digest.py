"""A digest of the code that matters: all that a function can reach, and nothing else.

Two runs with one digest were made by the same code. What the digest covers is the syntax of every
function and class of ours that can be reached from the one asked about, by name, and the constants
among them. Comments, docstrings, annotations and layout are no part of it, nor is the Python that
runs it, nor a module that happens to stand beside; so neither a change of the docs nor one of a
command line makes a finished run worthless.
"""

from __future__ import annotations

import ast
import dis
import functools
import hashlib
import inspect
import types
from collections.abc import Iterator
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from checkers_env import bits, jit

OURS = ("checkers_env", "agents", "training")
READS = ("LOAD_GLOBAL", "LOAD_NAME")  # the instructions that look a global name up
# What no result depends on: games through the environment, signals, how a board looks, files beside
# a run, and weights that no record keeps.
LEFT_OUT = frozenset(
    {
        "agents.match.play_through_environment",
        "agents.agent.PlayerAgent",
        "agents.search.interrupt.undisturbed",
        "checkers_env.board.Board.__repr__",
        "checkers_env.board.Board.__str__",
        "checkers_env.board.Board._repr_svg_",
        "training.regimes.coevolution.Coevolution.files",
        "training.regimes.genetic_algorithm.GeneticAlgorithm.files",
        "training.regimes.self_play.SelfPlay.files",
        "training.regimes.social_learning.SocialLearning.files",
        "training.regimes.evolution_strategies.EvolutionStrategy.files",
        "training.regimes.treestrap.TreeStrap.champion",
    }
)


@functools.cache
def digest(*roots: Any) -> str:
    """The digest of functions or classes and all that they refer to, 16 hexadecimal digits."""
    reached = Reached()
    reached.add(jit.OPTIONS, "jit.OPTIONS")
    for root in roots:
        reached.add(root)
    # What stands there in compiled code for its functions is not reached by name.
    whole = [_text(ast.parse(Path(bits.__file__).read_text("utf-8")).body)]
    return _hash("\n".join(whole + sorted(reached.described)))


def _hash(content: str | bytes) -> str:
    content = content.encode() if isinstance(content, str) else content
    return hashlib.sha256(content).hexdigest()[:16]


class Reached:
    """What was reached so far, each described in a line."""

    def __init__(self) -> None:
        self.described: set[str] = set()
        self._seen: dict[int, Any] = {}
        self._classes: list[type] = []
        self._generics: list[Any] = []

    def add(self, thing: Any, name: str = "") -> None:
        """Describe a thing under the name that it was reached by, and go on from it."""
        thing = _unwrapped(thing)
        if id(thing) in self._seen or _full_name(thing) in LEFT_OUT:
            return
        if isinstance(thing, bool | int | float | str | bytes | np.generic | None):
            self.described.add(f"{name} = {thing!r}")
            return
        self._seen[id(thing)] = thing  # kept, so that no other thing gets its number
        if isinstance(thing, jit.LAYOUTS):
            self.described.add(f"{name} = {thing}")
        elif isinstance(thing, np.ndarray):
            self.described.add(f"{name} = {thing.dtype}{thing.shape} {_hash(thing.tobytes())}")
        elif isinstance(thing, dict):
            for key, item in thing.items():
                self.add(item, f"{name}[{key!r}]")
        elif isinstance(thing, tuple | list):
            self.add(type(thing))
            for place, item in enumerate(thing):
                self.add(item, f"{name}[{place}]")
        elif isinstance(thing, frozenset | set):
            self.described.add(f"{name} = {sorted(map(repr, thing))}")
        elif is_dataclass(thing) and not isinstance(thing, type):
            self.add(type(thing))
            self.add(vars(thing), name)
        elif isinstance(thing, functools.partial):
            self.add((thing.func, thing.args, thing.keywords), name)
        elif _is_generic(thing):
            self._add_generic(thing)
        elif isinstance(thing, type) and _is_ours(thing):
            self._add_class(thing)
        elif inspect.isfunction(thing) and _is_ours(thing):
            self._add_function(thing)

    def _add_class(self, thing: type) -> None:
        self.described.add(f"{_full_name(thing)}: {_syntax(thing)}")
        for base in thing.__bases__:
            self.add(base)
        for name, member in vars(thing).items():
            if name != "_fields" and (not name.startswith("__") or inspect.isfunction(member)):
                self.add(member, f"{_full_name(thing)}.{name}")
        self._classes.append(thing)
        for generic in self._generics:
            self._add_implementation(generic, thing)

    def _add_function(self, thing: Any) -> None:
        syntax = _syntax(thing)
        if syntax is None:  # made by a library, as a dataclass's __init__
            return
        self.described.add(f"{_full_name(thing)}: {syntax}")
        for name, other in _names(thing.__code__, thing.__globals__):
            self.add(other, name)
        for name, cell in zip(thing.__code__.co_freevars, thing.__closure__ or (), strict=True):
            self.add(cell.cell_contents, name)
        for default in (*(thing.__defaults__ or ()), *(thing.__kwdefaults__ or {}).values()):
            self.add(default, _full_name(thing))

    def _add_generic(self, generic: Any) -> None:
        """Its implementations for the classes that are reached, not for all there are."""
        self.add(generic.dispatch(object))
        self._generics.append(generic)
        for cls in self._classes:
            self._add_implementation(generic, cls)

    def _add_implementation(self, generic: Any, cls: type) -> None:
        if cls in generic.registry:
            self.add(generic.registry[cls])


def _unwrapped(thing: Any) -> Any:
    """The function behind what decorators have made of it."""
    for name in ("py_func", "_defn", "fget", "__func__"):
        if inspect.isfunction(inner := getattr(thing, name, None)):
            return inner
    if not _is_generic(thing) and inspect.isfunction(getattr(thing, "__wrapped__", None)):
        return thing.__wrapped__
    return thing


def _is_generic(thing: Any) -> bool:
    return inspect.isfunction(thing) and hasattr(thing, "registry")


def _is_ours(thing: Any) -> bool:
    module = getattr(thing, "__module__", None) or ""
    return module.split(".")[0] in OURS


def _full_name(thing: Any) -> str:
    return f"{getattr(thing, '__module__', '')}.{getattr(thing, '__qualname__', '')}"


def _names(code: types.CodeType, known: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """What the global names in some code stand for, those behind a module's dot included."""
    modules: list[types.ModuleType] = []
    read = (it.argval for it in dis.get_instructions(code) if it.opname in READS)
    found = [(name, known[name]) for name in dict.fromkeys(read) if name in known]
    for name, thing in found:  # which grows
        if not isinstance(thing, types.ModuleType):
            yield name, thing
        elif thing.__name__.split(".")[0] in OURS and thing not in modules:
            modules.append(thing)
            found += [
                (other, vars(thing)[other]) for other in code.co_names if other in vars(thing)
            ]
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant, known)


def _syntax(thing: Any) -> str | None:
    """The digest of a function's or class's syntax; None where it stands in no file."""
    nodes, name = _nodes(inspect.getfile(thing)), thing.__qualname__
    if inspect.isfunction(thing):
        name = f"line {thing.__code__.co_firstlineno} {thing.__name__}"
    if name not in nodes:
        return None
    node = nodes[name]
    if isinstance(node, ast.ClassDef):  # its methods speak for themselves
        parts = [part for part in node.body if not isinstance(part, ast.FunctionDef)]
        return _hash(_text([node.decorator_list, node.bases, node.keywords, parts]))
    return _hash(_text(node))


@functools.cache
def _nodes(path: str) -> dict[str, ast.AST]:
    """The definitions in a file: functions by their first lines, classes by their names."""
    found: dict[str, ast.AST] = {}
    if not path.endswith(".py"):
        return found

    def visit(node: ast.AST, prefix: str) -> None:
        for child in ast.iter_child_nodes(node):
            inside = prefix
            if isinstance(child, ast.ClassDef):
                found[prefix + child.name] = child
                inside = f"{prefix}{child.name}."
            elif isinstance(child, ast.FunctionDef):
                first = min([child.lineno, *(each.lineno for each in child.decorator_list)])
                found[f"line {first} {child.name}"] = child
                inside = f"{prefix}{child.name}.<locals>."
            elif isinstance(child, ast.Lambda):
                found[f"line {child.lineno} <lambda>"] = child
            visit(child, inside)

    visit(ast.parse(Path(path).read_text("utf-8")), "")
    return found


def _text(node: Any) -> str:
    """The syntax as text, the same in every version of Python."""
    if isinstance(node, list):
        return "".join(map(_text, node))
    if not isinstance(node, ast.AST):
        return repr(node)
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return ""  # a docstring
    fields = [
        f"{name}={_text(part)}"
        for name, part in ast.iter_fields(node)
        if part not in (None, []) and name not in ("annotation", "returns", "type_comment", "kind")
    ]
    return f"{type(node).__name__}({' '.join(fields)})"
