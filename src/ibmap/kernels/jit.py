"""One way to compile a kernel: serial, free of the GIL, cached on disk where the disk allows it."""

from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeVar

import numba
from llvmlite import ir
from numba import types
from numba.core import cgutils, event
from numba.core.ccallback import CFunc
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.extending import intrinsic

from ibmap.errors import RequestError
from ibmap.kernels.cache import code_cache

if numba.config.DISABLE_JIT:
    raise RequestError(
        "kernels call functions by their address, and so cannot run without the compiler: "
        "unset the environment variable NUMBA_DISABLE_JIT"
    )

F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": {"contract"}}


def kernel(function: F) -> F:
    """Compile a function that allocates nothing: arrays and scalars in, arrays filled or scalars out.

    Kernels are ``nogil`` and serial: threads are driven from outside, over variables. The only freedom given
    to the compiler is to fuse a multiplication with an addition; sums are never reordered. As nothing is
    allocated, arrays need no reference counting: passing records of arrays around costs nothing (it made half
    of the time of an ascent at 100 variables), and compiling takes half as long.
    """
    return _compiled(function, _nrt=False)


def allocating_kernel(function: F) -> F:
    """Compile a function that may make arrays; kernels that make none may call it."""
    return _compiled(function, _nrt=True)


def _compiled(function: F, **more: Any) -> F:
    """Compile on the first call; keep the machine code on disk if a cache folder is writable."""
    options = {"no_cfunc_wrapper": True, "pipeline_class": _KernelCompiler, **_OPTIONS, **more}
    compiled = numba.njit(**options)(function)
    compiled._cache = code_cache(function)
    return compiled


class _PartLibrary(JITCodeLibrary):  # type: ignore[misc]
    """Code that is never run by itself: it is optimised and emitted as a part of the kernels that call it."""

    def _optimize_final_module(self) -> None:
        """Leave it to the kernels."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    @property
    def codegen(self) -> "_PartLibrary":
        """What sets the environment of a function that is run, which this one is not."""
        return self

    def set_env(self, name: str, environment: object) -> None:
        """Set none."""


class _KernelCompiler(Compiler):  # type: ignore[misc]
    """Numba's compiler without the passes that find nothing in kernels, which took a tenth of its time."""

    def define_pipelines(self) -> Any:
        pipelines = super().define_pipelines()
        for pipeline in pipelines:
            pipeline.passes = [one for one in pipeline.passes if one[0].name() not in _NEEDLESS]
        return pipelines


class _PartCompiler(_KernelCompiler):
    """The same, into a library that is not emitted."""

    def define_pipelines(self) -> Any:
        if self.state.library is None:
            self.state.library = _PartLibrary(
                self.state.targetctx.codegen(), self.state.func_id.func_qualname
            )
            self.state.library.enable_object_caching()
        return super().define_pipelines()


#: closures, with blocks, array expressions, branches on constants, literals: kernels have none of them
_NEEDLESS = {
    "with_lifting",
    "inline_closure_likes",
    "rewrite_semantic_constants",
    "dead_branch_prune",
    "Rewrite dynamic raises",
    "make_function_op_code_to_jit_function",
    "inline_inlinables",
    "find_literally",
    "literal_unroll",
    "LiteralPropagation",
    "nopython_rewrites",
    "dump_parfor_diagnostics",
}

#: options of a part, as ``numba.njit`` and ``numba.extending.overload`` take them
PART: dict[str, Any] = {
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    "pipeline_class": _PartCompiler,
    "_nrt": False,
    **_OPTIONS,
}


def inline(function: F) -> F:
    """Compile a function into every kernel that calls it, at the place of the call; Python cannot call it.

    Loops over an inlined function can be vectorised.
    """
    return numba.njit(forceinline=True, **PART)(function)


def part(function: F) -> F:
    """Compile a function into every kernel that calls it, once; Python cannot call it."""
    return numba.njit(**PART)(function)


def allocating_part(function: F) -> F:
    """Compile a part that may make arrays."""
    return numba.njit(**{**PART, "_nrt": True})(function)


_CFunc: Any = CFunc


class _Callback(_CFunc):  # type: ignore[misc]
    """Numba's own way to a function with an address; it says when it compiles, as dispatchers do."""

    def _compile_uncached(self) -> Any:
        with event.trigger_event("numba:compile", {"dispatcher": self}):
            compiled = super()._compile_uncached()
            compiled.library.get_pointer_to_function(compiled.fndesc.llvm_cfunc_wrapper_name)
        return compiled


class ByAddress:
    """A function that kernels call by its address, so that they do not contain it.

    It is compiled, or read from disk, when the address is first asked for.
    """

    def __init__(self, signature: Any, function: Callable[..., None]) -> None:
        self._signature, self._function = signature, function

    @cached_property
    def address(self) -> int:
        """Where the machine code begins."""
        signature = (self._signature.args, self._signature.return_type)
        self._compiled = _Callback(
            self._function, signature, {}, {"_nrt": False, **_OPTIONS}, _KernelCompiler
        )
        self._compiled._cache = code_cache(self._function)
        self._compiled.compile()
        return int(self._compiled.address)


def caller(signature: Any) -> Any:
    """Return what calls a function by its address in compiled code: ``call(address, *numbers)``."""

    @intrinsic(prefer_literal=False)  # type: ignore[untyped-decorator]
    def call(typing_context: Any, address: Any, *numbers: Any) -> Any:
        def generate(context: Any, builder: Any, given: Any, args: Any) -> Any:
            values = cgutils.unpack_tuple(builder, args[1])
            kinds = zip(given.args[1].types, signature.args, strict=True)
            values = [context.cast(builder, value, *both) for value, both in zip(values, kinds, strict=True)]
            returned = context.get_value_type(signature.return_type)
            if signature.return_type == types.void:
                returned = ir.VoidType()
            kind = ir.FunctionType(returned, [value.type for value in values])
            result = builder.call(builder.inttoptr(args[0], kind.as_pointer()), values)
            return context.get_dummy_value() if signature.return_type == types.void else result

        return signature.return_type(types.intp, types.StarArgTuple(numbers)), generate

    return call
