"""Instructions of a processor that numba does not offer, for compiled code on little-endian machines."""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped, unused-ignore]
from numba import types
from numba.extending import intrinsic


def _trailing_zeros(_: Any, bits: Any) -> Any:
    """The place of the lowest bit that is set (one must be): a single instruction."""

    def code(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), code


def _eight_bytes(_: Any, data: Any, __: Any) -> Any:
    """Eight bytes of an array as a number, the first one lowest, wherever they stand; all must be inside."""
    if data.layout != "C":
        return None

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        first = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        place = builder.gep(first, [arguments[1]])
        return builder.load(builder.bitcast(place, ir.IntType(64).as_pointer()), align=1)

    return types.uint64(data, types.uint64), code


def _word_bytes(_: Any, letters: Any, __: Any) -> Any:
    """Which of 64 bytes in lower case are letters, digits or not ASCII, as bits, the first one lowest."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        vector = ir.VectorType(ir.IntType(8), 64)
        first = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        place = builder.bitcast(builder.gep(first, [arguments[1]]), vector.as_pointer())
        codes = builder.load(place, align=1)
        inside = builder.icmp_signed("<", codes, ir.Constant(vector, [0] * 64))
        for lowest, count in ((ord("a"), 26), (ord("0"), 10)):
            above = builder.sub(codes, ir.Constant(vector, [lowest] * 64))
            inside = builder.or_(inside, builder.icmp_unsigned("<", above, ir.Constant(vector, [count] * 64)))
        return builder.bitcast(inside, ir.IntType(64))

    return types.uint64(letters, types.uint64), code


def _prefetch(_: Any, table: Any, __: Any) -> Any:
    """Have a place of an array brought into the cache, without waiting for it."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        number, pointer = ir.IntType(32), ir.IntType(8).as_pointer()
        first = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        place = builder.bitcast(builder.gep(first, [arguments[1]]), pointer)
        kind = ir.FunctionType(ir.VoidType(), [pointer, number, number, number])
        instruction = builder.module.declare_intrinsic("llvm.prefetch", [pointer], kind)
        builder.call(instruction, [place, number(0), number(3), number(1)])  # to read, into every cache, data
        return context.get_dummy_value()

    return types.void(table, types.uint64), code


lowest: Any = intrinsic(_trailing_zeros)
eight_bytes: Any = intrinsic(_eight_bytes)
word_bytes: Any = intrinsic(_word_bytes)
prefetch: Any = intrinsic(_prefetch)
