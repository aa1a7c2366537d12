"""What Numba still compiles is stamped, and keeps its promises."""

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numba

import ibmap
from ibmap.kernels import cache as _cache
from ibmap.kernels import jit as _jit

SRC = Path(ibmap.__file__).parent
FILES = sorted(path.relative_to(SRC) for path in SRC.rglob("*.py"))


def dispatchers() -> Iterator[tuple[str, Any]]:
    for file in FILES:
        if "jit import" in (SRC / file).read_text():
            module = import_module(".".join(["ibmap", *file.with_suffix("").parts]))
            for name, value in vars(module).items():
                if (
                    isinstance(value, numba.core.registry.CPUDispatcher)
                    and value.__module__ == module.__name__
                ):
                    yield f"{file}:{name}", value


def test_an_edit_of_any_kernel_makes_all_compiled_code_stale() -> None:
    cached = {
        name: kernel._cache._cache_file._source_stamp
        for name, kernel in dispatchers()
        if hasattr(kernel._cache, "_cache_file")
    }
    assert len(cached) > 25
    assert set(cached.values()) == {_cache._source_stamp()}
    assert {Path(name.partition(":")[0]).parts[0] for name, _ in dispatchers()} == {"kernels"}


def test_kernels_release_the_lock_and_never_reorder_sums() -> None:
    for name, kernel in dispatchers():
        assert kernel.targetoptions["nogil"], name
        assert kernel.targetoptions["fastmath"] == {"contract"}, name
        assert not kernel.targetoptions.get("parallel"), name


def test_a_function_without_a_file_has_no_cache_and_compiles() -> None:
    scope: dict[str, Any] = {}
    exec("def double(value):\n    return 2.0 * value", scope)
    assert _jit.kernel(scope["double"])(4.0) == 8.0
