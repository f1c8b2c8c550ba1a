"""The three bit operations that the rules are made of, as single machine instructions."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic, overload

from checkers_env.jit import OPTIONS

_FLAG = ir.Constant(ir.IntType(1), 1)


def popcount(bits: int) -> int:
    """How many bits are set."""
    return int(bits).bit_count()


def lowest(bits: int) -> int:
    """The index of the lowest set bit (of a number that is not 0)."""
    return (int(bits) & -int(bits)).bit_length() - 1


def highest(bits: int) -> int:
    """The index of the highest set bit (of a number that is not 0)."""
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


@overload(popcount, strict=False, jit_options=OPTIONS)
def _compile_popcount(bits: Any) -> Any:
    return lambda bits: _popcount(bits)


@overload(lowest, strict=False, jit_options=OPTIONS)
def _compile_lowest(bits: Any) -> Any:
    return lambda bits: _lowest(bits)


@overload(highest, strict=False, jit_options=OPTIONS)
def _compile_highest(bits: Any) -> Any:
    return lambda bits: 63 - _leading_zeros(bits)
