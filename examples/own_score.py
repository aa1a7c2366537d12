"""Bring your own score: BIC's approximation of the pseudo-likelihood.

A score gives rows of evidence: for every y, how far the data say that y belongs to the blanket of x. A
``TableScore`` gets there from the table of x and y in the slices of the rest of the blanket.
"""

import numpy as np

from ibmap import IBMAP
from ibmap.criteria import Score, TableScore
from ibmap.engines import Tables
from ibmap.synthetic import simulate_random


class BIC(Score):
    """log likelihood of x given its blanket, less ½ log(rows) for every free parameter."""

    name, bind = "bic", lambda self, engine, test, n_threads=1: BoundBIC(engine)


class BoundBIC(TableScore):
    def evidence(self, tables: Tables) -> np.ndarray:
        """What splitting the slices by y adds, for each table."""
        levels, gain = tables.levels, np.empty(len(tables))
        for t in range(len(tables)):
            k, x, y, n = tables.cells[:, tables.start[t] : tables.start[t + 1]]
            cells = np.zeros((int(k.max(initial=-1)) + 1, levels[tables.x[t]], levels[tables.y[t]]))
            cells[k, x, y] = n
            more = likelihood(cells.swapaxes(1, 2).reshape(-1, cells.shape[1])) - likelihood(cells.sum(2))
            columns = (cells.sum(1) > 0).sum() - (cells.sum((1, 2)) > 0).sum()
            gain[t] = more - 0.5 * columns * (cells.shape[1] - 1) * np.log(tables.of_rows)
        return gain

    def values(self, tables: Tables) -> np.ndarray:  # halved, as both ends speak of an edge
        slices, out = tables.slices, np.empty(len(tables.questions))
        for q, x in enumerate(tables.questions.x):
            k, i, n = slices.sets[:, slices.set_start[q] : slices.set_start[q + 1]]
            counts = np.zeros((int(k.max(initial=-1)) + 1, tables.levels[x]))
            counts[k, i] = n
            free = len(counts) * (counts.shape[1] - 1)
            out[q] = (likelihood(counts) - 0.5 * free * np.log(tables.of_rows)) / 2
        return out


def likelihood(counts: np.ndarray) -> float:
    share = counts / np.maximum(counts.sum(1, keepdims=True), 1)
    return float((counts * np.log(np.where(counts > 0, share, 1))).sum())


def main() -> None:
    world = simulate_random(8, 2, n_rows=2000, potentials="symmetric", random_state=3)
    net = IBMAP(criterion=BIC(), search="rounds").fit(world.data)
    print("exactly the truth:", net.graph_ == world.graph)


if __name__ == "__main__":
    main()
