"""Layers of tanh nodes in explicit vector instructions: the same bits on every machine.

A sum runs in lanes of eight nodes and in a fixed number of chains of inputs, with fused
multiply-adds. The chains are added up in a fixed order, which the optimiser cannot change. So an
evolution takes the same course on any processor.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic
from numpy.typing import DTypeLike, NDArray

from checkers_env.jit import KernelArg, kernel

LANES = 8
WIDTHS = (8, 16, 40)  # numbers of outputs of a dense layer
_FLOAT, _INDEX = ir.FloatType(), ir.IntType(64)
_VECTOR = ir.VectorType(_FLOAT, LANES)
_WIDE = ir.VectorType(ir.DoubleType(), LANES)
_NOTHING = ir.Constant(_VECTOR, ir.Undefined)
_FIRST_LANE = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)

# tanh as an odd polynomial of degree 13 over an even one of degree 6: the minimax coefficients
# of the Eigen library for float32, with an error below 4e-7 on the whole line.
_TANH_LIMIT = 7.90531110763549805
_TANH_ABOVE = (
    4.89352455891786e-03,
    6.37261928875436e-04,
    1.48572235717979e-05,
    5.12229709037114e-08,
    -8.60467152213735e-11,
    2.00018790482477e-13,
    -2.76076847742355e-16,
)
_TANH_BELOW = (
    4.89352518554385e-03,
    2.26843463243900e-03,
    1.18534705686654e-04,
    1.19825839466702e-06,
)

# ln 2 in two parts: multiples of the first by small integers are exact.
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_TERMS = 12  # of the series of exp(r) - 1


def _at(number: int) -> Any:
    return ir.Constant(_INDEX, number)


def _every(number: float) -> Any:
    return _each(_FLOAT, number)


def _each(kind: Any, number: float) -> Any:
    return ir.Constant(ir.VectorType(kind, LANES), [ir.Constant(kind, number)] * LANES)


def _wide(number: float) -> Any:
    return _each(ir.DoubleType(), number)


def _data(context: Any, builder: Any, kind: Any, array: Any, start: Any) -> Any:
    """Return the address of ``array[start]``."""
    return builder.gep(context.make_array(kind)(context, builder, array).data, [start])


def _vector(builder: Any, pointer: Any, index: Any) -> Any:
    """Return the address of the eight floats from ``pointer[index]`` on."""
    return builder.bitcast(builder.gep(pointer, [index]), _VECTOR.as_pointer())


def _multiply_add(builder: Any, a: Any, b: Any, c: Any) -> Any:
    """Return ``a * b + c``, rounded once, of vectors of float32 or float64."""
    kind = ir.FunctionType(a.type, [a.type] * 3)
    bits = 32 if a.type == _VECTOR else 64
    fma = cgutils.get_or_insert_function(builder.module, kind, f"llvm.fma.v8f{bits}")
    return builder.call(fma, [a, b, c])


def _counting(builder: Any, limit: Any, step: int) -> tuple[Any, Any, Any]:
    """Open a loop over ``range(0, limit, step)``; return its index, and functions to use it."""
    before = builder.block
    loop, after = builder.append_basic_block("loop"), builder.append_basic_block("after")
    builder.branch(loop)
    builder.position_at_end(loop)
    index = builder.phi(_INDEX)
    index.add_incoming(_at(0), before)

    def carry(first: Any) -> Any:
        value = builder.phi(_VECTOR)
        value.add_incoming(first, before)
        return value

    def close(carried: list[tuple[Any, Any]]) -> None:
        following = builder.add(index, _at(step))
        index.add_incoming(following, loop)
        for value, new in carried:
            value.add_incoming(new, loop)
        builder.cbranch(builder.icmp_signed("<", following, limit), loop, after)
        builder.position_at_end(after)

    return index, carry, close


def _layer(blocks: int, chains: int) -> Any:
    """Return an intrinsic for ``8 * blocks`` sums over a multiple of `chains` inputs."""

    @intrinsic
    def layer(
        typing: Any, weights: Any, at: Any, values: Any, source: Any, count: Any, target: Any
    ) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            weight_array, first, value_array, source, count, target = arguments
            weight = _data(context, builder, signature.args[0], weight_array, first)
            value = _data(context, builder, signature.args[2], value_array, source)
            output = _data(context, builder, signature.args[2], value_array, target)
            start = [
                builder.load(_vector(builder, weight, _at(LANES * block)), align=4)
                for block in range(blocks)
            ]
            start += [_every(0.0)] * (blocks * (chains - 1))
            index, carry, close = _counting(builder, count, chains)
            sums = [carry(first) for first in start]
            row = builder.mul(builder.add(index, _at(1)), _at(LANES * blocks))
            added: list[Any] = []
            for chain in range(chains):
                single = builder.load(builder.gep(value, [builder.add(index, _at(chain))]))
                single = builder.insert_element(_NOTHING, single, _at(0))
                spread = builder.shuffle_vector(single, _NOTHING, _FIRST_LANE)
                for block in range(blocks):
                    column = builder.add(row, _at(LANES * (chain * blocks + block)))
                    factor = builder.load(_vector(builder, weight, column), align=4)
                    added.append(_multiply_add(builder, spread, factor, sums[len(added)]))
            close(list(zip(sums, added, strict=True)))
            while len(added) > blocks:
                half = len(added) // 2
                added = [builder.fadd(added[i], added[i + half]) for i in range(half)]
            for block, total in enumerate(added):
                builder.store(total, _vector(builder, output, _at(LANES * block)), align=4)
            return context.get_dummy_value()

        index = types.int64
        return types.void(weights, index, values, index, index, index), generate

    return layer


_forty, _sixteen, _eight = _layer(5, 2), _layer(2, 4), _layer(1, 8)


@intrinsic
def tanh_all(typing: Any, values: Any, start: Any, count: Any) -> Any:
    """Replace `count` (a multiple of 8) of `values` (float32) from `start` on by their tanh."""

    def polynomial(builder: Any, x: Any, coefficients: tuple[float, ...]) -> Any:
        """Evaluate by Estrin's scheme: pairs first, for a short chain of dependent steps."""
        terms = [_every(c) for c in coefficients]
        while len(terms) > 1:
            pairs = [
                _multiply_add(builder, x, terms[i + 1], terms[i])
                for i in range(0, len(terms) - 1, 2)
            ]
            terms = pairs + terms[2 * len(pairs) :]
            x = builder.fmul(x, x)
        return terms[0]

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = _data(context, builder, signature.args[0], arguments[0], arguments[1])
        index, _, close = _counting(builder, arguments[2], LANES)
        place = _vector(builder, data, index)
        x = builder.load(place, align=4)
        limit, lower = _every(_TANH_LIMIT), _every(-_TANH_LIMIT)
        x = builder.select(builder.fcmp_ordered("<", x, limit), x, limit)
        x = builder.select(builder.fcmp_ordered(">", x, lower), x, lower)
        square = builder.fmul(x, x)
        above = builder.fmul(x, polynomial(builder, square, _TANH_ABOVE))
        builder.store(builder.fdiv(above, polynomial(builder, square, _TANH_BELOW)), place, align=4)
        close([])
        return context.get_dummy_value()

    return types.void(values, types.int64, types.int64), generate


