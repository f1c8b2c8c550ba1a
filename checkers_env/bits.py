"""Bit operations and copies for kernels, as single machine instructions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, overload

from checkers_env.jit import OPTIONS, kernel

_FLAG = ir.Constant(ir.IntType(1), 1)


def _compile_as(function: Callable[..., Any], instruction: Callable[..., Any]) -> None:
    """Let kernels that call a function execute an instruction."""
    overload(function, strict=False, jit_options=OPTIONS)(lambda *_: instruction)


def popcount(bits: int) -> int:
    """Count the set bits."""
    return int(bits).bit_count()


def lsb(bits: int) -> int:
    """Return the index of the lowest set bit of a number above 0."""
    return (int(bits) & -int(bits)).bit_length() - 1


def msb(bits: int) -> int:
    """Return the index of the highest set bit of a number above 0."""
    return int(bits).bit_length() - 1


@intrinsic
def _popcount(typing: Any, bits: Any) -> Any:
    return types.int64(bits), lambda context, builder, sig, args: builder.ctpop(args[0])


@intrinsic
def _lowest(typing: Any, bits: Any) -> Any:
    return types.int64(bits), lambda context, builder, sig, args: builder.cttz(args[0], _FLAG)


@intrinsic
def _leading_zeros(typing: Any, bits: Any) -> Any:
    return types.int64(bits), lambda context, builder, sig, args: builder.ctlz(args[0], _FLAG)


_compile_as(popcount, lambda bits: _popcount(bits))
_compile_as(lsb, lambda bits: _lowest(bits))
_compile_as(msb, lambda bits: 63 - _leading_zeros(bits))


def borrowed(thing: Any) -> Any:
    """Return the same arrays without counting references to them.

    Views that a search takes would otherwise cost more time in reference counts than the search.
    The caller keeps the arrays alive.
    """
    return thing


@intrinsic
def _borrowed(typing: Any, thing: Any) -> Any:
    def strip(context: Any, builder: Any, kind: Any, value: Any) -> Any:
        if isinstance(kind, types.Array):
            array = context.make_array(kind)(context, builder, value)
            array.meminfo = cgutils.get_null_value(array.meminfo.type)
            array.parent = cgutils.get_null_value(array.parent.type)
            return array._getvalue()
        for index, part in enumerate(getattr(kind, "types", ())):
            inner = strip(context, builder, part, builder.extract_value(value, index))
            value = builder.insert_value(value, inner, index)
        return value

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return strip(context, builder, signature.args[0], arguments[0])

    return thing(thing), generate


_compile_as(borrowed, lambda thing: _borrowed(thing))


def prefetch(array: Any, index: int) -> None:
    """Begin to fetch ``array[index]`` into the cache; an index beyond the end does no harm."""


@intrinsic
def _prefetch(typing: Any, array: Any, index: Any) -> Any:
    byte, word = ir.IntType(8).as_pointer(), ir.IntType(32)
    read, keep, data = (ir.Constant(word, number) for number in (0, 3, 1))

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        it = context.make_array(signature.args[0])(context, builder, arguments[0])
        offset = builder.mul(arguments[1], cgutils.unpack_tuple(builder, it.strides)[0])
        place = builder.gep(builder.bitcast(it.data, byte), [offset])
        kind = ir.FunctionType(ir.VoidType(), [byte, word, word, word])
        fetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        builder.call(fetch, [place, read, keep, data])
        return context.get_dummy_value()

    return types.void(array, types.int64), generate


_compile_as(prefetch, lambda array, index: _prefetch(array, index))


@kernel
def copy_into(source: Any, target: Any) -> None:
    """Fill `target`, a vector, from the front of `source`.

    An assignment to a slice does the same, but its error message takes seconds to compile.
    """
    for i in range(len(target)):
        target[i] = source[i]
