"""What learners call the number of tests: the pairs that they asked their engine about."""

from typing import Any

import pytest

from ibmap.engines import MemoryEngine
from ibmap.engines.arrangement import arranged_data
from ibmap.learners import dag_hc, evidence_map
from ibmap.synthetic import simulate_random

N = 8


class CountingEngine(MemoryEngine):
    """Counts the rows that it is asked for one by one."""

    singles = 0

    def rows(self, model: Any, xs: Any, blankets: Any, **more: Any) -> Any:
        CountingEngine.singles += len(xs) == 1
        return super().rows(model, xs, blankets, **more)

    def arranged(self, arrangement: Any) -> "CountingEngine":
        return CountingEngine(arranged_data(self.data, arrangement))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("search", ["steepest", "rounds"])
def test_every_flip_asks_about_both_its_ends(search: str, seed: int) -> None:
    """Once about all ordered pairs, then about those of two variables for every flip."""
    data = simulate_random(N, 2, n_rows=400, random_state=seed).to_table()
    learned = evidence_map(data, view="undirected", search=search)
    assert learned.n_tests == (N + 2 * len(learned.history)) * (N - 1)


@pytest.mark.parametrize("seed", range(3))
def test_a_directed_search_asks_once_about_every_family(seed: int) -> None:
    """About all unordered pairs, then about all parents that could join one of the families it meets."""
    CountingEngine.singles = 0
    data = simulate_random(N, 2, n_rows=400, random_state=seed).to_table()
    learned = dag_hc(CountingEngine(data))
    assert learned.n_tests == N * (N - 1) // 2 + CountingEngine.singles * (N - 1)