@intrinsic
def tanh_all_exact(typing: Any, values: Any, start: Any, count: Any) -> Any:
    """Do the same as ``tanh_all``, computed in float64: monotone, and 1 from 9.02 on.

    With e = exp(2|x|) - 1, tanh|x| is e / (e + 2). To get e, 2|x| = n ln 2 + r is split, and the
    Taylor series of exp(r) - 1 is used for the rest r, at most ln(2) / 2 in size. The error before
    rounding is below 1e-13, relative.
    """

    def exponential_less_one(builder: Any, x: Any) -> Any:
        """Return exp(x) - 1 for x from 0 to 40."""
        count = builder.fadd(builder.fmul(x, _wide(1 / math.log(2))), _wide(0.5))
        count = builder.fptosi(count, ir.VectorType(ir.IntType(32), LANES))
        times = builder.sitofp(count, _WIDE)
        rest = _multiply_add(builder, times, _wide(-_LN2_HIGH), x)
        rest = _multiply_add(builder, times, _wide(-_LN2_LOW), rest)
        series = _wide(1 / math.factorial(_TERMS))
        for term in range(_TERMS - 1, 0, -1):
            series = _multiply_add(builder, series, rest, _wide(1 / math.factorial(term)))
        series = builder.fmul(series, rest)
        integers = ir.VectorType(_INDEX, LANES)
        exponent = builder.add(builder.zext(count, integers), ir.Constant(integers, [1023] * LANES))
        power = builder.shl(exponent, ir.Constant(integers, [52] * LANES))
        power = builder.bitcast(power, _WIDE)  # 2 to the power of `count`
        return _multiply_add(builder, power, series, builder.fsub(power, _wide(1.0)))

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = _data(context, builder, signature.args[0], arguments[0], arguments[1])
        index, _, close = _counting(builder, arguments[2], LANES)
        place = _vector(builder, data, index)
        x = builder.fpext(builder.load(place, align=4), _WIDE)
        negative = builder.fcmp_ordered("<", x, _wide(0.0))
        x = builder.select(negative, builder.fneg(x), x)
        x = builder.select(builder.fcmp_ordered("<", x, _wide(20.0)), x, _wide(20.0))
        less = exponential_less_one(builder, builder.fadd(x, x))
        value = builder.fdiv(less, builder.fadd(less, _wide(2.0)))
        value = builder.select(negative, builder.fneg(value), value)
        builder.store(builder.fptrunc(value, _VECTOR), place, align=4)
        close([])
        return context.get_dummy_value()

    return types.void(values, types.int64, types.int64), generate


@kernel
def dense(
    weights: KernelArg,
    at: int,
    values: KernelArg,
    source: int,
    count: int,
    target: int,
    width: int,
) -> int:
    """Write the weighted sums of a layer; return the start of the next layer's weights.

    Parameters
    ----------
    weights
        float32: from `at`, a row of `width` biases, then a row of `width` weights for each input.
    at
        Start of the layer in `weights`.
    values
        float32: inputs and outputs.
    source, count
        Start and number of the inputs in `values`; a multiple of 8, padded with zeros.
    target, width
        Start and number (8, 16 or 40) of the outputs in `values`.
    """
    if width == 40:
        _forty(weights, at, values, source, count, target)
    elif width == 16:
        _sixteen(weights, at, values, source, count, target)
    else:
        _eight(weights, at, values, source, count, target)
    return at + (count + 1) * width


def aligned_zeros(shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """Return zeros of this shape and dtype, aligned to 64 bytes."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    buffer = np.zeros(size + 64, np.uint8)
    start = -buffer.ctypes.data % 64
    return buffer[start : start + size].view(dtype).reshape(shape)
