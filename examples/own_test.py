"""Bring your own test of independence, in two ways.

A learner asks a test for log Pr(x independent of y given z). Anything that can answer plugs in: a function of
column indices, or a class that turns tables of counts into answers and leaves the counting to ibmap.
"""

import numpy as np

from ibmap import IBMAP, FunctionTest
from ibmap.independence import Answers, TableTest
from ibmap.synthetic import simulate_random

DATA = simulate_random(6, 2, n_rows=2000, potentials="symmetric", random_state=3)


def correlation(x: int, y: int, given: tuple[int, ...]) -> float:
    """Log Pr(independent), from the partial correlation and BIC's guess at a Bayes factor."""
    columns = DATA.data[:, [x, y, *given]].astype(float)
    precision = np.linalg.inv(np.cov(columns.T))
    r2 = precision[0, 1] ** 2 / (precision[0, 0] * precision[1, 1])
    n = len(columns)
    log_odds_of_dependence = -0.5 * n * np.log1p(-r2) - 0.5 * np.log(n)
    return float(-np.logaddexp(0.0, log_odds_of_dependence))


class Information(TableTest):
    """The same idea on tables of counts: mutual information in every slice, and BIC's penalty."""

    name = "information"
    has_posteriors = True

    def evaluate(self, tables, cardinalities):  # type: ignore[no-untyped-def]
        log_odds = np.empty(len(tables))
        for t in range(len(tables)):
            slice_, x, y, count = tables.cells[:, tables.start[t] : tables.start[t + 1]]
            shape = (tables.n_slices[t], cardinalities[tables.x[t]], cardinalities[tables.y[t]])
            cells = np.zeros(shape)
            cells[slice_, x, y] = count
            expected = cells.sum(2, keepdims=True) * cells.sum(1, keepdims=True)
            expected /= cells.sum((1, 2), keepdims=True)
            seen = cells > 0
            gain = (cells[seen] * np.log(cells[seen] / expected[seen])).sum()
            parameters = shape[0] * (shape[1] - 1) * (shape[2] - 1)
            log_odds[t] = gain - 0.5 * parameters * np.log(cells.sum())
        yes, no = -np.logaddexp(0.0, log_odds), -np.logaddexp(0.0, -log_odds)
        return Answers(yes > np.log(0.5), log_odds, yes, no)


def main() -> None:
    print("truth:      ", DATA.graph.edges)
    for test in (FunctionTest(correlation), Information()):
        net = IBMAP(test).fit(DATA.data)
        print(f"{net.learned_.test}: {net.graph_.edges}")


if __name__ == "__main__":
    main()
