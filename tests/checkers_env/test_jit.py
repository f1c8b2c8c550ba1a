"""The kernel cache and the dispatch, in packages and processes of their own."""

import contextlib
import importlib
import io
import os
import shutil
import subprocess
import sys
import textwrap
from collections import namedtuple
from pathlib import Path
from typing import NamedTuple
from unittest.mock import Mock

import numba
import numpy as np
import pytest
from llvmlite import ir

from agents import simd
from checkers_env import jit
from checkers_env.jit import fingerprint, generic
from checkers_env.movegen import Position
from tests import ROOT
from tests.test_golden import recorded

CALLEE = """
    from checkers_env.jit import kernel

    FACTOR = 3
    TABLE = (1, 2)

    @kernel
    def inner(x):
        "Scale."
        return x * FACTOR + TABLE[1]

    def plain(x):
        return x + 100
"""
CALLER = """
    from checkers_env.jit import kernel
    from own.callee import inner

    @kernel
    def outer(x):
        return inner(x) + 1
"""
SHOW = """
    from own.caller import outer
    value = outer(10)
    stats = outer.stats
    print(value, sum(stats.cache_hits.values()), sum(stats.cache_misses.values()))
"""


class Laboratory:
    """Package ``own`` in a folder, a cache beside it, and code that runs with both."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.package, self.cache = folder / "own", folder / "cache"
        self.package.mkdir()
        self.write(__init__="", callee=CALLEE, caller=CALLER)
        monkeypatch.syspath_prepend(folder)
        monkeypatch.setattr(sys, "dont_write_bytecode", True)
        monkeypatch.setattr(numba.config, "CACHE_DIR", str(self.cache))
        self.monkeypatch = monkeypatch

    def write(self, **modules: str) -> None:
        for name, text in modules.items():
            (self.package / f"{name}.py").write_text(textwrap.dedent(text))

    def edit(self, module: str, old: str, new: str) -> None:
        path = self.package / f"{module}.py"
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))

    def run(self, code: str = SHOW) -> str:
        """Import the package anew and return the output of `code`: quicker than a process."""
        for name in [name for name in sys.modules if name.split(".")[0] == "own"]:
            del sys.modules[name]
        self.monkeypatch.setattr(jit, "_generics", [])  # as in a process of its own
        importlib.invalidate_caches()
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(textwrap.dedent(code), {})
        return printed.getvalue().strip()

    def start(self, code: str = SHOW, **variables: str) -> subprocess.Popen[str]:
        environment = os.environ | {
            "PYTHONPATH": f"{self.package.parent}{os.pathsep}{ROOT}",
            "PYTHONDONTWRITEBYTECODE": "1",
            "NUMBA_CACHE_DIR": str(self.cache),
            **variables,
        }
        command = [sys.executable, "-c", textwrap.dedent(code)]
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)

    def run_process(self, code: str = SHOW, **variables: str) -> str:
        """Return the output of `code` in a new process."""
        process = self.start(code, **variables)
        printed, _ = process.communicate()
        assert process.returncode == 0
        return printed.strip()

    def entries(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in self.cache.rglob("*.kernel")}


@pytest.fixture
def laboratory(tmp_path, monkeypatch):
    return Laboratory(tmp_path, monkeypatch)


def test_cached_kernels_load_without_the_compiler(laboratory):
    laboratory.write(
        own="""
        import numpy as np
        from checkers_env.jit import kernel

        @kernel
        def zeros(n):
            return np.zeros(n)

        @kernel
        def sample(rng, n):
            return rng.integers(0, n)

        @kernel
        def same_hash(text, number):
            return hash(text) == hash("text") and number in {1: 2}

        @kernel
        def refuse(x):
            raise ValueError("not this one")
        """
    )
    code = """
        import sys
        import numpy as np
        from own.own import refuse, same_hash, sample, zeros
        print(zeros(2), sample(np.random.default_rng(0), 1), same_hash("te" + "xt", 1))
        try:
            refuse(1)
        except ValueError as error:
            print(error)
        print("numba.np.linalg" in sys.modules)
    """
    values = "[0. 0.] 0 True\nnot this one\n"
    assert laboratory.run_process(code) == values + "True"
    before = laboratory.entries()
    assert {name.split("-")[0] for name in before} == {"zeros", "sample", "same_hash", "refuse"}
    assert laboratory.run_process(code) == values + "False"
    assert laboratory.entries() == before
    files = {path.name for path in laboratory.cache.rglob("*") if path.is_file()}
    assert files == {*before, "lock"}


CIRCLES = """
    import numpy as np
    from checkers_env.jit import kernel
    from own.callee import inner

    TABLE = np.arange(10**6)

    @kernel
    def factorial(n):
        return n * factorial(n - 1) if n > 1 else 1

    @kernel
    def even(n):
        return True if n == 0 else odd(n - 1)

    @kernel
    def odd(n):
        return False if n == 0 else even(n - 1)

    @kernel
    def of_an_address(x):
        return TABLE[x]

    @kernel
    def outer(n):
        return inner(n) + factorial(n) + even(n)
