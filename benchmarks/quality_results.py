"""What ``quality.py`` has measured: two small files, written anew whenever a table is done.

``results/quality.csv`` has a row for every table, and a cell for every method: false edges, missing edges,
seconds; seconds alone where it was stopped without a result. ``results/calibration.csv`` has, for every world
and method with posteriors, the pairs of every tenth of the posterior over all tables: how many, the sum of
their posteriors, and how many are edges.
"""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from quality_methods import methods as all_methods
from quality_worlds import worlds

FOLDER = Path(__file__).parent / "results"
TABLES, CALIBRATION = FOLDER / "quality.csv", FOLDER / "calibration.csv"
BINS = 10
TENTHS = [f"{what}_{k}" for what in ("pairs", "sum", "edges") for k in range(BINS)]

Key = tuple[str, int, int]  #: world, rows, seed


class Measured(NamedTuple):
    """A method on a table."""

    method: str
    false: int | None
    missing: int | None
    seconds: float
    tenths: NDArray[np.float64] | None  #: (3, tenths): pairs, sum of posteriors, edges


class Results:
    """All that has been measured."""

    def __init__(self) -> None:
        self.edges: dict[Key, int] = {}
        self.cells: dict[Key, dict[str, str]] = {}
        self.tenths: dict[tuple[str, str], NDArray[np.float64]] = {}
        for row in _rows(TABLES):
            key = (row.pop("world"), int(row.pop("rows")), int(row.pop("seed")))
            self.edges[key] = int(row.pop("edges"))
            self.cells[key] = {method: cell for method, cell in row.items() if cell}
        for row in _rows(CALIBRATION):
            values = np.array([float(row[name]) for name in TENTHS]).reshape(3, BINS)
            self.tenths[row["world"], row["method"]] = values

    def has(self, key: Key, method: str) -> bool:
        """Whether a method has been run on a table."""
        return method in self.cells.get(key, {})

    def add(self, key: Key, edges: int, found: Iterable[Measured]) -> None:
        """Add what some methods made of a table, and write both files."""
        self.edges[key] = edges
        for one in found:
            errors = "" if one.false is None else f"{one.false} {one.missing} "
            self.cells.setdefault(key, {})[one.method] = f"{errors}{one.seconds:.3g}"
            if one.tenths is not None:
                self.tenths[key[0], one.method] = self.tenths.get((key[0], one.method), 0.0) + one.tenths
        self.write()

    def forget(self, methods: Sequence[str]) -> None:
        """Forget all about some methods, so that they are measured again."""
        for cells in self.cells.values():
            for method in methods:
                cells.pop(method, None)
        self.tenths = {key: values for key, values in self.tenths.items() if key[1] not in methods}

    def write(self) -> None:
        """Write both files, worlds and methods in the order of the page."""
        order = {world.name: k for k, world in enumerate(worlds())}
        known = {method for cells in self.cells.values() for method in cells}
        methods = [*dict.fromkeys([method.name for method in all_methods()] + sorted(known))]
        methods = [method for method in methods if method in known]
        keys = sorted(self.cells, key=lambda key: (order.get(key[0], 999), *key))
        head = ["world", "rows", "seed", "edges"]
        lines = [[*key, self.edges[key], *(self.cells[key].get(m, "") for m in methods)] for key in keys]
        _write(TABLES, [*head, *methods], lines)
        kept = sorted(self.tenths, key=lambda key: (order.get(key[0], 999), methods.index(key[1])))
        _write(
            CALIBRATION,
            ["world", "method", *TENTHS],
            [[*key, *(f"{value:.10g}" for value in self.tenths[key].ravel())] for key in kept],
        )

    def frame(self) -> pl.DataFrame:
        """One row for every table and method."""
        kinds, rows = {world.name: world.kind for world in worlds()}, []
        for key, cells in self.cells.items():
            edges = self.edges[key]
            for method, cell in cells.items():
                if len(cell.split()) < 3:  # stopped
                    continue
                false, missing, seconds = (float(part) for part in cell.split())
                both = edges - missing
                f = 2 * both / max(2 * both + false + missing, 1)
                rows.append((*key, kinds[key[0]], method, edges, false, missing, false + missing, f, seconds))
        names = ["world", "rows", "seed", "kind", "method", "edges", "false", "missing", "hamming", "f"]
        return pl.DataFrame(rows, [*names, "seconds"], orient="row", infer_schema_length=None)

    def calibration(self) -> pl.DataFrame:
        """One row for every world and method that has posteriors."""
        kinds = {world.name: world.kind for world in worlds()}
        rows = [
            (world, kinds[world], method, *values.ravel()) for (world, method), values in self.tenths.items()
        ]
        return pl.DataFrame(rows, ["world", "kind", "method", *TENTHS], orient="row")


def _rows(file: Path) -> Iterable[dict[str, str]]:
    if not file.exists():
        return []
    with file.open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def _write(file: Path, head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    new = file.with_suffix(".new")
    with new.open("w", newline="", encoding="utf-8") as lines:
        csv.writer(lines, lineterminator="\n").writerows([head, *rows])
    new.replace(file)
