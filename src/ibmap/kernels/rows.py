"""Rows of a score as functions with an address: a search needs to know nothing else of the score."""

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from ibmap.kernels.jit import kernel
from ibmap.kernels.records import Floats, Ints

#: (address of a context, x, address of the blanket of x, its size, address of the row): fills the row
ROW = types.void(types.intp, types.intp, types.intp, types.intp, types.intp)


@intrinsic  # type: ignore[untyped-decorator]
def call_row(typing_context: Any, function: Any, numbers: Any, x: Any, blanket: Any, out: Any) -> Any:
    """Call the function at an address: ``out[y]`` becomes the score of the assertion about x and y."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        word = ir.IntType(64)
        numbers, blanket, out = (
            context.make_array(signature.args[i])(context, builder, args[i]) for i in (1, 3, 4)
        )
        addresses = [builder.ptrtoint(array.data, word) for array in (numbers, blanket, out)]
        size = builder.extract_value(blanket.shape, 0)
        given = [addresses[0], args[2], addresses[1], size, addresses[2]]
        kind = ir.FunctionType(ir.VoidType(), [value.type for value in given])
        builder.call(builder.inttoptr(args[0], kind.as_pointer()), given)
        return context.get_dummy_value()

    return types.void(types.intp, numbers, types.intp, blanket, out), generate


@kernel
def fill_row(function: int, context: Ints, x: int, blanket: Ints, out: Floats) -> None:
    """Call a row from Python."""
    call_row(function, context, x, blanket, out)