"""


def test_circles_and_addresses_are_compiled_anew_or_loaded_whole(laboratory):
    """numba refers to a large constant by its address, so its kernel is not stored."""
    laboratory.write(caller=CIRCLES)
    code = """
        from own.caller import *
        print(outer(4), inner(4), factorial(4), even(3), outer(5), of_an_address(10))
        print(sum(of_an_address.stats.cache_misses.values()))
    """
    assert [laboratory.run_process(code) for _ in range(2)] == ["39 14 24 False 137 10\n1"] * 2


def reading(thing, used):
    """Return a module whose kernel reads a constant."""
    return {
        "callee": f"""
        from enum import Enum, IntEnum
        from checkers_env.jit import kernel

        THING = {thing}

        @kernel
        def inner(x):
            return int({used}) + x
        """
    }


def importing(statement, name):
    """Return a caller that finds its callee in a module."""
    return {
        "caller": f"""
        from checkers_env.jit import kernel
        {statement}

        @kernel
        def outer(x):
            return {name}.inner(x) + 1
        """
    }


DISPATCH = """
    from typing import NamedTuple

    from checkers_env.jit import generic, kernel

    class Inner(NamedTuple):
        x: int

    class Outer(NamedTuple):
        inner: Inner
        y: float

    @generic
    def worth(thing, scale):
        return 0

    @worth.register(Inner)
    def worth_of_inner(thing, scale):
        return thing.x * scale + 0

    @worth.register(Outer)
    def worth_of_outer(thing, scale):
        return worth(thing.inner, scale) + thing.y

    @kernel
    def outer(x):
        return worth(x, 2)
"""
SHOW_DISPATCH = """
    from own.caller import Inner, Outer, outer
    value = outer(Outer(Inner(5), 0.5))
    print(value, sum(outer.stats.cache_hits.values()))
