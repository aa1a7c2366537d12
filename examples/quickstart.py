"""From a frame to a network: which answers of a survey are adjacent: associated given all others?

Run it with ``python examples/quickstart.py``, or with a path behind it to keep the table as a CSV file.
"""

import sys

import numpy as np
import polars as pl

from ibmap import EvidenceMAP


def survey(rows: int = 2000, seed: int = 0) -> pl.DataFrame:
    """Age moves smoking, smoking moves cough, cough moves tea; nothing else is connected."""
    rng = np.random.default_rng(seed)
    age = rng.choice(["young", "middle", "old"], size=rows)
    smokes = rng.random(rows) < np.select([age == "young", age == "middle"], [0.1, 0.3], 0.6)
    coughs = rng.random(rows) < np.where(smokes, 0.7, 0.15)
    tea = rng.random(rows) < np.where(coughs, 0.8, 0.4)
    coffee = rng.random(rows) < 0.5
    return pl.DataFrame({"age": age, "smokes": smokes, "coughs": coughs, "tea": tea, "coffee": coffee})


def main() -> None:
    table = survey()
    if sys.argv[1:]:
        table.write_csv(sys.argv[1])
    net = EvidenceMAP().fit(table)
    print(net)  # what was learned, from what, how
    print()
    print("edges:", net.graph_.edges)
    print("blanket of coughs:", net.graph_.blanket("coughs"))
    print("age and tea separated by smokes:", net.graph_.separated("age", "tea", given="smokes"))
    print(net.edges_)  # posteriors of all edges, and of the pairs that came close


if __name__ == "__main__":
    main()
