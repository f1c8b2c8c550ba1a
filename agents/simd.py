"""Layers of tanh nodes in explicit vector instructions: the same bits on every machine.

A sum runs in lanes of eight nodes and in a fixed number of chains of inputs, with fused
multiply-adds. The chains are added up in a fixed order, which the optimiser cannot change. So an
evolution takes the same course on any processor.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic
from numpy.typing import DTypeLike, NDArray

from checkers_env.jit import KernelArg, kernel

LANES = 8
BLOCK = 64  # pairs of products, of which a bit each tells whether they are 0
WIDTHS = (8, 16, 40)  # numbers of outputs of a dense layer
_FLOAT, _INDEX, _BITS, _SHORT = ir.FloatType(), ir.IntType(64), ir.IntType(32), ir.IntType(16)
_WIDE = ir.VectorType(ir.DoubleType(), LANES)

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


def _vector(lanes: int = LANES) -> Any:
    return ir.VectorType(_FLOAT, lanes)


def _nothing(lanes: int = LANES) -> Any:
    return ir.Constant(_vector(lanes), ir.Undefined)


def _every(number: float, kind: Any) -> Any:
    """Return a vector of some type with `number` in each lane."""
    return ir.Constant(kind, [ir.Constant(kind.element, number)] * kind.count)


def _wide(number: float) -> Any:
    return _every(number, _WIDE)


def _data(context: Any, builder: Any, kind: Any, array: Any, start: Any) -> Any:
    """Return the address of ``array[start]``."""
    return builder.gep(context.make_array(kind)(context, builder, array).data, [start])


def _place(builder: Any, pointer: Any, index: Any, lanes: int) -> Any:
    """Return the address of the vector from ``pointer[index]`` on."""
    kind = ir.VectorType(pointer.type.pointee, lanes)
    return builder.bitcast(builder.gep(pointer, [index]), kind.as_pointer())


def _load(builder: Any, pointer: Any, index: Any, lanes: int = LANES) -> Any:
    return builder.load(_place(builder, pointer, index, lanes), align=4)


def _lanes(builder: Any, first: Any, second: Any, lanes: Sequence[int]) -> Any:
    """Return a vector of some lanes of two vectors, which are numbered through."""
    return builder.shuffle_vector(
        first, second, ir.Constant(ir.VectorType(_BITS, len(lanes)), [*lanes])
    )


def _paired(builder: Any, blocks: list[Any]) -> list[Any]:
    """Return vectors of eight lanes as vectors of sixteen, but for the last of an odd number."""
    pairs = zip(blocks[::2], blocks[1::2], strict=False)
    both = [_lanes(builder, low, high, range(2 * LANES)) for low, high in pairs]
    return both + blocks[2 * len(both) :]


def _halves(builder: Any, vectors: list[Any]) -> list[Any]:
    """Return the vectors of eight lanes that vectors of eight or sixteen consist of."""
    return [
        _lanes(builder, vector, vector, range(start, start + LANES))
        for vector in vectors
        for start in range(0, vector.type.count, LANES)
    ]


def _multiply_add(builder: Any, a: Any, b: Any, c: Any) -> Any:
    """Return ``a * b + c``, rounded once, of vectors of float32 or float64."""
    kind = ir.FunctionType(a.type, [a.type] * 3)
    bits = 32 if a.type.element == _FLOAT else 64
    name = f"llvm.fma.v{a.type.count}f{bits}"
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), [a, b, c])


def _counting(builder: Any, limit: Any, step: int) -> tuple[Any, Any, Any]:
    """Open a loop over ``range(0, limit, step)``; return its index, and functions to use it."""
    before = builder.block
    loop, after = builder.append_basic_block("loop"), builder.append_basic_block("after")
    builder.branch(loop)
    builder.position_at_end(loop)
    index = builder.phi(_INDEX)
    index.add_incoming(_at(0), before)

    def carry(first: Any) -> Any:
        value = builder.phi(first.type)
        value.add_incoming(first, before)
        return value

    def close(carried: list[tuple[Any, Any]]) -> None:
        following, last = builder.add(index, _at(step)), builder.block
        index.add_incoming(following, last)
        for value, new in carried:
            value.add_incoming(new, last)
        builder.cbranch(builder.icmp_signed("<", following, limit), loop, after)
        builder.position_at_end(after)

    return index, carry, close


def _each_bit(
    builder: Any, numbers: Sequence[Any], times: int, write: Callable[[int, int, Any], None]
) -> None:
    """Write a loop over the bits of some numbers, `times` of each at once."""
    # `write` gets the index of the number, that of the bit among those at once, and its place: 64
    # after the last bit.
    left = [cgutils.alloca_once_value(builder, number) for number in numbers]
    check, body, end = map(builder.append_basic_block, ("check", "body", "end"))
    builder.branch(check)
    builder.position_at_end(check)
    rests = [*map(builder.load, left)]
    some = functools.reduce(builder.or_, rests)
    builder.cbranch(builder.icmp_signed("!=", some, _at(0)), body, end)
    builder.position_at_end(body)
    for index, rest in enumerate(rests):
        for time in range(times):
            write(index, time, builder.cttz(rest, ir.Constant(ir.IntType(1), 0)))
            rest = builder.and_(rest, builder.sub(rest, _at(1)))
        builder.store(rest, left[index])
    builder.branch(check)
    builder.position_at_end(end)


def _differ(builder: Any, one: Any, other: Any) -> Any:
    """Return a bit for each lane in which two vectors differ."""
    bits = builder.icmp_signed("!=", one, other)
    return builder.zext(builder.bitcast(bits, ir.IntType(one.type.count)), _INDEX)


def _in_vectors(builder: Any, count: Any, write: Callable[[Any, int], None]) -> None:
    """Write code that handles a multiple of 8 numbers, sixteen at a time and then eight.

    `write` is called with the first number and how many there are.
    """
    both = builder.and_(count, _at(-2 * LANES))
    with builder.if_then(builder.icmp_signed(">", both, _at(0))):
        index, _, close = _counting(builder, both, 2 * LANES)
        write(index, 2 * LANES)
        close([])
    with builder.if_then(builder.icmp_signed("<", both, count)):
        write(both, LANES)


def _polynomial(builder: Any, x: Any, coefficients: tuple[float, ...]) -> Any:
    """Evaluate by Estrin's scheme: pairs first, for a short chain of dependent steps."""
    terms = [_every(c, x.type) for c in coefficients]
    while len(terms) > 1:
        pairs = [
            _multiply_add(builder, x, terms[i + 1], terms[i]) for i in range(0, len(terms) - 1, 2)
        ]
        terms = pairs + terms[2 * len(pairs) :]
        x = builder.fmul(x, x)
    return terms[0]


