"""The code keeps its plan: imports point one way, importing costs nothing, nothing asserts or prints."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import ibmap

SRC = Path(ibmap.__file__).parent
FILES = sorted(path.relative_to(SRC) for path in SRC.rglob("*.py"))
FOUNDATIONS = {"_core", "errors"} | {
    path.stem
    for path in SRC.glob("_*.py")
    if path.stem not in ("__init__", "__main__", "_graph_parts", "_loader")
}
BELOW: dict[str, set[str]] = {name: {"errors", "_checks", "_text"} for name in FOUNDATIONS}
BELOW |= {"errors": set(), "_core": {"errors", "_loader"}, "_loader": {"errors"}}
BELOW["_folders"] = {"errors", "_files"}
BELOW |= dict.fromkeys(("_graph_parts", "drawing"), BELOW["_checks"])
BELOW["graph"] = {"_graph_parts", "drawing"} | BELOW["_checks"]
BELOW["data"] = FOUNDATIONS
BELOW["engines"] = {"data"} | FOUNDATIONS
BELOW["independence"] = {"engines", "graph", "drawing"} | BELOW["engines"]
BELOW["criteria"] = {"independence"} | BELOW["independence"]
BELOW["exchange"] = {"graph", "_files", "_folders", "_libraries"} | BELOW["_checks"]
BELOW["search"] = {"criteria"} | BELOW["criteria"]
BELOW["synthetic"] = {"data", "graph"} | FOUNDATIONS
BELOW["model"] = {"criteria", "synthetic"} | BELOW["criteria"]
BELOW["metrics"] = {"model"} | BELOW["model"]
BELOW["results"] = {"search", "exchange", "model"} | BELOW["search"]
BELOW["learners"] = {"results"} | BELOW["results"]
BELOW["estimators"] = {"learners", "metrics"} | BELOW["learners"]
BELOW["plots"] = {"graph", "drawing", "exchange", "results", "metrics"} | BELOW["_checks"]
BELOW["report"] = {"results", "plots"} | BELOW["results"]
BELOW["eda"] = {"learners", "synthetic"} | BELOW["learners"]
BELOW["paper"] = {"eda", "metrics"} | BELOW["eda"]  # eda and paper: nobody but the command line sees them
BELOW["cli"] = {"paper", "plots", "report"} | BELOW["paper"]
MENUS = {"__init__", "__main__"}  # the public names, and `python -m ibmap`: they may see everything
HEAVY = ["sklearn", "polars", "pandas", "pyarrow", "scipy", "networkx", "typer", "rich"]


def imported_packages(file: Path) -> Iterator[str]:
    """Every package of ibmap that a file imports, anywhere in it."""
    for node in ast.walk(ast.parse((SRC / file).read_text())):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{file}: a relative import"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            top, _, rest = name.partition(".")
            if top == "ibmap":
                package = rest.partition(".")[0]
                home = ibmap._HOME.get(package, f"ibmap.{package}")  # `from ibmap import Graph` is a graph
                yield home.split(".")[1]


def test_imports_point_one_way() -> None:
    for file in FILES:
        package = file.parts[0].removesuffix(".py")
        if package in MENUS:
            continue
        assert package in BELOW, f"say in BELOW which packages {package!r} may see"
        above = set(imported_packages(file)) - BELOW[package] - {package, "", "__version__"}
        assert not above, f"{file} must not import {sorted(above)}"
    assert {"engines", "independence"} <= set(imported_packages(Path("independence/bayesian.py")))


def test_the_library_neither_asserts_nor_prints() -> None:
    for file in FILES:
        for node in ast.walk(ast.parse((SRC / file).read_text())):
            assert not isinstance(node, ast.Assert), f"{file}:{node.lineno}: assert"
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in ("print", "breakpoint"), f"{file}:{node.lineno}: {node.func.id}"
            if isinstance(node, ast.ExceptHandler):
                assert node.type is not None, f"{file}:{node.lineno}: bare except"


def test_importing_loads_nothing_heavy_and_every_name_on_the_menu_is_served() -> None:
    code = f"import sys, ibmap.graph; print([name for name in {HEAVY!r} if name in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
    for name in ibmap.__all__:
        assert getattr(ibmap, name) is not None
    menu = ast.walk(ast.parse((SRC / "__init__.py").read_text()))
    typed = {alias.name for node in menu if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert typed - {"import_module", "TYPE_CHECKING", "Any"} == set(ibmap._HOME)  # type checkers see the same
    assert set(ibmap.__all__) <= set(dir(ibmap))
    for name, home in ibmap._PACKAGES.items():
        assert getattr(ibmap, name) is import_module(home)
    with pytest.raises(AttributeError, match="no attribute 'Ibmap'"):
        ibmap.Ibmap  # noqa: B018
