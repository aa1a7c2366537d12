"""Bring your own engine: rows that live somewhere else, here in several processes' worth of partitions.

An engine has a schema (the table without its rows) and answers questions with tables of counts. Tables of two
partitions of the rows are added with ``+``, so an engine only needs to know where its partitions are.
"""

import numpy as np

from ibmap import IBMAP, MemoryEngine, Schema, Table, load
from ibmap.engines import Engine, Questions, Tables, add_tables
from ibmap.synthetic import simulate_random


class Partitions(Engine):
    """A table in several parts; each could sit on another machine, and none is ever seen as a whole."""

    def __init__(self, schema: Schema, parts: list[Table]) -> None:
        self.schema, self._parts = schema, [MemoryEngine(part) for part in parts]

    def tables(self, questions: Questions) -> Tables:
        """Ask every part, and add up what they count."""
        return add_tables([part.tables(questions) for part in self._parts])


def main() -> None:
    world = simulate_random(8, 2, n_rows=2000, potentials="symmetric", random_state=3)
    whole = load(world.data)
    parts = [Table(codes, whole.names, whole.levels) for codes in np.array_split(whole.codes, 3, axis=1)]
    engine = Partitions(whole.schema, parts)
    for options in ({}, {"criterion": "saturated", "search": "rounds"}):
        here, there = IBMAP(**options).fit(whole), IBMAP(**options).fit(engine)
        print(f"{there.learned_.learner}: {there.graph_.edges}")
        print("the same network as in memory:", here.graph_ == there.graph_)


if __name__ == "__main__":
    main()
