"""From columns of numbers to a network: nothing is cut, and edges have partial correlations.

Run it with ``python examples/continuous.py``, or with a path behind it to keep the table as a CSV file.
"""

import sys

import numpy as np
import polars as pl

from ibmap import EvidenceMAP


def farm(rows: int = 400, seed: int = 1) -> pl.DataFrame:
    """Soil and rain move the yield, the yield moves the price; the wind moves nothing."""
    rng = np.random.default_rng(seed)
    soil, rain, noise, more, wind = rng.normal(size=(5, rows))
    grown = 0.7 * soil + 0.5 * rain + 0.6 * noise
    price = 0.5 * more - 0.8 * grown
    columns = {"soil": 10 * soil + 50, "rain": 100 * rain + 600, "yield": grown, "price": 3 * price + 20}
    return pl.DataFrame({**columns, "wind": wind})


def main() -> None:
    table = farm()
    if sys.argv[1:]:
        table.write_csv(sys.argv[1])
    net = EvidenceMAP(criterion="gaussian").fit(table)
    print("edges:", net.graph_.edges)  # given the yield, soil and rain are associated: both explain it
    print(net.learned_.with_effects(net.engine_).effects.in_short(0))
    print(net.explain("soil", "price"))


if __name__ == "__main__":
    main()