"""
IMPORTS = (
    importing("from own import callee", "callee"),
    importing("import own.callee", "own.callee"),
)
FIELDS = {
    "caller": """
    from collections import namedtuple
    from checkers_env.jit import kernel

    Pair = namedtuple("Pair", "left, right")

    @kernel
    def outer(x):
        pair = Pair(x, 1)
        return pair.left - pair.right
    """
}
INSIDE = {"caller": DISPATCH.replace("worth(x, 2)", "worth(Inner(x), 2)")}


@pytest.mark.parametrize(
    ("modules", "module", "old", "new", "before", "after"),
    [
        ({}, "caller", "+ 1", "+ 2", 33, 34),
        ({}, "callee", "x * FACTOR", "x - FACTOR", 33, 10),
        ({}, "callee", "FACTOR = 3", "FACTOR = 4", 33, 43),
        ({}, "callee", "(1, 2)", "(1, 5)", 33, 36),
        ({}, "callee", "TABLE[1]", "TABLE[0]", 33, 32),
        (reading("7", "x * 7 + 12"), "callee", "7 + 12", "71 + 2", 93, 723),
        (reading('b"ab"', "THING[1]"), "callee", "ab", "ac", 109, 110),
        (reading("3j", "THING.imag"), "callee", "3j", "4j", 14, 15),
        (reading('Enum("E", {"A": 3})', "THING.A.value"), "callee", "3", "4", 14, 15),
        (reading('IntEnum("E", {"A": 3})', "THING.A.value"), "callee", "3", "4", 14, 15),
        (reading('IntEnum("E", {"A": 3}).A', "THING.value"), "callee", "3", "4", 14, 15),
        *((it, "callee", "FACTOR = 3", "FACTOR = 4", 33, 43) for it in IMPORTS),
        *((it, "callee", "x * FACTOR", "FACTOR * x + 10", 33, 43) for it in IMPORTS),
        (FIELDS, "caller", "left, right", "right, left", 9, -9),
        (INSIDE, "caller", "scale + 0", "scale + 1", 20, 21),
    ],
)
def test_edit_invalidates_the_entry(laboratory, modules, module, old, new, before, after):
    laboratory.write(**modules)
    assert laboratory.run() == f"{before} 0 1"
    assert laboratory.run() == f"{before} 1 0"
    laboratory.edit(module, old, new)
    assert laboratory.run() == f"{after} 0 1"
    laboratory.edit(module, new, old)
    assert laboratory.run() == f"{before} 1 0"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("x + 100", "x + 200"),
        ('"Scale."', '"Add."'),
        ('"Scale."\n    return', "return"),
        ("def plain", "def other"),
    ],
)
def test_edit_of_unused_code_and_of_a_docstring_keeps_the_entry(laboratory, old, new):
    laboratory.run()
    laboratory.edit("callee", old, new)
    assert laboratory.run() == "33 1 0"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [("scale + 0", "scale + 1", "11.5"), ("+ thing.y", "- thing.y", "9.5")],
)
def test_edited_implementation_of_a_generic_invalidates_the_entry(laboratory, old, new, expected):
    laboratory.write(caller=DISPATCH)
    assert laboratory.run(SHOW_DISPATCH) == "10.5 0"
    assert laboratory.run(SHOW_DISPATCH) == "10.5 1"
    laboratory.edit("caller", old, new)
    assert laboratory.run(SHOW_DISPATCH) == f"{expected} 0"


def test_script_with_classes_of_its_own_hits_the_cache(laboratory):
    script = f"{textwrap.dedent(DISPATCH)}{textwrap.dedent(SHOW_DISPATCH)}".replace(
        "from own.caller import Inner, Outer, outer", ""
    )
    assert [laboratory.run_process(script) for _ in range(2)] == ["10.5 0", "10.5 1"]


def flip_bit(place):
    def damage(path):
        content = bytearray(path.read_bytes())
        content[place] ^= 1
        path.write_bytes(content)

    return damage


DAMAGES = {
    "empty": lambda path: path.write_bytes(b""),
    "nonsense": lambda path: path.write_bytes(b"nonsense"),
    "cut": lambda path: path.write_bytes(path.read_bytes()[:1000]),
    **{f"bit {place}": flip_bit(place) for place in (40, 2000, -1)},
    "of another kernel": lambda path: path.write_bytes(
        next(path.parent.glob("inner*.kernel")).read_bytes()
    ),
    "others may write to it": lambda path: path.chmod(0o666),
}


@pytest.mark.skipif(os.name == "nt", reason="Windows has other permissions")
@pytest.mark.parametrize("name", DAMAGES)
def test_damaged_or_foreign_entry_is_compiled_again(laboratory, name):
    assert laboratory.run() == "33 0 1"
    [path] = laboratory.cache.rglob("outer*.kernel")
    DAMAGES[name](path)
    assert laboratory.run() == "33 0 1"
    assert laboratory.run() == "33 1 0"


@pytest.mark.skipif(os.name == "nt", reason="Windows has other permissions")
@pytest.mark.parametrize("own_mode", [0o755, 0o777])
def test_cache_folder_writable_by_others_is_not_used(
    laboratory, monkeypatch, tmp_path, caplog, own_mode
):
    own = tmp_path / "own cache"
    monkeypatch.setattr(jit, "user_cache_dir", lambda *_: str(own))
    for folder, mode in ((laboratory.cache, 0o777), (own, own_mode)):
        (folder / "kernels").mkdir(parents=True)
        (folder / "kernels").chmod(mode)
    jit._trusted_folder.cache_clear()
    assert [laboratory.run(), laboratory.run()] == [
        "33 0 1",
        "33 1 0" if own_mode == 0o755 else "33 0 1",
    ]
    assert laboratory.entries() == {}
    assert bool(list(own.rglob("*.kernel"))) == (own_mode == 0o755)
    told = [text for text in caplog.messages if "other users" in text]
    place = own / "kernels" if own_mode == 0o755 else "memory"
    assert told == [
        f"other users may write to {laboratory.cache / 'kernels'}: kernels are kept in {place} "
        "instead; run chmod go-w on the folder, or set NUMBA_CACHE_DIR to a folder of your own"
    ]


@pytest.mark.parametrize("broken", ["folder", "disk"])
def test_cache_that_cannot_be_written_costs_only_time(laboratory, monkeypatch, broken):
    if broken == "folder":
        laboratory.cache.write_text("a file in the place of the folder")
    else:
        monkeypatch.setattr(os, "fsync", Mock(side_effect=OSError("no space left on device")))
    assert laboratory.run() == laboratory.run() == "33 0 1"
    assert [path.name for path in laboratory.cache.glob("*/*")] == ["lock"] * (broken == "disk")


@pytest.mark.parametrize("cache", ["cache", os.devnull])
def test_package_in_a_zip_file_plays_and_says_in_one_line_that_it_compiles(tmp_path, cache):
    archive = shutil.make_archive(str(tmp_path / "package"), "zip", ROOT, "checkers_env")
    script = "import checkers_env as c; print(c.__file__, len(c.Board().legal_moves))"
    variables = {"PYTHONPATH": archive, "NUMBA_CACHE_DIR": cache}
    for compiles in (True, cache == os.devnull):
        done = subprocess.run(
            [sys.executable, "-c", script],
            cwd=tmp_path,
            env=os.environ | variables,
            capture_output=True,
            text=True,
        )
        assert done.stdout.split() == [str(Path(archive, "checkers_env", "__init__.py")), "7"]
        assert done.stderr.count("\n") == compiles
        assert ("compiling kernels for this machine" in done.stderr) == compiles


def test_kernels_of_one_name_in_two_modules_do_not_mix(laboratory):
    for name, change in (("one", "+ 1"), ("two", "* 2")):
        module = f"""
            from checkers_env.jit import kernel

            @kernel
            def helper(x):
                return x {change}

            @kernel
            def outer(x):
                return helper(x)
        """
        laboratory.write(**{name: module})
        laboratory.run_process(f"from own.{name} import outer; outer(10)")
    both = "from own import one, two; print(one.outer(10), two.outer(10))"
    assert laboratory.run_process(both) == "11 20"
    assert len(laboratory.entries()) == 4


def test_of_processes_that_start_at_once_one_compiles(laboratory):
    started = [laboratory.start() for _ in range(2)]
    printed = sorted(process.communicate()[0].strip() for process in started)
    assert printed == ["33 0 1", "33 1 0"]


def test_kernel_is_compiled_if_the_process_that_compiles_it_stands_still(laboratory, monkeypatch):
    monkeypatch.setattr(jit, "PATIENCE", 0.1)
    stopped = laboratory.start(f"""
        import os, signal
        from numba.core import event

        class Stop(event.Listener):
            def on_start(self, event):
                print("stops", flush=True)
                os.kill(os.getpid(), signal.SIGSTOP)

            def on_end(self, event):
                pass

        event.register("numba:compile", Stop())
        {textwrap.dedent(SHOW).strip().replace(chr(10), chr(10) + " " * 8)}
    """)
    try:
        assert stopped.stdout.readline() == "stops\n"
        assert laboratory.run() == "33 0 1"
    finally:
        stopped.kill()
        stopped.communicate()


def test_without_compilation_kernels_are_plain_functions(laboratory):
    laboratory.write(caller=DISPATCH)
    show = "from own.caller import *; print(outer(Outer(Inner(5), 0.5)))"
    assert laboratory.run_process(show, NUMBA_DISABLE_JIT="1") == "10.5"
    assert laboratory.entries() == {}


def test_second_class_of_one_name_is_refused():
    @generic
    def worth(thing):
        return 0

    def make(name):
        return NamedTuple(name, [("x", int)])

    first = make("Twin")
    worth.register(first)(lambda thing: 1)
    worth.register(first)(lambda thing: 2)
    worth.register(make("Other"))(lambda thing: 3)
    with pytest.raises(TypeError, match=r"worth already has .* 'Twin', .* or start Python again"):
        worth.register(make("Twin"))
    assert worth(first(0)) == 2


def test_generic_processor_computes_the_same_values(laboratory):
    name = "values of positions"
    code = f"from tests.test_golden import ENTRIES; print(ENTRIES[{name!r}]())"
    usual = os.environ.get("NUMBA_CACHE_DIR", "")  # compiles once
    generic = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": "", "NUMBA_CACHE_DIR": usual}
    assert laboratory.run_process(code, **generic) == recorded()[name]


@pytest.mark.parametrize("name", ["_FLOAT", "_WIDE"])
def test_changed_type_of_custom_instructions_invalidates_the_entry(monkeypatch, name):
    def current():
        fingerprint.cache_clear()
        return fingerprint(simd.dense.py_func)

    before = current()
    with monkeypatch.context() as patch:
        patch.setattr(simd, name, ir.DoubleType())
        assert current() != before
    assert current() == before


def caller_of(implementation):
    """Return a kernel that calls a generic function, and an argument of a class of its own."""
    cls = namedtuple(f"Faulty_{implementation.__name__}", "worth")

    def value(thing, factor) -> float:
        raise NotImplementedError

    chosen = generic(value)
    chosen.register(cls)(implementation)

    @jit.kernel
    def inner(thing, factor):
        return float(np.float32(chosen(thing, factor)))

    @jit.kernel
    def outer(thing, factor):
        return inner(thing, factor)

    return outer, cls(1.0)


def misspelt(thing, factor):
    return thing.wroth * factor


def without_value(thing, factor):
    thing.worth * factor


def pair(thing, factor):
    return thing.worth, factor


def unknown(thing, factor):
    return missing_name(thing.worth)  # noqa: F821


@pytest.mark.parametrize(
    ("implementation", "message"),
    [
        (misspelt, "cannot be compiled: Unknown attribute 'wroth' of type Faulty_misspelt"),
        (unknown, "cannot be compiled: NameError: name 'missing_name' is not defined"),
        (without_value, "must return a number (float), not none"),
        (pair, "must return a number (float), not Tuple(float64, int64)"),
    ],
)
def test_fault_of_an_implementation_is_named_without_its_callers(implementation, message):
    outer, thing = caller_of(implementation)
    for _ in range(2):  # numba keeps what it has found of the first call
        with pytest.raises(TypeError) as error:
            outer(thing, 2)
        line, *others = str(error.value).splitlines()
        place = f"{__file__}, line {implementation.__code__.co_firstlineno}"
        assert line.startswith(f"value of {type(thing).__name__} ({place}) {message}")
        assert len(others) < 8
        assert "outer" not in str(error.value)


@pytest.mark.parametrize(
    ("cls", "implementation", "message"),
    [
        (dict, misspelt, r"value\.register takes a NamedTuple class, not <class 'dict'>"),
        (tuple, misspelt, r"value\.register takes a NamedTuple class, not <class 'tuple'>"),
        (Position, lambda thing: 0.0, r"must take 2 arguments \(thing, factor\), not 1"),
    ],
)
def test_wrong_registration_is_refused(cls, implementation, message):
    def value(thing, factor):
        return 0.0

    with pytest.raises(TypeError, match=message):
        generic(value).register(cls)(implementation)
