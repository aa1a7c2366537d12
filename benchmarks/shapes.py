"""Many levels against two, and many conditioning columns against few."""

import numpy as np
from numpy.typing import NDArray

from common import alternate, report, verdict
from ibmap import IBMAP
from ibmap.data import load
from ibmap.engines import MemoryEngine
from ibmap.independence import BayesianTest


def chain(n: int, rows: int, levels: int, seed: int = 0) -> NDArray[np.uint8]:
    """Each variable copies the one before it in 40 % of the rows: the same structure for any levels."""
    rng = np.random.default_rng(seed)
    data = rng.integers(0, levels, (rows, n), dtype=np.uint8)
    for j in range(1, n):
        copied = rng.random(rows) < 0.4
        data[copied, j] = data[copied, j - 1]
    return data


def main() -> None:
    two, four = chain(200, 2000, 2), chain(200, 2000, 4)
    binary, categorical = alternate([lambda: IBMAP().fit(two), lambda: IBMAP().fit(four)], 9)
    rows: list[dict[str, object]] = [
        {
            "what": "4 levels against 2 (n = 200, D = 2000, whole fit)",
            "first_ms": round(1e3 * categorical, 2),
            "second_ms": round(1e3 * binary, 2),
            "ratio": round(categorical / binary, 2),
            "bar": verdict(categorical / binary, 6, at_least=False),
        }
    ]
    ys = np.arange(21, 200)
    independent = np.random.default_rng(5).integers(0, 2, (2000, 200), dtype=np.uint8)
    for name, data in (("independent columns", independent), ("a chain", two)):
        test = BayesianTest().bind(MemoryEngine(load(data)))
        many, few = alternate(
            [
                lambda test=test: test.fixed(0, ys, np.arange(1, 21)),
                lambda test=test: test.fixed(0, ys, np.arange(1, 3)),
            ],
            25,
        )
        rows.append(
            {
                "what": f"20 conditioning columns against 2 ({name}, a row of tests)",
                "first_ms": round(1e3 * many, 3),
                "second_ms": round(1e3 * few, 3),
                "ratio": round(many / few, 2),
                "bar": verdict(many / few, 10, at_least=False),
            }
        )
    report("shapes", rows)


if __name__ == "__main__":
    main()
