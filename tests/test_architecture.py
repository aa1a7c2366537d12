"""The code keeps its plan: imports point one way, kernels are stamped, importing costs nothing."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numba
import pytest

import ibmap
from ibmap.kernels import cache as _cache
from ibmap.kernels import jit as _jit

SRC = Path(ibmap.__file__).parent
FILES = sorted(path.relative_to(SRC) for path in SRC.rglob("*.py"))
FOUNDATIONS = {
    "_core",
    "errors",
    "kernels",
    "_random",
    "_text",
    "_types",
    "_files",
    "_folders",
    "_parallel",
    "_libraries",
}
BELOW: dict[str, set[str]] = {
    "errors": set(),
    "_core": {"errors", "_loader"},
    "kernels": {"errors"},
    "_text": set(),
    "_types": set(),
    "_parallel": {"errors"},
    "_libraries": {"errors"},
    "_files": {"errors"},
    "_folders": {"errors", "_files"},
    "_random": {"errors"},
    "_graph_parts": {"errors"},
    "_loader": {"errors"},
}
BELOW["drawing"] = {"errors"}
BELOW["graph"] = {"errors", "_graph_parts", "drawing"}
BELOW["data"] = FOUNDATIONS
BELOW["engines"] = {"data"} | FOUNDATIONS
BELOW["independence"] = {"engines", "graph", "drawing"} | BELOW["engines"]
BELOW["scores"] = {"independence"} | BELOW["independence"]
BELOW["exchange"] = {"graph", "errors", "_files", "_folders", "_libraries"}
BELOW["search"] = {"scores"} | BELOW["scores"]
BELOW["synthetic"] = {"data", "graph"} | FOUNDATIONS
BELOW["model"] = {"scores", "synthetic"} | BELOW["scores"]
BELOW["results"] = {"search", "exchange", "model"} | BELOW["search"]
BELOW["learners"] = {"results"} | BELOW["results"]
BELOW["estimators"] = {"learners", "metrics"} | BELOW["learners"]
BELOW["metrics"] = {"scores"} | BELOW["scores"]
BELOW["datasets"] = {"data"} | FOUNDATIONS
BELOW["eda"] = {"learners", "synthetic"} | BELOW["learners"]
BELOW["experiments"] = {"learners", "synthetic", "metrics", "datasets", "eda"} | BELOW["learners"]
BELOW["presets"] = {"independence", "errors"}
BELOW["experiments"] |= {"presets"}
BELOW["plots"] = {"graph", "drawing", "exchange", "errors", "results", "metrics"}
BELOW["report"] = {"results", "plots"} | BELOW["results"]
BELOW["cli"] = {"experiments", "plots", "report"} | BELOW["experiments"]
MENUS = {"__init__", "__main__"}  # the public names, and `python -m ibmap`: they may see everything
HEAVY = ["numba", "llvmlite", "sklearn", "polars", "pandas", "pyarrow", "scipy", "networkx", "typer", "rich"]


def package_of(file: Path) -> str:
    return file.parts[0].removesuffix(".py")


def imported_packages(file: Path) -> Iterator[str]:
    """Every package of ibmap that a file imports, anywhere in it."""
    home_of_file = ["ibmap", *file.parts[:-1]]
    for node in ast.walk(ast.parse((SRC / file).read_text())):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            up = home_of_file[: len(home_of_file) - node.level + 1] if node.level else []
            module = ".".join([*up, *([node.module] if node.module else [])])
            names = [f"{module}.{alias.name}" for alias in node.names]
        for name in names:
            top, _, rest = name.partition(".")
            if top == "ibmap":
                package = rest.partition(".")[0]
                home = ibmap._HOME.get(package, f"ibmap.{package}")  # `from ibmap import Graph` is a graph
                yield home.split(".")[1]


@pytest.mark.parametrize("file", FILES, ids=str)
def test_imports_point_one_way(file: Path) -> None:
    package = package_of(file)
    if package in MENUS:
        return
    assert package in BELOW, f"say in BELOW which packages {package!r} may see"
    above = set(imported_packages(file)) - BELOW[package] - {package, "", "__version__"}
    assert not above, f"{file} must not import {sorted(above)}"


def test_this_file_would_notice_an_import_upwards() -> None:
    assert {"engines", "independence"} <= set(imported_packages(Path("independence/bayesian.py")))
    assert "_graph_parts" in set(imported_packages(Path("graph.py")))
    assert "learners" not in BELOW["scores"]


@pytest.mark.parametrize("statement", ["import ibmap", "import ibmap.errors", "import ibmap.graph"])
def test_importing_loads_nothing_heavy_and_compiles_nothing(statement: str) -> None:
    code = f"import sys; {statement}; print([name for name in {HEAVY!r} if name in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_every_name_on_the_menu_is_served() -> None:
    for name in ibmap.__all__:
        assert getattr(ibmap, name) is not None
    assert set(ibmap.__all__) <= set(dir(ibmap))
    for package in ibmap._PACKAGES:
        assert getattr(ibmap, package) is import_module(f"ibmap.{package}")
    with pytest.raises(AttributeError, match="no attribute 'Ibmap'"):
        ibmap.Ibmap  # noqa: B018


@pytest.mark.parametrize("file", FILES, ids=str)
def test_files_are_short_enough_to_read(file: Path) -> None:
    n_lines = len((SRC / file).read_text().splitlines())
    assert n_lines <= 600, f"{file} has {n_lines} lines"


@pytest.mark.parametrize("file", FILES, ids=str)
def test_the_library_neither_asserts_nor_prints(file: Path) -> None:
    for node in ast.walk(ast.parse((SRC / file).read_text())):
        assert not isinstance(node, ast.Assert), f"{file}:{node.lineno}: assert"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in ("print", "breakpoint"), f"{file}:{node.lineno}: {node.func.id}"
        if isinstance(node, ast.ExceptHandler):
            assert node.type is not None, f"{file}:{node.lineno}: bare except"


# Compiled code


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
