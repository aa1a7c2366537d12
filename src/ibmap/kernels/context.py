"""Records of arrays as one array of addresses: a kernel that takes it is called in a few microseconds.

Numba passes a named tuple of arrays field by field, some 300 numbers for the four records of a test: 35
microseconds for each call from Python, and most of the time of compiling. Here the addresses and shapes of
all arrays stand one after the other in an array of integers. :func:`records_of` gives a kernel the records
back, as pointers into that array, and ``record.field`` reads an address and a shape when it is needed. What
it reads does not change while a kernel runs, and the compiler is told so.

Functions below the kernels take either form of a record: they only say ``packed.levels``.
"""

from typing import Annotated, Any, get_args, get_origin, get_type_hints

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, intrinsic, lower_getattr_generic, models, register_model
from numba.np import arrayobj, numpy_support

from ibmap.kernels.bayes_model import Model, Scratch
from ibmap.kernels.records import Ints, Packed, Sets

_I8, _I64 = ir.IntType(8), ir.IntType(64)
_RECORDS = (Packed, Sets, Model, Scratch)


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


_FIELDS = {record: _fields_of(record) for record in _RECORDS}
_SIZES = [sum(1 + getattr(kind, "ndim", 0) for _, kind in _FIELDS[record].values()) for record in _RECORDS]
_STARTS = np.cumsum([1, *_SIZES]).tolist()


class RecordType(types.Type):  # type: ignore[misc]
    """A pointer to the addresses and shapes of one record."""

    def __init__(self, record: Any) -> None:
        self.fields = _FIELDS[record]
        super().__init__(f"{record.__name__}Pointer")


_TYPES = [RecordType(record) for record in _RECORDS]
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


@intrinsic  # type: ignore[untyped-decorator]
def records_of(typing_context: Any, numbers: Any) -> Any:
    """Return the records of a context: (packed, sets, model, scratch). Takes its numbers, or their address.

    The first number is the address of the numbers: it is read as a pointer to so many bytes that are there,
    so that the compiler may read a field before it knows whether it is needed.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        if isinstance(numbers, types.Array):
            begin = context.make_array(numbers)(context, builder, args[0]).data
            begin = builder.bitcast(begin, _I8.as_pointer().as_pointer())
        else:
            begin = builder.inttoptr(args[0], _I8.as_pointer().as_pointer())
        begin = builder.load(begin)
        begin.set_metadata("invariant.load", builder.module.add_metadata([]))
        begin.set_metadata("dereferenceable", builder.module.add_metadata([_I64(8 * _STARTS[-1])]))
        pointers = [builder.gep(begin, [_I64(8 * start)]) for start in _STARTS[:-1]]
        return context.make_tuple(builder, signature.return_type, pointers)

    return types.Tuple(_TYPES)(numbers), generate


_CHECKED = {
    record: [
        (np.dtype(kind.dtype.name), kind.ndim) if isinstance(kind, types.Array) else None
        for _, kind in _FIELDS[record].values()
    ]
    for record in _RECORDS
}


class Context:
    """What the kernels of the Bayesian test need, in the workspace of one thread.

    ``numbers`` is what they take: its own address, then the addresses and shapes of all arrays, which the
    context keeps alive. An engine that keeps its rows elsewhere has no packed table; kernels that need one
    must not be called then.
    """

    def __init__(self, packed: Packed | None, sets: Sets, model: Model, scratch: Scratch) -> None:
        self._records = (packed, sets, model, scratch)
        self._arrays: list[Any] = []
        numbers = [0]
        for record, size in zip(self._records, _SIZES, strict=True):
            numbers += [0] * size if record is None else self._numbers_of(record)
        self.numbers: Ints = np.array(numbers, np.int64)
        self.numbers[0] = self.numbers.ctypes.data

    def __reduce__(self) -> tuple[Any, ...]:
        return Context, self._records  # addresses mean nothing elsewhere

    def _numbers_of(self, record: Any) -> list[int]:
        numbers: list[int] = []
        for kind, value in zip(_CHECKED[type(record)], record, strict=True):
            if kind is None:
                numbers.append(int(value))
                continue
            array = np.ascontiguousarray(value)
            if (array.dtype, array.ndim) != kind:
                raise TypeError(
                    f"{type(record).__name__} does not hold arrays like {array.dtype}{array.shape}"
                )
            self._arrays.append(array)
            numbers += [array.ctypes.data, *array.shape]
        return numbers
