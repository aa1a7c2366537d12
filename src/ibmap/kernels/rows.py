"""Rows of a score as functions with an address: a search needs to know nothing else of the score."""

from numba import types

from ibmap.kernels.jit import caller, inline, kernel
from ibmap.kernels.records import Floats, Ints

#: (address of a context, x, address of the blanket of x, its size, address of the row): fills the row
ROW = types.void(types.intp, types.intp, types.intp, types.intp, types.intp)


_call = caller(ROW)


@inline
def call_row(function: int, context: Ints, x: int, blanket: Ints, out: Floats) -> None:
    """Call the function at an address: ``out[y]`` becomes the score of the assertion about x and y."""
    _call(function, context.ctypes.data, x, blanket.ctypes.data, blanket.size, out.ctypes.data)


@kernel
def fill_row(function: int, context: Ints, x: int, blanket: Ints, out: Floats) -> None:
    """Call a row from Python."""
    call_row(function, context, x, blanket, out)
