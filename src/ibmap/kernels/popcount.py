"""Counting many columns at a time, as bits or as bytes: the loops that everything else waits for.

Numba's own vectoriser keeps the sums in memory and prefers half-width vectors; held in registers, bits are
counted 2.5 times faster on AVX-512 (12.8 against 5.1 billion words per second, see ``benchmarks/limits.py``).
LLVM splits the vectors on machines without.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

_I32, _I64 = ir.IntType(32), ir.IntType(64)
_BITS = ir.VectorType(_I64, 8)  #: eight words of 64 rows
_BYTES = ir.VectorType(ir.IntType(8), 64)  #: 64 columns of one row


@intrinsic  # type: ignore[untyped-decorator]
def popcount(typing_context: Any, word: Any) -> Any:
    """Return the number of set bits of a 64-bit word."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.uint64(types.uint64), generate


def _add_up(
    builder: Any, vector: Any, vectors: int, first: Any, last: Any, read: Callable[..., Any], target: Any
) -> None:
    """Add ``read(i, address)`` over i to the 32-bit numbers at ``target``, the sums held in registers.

    ``read`` is called once per i for the address of the first vector; it returns that and what to do with
    each vector before it is added.
    """
    lanes = vector.count
    sums = [cgutils.alloca_once(builder, vector) for _ in range(vectors)]
    for total in sums:
        builder.store(ir.Constant(vector, [0] * lanes), total)
    with cgutils.for_range_slice(builder, first, last, _I64(1), _I64) as (i, _):
        row, term = read(i)
        for j, total in enumerate(sums):
            address = builder.inttoptr(builder.add(row, _I64(64 * j)), vector.as_pointer())
            loaded = builder.load(address, align=vector.element.width // 8)
            builder.store(builder.add(builder.load(total), term(loaded)), total)
    counts = ir.VectorType(_I32, lanes)
    for j, total in enumerate(sums):
        address = builder.inttoptr(builder.add(target, _I64(4 * lanes * j)), counts.as_pointer())
        widened = (builder.trunc if vector is _BITS else builder.zext)(builder.load(total), counts)
        builder.store(builder.add(builder.load(address, align=4), widened), address, align=4)


def _arrays(context: Any, builder: Any, signature: Any, args: Any) -> list[Any]:
    return [
        context.make_array(kind)(context, builder, value) if isinstance(kind, types.Array) else value
        for kind, value in zip(signature.args, args, strict=True)
    ]


def _rows_of(builder: Any, table: Any, offset: Any) -> Callable[[Any], Any]:
    """Return a function from the number of a row to the address of its column ``offset`` bytes in."""
    stride = cgutils.unpack_tuple(builder, table.strides)[0]
    base = builder.add(builder.ptrtoint(table.data, _I64), offset)
    return lambda row: builder.add(base, builder.mul(row, stride))


def _bit_counter(vectors: int) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        words, masks, first, last, bits, column, out, to = _arrays(context, builder, signature, args)
        row_of = _rows_of(builder, bits, builder.mul(column, _I64(8)))
        count = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(_BITS, [_BITS]), "llvm.ctpop.v8i64"
        )
        undefined = ir.Constant(_BITS, ir.Undefined)
        zeros = ir.Constant(ir.VectorType(_I32, 8), [0] * 8)

        def read(i: Any) -> Any:
            word = builder.zext(builder.load(builder.gep(words.data, [i])), _I64)
            mask = builder.load(builder.gep(masks.data, [i]))
            mask = builder.insert_element(undefined, mask, _I32(0))
            mask = builder.shuffle_vector(mask, undefined, zeros)
            return row_of(word), lambda columns: builder.call(count, [builder.and_(mask, columns)])

        target = builder.add(builder.ptrtoint(out.data, _I64), builder.mul(to, _I64(4)))
        _add_up(builder, _BITS, vectors, first, last, read, target)
        return context.get_dummy_value()

    @intrinsic  # type: ignore[untyped-decorator]
    def count(
        typing_context: Any,
        words: Any,
        masks: Any,
        first: Any,
        last: Any,
        bits: Any,
        column: Any,
        out: Any,
        to: Any,
    ) -> Any:
        index = types.intp
        return types.void(words, masks, index, index, bits, index, out, index), generate

    return count


def _byte_adder(vectors: int) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        rows, first, last, by_row, column, out, to = _arrays(context, builder, signature, args)
        row_of = _rows_of(builder, by_row, column)

        def read(i: Any) -> Any:
            return row_of(builder.load(builder.gep(rows.data, [i]))), lambda columns: columns

        target = builder.add(builder.ptrtoint(out.data, _I64), builder.mul(to, _I64(4)))
        _add_up(builder, _BYTES, vectors, first, last, read, target)
        return context.get_dummy_value()

    @intrinsic  # type: ignore[untyped-decorator]
    def add(
        typing_context: Any, rows: Any, first: Any, last: Any, by_row: Any, column: Any, out: Any, to: Any
    ) -> Any:
        index = types.intp
        return types.void(rows, index, index, by_row, index, out, index), generate

    return add


#: ``out[to + c] += Σ_i popcount(masks[i] & bits[words[i], column + c])``, first <= i < last; c < 32, or c < 8
count_32, count_8 = _bit_counter(4), _bit_counter(1)

#: ``out[to + c] += Σ_i by_row[rows[i], column + c]``, first <= i < last <= first + 255; c < 256, or c < 64
add_256, add_64 = _byte_adder(4), _byte_adder(1)
