"""Worlds of numbers and categories with their networks: pairwise ones by Gibbs, moral graphs of DAGs."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ibmap.graph import Graph

Array = np.ndarray


class MixedWorld(NamedTuple):
    """A table, column by column (floats are numbers, integers categories), and the network behind it."""

    columns: dict[str, Array]
    truth: Graph

    def frame(self) -> dict[str, list[object] | Array]:
        """Return the table as people have it: categories are words."""
        return {
            name: values if values.dtype.kind == "f" else [f"level {code}" for code in values]
            for name, values in self.columns.items()
        }


def skeleton(n: int, tau: int, rng: np.random.Generator) -> list[tuple[int, int]]:
    """Return n tau / 2 pairs of variables at random."""
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
    return [pairs[k] for k in rng.choice(len(pairs), n * tau // 2, replace=False)]


def levels_of(n: int, share: float, rng: np.random.Generator) -> Array:
    """Return how many levels each variable has; 0 is a number."""
    levels = rng.integers(2, 6, n)
    levels[rng.choice(n, round(n * share), replace=False)] = 0
    return levels


def coupling(rows: int, columns: int, size: float, rng: np.random.Generator) -> Array:
    """Return effects of one variable on another, of this spread; those of categories add up to zero."""
    table = rng.normal(size=(max(rows, 1), max(columns, 1)))
    if rows:
        table -= table.mean(axis=0)
    if columns:
        table -= table.mean(axis=1, keepdims=True)
    return table * size / np.sqrt((table**2).mean())


def acting(values: Array, table: Array, shape: Callable[[Array], Array] | None = None) -> Array:
    """Return what a variable adds to the log odds, or to the mean, of another: (levels or 1, rows)."""
    if values.dtype.kind == "f":
        return table[:, :1] * (values if shape is None else shape(values))
    return table[:, values]


def drawn(eta: Array, n_levels: int, rng: np.random.Generator, precision: float = 1.0) -> Array:
    """Draw a variable given what acts on it."""
    if not n_levels:
        return eta[0] / precision + rng.normal(size=eta.shape[1]) / np.sqrt(precision)
    return (eta + rng.gumbel(size=eta.shape)).argmax(axis=0)


def named(values: list[Array], pairs: list[tuple[int, int]]) -> MixedWorld:
    """Return variables and edges with names."""
    names = [f"x{i}" for i in range(len(values))]
    return MixedWorld(
        dict(zip(names, values, strict=True)), Graph(names, [(names[i], names[j]) for i, j in pairs])
    )


def mixed_mrf(n: int, tau: int, n_rows: int, seed: int, share: float = 0.5) -> MixedWorld:
    """Draw from a pairwise conditional Gaussian network."""
    rng = np.random.default_rng([seed, n, tau, n_rows, 1])
    pairs, levels = skeleton(n, tau, rng), levels_of(n, share, rng)
    tables: dict[tuple[int, int], Array] = {}
    for i, j in pairs:
        tables[i, j] = coupling(levels[i], levels[j], rng.uniform(0.15, 0.45), rng)
        tables[j, i] = tables[i, j].T
    of = {i: [j for a, j in tables if a == i] for i in range(n)}
    linear = [sum(abs(tables[i, j][0, 0]) for j in of[i] if not levels[j]) for i in range(n)]
    precision = [max(1.0, 1.15 * total) for total in linear]
    fields = [0.3 * rng.normal(size=(max(r, 1), 1)) for r in levels]
    values = [drawn(np.zeros((max(r, 1), n_rows)), r, rng) for r in levels]
    for _ in range(60):
        for i in range(n):
            eta = fields[i] + sum((acting(values[j], tables[i, j]) for j in of[i]), np.zeros((1, n_rows)))
            values[i] = drawn(eta, levels[i], rng, precision[i])
    return named(values, pairs)


def mixed_dag(
    n: int,
    tau: int,
    n_rows: int,
    seed: int,
    share: float = 0.5,
    shape: Callable[[Array], Array] | None = None,
) -> MixedWorld:
    """Draw from a directed network; the truth is its moral graph. ``shape``: how a number acts on others."""
    rng = np.random.default_rng([seed, n, tau, n_rows, 2])
    pairs, levels = skeleton(n, tau, rng), levels_of(n, share, rng)
    values: list[Array] = []
    moral = set(pairs)
    for i in range(n):
        parents = [a for a, b in pairs if b == i]
        moral |= {(a, b) for a in parents for b in parents if a < b}
        eta = np.zeros((max(levels[i], 1), n_rows)) + 0.3 * rng.normal(size=(max(levels[i], 1), 1))
        for j in parents:
            size = rng.uniform(0.3, 0.8) * (1.5 if levels[i] else 1.0)
            eta = eta + acting(values[j], coupling(levels[i], levels[j], size, rng), shape)
        found = drawn(eta, levels[i], rng)
        values.append(found if levels[i] else (found - found.mean()) / found.std())
    return named(values, sorted(moral))


def strong_tree(n: int, n_rows: int, seed: int, kind: str, strength: float) -> MixedWorld:
    """Draw a tree of near copies: numbers of a correlation, or three levels copied with errors."""
    rng = np.random.default_rng([seed, n, n_rows, 3])
    values: list[Array] = []
    pairs = []
    for i in range(n):
        own = rng.normal(size=n_rows) if kind == "numbers" else rng.integers(0, 3, n_rows)
        if i:
            j = int(rng.integers(i))
            pairs.append((j, i))
            if kind == "numbers":
                own = strength * values[j] + np.sqrt(1 - strength**2) * own
            else:
                own = np.where(rng.random(n_rows) < strength, own, values[j])
        values.append(own)
    return named(values, pairs)


def cut(world: MixedWorld, bins: int = 4) -> dict[str, list[object]]:
    """Return the table with numbers cut at quantiles."""
    found: dict[str, list[object]] = {}
    for name, values in world.columns.items():
        if values.dtype.kind == "f":
            edges = np.quantile(values, np.arange(1, bins) / bins)
            values = np.searchsorted(edges, values)
        found[name] = [f"level {code}" for code in values]
    return found


MARGINALS: dict[str, Callable[[Array, np.random.Generator], Array]] = {
    "as drawn": lambda z, _: z,
    "exp": lambda z, _: np.exp(1.5 * z),
    "outliers": lambda z, rng: z + (rng.random(len(z)) < 0.05) * rng.standard_t(1.5, len(z)) * 10,
    "zeros": lambda z, _: np.maximum(np.exp(z - np.quantile(z, 0.4)) - 1, 0.0),
    "counts": lambda z, rng: rng.poisson(np.exp(0.3 + 0.7 * z)).astype(float),
    "five values": lambda z, _: np.digitize(z, [-1.2, -0.4, 0.4, 1.2]).astype(float),
}
SHAPES: dict[str, Callable[[Array], Array] | None] = {
    "linear": None,
    "steps": np.sign,
    "U": lambda z: (z**2 - 1) / np.sqrt(2),
}


def with_marginals(world: MixedWorld, marginal: str, seed: int) -> MixedWorld:
    """Return the world with numbers of another distribution."""
    rng = np.random.default_rng(seed)
    columns = {
        name: MARGINALS[marginal]((values - values.mean()) / values.std(), rng)
        if values.dtype.kind == "f"
        else values
        for name, values in world.columns.items()
    }
    return world._replace(columns=columns)


def with_holes(world: MixedWorld, share: float, seed: int, at_random: bool) -> dict[str, list[object]]:
    """Return the table with missing cells: anywhere, or where the column before is large."""
    rng = np.random.default_rng(seed)
    frame, names = world.frame(), list(world.columns)
    found: dict[str, list[object]] = {}
    for k, name in enumerate(names):
        if at_random:
            gone = rng.random(len(frame[name])) < share
        elif k % 2:  # of every other column, by the one before it, which is there
            before = world.columns[names[k - 1]].astype(float)
            gone = rng.random(len(before)) < 4 * share * (before > np.median(before))
        else:
            gone = np.zeros(len(frame[name]), bool)
        found[name] = [None if out else value for value, out in zip(frame[name], gone, strict=True)]
    return found
