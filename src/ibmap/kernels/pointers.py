"""Records of arrays as one array of addresses: a kernel that takes it is called in two microseconds.

Numba passes a named tuple of arrays field by field, some 300 numbers for the four records of a test: 10
microseconds for each call from Python, and most of the time of compiling. Here the addresses and shapes of
all arrays stand one after the other in an array of integers. :func:`records_of` gives a kernel the records
back, as pointers into that array, and ``record.field`` reads an address and a shape when it is needed. What
it reads does not change while a kernel runs, and the compiler is told so.

Functions below the kernels take either form of a record: they only say ``packed.levels``.
"""

import ctypes
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, intrinsic, lower_getattr_generic, models, register_model
from numba.np import arrayobj, numpy_support

from ibmap.kernels.records import Ints

_I8, _I64 = ir.IntType(8), ir.IntType(64)


def _fields_of(record: Any) -> dict[str, tuple[int, Any]]:
    """Return where each field begins, in words, and its numba type."""
    fields, word = {}, 0
    for name, hint in get_type_hints(record, include_extras=True).items():
        if get_origin(hint) is Annotated:
            _, dtype, n_dimensions = get_args(hint)
            kind = types.Array(numpy_support.from_dtype(np.dtype(dtype)), n_dimensions, "C")
        else:
            n_dimensions, kind = 0, {int: types.int64, bool: types.boolean}[hint]
        fields[name] = (word, kind)
        word += 1 + n_dimensions
    return fields


class RecordType(types.Type):  # type: ignore[misc]
    """A pointer to the addresses and shapes of one record."""

    def __init__(self, record: Any) -> None:
        self.fields = _fields_of(record)
        super().__init__(f"{record.__name__}Pointer")


register_model(RecordType)(models.OpaqueModel)


@infer_getattr
class _RecordAttributes(AttributeTemplate):  # type: ignore[misc]
    key = RecordType

    def generic_resolve(self, record: RecordType, name: str) -> Any:
        return record.fields[name][1] if name in record.fields else None


@lower_getattr_generic(RecordType)  # type: ignore[untyped-decorator]
def _read_field(context: Any, builder: Any, record: RecordType, pointer: Any, name: str) -> Any:
    word, kind = record.fields[name]
    numbers = builder.bitcast(pointer, _I64.as_pointer())

    def read(offset: int) -> Any:
        number = builder.load(builder.gep(numbers, [_I64(word + offset)]))
        number.set_metadata("invariant.load", builder.module.add_metadata([]))
        return number

    if not isinstance(kind, types.Array):
        return context.cast(builder, read(0), types.int64, kind)
    return _array_at(context, builder, kind, read(0), [read(1 + axis) for axis in range(kind.ndim)])


def _array_at(context: Any, builder: Any, kind: Any, address: Any, shape: list[Any]) -> Any:
    """Return an array without an owner."""
    array = context.make_array(kind)(context, builder)
    item = context.get_abi_sizeof(context.get_data_type(kind.dtype))
    strides = [_I64(item)]
    for size in reversed(shape[1:]):
        strides.insert(0, builder.mul(strides[0], size))
    arrayobj.populate_array(
        array,
        data=builder.inttoptr(address, array.data.type),
        shape=cgutils.pack_array(builder, shape),
        strides=cgutils.pack_array(builder, strides),
        itemsize=_I64(item),
        meminfo=None,
    )
    return array._getvalue()


def _vector_at(dtype: Any) -> Any:
    @intrinsic  # type: ignore[untyped-decorator]
    def vector_at(typing_context: Any, address: Any, size: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return _array_at(context, builder, signature.return_type, args[0], [args[1]])

        return types.Array(dtype, 1, "C")(types.intp, types.intp), generate

    return vector_at


#: the array of so many numbers at an address, as ``numba.carray`` gives where arrays are counted
ints_at, floats_at = _vector_at(types.int64), _vector_at(types.float64)


def _address_of(array: Any) -> int:
    """Return where the numbers of an array begin, where possible in half the time of ``array.ctypes``."""
    if array.size and array.flags.writeable:
        return ctypes.addressof(ctypes.c_char.from_buffer(array))
    return int(array.ctypes.data)


class Layout:
    """Records one after the other in an array of numbers, behind its own address.

    That address is read as a pointer to so many bytes that are there, so that the compiler may read a field
    before it knows whether it is needed.
    """

    def __init__(self, *records: Any) -> None:
        self._kinds = [RecordType(record) for record in records]
        sizes = [sum(1 + getattr(kind, "ndim", 0) for _, kind in one.fields.values()) for one in self._kinds]
        self._starts = np.cumsum([1, *sizes]).tolist()
        self._checked = [
            [
                (np.dtype(kind.dtype.name), kind.ndim) if isinstance(kind, types.Array) else None
                for _, kind in one.fields.values()
            ]
            for one in self._kinds
        ]

    def reader(self, first: int, last: int) -> Any:
        """Return what gives kernels some of the records, from the numbers or from their address."""
        starts, kinds, size = self._starts[first:last], self._kinds[first:last], 8 * self._starts[-1]

        @intrinsic  # type: ignore[untyped-decorator]
        def records(typing_context: Any, numbers: Any) -> Any:
            def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
                begin = args[0]
                if isinstance(numbers, types.Array):
                    begin = context.make_array(numbers)(context, builder, begin).data
                    begin = builder.ptrtoint(begin, _I64)
                begin = builder.load(builder.inttoptr(begin, _I8.as_pointer().as_pointer()))
                begin.set_metadata("invariant.load", builder.module.add_metadata([]))
                begin.set_metadata("dereferenceable", builder.module.add_metadata([_I64(size)]))
                pointers = [builder.gep(begin, [_I64(8 * start)]) for start in starts]
                return context.make_tuple(builder, signature.return_type, pointers)

            return types.Tuple(kinds)(numbers), generate

        return records

    def address_of(self, position: int) -> Any:
        """Return what gives kernels the address of the numbers from the record in one position of them."""
        begin = 8 * self._starts[position]

        @intrinsic  # type: ignore[untyped-decorator]
        def address(typing_context: Any, record: Any) -> Any:
            def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
                return builder.sub(builder.ptrtoint(args[0], _I64), _I64(begin))

            return types.intp(record), generate

        return address

    def numbers(self, *records: Any) -> tuple[Ints, list[Any]]:
        """Return addresses and shapes of all arrays, and the arrays, which must be kept; None is left 0."""
        numbers, arrays = [0] * self._starts[-1], []
        for record, checked, start in zip(records, self._checked, self._starts, strict=False):
            at = start
            for value, kind in zip(record or (), checked, strict=record is not None):
                if kind is None:
                    numbers[at] = int(value)
                    at += 1
                    continue
                array = np.ascontiguousarray(value)
                if (array.dtype, array.ndim) != kind:
                    raise TypeError(f"{type(record).__name__}: {array.dtype}{array.shape} is not {kind}")
                arrays.append(array)
                numbers[at : at + 1 + array.ndim] = _address_of(array), *array.shape
                at += 1 + array.ndim
        out = np.array(numbers, np.int64)
        out[0] = out.ctypes.data
        return out, arrays