def _tanh(builder: Any, x: Any) -> Any:
    limit, lower = _every(_TANH_LIMIT, x.type), _every(-_TANH_LIMIT, x.type)
    x = builder.select(builder.fcmp_ordered("<", x, limit), x, limit)
    x = builder.select(builder.fcmp_ordered(">", x, lower), x, lower)
    square = builder.fmul(x, x)
    above = builder.fmul(x, _polynomial(builder, square, _TANH_ABOVE))
    return builder.fdiv(above, _polynomial(builder, square, _TANH_BELOW))


@intrinsic
def _tanh_of(typing: Any, x: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        value = _tanh(builder, builder.insert_element(_nothing(), arguments[0], _at(0)))
        return builder.extract_element(value, _at(0))

    return types.float32(types.float32), generate


@intrinsic
def _exchange(typing: Any, old: Any, plus: Any, minus: Any, count: Any, new: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        first, second, third, target = (
            _data(context, builder, signature.args[place], arguments[place], _at(0))
            for place in (0, 1, 2, 4)
        )

        def write(start: Any, lanes: int) -> None:
            total = builder.add(
                _load(builder, first, start, lanes), _load(builder, second, start, lanes)
            )
            total = builder.sub(total, _load(builder, third, start, lanes))
            builder.store(total, _place(builder, target, start, lanes), align=4)

        _in_vectors(builder, arguments[3], write)
        return context.get_dummy_value()

    return types.void(old, plus, minus, types.int64, new), generate


@kernel
def exchange(old: KernelArg, plus: KernelArg, minus: KernelArg, new: KernelArg) -> None:
    """Write ``old + plus - minus``, int32 of a multiple of 8, to `new`, which may be `old`.

    :func:`activate` may read the numbers at once: narrower stores would keep it waiting.
    """
    _exchange(old, plus, minus, len(new), new)


def row_exchanger(width: int, places: int) -> Any:
    """Return a kernel's function that updates the sums of two sides.

    ``exchange(rows, old, new)`` takes int32[ROWS, width], a multiple of 16, and two states: two
    sums of rows, then two lists of `places` rows, a multiple of 4. It writes the sums of `new`.
    """
    lanes = 2 * LANES

    @intrinsic
    def exchange_rows(typing: Any, rows: Any, old: Any, new: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            table, *states = (
                _data(context, builder, kind, array, _at(0))
                for kind, array in zip(signature.args, arguments, strict=True)
            )
            bits = _at(0)
            for start in range(0, 2 * places, LANES):
                rows_of = [_load(builder, it, _at(2 * width + start)) for it in states]
                bits = builder.or_(bits, builder.shl(_differ(builder, *rows_of), _at(start)))
            for side in range(2):
                first = [_at(side * width + it) for it in range(0, width, lanes)]
                vectors = [_load(builder, states[0], it, lanes) for it in first]
                sums = [cgutils.alloca_once_value(builder, it) for it in vectors]

                def exchange_row(_: int, __: int, place: Any, sums: list[Any] = sums) -> None:
                    place = builder.add(place, _at(2 * width))
                    numbers = [builder.load(builder.gep(it, [place])) for it in states]
                    minus, plus = (
                        builder.mul(builder.sext(it, _INDEX), _at(width)) for it in numbers
                    )
                    for index, total in enumerate(sums):
                        taken, added = (
                            _load(builder, table, builder.add(it, _at(lanes * index)), lanes)
                            for it in (minus, plus)
                        )
                        value = builder.sub(builder.add(builder.load(total), added), taken)
                        builder.store(value, total)

                own = builder.and_(bits, _at(((1 << places) - 1) << side * places))
                _each_bit(builder, [own], 1, exchange_row)
                for start, total in zip(first, sums, strict=True):
                    place = _place(builder, states[1], start, lanes)
                    builder.store(builder.load(total), place, align=4)
            return context.get_dummy_value()

        return types.void(rows, old, new), generate

    return exchange_rows


@intrinsic
def _activate(typing: Any, state: Any, unit: Any, count: Any, values: Any, exact: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        _, unit, count, _, exact = arguments
        source = _data(context, builder, signature.args[0], arguments[0], _at(0))
        target = _data(context, builder, signature.args[3], arguments[3], _at(0))

        def write(start: Any, lanes: int) -> None:
            sums = builder.sitofp(_load(builder, source, start, lanes), _vector(lanes))
            spread = builder.insert_element(_nothing(lanes), unit, _at(0))
            sums = builder.fmul(sums, _lanes(builder, spread, spread, [0] * lanes))
            _write_tanh(builder, [sums], target, start, exact)

        _in_vectors(builder, count, write)
        return context.get_dummy_value()

    return types.void(state, types.float32, types.int64, values, types.boolean), generate


def _write_tanh(builder: Any, sums: list[Any], target: Any, index: Any, exact: Any) -> None:
    """Store the tanh of vectors from ``target[index]`` on; with `exact` the vectors themselves."""
    for total in sums:
        value = builder.select(exact, total, _tanh(builder, total))
        builder.store(value, _place(builder, target, index, value.type.count), align=4)
        index = builder.add(index, _at(value.type.count))


def _layer(nodes: int, chains: int) -> Any:
    """Return an intrinsic for tanh of `nodes` sums over a multiple of 8 inputs, in blocks of 8."""
    blocks = nodes // LANES
    vectors = _vectors(blocks, chains)

    @intrinsic
    def layer(
        typing: Any,
        weights: Any,
        at: Any,
        values: Any,
        source: Any,
        count: Any,
        target: Any,
        exact: Any,
    ) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            weight_array, first, value_array, source, count, target, exact = arguments
            weight = _data(context, builder, signature.args[0], weight_array, first)
            value = _data(context, builder, signature.args[2], value_array, source)
            output = _data(context, builder, signature.args[2], value_array, target)
            start = [
                _load(builder, weight, _at(LANES * block), lanes)
                if block < blocks
                else _every(0.0, _vector(lanes))
                for block, lanes in vectors
            ]
            index, carry, close = _counting(builder, count, LANES)
            sums = added = [carry(first) for first in start]
            inputs = _load(builder, value, index)  # to be spread out: narrow loads take longer
            for step in range(0, LANES, chains):
                row = builder.mul(builder.add(index, _at(1 + step)), _at(nodes))
                before, added = added, []
                for (block, lanes), total in zip(vectors, before, strict=True):
                    spread = _lanes(builder, inputs, inputs, [step + block // blocks] * lanes)
                    factor = _load(builder, weight, builder.add(row, _at(LANES * block)), lanes)
                    added.append(_multiply_add(builder, spread, factor, total))
            close(list(zip(sums, added, strict=True)))
            totals = _halves(builder, added)
            while len(totals) > blocks:
                half = len(totals) // 2
                parts = _paired(builder, totals[:half]), _paired(builder, totals[half:])
                added = [builder.fadd(one, other) for one, other in zip(*parts, strict=True)]
                totals = _halves(builder, added)
            _write_tanh(builder, _paired(builder, totals), output, _at(0), exact)
            return context.get_dummy_value()

        index = types.int64
        kinds = (weights, index, values, index, index, index, types.boolean)
        return types.void(*kinds), generate

    return layer


def _vectors(blocks: int, chains: int) -> list[tuple[int, int]]:
    """Return the first block and the lanes of each vector of sums.

    Sixteen lanes are of one chain, and their weights begin at an even block. So they are multiplied
    by one input, and are one line of the cache.
    """
    vectors, block = [], 0
    while block < blocks * chains:
        is_pair = block % 2 == 0 and (block + 1) % blocks
        vectors.append((block, 2 * LANES if is_pair else LANES))
        block += 2 if is_pair else 1
    return vectors


_forty, _sixteen, _eight = _layer(40, 2), _layer(16, 4), _layer(8, 8)


@intrinsic
def _output(typing: Any, weights: Any, at: Any, values: Any, source: Any, count: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        weight = _data(context, builder, signature.args[0], arguments[0], arguments[1])
        value = _data(context, builder, signature.args[2], arguments[2], arguments[3])
        start = builder.insert_element(_every(0.0, _vector()), builder.load(weight), _at(0))
        index, carry, close = _counting(builder, arguments[4], LANES)
        total = carry(start)
        factor = _load(builder, weight, builder.add(index, _at(1)))
        added = _multiply_add(builder, _load(builder, value, index), factor, total)
        close([(total, added)])
        half = LANES // 2
        while half:
            other = _lanes(builder, added, added, [*range(half, 2 * half)])
            added = builder.fadd(_lanes(builder, added, added, range(half)), other)
            half //= 2
        return builder.extract_element(added, _at(0))

    index = types.int64
    return types.float32(weights, index, values, index, index), generate


@intrinsic
def _tanh_all_exact(typing: Any, values: Any, start: Any, count: Any) -> Any:
    """Replace numbers by their tanh in float64, rounded.

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
        place = _place(builder, data, index, LANES)
        x = builder.fpext(builder.load(place, align=4), _WIDE)
        negative = builder.fcmp_ordered("<", x, _wide(0.0))
        x = builder.select(negative, builder.fneg(x), x)
        x = builder.select(builder.fcmp_ordered("<", x, _wide(20.0)), x, _wide(20.0))
        less = exponential_less_one(builder, builder.fadd(x, x))
        value = builder.fdiv(less, builder.fadd(less, _wide(2.0)))
        value = builder.select(negative, builder.fneg(value), value)
        builder.store(builder.fptrunc(value, _vector()), place, align=4)
        close([])
        return context.get_dummy_value()

    return types.void(values, types.int64, types.int64), generate


@intrinsic
def _product_layer(
    typing: Any, state: Any, starts: Any, weights: Any, biases: Any, values: Any, unit: Any
) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        source, weight, bias, target = (
            _data(context, builder, signature.args[place], arguments[place], _at(0))
            for place in (0, 2, 3, 4)
        )
        wide = 2 * LANES  # pairs of numbers in a vector
        shorts, products = (ir.VectorType(kind, 2 * wide) for kind in (_SHORT, _BITS))
        # Pairs of products for either start, each time with a pair of zeros behind them.
        found = cgutils.alloca_once(builder, _BITS, 2 * (BLOCK + 1))
        first = _load(builder, bias, _at(0), wide)
        starting = first, *[_every(0, first.type)] * 3
        sums = [cgutils.alloca_once_value(builder, it) for it in starting]

        def limited(sign: str, numbers: Any, limit: int) -> Any:
            bound = _every(limit, shorts)
            return builder.select(builder.icmp_signed(sign, numbers, bound), numbers, bound)

        def clipped(place: Any) -> Any:
            pairs = _load(builder, source, place, wide)
            half = _every(1 << 15, pairs.type)
            # The upper number of a pair lacks what a negative lower one has borrowed from it.
            pairs = builder.bitcast(builder.xor(builder.add(pairs, half), half), shorts)
            return limited("<", limited(">", pairs, 0), 255)

        def multiply(half: int) -> Any:
            """Store products; return a bit for each pair of them that is not 0."""
            bits, behind = _at(0), half * (BLOCK + 1)
            for part in range(0, BLOCK, wide):
                place = builder.add(builder.extract_value(arguments[1], half), _at(part))
                product = builder.mul(clipped(place), clipped(builder.add(place, _at(BLOCK))))
                product = builder.add(product, _every(1 << 7, shorts))
                product = builder.lshr(product, _every(8, shorts))
                pairs = builder.bitcast(product, first.type)
                builder.store(pairs, _place(builder, found, _at(behind + part), wide), align=4)
                differ = _differ(builder, pairs, _every(0, pairs.type))
                bits = builder.or_(bits, builder.shl(differ, _at(part)))
            builder.store(ir.Constant(_BITS, 0), builder.gep(found, [_at(behind + BLOCK)]))
            return bits

        def add(half: int, time: int, pair: Any) -> None:
            place, total = builder.add(pair, _at(half * (BLOCK + 1))), sums[2 * half + time]
            word = builder.load(builder.gep(found, [place]))
            spread = builder.insert_element(ir.Constant(first.type, ir.Undefined), word, _at(0))
            spread = builder.bitcast(_lanes(builder, spread, spread, [0] * wide), shorts)
            row = builder.or_(builder.and_(pair, _at(BLOCK - 1)), _at(half * BLOCK))
            factor = _load(builder, weight, builder.mul(row, _at(2 * wide)), 2 * wide)
            both = builder.mul(builder.sext(spread, products), builder.sext(factor, products))
            even, odd = (_lanes(builder, both, both, range(it, 2 * wide, 2)) for it in (0, 1))
            builder.store(builder.add(builder.load(total), builder.add(even, odd)), total)

        _each_bit(builder, [multiply(0), multiply(1)], 2, add)
        result = functools.reduce(builder.add, map(builder.load, sums))
        result = builder.sitofp(result, _vector(wide))
        spread = builder.insert_element(_nothing(wide), arguments[5], _at(0))
        result = builder.fmul(result, _lanes(builder, spread, spread, [0] * wide))
        for sign, limit in ((">", 0.0), ("<", 1.0)):
            bound = _every(limit, result.type)
            result = builder.select(builder.fcmp_ordered(sign, result, bound), result, bound)
        builder.store(result, _place(builder, target, _at(0), wide), align=4)
        return context.get_dummy_value()

    return types.void(state, starts, weights, biases, values, types.float32), generate


@kernel
def tanh(x: float) -> float:
    """Return tanh(x) as float32, with the same bits on every machine."""
    return _tanh_of(x)


@kernel
def tanh_all_exact(values: KernelArg, count: int) -> None:
    """Replace a multiple of 8 numbers by their tanh in float64: monotone, and 1 from 9.02 on."""
    _tanh_all_exact(values, 0, count)


@kernel
def activate(state: KernelArg, unit: float, count: int, values: KernelArg, exact: bool) -> None:
    """Write tanh of `count` numbers, a multiple of 8, times a unit; `exact` as in :func:`dense`."""
    _activate(state, unit, count, values, exact)
    if exact:
        _tanh_all_exact(values, 0, count)


@kernel
def output(weights: KernelArg, at: int, values: KernelArg, source: int, count: int) -> float:
    """Return the weighted sum of the output node, float32.

    From `at` on, `weights` holds the bias and a weight for each of `count` inputs, a multiple of 8.
    """
    return _output(weights, at, values, source, count)


@kernel
def dense(
    weights: KernelArg,
    at: int,
    values: KernelArg,
    source: int,
    count: int,
    target: int,
    width: int,
    exact: bool,
) -> int:
    """Write tanh of the weighted sums of a layer; return the start of the next layer's weights.

    From `at` on, `weights` holds a row of `width` (8, 16 or 40) biases, then a row of weights for
    each of `count` inputs, a multiple of 8. Inputs and outputs begin at `source` and `target` in
    `values`. With `exact`, tanh is that of float64, rounded.
    """
    if width == 40:
        _forty(weights, at, values, source, count, target, exact)
    elif width == 16:
        _sixteen(weights, at, values, source, count, target, exact)
    else:
        _eight(weights, at, values, source, count, target, exact)
    if exact:
        _tanh_all_exact(values, target, width)
    return at + (count + 1) * width


@kernel
def product_layer(
    state: KernelArg,
    starts: tuple[int, int],
    weights: KernelArg,
    biases: KernelArg,
    values: KernelArg,
    unit: float,
) -> None:
    """Write sixteen weighted sums of products, times `unit` and clipped to 0..1, to `values`.

    From each of `starts` on, int32 `state` holds BLOCK pairs of int16 x, then as many of y: 2^16
    times the second number plus the first. A product is (x y + 128) >> 8, both clipped to 0..255.
    `weights` are int16[2 * BLOCK, 16, 2], `biases` int32[16]. No sum may leave 32 bits.
    """
    _product_layer(state, starts, weights, biases, values, unit)


def aligned_zeros(shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """Return zeros of this shape and dtype, aligned to 64 bytes."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    buffer = np.zeros(size + 64, np.uint8)
    start = -buffer.ctypes.data % 64
    return buffer[start : start + size].view(dtype).reshape(shape)
