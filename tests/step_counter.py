"""Count the steps of a parser: lines of Python, steps of regular expressions, characters copied.

Counts do not depend on the machine, so a test can say that twice the text takes twice the steps.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from re import _compiler, _parser  # type: ignore[attr-defined]
from re import _constants as code  # type: ignore[attr-defined]
from types import FrameType, ModuleType, SimpleNamespace
from typing import Any

import pytest

METHODS = ("match", "fullmatch", "search", "finditer", "sub", "split")
Goal = Callable[[int], int | None]


class StepCounter:
    """Counter of the steps of a call."""

    def __init__(self, *modules: ModuleType) -> None:
        self.steps = 0
        self._modules = modules
        self._files = {module.__file__ for module in modules}

    def count(self, function: Callable[[str], object], text: str) -> int:
        """Return the steps of a call; ValueError is a result like others."""
        self.steps = 0
        with pytest.MonkeyPatch.context() as patch:
            for module in self._modules:
                for name, value in vars(module).items():
                    if isinstance(value, re.Pattern):
                        patch.setattr(module, name, CountedPattern(self, value))
                if hasattr(module, "re"):
                    patch.setattr(module, "re", self._re())
            counted = CountedText(text)
            counted.counter = self
            before, limit = sys.gettrace(), sys.getrecursionlimit()
            sys.setrecursionlimit(100_000)
            sys.settrace(self._trace)
            try:
                function(counted)
            except ValueError:
                pass
            finally:
                sys.settrace(before)
                sys.setrecursionlimit(limit)
        return self.steps

    def _trace(self, frame: FrameType, event: str, argument: Any) -> Any:
        if frame.f_code.co_filename not in self._files:
            return None
        self.steps += event == "line"
        return self._trace

    def _re(self) -> SimpleNamespace:
        def method(name: str) -> Callable[..., Any]:
            return lambda pattern, *arguments: getattr(
                CountedPattern(self, re.compile(pattern)), name
            )(*arguments)

        return SimpleNamespace(**vars(re) | {name: method(name) for name in METHODS})


class CountedText(str):
    """Text whose methods count the characters that they copy or look through."""

    counter: StepCounter

    def __getitem__(self, key: Any) -> str:
        part = super().__getitem__(key)
        return self._counted(part, len(part))


def _counted_method(name: str) -> Callable[..., Any]:
    plain = getattr(str, name)

    def call(self: CountedText, *arguments: Any, **options: Any) -> Any:
        start = arguments[1] if name in ("find", "count", "rfind") and len(arguments) > 1 else 0
        end = arguments[2] if len(arguments) > 2 else len(self)
        result = plain(self, *arguments, **options)
        if name == "find" and result >= 0:
            end = result
        if name == "rfind" and result >= 0:
            start = result
        self.counter.steps += max(end - start, 0)
        return [self._counted(part) for part in result] if isinstance(result, list) else result

    return call


def _counted(self: CountedText, part: str, steps: int = 0) -> CountedText:
    self.counter.steps += steps
    text = CountedText(part)
    text.counter = self.counter
    return text


CountedText._counted = _counted  # type: ignore[attr-defined]
for _name in ("find", "rfind", "count", "split", "strip", "rstrip", "partition", "rpartition"):
    setattr(CountedText, _name, _counted_method(_name))


class CountedPattern:
    """A regular expression that counts the steps of a backtracking matcher."""

    def __init__(self, counter: StepCounter, pattern: re.Pattern[str]) -> None:
        self.pattern, self._real, self._counter = pattern.pattern, pattern, counter
        self._parsed = _parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE)
        self._items = list(self._parsed)
        self._atoms: dict[int, re.Pattern[str]] = {}

    def match(self, text: str, at: int = 0) -> re.Match[str] | None:
        real = self._real.match(text, at)
        assert self._end(text, at) == (real.end() if real else None), (self.pattern, text, at)
        return real

    def fullmatch(self, text: str, at: int = 0) -> re.Match[str] | None:
        self._run(text, at, lambda end: end if end == len(text) else None)
        return self._real.fullmatch(text, at)

    def search(self, text: str, at: int = 0) -> re.Match[str] | None:
        real = self._real.search(text, at)
        for start in range(at, real.start() + 1 if real else len(text) + 1):
            self._end(text, start)
        return real

    def finditer(self, text: str, at: int = 0) -> Iterator[re.Match[str]]:
        while match := self.search(text, at):
            yield match
            at = match.end() + (match.end() == match.start())

    def findall(self, text: str) -> list[str]:
        return [match[0] for match in self.finditer(text)]

    def sub(self, replacement: str, text: str) -> str:
        list(self.finditer(text))
        return self._real.sub(replacement, text)

    def split(self, text: str) -> list[str]:
        list(self.finditer(text))
        return self._real.split(text)

    def _end(self, text: str, at: int) -> int | None:
        return self._run(text, at, lambda end: end)

    def _run(self, text: str, at: int, goal: Goal) -> int | None:
        trace = sys.gettrace()
        sys.settrace(None)
        try:
            return self._match(self._items, 0, str(text), at, goal)
        finally:
            sys.settrace(trace)

    def _match(self, items: list[Any], index: int, text: str, at: int, goal: Goal) -> int | None:
        """Match items from `index` on, then the goal; return its answer, None if nothing fits."""
        self._counter.steps += 1
        if index == len(items):
            return goal(at)
        operation, value = items[index]

        def rest(place: int) -> int | None:
            return self._match(items, index + 1, text, place, goal)

        if operation is code.SUBPATTERN:
            return self._match(list(value[-1]), 0, text, at, rest)
        if operation is code.BRANCH:
            ends = (self._match(list(branch), 0, text, at, rest) for branch in value[1])
            return next((end for end in ends if end is not None), None)
        if operation is code.POSSESSIVE_REPEAT:
            least, most, inner = value
            count, end = 0, at
            while count < most and (end := self._match(list(inner), 0, text, at, lambda it: it)):
                count, at = count + 1, end
            return rest(at) if count >= least else None
        if operation is code.MAX_REPEAT:
            least, most, inner = value
            return self._repeat(list(inner), least, most, text, at, rest)
        found = self._atom(items[index]).match(text, at)
        return rest(found.end()) if found else None

    def _repeat(
        self, items: list[Any], least: int, most: Any, text: str, at: int, rest: Goal
    ) -> int | None:
        def again(place: int) -> int | None:
            if place == at and not least:
                return None
            return self._repeat(items, max(least - 1, 0), most - 1, text, place, rest)

        if most > 0 and (end := self._match(items, 0, text, at, again)) is not None:
            return end
        return rest(at) if not least else None

    def _atom(self, item: Any) -> re.Pattern[str]:
        """Return the pattern of one character, place or look around."""
        if id(item) not in self._atoms:
            only = _parser.SubPattern(self._parsed.state, [item])
            self._atoms[id(item)] = _compiler.compile(only, self._real.flags & ~re.UNICODE)
        return self._atoms[id(item)]
