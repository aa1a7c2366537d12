"""Interactions: how long all triples take, what noise shows, and whether models answer as counting does."""

import gzip
from itertools import combinations
from math import comb, log
from time import process_time

import numpy as np
import polars as pl

from common import report
from ibmap import EvidenceMAP, MarkovNetwork, find_interactions
from ibmap.data import Table, load
from ibmap.engines import MemoryEngine
from quality_worlds import folder

NETWORKS, ROWS = ("asia", "alarm", "insurance", "win95pts"), 10_000
FEWEST, FAR = 200, 0.1  #: rows behind a count; how far an answer may be from it


def scans() -> list[dict[str, object]]:
    """CPU seconds for all triples of noise, and how many are above the prior."""
    rows = []
    for n, size, levels in ((100, 1600, 2), (500, 1600, 2), (1000, 10_000, 2), (200, 10_000, 3)):
        codes = np.random.default_rng(0).integers(0, levels, (n, size)).astype(np.int8)
        names = tuple(f"x{i}" for i in range(n))
        engine = MemoryEngine(Table(codes, names, (tuple(range(levels)),) * n))
        _ = engine.table
        began = process_time()
        found = engine.triples(log(comb(n, 3)), 1000)
        about = {"columns": n, "rows": size, "levels": levels}
        rows.append({**about, "CPU s": round(process_time() - began, 3), "above the prior": len(found.which)})
    return rows


def network(name: str) -> Table:
    """Rows of a known network."""
    with gzip.open(folder() / f"{name}.csv.gz") as file:
        return load(pl.read_csv(file.read(), infer_schema_length=0)[:ROWS])


def off(model: MarkovNetwork, data: Table) -> tuple[int, int, float]:
    """Questions P(x | two neighbours), those that are far from what was counted, and the worst one."""
    codes, names, levels = data.codes.astype(int), data.names, data.levels
    errors = []
    for x in range(len(names)):
        for y, z in combinations(model.graph.neighbours(x).tolist(), 2):
            for a, b in np.ndindex(len(levels[y]), len(levels[z])):
                rows = (codes[y] == a) & (codes[z] == b)
                if rows.sum() < FEWEST:
                    continue
                counted = np.bincount(codes[x, rows], minlength=len(levels[x])) / rows.sum()
                answer = model.query(names[x], {names[y]: levels[y][a], names[z]: levels[z][b]})
                errors.append(np.abs(counted - np.array(list(answer.values()))).max())
    return len(errors), int((np.array(errors) > FAR).sum()), float(max(errors, default=0.0))


def answers() -> list[dict[str, object]]:
    """How often answers are far from counting, of models with interactions and without."""
    rows: list[dict[str, object]] = []
    for name in NETWORKS:
        data = network(name)
        learned = EvidenceMAP().fit(data)
        shuffled = np.random.default_rng(0).permuted(data.codes, axis=1)
        noise = find_interactions(Table(shuffled, data.names, data.levels))
        with_them, without = (
            MarkovNetwork.fit(learned, data, **about)
            for about in ({}, {"method": "maximum-likelihood", "interactions": ()})
        )
        n, far, worst = off(with_them, data)
        _, far_without, worst_without = off(without, data)
        rows.append(
            {
                "network": name,
                "interactions": len(with_them.interactions),
                "questions": n,
                "off": far,
                "worst": round(worst, 3),
                "off without": far_without,
                "worst without": round(worst_without, 3),
                "triples when shuffled": len(noise),
            }
        )
    return rows


def main() -> None:
    report("triples", scans())
    report("interactions", answers())


if __name__ == "__main__":
    main()
